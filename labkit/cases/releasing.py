"""Cases of releasing, F04: whose lock is it that is deleted?"""

from __future__ import annotations

from typing import Any

import redis

from labkit.cases.case import Case
from labkit.cases.rules import answered, late_release, second_comer
from labkit.cases.workers import (
    KEY,
    TTL_MS,
    Worker,
    leased,
    right,
    using,
    without_owner_check,
)
from labkit.locks import Acquired, CheckThenDelete, ConstantValue
from labkit.sim.invariants import only_the_owner_releases

only_owner = only_the_owner_releases.on(KEY)


def watching(*, watch: bool = True, multi: bool = True) -> Worker:
    """GET and DEL under WATCH, as redis-py's lock once did: what comes too late is aborted."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=True, px=TTL_MS):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        with me.redis.pipeline() as pipe:
            if watch:
                pipe.watch(KEY)
            holder = pipe.get(KEY) if watch else me.redis.get(KEY)
            if holder != token:
                return "not owner"
            if multi:
                pipe.multi()
            pipe.delete(KEY)
            try:
                pipe.execute()
            except redis.WatchError:
                return "not owner"
        return "done"

    return hold


def forcing(me: Any) -> str:
    """Frees the lock in `finally`, whether or not it was ours."""
    lock = leased(me)
    try:
        if not isinstance(lock.acquire(), Acquired):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        return "done"
    finally:
        me.redis.delete(KEY)


def retrying(me: Any) -> str:
    """A second attempt that frees the lock by name, to be able to start at all."""
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        me.redis.delete(KEY)
        got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    lock.release(got.grant)
    return "done"


CASES = (
    Case(
        "late-delete", "F04",
        "a plain DEL by an owner whose lease is over frees its successor's lock",
        wrong=using(lambda me: ConstantValue(me.redis, KEY, ttl_ms=TTL_MS)), right=right,
        check=only_owner, danger=late_release,
        shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"without the owner check": without_owner_check},
    ),
    Case(
        "check-then-delete", "F04",
        "GET, compare, DEL: the lock changes hands after the comparison",
        wrong=using(lambda me: CheckThenDelete(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)),
        right=right, check=only_owner, danger=late_release,
        shortest="A A A t B A", broken=(6, 76), met=(38, 44),
        mutants={"without the owner check": without_owner_check},
    ),
    Case(
        "watch-without-multi", "F04", "WATCH and compare, but no MULTI: the watch guards nothing",
        wrong=watching(multi=False), right=watching(), check=only_owner,
        danger=answered("the lock changed hands after the comparison", "EXEC", reply=None),
        shortest="A A A A t B A", broken=(30, 794), met=(22, 456),
        mutants={"without MULTI": watching(multi=False), "without WATCH": watching(watch=False)},
    ),
    Case(
        "force-release", "F04", "`finally` frees the lock, also for a run that never got it",
        wrong=forcing, right=right, check=only_owner, danger=second_comer, pauses=0,
        shortest="A B B", broken=(6, 12), met=(4, 6),
        mutants={"freed by name on a retry": retrying},
    ),
)  # fmt: skip
