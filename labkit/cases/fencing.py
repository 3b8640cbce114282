"""Cases of fencing: F24 the counter is reset, F25 the number comes twice or is not checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import (
    holder_is_not_refused,
    in_order_of_grants,
    late_write,
    never_falls,
    one_writer_per_number,
    reported,
)
from labkit.cases.workers import (
    COUNTER,
    KEY,
    TTL_MS,
    Worker,
    granted,
    numbered,
    release,
    write,
    writing,
)
from labkit.locks import TAKE_AND_COUNT
from labkit.resources import ConnectionLost, fenced_row, service, sqlite, versioned_row
from labkit.sim.invariants import no_shared_number, no_stale_write
from labkit.sim.lab import Lab

not_stale = [no_stale_write, never_falls]
right = writing("fenced")


def rows(lab: Lab) -> None:
    """One row that checks the number, and one that writes it down."""
    lab.shared.fenced = fenced_row(100)
    lab.shared.plain = fenced_row(100, compare="nothing")


def services(lab: Lab) -> None:
    """A service that refuses lower numbers, and one that does not look at them."""
    lab.shared.fenced = service()
    lab.shared.plain = service(refuses=False)


# -- where the number comes from ------------------------------------------------------------------


def counting(number: Callable[[Any, str], int | None]) -> Worker:
    """Takes the lock and a number in some way, and writes to the row that checks it."""

    def hold(me: Any) -> str:
        token = me.token()
        fence = number(me, token)
        if fence is None:
            return "busy"
        me.event("granted", number=fence)
        accepted = write(me, "fenced", me.name, fence)
        release(me, token)
        return "done" if accepted else "refused"

    return hold


def took(me: Any, token: str) -> bool:
    return bool(me.redis.set(KEY, token, nx=True, px=TTL_MS))


def lock_then_number(me: Any, token: str) -> int | None:
    return int(me.redis.incr(COUNTER)) if took(me, token) else None


def number_then_lock(me: Any, token: str) -> int | None:
    fence = int(me.redis.incr(COUNTER))
    return fence if took(me, token) else None


def read_back(me: Any, token: str) -> int | None:
    """Counts in the script, and asks for the number afterwards: it may be somebody else's."""
    if me.redis.eval(TAKE_AND_COUNT, 2, KEY, COUNTER, token, TTL_MS) is None:
        return None
    return int(me.redis.get(COUNTER))


def read_then_set(me: Any, token: str) -> int | None:
    if not took(me, token):
        return None
    fence = int(me.redis.get(COUNTER) or 0) + 1
    me.redis.set(COUNTER, fence)
    return fence


def from_the_clock(me: Any, token: str) -> int | None:
    """The second in which the lock was taken."""
    return int(me.now()) + 1 if took(me, token) else None


EXPIRING = TAKE_AND_COUNT.replace(
    "return number", 'redis.call("PEXPIRE", KEYS[2], ARGV[2])\nreturn number'
)
#: Fail closed: where no counter is, no number is given. Somebody has to set it, above all numbers
#: that were ever given.
ONLY_IF_COUNTED = TAKE_AND_COUNT.replace(
    "local number", 'if redis.call("EXISTS", KEYS[2]) == 0 then\n    return 0\nend\nlocal number'
).replace("take and count", "take and count on")


def by_script(source: str) -> Callable[[Any, str], int | None]:
    def number(me: Any, token: str) -> int | None:
        fence = me.redis.eval(source, 2, KEY, COUNTER, token, TTL_MS)
        if fence == 0:
            me.event("no counter")
        return int(fence) if fence else None

    return number


def kept_in_the_lock(me: Any, token: str) -> int | None:
    """The number is a part of the lock's value, and ends with it."""
    source = 'return redis.call("GET", KEYS[1]) or redis.call("SET", KEYS[1], ARGV[1], "PX", 100)'
    taken = str(me.redis.eval(f"-- take\n{source}", 1, KEY, f"{token} 1"))
    return 1 if taken.endswith("OK") else None


def from_the_row(me: Any, token: str) -> int | None:
    """Where the counter is gone, it begins again after the highest number that was written."""
    seen = me.shared.fenced.execute("SELECT fence FROM data WHERE id = 1").value
    fence = me.redis.eval(
        TAKE_AND_COUNT.replace("local number", 'redis.call("SET", KEYS[2], ARGV[3], "NX")\n'
                               "local number"), 2, KEY, COUNTER, token, TTL_MS, seen)  # fmt: skip
    return None if fence is None else int(fence)


