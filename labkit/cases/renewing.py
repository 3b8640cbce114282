"""Cases of renewing, F05: is it still ours, is it still there, and what holds after a new grant?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.cases.case import Case
from labkit.cases.fencing import account, money_is_right
from labkit.cases.rules import answered, never_falls, never_revived, only_the_owner_changes
from labkit.cases.workers import KEY, TTL_MS, Worker, granted, numbered, release
from labkit.locks import COMPARE_AND_RENEW, Renewed

#: A renewal asks for more time than the first lease had, so that it shows whose end it moved.
LONGER_MS = 2 * TTL_MS

#: "Extending" through the code that acquires: a missing key is as good as one's own.
TAKE_OR_EXTEND = """\
-- take or extend
local holder = redis.call("GET", KEYS[1])
if not holder or holder == ARGV[1] then
    redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
    return 1
end
return 0
"""


def renewing(renew: Callable[[Any, str], Any]) -> Worker:
    """Work, renew, work; without the renewal no second piece of work."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=True, px=TTL_MS):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
            if not renew(me, token):
                return "lost"
            me.redis.incr("work")
        release(me, token)
        return "done"

    return hold


def script(source: str) -> Worker:
    return renewing(lambda me, token: me.redis.eval(source, 1, KEY, token, LONGER_MS))


right = script(COMPARE_AND_RENEW)
blind = renewing(lambda me, token: me.redis.pexpire(KEY, LONGER_MS))
relocking = script(TAKE_OR_EXTEND)
overwriting = renewing(lambda me, token: me.redis.set(KEY, token, xx=True, px=LONGER_MS))
setting = renewing(lambda me, token: me.redis.set(KEY, token, px=LONGER_MS))
refused = answered("a late owner's renewal was refused", "EVAL", reply=0)


def holding_on(*, starts_over: bool) -> Worker:
    """Takes 30 from an account. If the lease is lost on the way, the lock is acquired once more.

    A new grant has a new token and a new number; what was read under the old one is history.
    """

    def hold(me: Any) -> str:
        lock, row = numbered(me), me.shared.fenced
        balance = None
        for _ in range(2):
            grant = granted(me, lock)
            if grant is None or not row.raise_to(grant.fence):
                return "busy"
            if balance is None or starts_over:
                balance = row.read()
            if isinstance(lock.renew(grant), Renewed):
                accepted = row.write_as(balance - 30, grant.fence)
                lock.release(grant)
                return "done" if accepted else "refused"
        return "lost"

    return hold


CASES = (
    Case(
        "blind-renewal", "F05",
        "PEXPIRE without asking: a late owner prolongs its successor's lock",
        wrong=blind, right=right, check=only_the_owner_changes, danger=refused,
        shortest="A A t B A", broken=(170, 376), met=(136, 146),
        mutants={"without the owner check": blind, "SET XX instead": overwriting},
    ),
    Case(
        "renewal-revives", "F05", "extending by locking again brings back a lease that had ended",
        wrong=relocking, right=right, check=never_revived, danger=refused,
        shortest="A A t A", broken=(36, 154), met=(136, 146),
        mutants={"a missing key is taken": relocking, "SET instead": setting},
    ),
    Case(
        "renewal-takes-over", "F05",
        "SET XX as a renewal: it overwrites whoever holds the lock now",
        wrong=overwriting, right=right, check=only_the_owner_changes, danger=refused,
        shortest="A A t B A", broken=(266, 376), met=(136, 146),
        mutants={"without the owner check": blind},
    ),
    Case(
        "new-grant-old-reading", "F05",
        "lost, acquired once more, and gone on with what was read under the former grant",
        wrong=holding_on(starts_over=False), right=holding_on(starts_over=True), setup=account,
        check=[money_is_right, never_falls], danger=refused,
        shortest="A A A t A B B B B B B A A A A A", broken=(150, 660), met=(644, 666),
        mutants={"without reading again": holding_on(starts_over=False)},
    ),
)  # fmt: skip
