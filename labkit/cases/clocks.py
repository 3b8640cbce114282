"""Cases of clocks: F13 counted from when, F19 it jumps, F20 and F21 whose clock, whose duration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit.cases.case import Case
from labkit.cases.fencing import not_stale, rows
from labkit.cases.leases import looking_at_the_clock, renewing_first
from labkit.cases.rules import (
    answered,
    counts_on_its_own,
    late_write,
    lost,
    overrun,
    reported,
    second_comer,
)
from labkit.cases.workers import (
    KEY,
    TTL_MS,
    Worker,
    leased,
    release,
    right,
    writing,
)
from labkit.locks import Acquired, TokenAwareAcquire
from labkit.sim.invariants import mutual_exclusion
from labkit.sim.lab import Lab

# -- F13: from when does a lease count? -----------------------------------------------------------


def queued(*, comes_s: float, in_queue_s: float, take_when: str, nx: bool = True) -> Worker:
    """A job is queued, waits, and works for 40 ms; if the lock is busy, once more after 20 ms."""

    def run(me: Any) -> str:
        me.sleep(comes_s)
        for attempt in range(2):
            if attempt:
                me.sleep(0.02)
            token = me.token()
            if take_when == "queued":
                taken = me.redis.set(KEY, token, nx=nx, px=TTL_MS)
            me.sleep(in_queue_s)
            if take_when == "started":
                taken = me.redis.set(KEY, token, nx=nx, px=TTL_MS)
            if taken:
                with me.critical_section():
                    me.work(0.04)
                release(me, token)
                return "done"
        return "busy"

    return run


def both_queued(take_when: str, *, nx: bool = True) -> dict[str, Worker]:
    """A waits for 80 ms in its queue. B is the same job again, queued after 90 ms, and first."""
    return {"A": queued(comes_s=0, in_queue_s=0.08, take_when=take_when, nx=nx),
            "B": queued(comes_s=0.09, in_queue_s=0, take_when=take_when, nx=nx)}  # fmt: skip


def answered_late(count_from: str, make: Callable[..., Any] = TokenAwareAcquire) -> Worker:
    """A client that waits 60 ms for an answer and then asks once more, by itself."""

    def hold(me: Any) -> str:
        client = me.client(socket_timeout=0.06, retry=Retry(NoBackoff(), 1))
        lock = make(client, KEY, ttl_ms=TTL_MS, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        grant = got.grant
        if count_from == "answer":
            grant = replace(grant, sent_at=time.monotonic())
        elif count_from == "nowhere":
            grant = replace(grant, ttl_ms=None)
        for _ in range(2):
            if grant.remaining_ms() > 0:
                me.event("valid")
            me.work(0.05)
        return "done"

    return hold


def patient(count_from: str) -> Worker:
    """Tries three times, 60 ms apart, and does not enter with a lease that is over."""

    def hold(me: Any) -> str:
        lock, began = leased(me), time.monotonic()
        for attempt in range(3):
            if attempt:
                me.sleep(0.06)
            got = lock.acquire()
            if isinstance(got, Acquired):
                if attempt == 2:
                    me.event("waited")
                sent_at = began if count_from == "first try" else got.grant.sent_at
                if replace(got.grant, sent_at=sent_at).remaining_ms() <= 0:
                    return "not acquired"
                with me.critical_section():
                    me.work(0.09)
                lock.release(got.grant)
                return "done"
        return "gave up"

    return hold


def ended_long_ago(me: Any) -> str:
    """The deadline is made when the worker starts, and put off by nothing."""
    me.sleep(0.15)
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "gave up"
    if TTL_MS - me.now() * 1000 <= 0:
        return "not acquired"
    with me.critical_section():
        me.redis.incr("work")
    lock.release(got.grant)
    return "done"


def a_lease_is_used(lab: Lab) -> str | None:
    """Nobody who was granted the lock in time is told that it was too late."""
    for letter, answer in lab.returned.items():
        if answer == "not acquired":
            return f"{letter} was granted the lock, and took its lease for one that is over"
    return None


# -- F19: the server's clock jumps ----------------------------------------------------------------

#: Redis keeps the end of a key as a time of day. When the server's clock jumps ahead, a key that
#: would have ended in between is gone, and no clock of a client has moved. A worker plays the jump.
#: Set back, the clock makes leases last longer: others wait, and no rule is broken.
JUMP = """\
-- the server's clock jumps ahead, past the end of the lease
if redis.call("PTTL", KEYS[1]) >= 0 then
    redis.call("DEL", KEYS[1])
end
"""


def jump(me: Any) -> None:
    me.redis.eval(JUMP, 1, KEY)


def with_a_jump(worker: Worker) -> dict[str, Worker]:
    return {"A": worker, "B": worker, "C": jump}


# -- F20: clocks of two machines ------------------------------------------------------------------

AHEAD_S: Mapping[str, float] = {"A": 0.0, "B": 0.2}
BEHIND_S: Mapping[str, float] = {"A": -0.2, "B": 0.0}


def end_in_the_value(me: Any) -> str:
    """The value says when the lease ends, by the holder's clock; others compare it with theirs."""

    def wall_ms() -> int:
        return round((time.time() + AHEAD_S[me.name]) * 1000)

    ends = str(wall_ms() + TTL_MS)
    if not me.redis.setnx(KEY, ends):
        seen = me.redis.get(KEY)
        if seen is not None and int(seen) >= wall_ms():
            return "busy"
        if me.redis.getset(KEY, ends) != seen:
            return "busy"
    with me.critical_section():
        me.redis.incr("work")
    me.redis.delete(KEY)
    return "done"