def counted(lab: Lab) -> None:
    """Seven grants were given before, and the row has seen the last of them."""
    lab.redis.set(COUNTER, 7)
    lab.shared.fenced = fenced_row(100)
    lab.shared.fenced.write(100, 7)


def restart(me: Any) -> None:
    """A server without persistence is restarted, or somebody clears "the cache"."""
    me.redis.flushdb()


RESTORE = """\
-- restored, with a counter that somebody has set
redis.call("FLUSHDB")
redis.call("SET", KEYS[1], ARGV[1])
"""


def restored(counter: int, *, row_first: bool = True) -> dict[str, Worker]:
    """The row comes from a backup: it has seen 5, and 7 had been given. The counter is set anew."""

    def restore(me: Any) -> None:
        if not row_first:
            me.redis.eval(RESTORE, 1, COUNTER, counter)
        me.shared.fenced.execute("UPDATE data SET value = 100, fence = 5 WHERE id = 1")
        if row_first:
            me.redis.eval(RESTORE, 1, COUNTER, counter)

    return {"A": right, "B": right, "R": restore}


FALL_BACK = """\
-- a replica takes over that has not seen the last grant
if redis.call("DEL", KEYS[1]) == 1 then
    redis.call("DECR", KEYS[2])
end
"""


def fall_back(me: Any) -> None:
    me.redis.eval(FALL_BACK, 2, KEY, COUNTER)


def counted_twice(lab: Lab) -> None:
    lab.shared.fenced = fenced_row(100)
    lab.shared.equal = fenced_row(100, compare="<=")


def with_a_failover(worker: Worker) -> dict[str, Worker]:
    return {"A": worker, "B": worker, "F": fall_back}


def with_a_restart(number: Callable[[Any, str], int | None]) -> dict[str, Worker]:
    return {"A": counting(number), "B": counting(number), "R": restart}


# -- what is done with the number -----------------------------------------------------------------


def asking_first(me: Any) -> str:
    """SELECT, compare in Python, UPDATE: the check and the write are two steps."""
    lock = numbered(me)
    grant = granted(me, lock)
    if grant is None:
        return "busy"
    seen = me.shared.plain.execute("SELECT fence FROM data WHERE id = 1").value
    if seen < grant.fence:
        write(me, "plain", me.name, grant.fence)
    else:
        me.event("refused")
    lock.release(grant)
    return "done"


def sending(to: str) -> Worker:
    """A payment: nothing can take it back."""

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        sent = getattr(me.shared, to).send(me.name, grant.fence)
        me.event("accepted" if sent else "refused", resource=to, number=grant.fence)
        lock.release(grant)
        return "done"

    return hold


def account(lab: Lab) -> None:
    """The same 100 in a row that compares numbers, and in one that compares versions."""
    lab.shared.fenced = fenced_row(100)
    lab.shared.versioned = versioned_row(100)


def money_is_right(lab: Lab) -> str | None:
    """What is left is 100 minus 30 for each who took money, and for some who do not know."""
    taken = sum(answer == "done" for answer in lab.returned.values())
    unsure = len(lab.outcome) - len(lab.returned)
    left = min(lab.shared.fenced.read(), lab.shared.versioned.read()[0])
    if left in [100 - 30 * (taken + more) for more in range(unsure + 1)]:
        return None
    return f"{taken} took 30 each, and {left} is left instead of {100 - 30 * taken}"


def taking(take: Callable[[Any, int], bool]) -> Worker:
    """Takes 30 from the account; refused means that nothing was taken."""

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        accepted = take(me.shared, grant.fence)
        me.event("accepted" if accepted else "refused", resource="account", number=grant.fence)
        lock.release(grant)
        return "done" if accepted else "refused"

    return hold


def check_in_the_client(shared: Any, fence: int) -> bool:
    row = shared.fenced
    if row.execute("SELECT fence FROM data WHERE id = 1").value > fence:
        return False
    row.execute("UPDATE data SET value = ?, fence = ? WHERE id = 1", row.read() - 30, fence)
    return True


