"""Workers that several cases use: with a lock of the ladder, and by hand, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.locks import (
    COMPARE_AND_DELETE,
    Acquired,
    Busy,
    CompareAndDelete,
    FencedLease,
    Lock,
    TokenAwareAcquire,
    Unknown,
)

KEY, TTL_MS = "lock", 100
Worker = Callable[[Any], Any]
#: What a compare and delete becomes when the comparison is left out.
DELETE_WITHOUT_LOOKING = "-- delete\nreturn redis.call('DEL', KEYS[1])\n"


def leased(me: Any) -> CompareAndDelete:
    """The lock of the right worker: SET NX PX with a token of its own, compare and delete."""
    return CompareAndDelete(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)


def using(make: Callable[[Any], Lock]) -> Worker:
    """Take the lock, do one piece of work, release: what a service does with any lock."""

    def hold(me: Any) -> str:
        lock = make(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy" if isinstance(got, Busy) else "unknown"
        with me.critical_section():
            me.redis.incr("work")
        lock.release(got.grant)
        return "done"

    return hold


def by_hand(
    *,
    nx: bool = True,
    ttl_ms: int | None = TTL_MS,
    token: Callable[[Any], str] = lambda me: me.token(),
    script: str = COMPARE_AND_DELETE,
) -> Worker:
    """The same as `using(leased)`, with parts that can be left out."""

    def hold(me: Any) -> str:
        mine = token(me)
        if not me.redis.set(KEY, mine, nx=nx, px=ttl_ms):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        me.redis.eval(script, 1, KEY, mine)
        return "done"

    return hold


right = using(leased)
without_nx = by_hand(nx=False)
without_px = by_hand(ttl_ms=None)
without_owner_check = by_hand(script=DELETE_WITHOUT_LOOKING)


def release(me: Any, token: str) -> bool:
    """Compare and delete: whether the lock was still ours."""
    return bool(me.redis.eval(COMPARE_AND_DELETE, 1, KEY, token))


def asleep_until(seconds: float) -> Worker:
    """Does nothing but sleep: time passes to deadlines only, and this makes one of an instant.

    What a worker decides by its clock (to stop, with a margin) needs such a deadline, unless a key
    ends or somebody wakes at the same instant anyway.
    """

    def sleep(me: Any) -> str:
        me.sleep(seconds)
        return "done"

    return sleep


# -- with a number ---------------------------------------------------------------------------------

COUNTER = "fence"


def numbered(me: Any) -> FencedLease:
    """The lock of the right worker, where numbers are checked."""
    return FencedLease(me.redis, KEY, counter=COUNTER, ttl_ms=TTL_MS, token=me.token)


def granted(me: Any, lock: TokenAwareAcquire) -> Any:
    """A grant, after asking once more if no answer came; None if there is none."""
    got = lock.acquire()
    if isinstance(got, Unknown):
        got = lock.acquire(again=got)
    if not isinstance(got, Acquired):
        return None
    me.event("granted", number=got.grant.fence)
    return got.grant


def write(me: Any, row: str, value: Any, fence: int) -> bool:
    """Write to a row with a number, and report what became of it."""
    accepted = getattr(me.shared, row).write(value, fence)
    me.event("accepted" if accepted else "refused", resource=row, number=fence)
    return bool(accepted)


def writing(row: str) -> Worker:
    """Take the lock and a number, write to a row with it, release."""

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        accepted = write(me, row, me.name, grant.fence)
        lock.release(grant)
        return "done" if accepted else "refused"

    return hold