def end_by_its_own_clock(me: Any) -> str:
    """PXAT asks the server to end the key at a time of day that the worker's clock gave."""
    token, ends_ms = me.token(), round((time.time() + BEHIND_S[me.name]) * 1000) + TTL_MS
    if not me.redis.set(KEY, token, nx=True, pxat=ends_ms):
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    release(me, token)
    return "done"


def looking(*, once: bool) -> Worker:
    """Three pieces of work, each if the lease is valid; `once`: with the time of the beginning."""

    def hold(me: Any) -> str:
        lock = leased(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        began_with = got.grant.remaining_ms()
        for _ in range(3):
            if (began_with if once else got.grant.remaining_ms()) <= 0:
                return "lost"
            me.event("valid")
            me.redis.incr("work")
        lock.release(got.grant)
        return "done"

    return hold


def added_up(me: Any) -> str:
    """Adds up how long its work takes, and does not notice that it was stopped."""
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    worked_ms = 0
    while worked_ms < 3:
        if worked_ms >= TTL_MS:
            return "lost"
        me.event("valid")
        me.redis.incr("work")
        worked_ms += 1
    lock.release(got.grant)
    return "done"


# -- F21: whose duration? -------------------------------------------------------------------------

SWAP = """\
-- take over what has not changed
if redis.call("GET", KEYS[1]) == ARGV[1] then
    redis.call("SET", KEYS[1], ARGV[2])
    return 1
end
return 0
"""


def participant(lease_ms: int, waits_ms: Callable[[int, int], int]) -> Worker:
    """Holds a lease without TTL; who watches it unchanged for a whole lease takes it over.

    Args:
        waits_ms: how long to watch, given one's own duration and the one in the record.
    """

    def hold(me: Any) -> str:
        mine = f"{me.token()} {lease_ms}"
        if not me.redis.set(KEY, mine, nx=True):
            seen = me.redis.get(KEY)
            if seen is None:
                return "busy"
            me.sleep(waits_ms(lease_ms, int(seen.split()[1])) / 1000)
            if not me.redis.eval(SWAP, 1, KEY, seen, mine):
                return "busy"
        with me.critical_section():
            me.work(lease_ms * 0.75 / 1000)
        release(me, mine)
        return "done"

    return hold


def configured(waits_ms: Callable[[int, int], int]) -> dict[str, Worker]:
    """A lease lasts 200 ms for A and 100 ms for B, which runs with an older configuration."""
    return {"A": participant(200, waits_ms), "B": participant(100, waits_ms)}


CASES = (
    Case(
        "lease-from-the-queue", "F13",
        "the lease begins when the job is queued, and is over while the job works",
        wrong=both_queued("queued"), right=both_queued("started"), check=mutual_exclusion,
        danger=second_comer, pauses=0, shortest="A t t B t t B", broken=(1, 1), met=(1, 1),
        mutants={"without NX": both_queued("started", nx=False)},
    ),
    Case(
        "lease-from-the-answer", "F13",
        "no answer; asked again after 60 ms, A is told 'yours', and counts its lease from there",
        wrong=answered_late("answer"), right=answered_late("sending"), check=counts_on_its_own,
        faults="?", danger=lost("the first answer did not arrive, and the lock was taken", "SET"),
        shortest="A? t A B t t", broken=(6, 18), met=(14, 18),
        mutants={"without a deadline": answered_late("nowhere")},
    ),
    Case(
        "lease-from-the-first-try", "F13",
        "waiting for the lock is counted as holding it: granted, and taken for over",
        wrong=patient("first try"), right=patient("last try"), check=a_lease_is_used, pauses=0,
        danger=reported("a worker waited longer than a lease lasts", "waited"),
        shortest="A B t B t A t B", broken=(2, 2), met=(2, 2),
        mutants={"from the start of the worker": ended_long_ago},
    ),
    Case(
        "server-clock-jumps", "F19",
        "the server's clock jumps ahead: the holder's own clock says that the lease is valid",
        wrong=with_a_jump(looking_at_the_clock("plain")),
        right=with_a_jump(looking_at_the_clock("fenced")), setup=rows, workers="ABC",
        check=not_stale, danger=late_write, pauses=0,
        shortest="A A C B B B A", broken=(24, 268), met=(24, 268),
        mutants={"renewed right before the write": with_a_jump(renewing_first),
                 "without the check": with_a_jump(writing("plain"))},
    ),
    Case(
        "end-in-the-value", "F20",
        "the lock says when it ends, by A's clock, and B compares it with its own",
        wrong=end_in_the_value, right=right, check=mutual_exclusion, danger=second_comer,
        pauses=0, shortest="A B B B", broken=(6, 27), met=(4, 6),
        mutants={"PXAT by the worker's own clock": end_by_its_own_clock},
    ),
    Case(
        "clock-read-once", "F20",
        "the time of the beginning is compared again and again: the lease never seems to end",
        wrong=looking(once=True), right=looking(once=False), check=counts_on_its_own,
        danger=overrun, shortest="A t A", broken=(28, 66), met=(46, 56),
        mutants={"its own work added up": added_up},
    ),
    Case(
        "two-durations", "F21",
        "A's lease lasts 200 ms, B waits for the 100 ms of its own configuration",
        wrong=configured(lambda own, recorded: own),
        right=configured(lambda own, recorded: recorded), check=mutual_exclusion,
        danger=answered("the record had changed while a waiter watched it", "EVAL", reply=0),
        pauses=0, shortest="A B B t B", broken=(1, 2), met=(2, 2),
        mutants={"the shorter of both": configured(min)},
    ),
)  # fmt: skip