def check_on_write(shared: Any, fence: int) -> bool:
    return bool(shared.fenced.write(shared.fenced.read() - 30, fence))


def raise_then_read(shared: Any, fence: int) -> bool:
    row = shared.fenced
    return row.raise_to(fence) and row.write_as(row.read() - 30, fence)


def read_then_raise(shared: Any, fence: int) -> bool:
    row = shared.fenced
    balance = row.read()
    return row.raise_to(fence) and row.write_as(balance - 30, fence)


def raise_blindly(shared: Any, fence: int) -> bool:
    row = shared.fenced
    row.execute("UPDATE data SET fence = ? WHERE id = 1", fence)
    return bool(row.write_as(row.read() - 30, fence))


def compare_and_set(shared: Any, fence: int) -> bool:
    value, version = shared.versioned.read()
    return bool(shared.versioned.write(value - 30, version))


def version_read_late(shared: Any, fence: int) -> bool:
    value, _ = shared.versioned.read()
    _, version = shared.versioned.read()
    return bool(shared.versioned.write(value - 30, version))


# -- several writes with one number ---------------------------------------------------------------

SMALLER, NOT_LARGER, IN_ORDER = "fence < ?", "fence <= ?", "(fence, seq) < (?, ?)"


def purse(lab: Lab) -> None:
    """A row that also notes which of its grant's writes the last one was."""
    lab.shared.purse = sqlite(
        "CREATE TABLE data (id INTEGER PRIMARY KEY, value INTEGER, seq INTEGER, fence INTEGER)",
        "INSERT INTO data VALUES (1, 100, 0, 0)",
    )


def spent(lab: Lab) -> str | None:
    """Whoever is done has taken 10 twice."""
    left = lab.shared.purse.execute("SELECT value FROM data WHERE id = 1").value
    taken = 20 * sum(answer == "done" for answer in lab.returned.values())
    return None if left == 100 - taken else f"{taken} was spent, and {left} of 100 is left"


def spending_twice(where: str) -> Worker:
    """Two writes with one number; each is repeated when no answer comes."""

    def spend(me: Any, *at: int) -> bool:
        sql = f"UPDATE data SET value = value - 10, fence = ?, seq = ? WHERE id = 1 AND {where}"
        at = (*at, *(at if where == IN_ORDER else at[:1]))
        try:
            accepted = me.shared.purse.execute(sql, *at).rowcount == 1
        except ConnectionLost:
            me.event("repeated")
            accepted = me.shared.purse.execute(sql, *at).rowcount == 1
            # Refused: the first one was executed, or both came too late. The row knows which.
            fence = "SELECT fence FROM data WHERE id = 1"
            return accepted or me.shared.purse.execute(fence).value == at[0]
        if not accepted:
            me.event("refused")
        return accepted

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        both = spend(me, grant.fence, 1) and spend(me, grant.fence, 2)
        with contextlib.suppress(ConnectionLost):
            lock.release(grant)
        return "done" if both else "refused"

    return hold


