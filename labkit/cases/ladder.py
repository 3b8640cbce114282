"""The rungs of the ladder as workers, each with the server it needs and schedules worth making.

Used where a rung is compared with real servers: `labkit.servers.verified_on(RUNGS)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit import locks
from labkit.resources import fenced_row
from labkit.sim.lab import Lab

Make = Callable[[Any], Any]
Rung = tuple[Callable[[Any], Any], Callable[[Lab], None], tuple[str, ...]]

TTL_MS = 100


def on(server: str) -> Callable[[Lab], None]:
    """A setup that chooses the server to imitate."""

    def setup(lab: Lab) -> None:
        lab.server = server

    return setup


def holding(make: Make) -> Callable[[Any], str]:
    """A worker that takes the lock, renews it if it can, works, and releases it."""

    def worker(me: Any) -> str:
        lock = make(me)
        got = lock.acquire()
        if isinstance(got, locks.Unknown) and got.request:
            got = lock.acquire(again=got)
        if not isinstance(got, locks.Acquired):
            return type(got).__name__
        grant = got.grant
        if isinstance(lock, locks.OwnerCheckedRenewal):
            renewal = lock.renew(grant)
            if not isinstance(renewal, locks.Renewed):
                return type(renewal).__name__
            me.event("renewed")
            grant = renewal.grant
        with me.critical_section():
            me.redis.incr("work")
        return type(lock.release(grant)).__name__

    return worker


def with_a_row(lab: Lab) -> None:
    """A row that refuses lower numbers, beside the server."""
    on("redis 7")(lab)
    lab.shared.row = fenced_row("nobody")


def fenced(me: Any) -> str:
    """Takes the lock and a number, writes with it, and releases."""
    lock = locks.FencedLease(me.redis, "lock", counter="fence", ttl_ms=TTL_MS, token=me.token)
    got = lock.acquire()
    if isinstance(got, locks.Unknown):
        got = lock.acquire(again=got)
    if not isinstance(got, locks.Acquired):
        return type(got).__name__
    fence = got.grant.fence
    me.event("granted", number=fence)
    with me.critical_section():
        accepted = me.shared.row.write(me.name, fence)
        me.event("accepted" if accepted else "refused", resource="row", number=fence)
    released = type(lock.release(got.grant)).__name__
    return released if accepted else "refused"


def held(me: Any) -> str:
    """Works in pieces, and renews between them, until the work or the lease is over."""
    lock = locks.OwnerCheckedRenewal(me.redis, "lock", ttl_ms=TTL_MS, token=me.token)
    got = lock.acquire()
    if not isinstance(got, locks.Acquired):
        return type(got).__name__
    work = locks.Held(lock, got.grant)
    try:
        for _ in range(3):
            work.go_on()
            me.work(0.04)
    except locks.LeaseLost:
        return "LeaseLost"
    return type(lock.release(work.grant)).__name__


def _release(way: locks.ReleaseBy) -> Make:
    return lambda me: locks.CompareAndDelete(me.redis, "lock", ttl_ms=TTL_MS, release_by=way)


def _renewal(way: locks.RenewBy) -> Make:
    return lambda me: locks.OwnerCheckedRenewal(me.redis, "lock", ttl_ms=TTL_MS, renew_by=way)


def _aware(me: Any) -> locks.TokenAwareAcquire:
    return locks.TokenAwareAcquire(me.redis, "lock", ttl_ms=TTL_MS)


_RELEASES = ("A A A B B B", "A B A A", "A A t B A B B", "A A A? B B B")
_ACQUIRES = ("A? A A A B B B", "A~ A A A B B B", "A? B A A A", "A? t B B A B")
_FENCED = ("A A A B B B", "A t B B A B A", "A? A A B A", "A t A B B A B", "A t B A A? B B")
_HELD = ("A t A t A t A B", "A t t A B", "A B t A~ t A t A", "A t t B A B t B t B t B")
_RENEWALS = ("A A A A B B B B", "A t A B B B B", "A t B A B B B", "A A? B")
RUNGS: dict[str, Rung] = {
    "release by script": (holding(_release("lua")), on("redis 7"), _RELEASES),
    "release by DELEX": (holding(_release("delex")), on("redis 8.4"), _RELEASES),
    "release by DELIFEQ": (holding(_release("delifeq")), on("valkey 9"), _RELEASES),
    "acquire with GET": (holding(_aware), on("redis 7"), _ACQUIRES),
    "renewal by script": (holding(_renewal("lua")), on("redis 7"), _RENEWALS),
    "renewal by SET IFEQ": (holding(_renewal("set ifeq")), on("valkey 8.1"), _RENEWALS),
    "renewal by the work": (held, on("redis 7"), _HELD),
    "lock and number": (fenced, with_a_row, _FENCED),
}