CASES = (
    Case(
        "number-ignored", "F25", "the row writes the number down, and refuses nobody",
        wrong=writing("plain"), right=right, setup=rows, check=not_stale, danger=late_write,
        shortest="A t B B A", broken=(6, 44), met=(6, 44),
        mutants={"without the check": writing("plain"), "checked in Python first": asking_first},
    ),
    Case(
        "asked-before-the-write", "F25",
        "SELECT the number, compare in Python, UPDATE: the answer is old by then",
        wrong=asking_first, right=right, setup=rows, check=not_stale, danger=late_write,
        shortest="A A t B B B A", broken=(24, 134), met=(6, 44),
        mutants={"without the check": writing("plain")},
    ),
    Case(
        "service-ignores-the-number", "F25",
        "an external service takes the number and does not look at it",
        wrong=sending("plain"), right=sending("fenced"), setup=services, check=not_stale,
        danger=late_write, shortest="A t B B A", broken=(6, 44), met=(6, 44),
        mutants={"without the check": sending("plain")},
    ),
    Case(
        "lock-and-number-apart", "F25",
        "lock, then number: who is late gets the higher one, and fences out the holder",
        wrong=counting(lock_then_number), right=right, setup=rows, check=holder_is_not_refused,
        danger=late_write, shortest="A t B B A A B", broken=(6, 136), met=(6, 44),
        mutants={"number first, then the lock": counting(number_then_lock)},
    ),
    Case(
        "number-read-back", "F25",
        "counted with the grant, and then read from the counter: it is somebody else's by now",
        wrong=counting(read_back), right=right, setup=rows, check=no_shared_number,
        danger=late_write, shortest="A t B B A", broken=(40, 136), met=(6, 44),
        mutants={"GET, add 1, SET": counting(read_then_set),
                 "a clock instead of a counter": counting(from_the_clock)},
    ),
    Case(
        "equal-numbers", "F25",
        "a failover gives a number again: `<=` accepts both of its holders",
        wrong=with_a_failover(writing("equal")), right=with_a_failover(right),
        setup=counted_twice, workers="ABF", check=one_writer_per_number, danger=late_write,
        shortest="A A F B B", broken=(28, 52), met=(28, 52), pauses=0,
        mutants={"<= instead of <": with_a_failover(writing("equal"))},
    ),
    Case(
        "second-write-refused", "F25",
        "`<` accepts one write for each number, and a grant writes twice",
        wrong=spending_twice(SMALLER), right=spending_twice(IN_ORDER), setup=purse,
        check=holder_is_not_refused, danger=late_write,
        shortest="A A A", broken=(122, 128), met=(48, 128),
        mutants={"without the sequence": spending_twice(SMALLER)},
    ),
    Case(
        "repeat-accepted", "F25",
        "`<=` accepts every write of a grant, and the repetition of one as well",
        wrong=spending_twice(NOT_LARGER), right=spending_twice(IN_ORDER), setup=purse,
        check=[spent, never_falls], faults="?", pauses=0,
        danger=reported("a write was repeated, since no answer had come", "repeated"),
        shortest="A A B A? A A", broken=(24, 72), met=(28, 76),
        mutants={"without the sequence": spending_twice(NOT_LARGER)},
    ),
    Case(
        "checked-on-write-only", "F25",
        "read first, checked when writing: an older write falls between the two",
        wrong=taking(check_on_write), right=taking(raise_then_read), setup=account,
        check=[money_is_right, never_falls], danger=late_write,
        shortest="A A t B B A A B B", broken=(24, 136), met=(260, 406),
        mutants={"checked in the client": taking(check_in_the_client),
                 "read before raising": taking(read_then_raise),
                 "raised without comparing": taking(raise_blindly)},
    ),
    Case(
        "no-version-compared", "F25",
        "the same closed by the version that was read: compare and set needs no number",
        wrong=taking(check_on_write), right=taking(compare_and_set), setup=account,
        check=money_is_right, danger=late_write,
        shortest="A A t B B A A B B", broken=(24, 136), met=(48, 136),
        mutants={"the version is read later": taking(version_read_late)},
    ),
    Case(
        "counter-expires", "F24",
        "the counter has a time to live, like the lock: numbers begin again at 1",
        wrong=counting(by_script(EXPIRING)), right=right, setup=rows, check=no_shared_number,
        danger=late_write, shortest="A t B", broken=(30, 46), met=(6, 44),
        mutants={"the number is in the lock itself": counting(kept_in_the_lock)},
    ),
    Case(
        "counter-lost", "F24",
        "a restart without persistence: the row has seen 7, and the next number is 1",
        wrong=with_a_restart(by_script(TAKE_AND_COUNT)),
        right=with_a_restart(by_script(ONLY_IF_COUNTED)),
        setup=counted, workers="ABR", pauses=0,
        check=[holder_is_not_refused, no_shared_number, *not_stale],
        danger=reported("no counter, and therefore no number", "no counter"),
        shortest="R A A", broken=(36, 52), met=(14, 30),
        mutants={"begun again after what was written": with_a_restart(from_the_row)},
    ),
    Case(
        "row-from-a-backup", "F24",
        "restored from a backup: numbers given after it are higher than the new ones",
        wrong=restored(5), right=restored(1000), setup=counted, workers="ABR", pauses=0,
        check=in_order_of_grants, danger=late_write,
        shortest="A R R B B A", broken=(12, 156), met=(12, 156),
        mutants={"the counter before the row": restored(1000, row_first=False)},
    ),
)  # fmt: skip
