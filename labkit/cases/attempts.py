"""Cases of attempts: F38 blocked by oneself, F49 released before one has stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import late_release, second_comer
from labkit.cases.workers import KEY, TTL_MS, Worker, leased, release, without_nx
from labkit.locks import Acquired, TokenAwareAcquire
from labkit.sim.invariants import (
    mutual_exclusion,
    no_lost_update,
    nobody_waits_for_itself,
    only_the_owner_releases,
)
from labkit.sim.lab import Lab


def nested(*, passes_the_grant: bool) -> Worker:
    """A function that takes the lock calls one that needs it as well."""

    def inner(me: Any, grant: Any = None) -> str:
        if grant is None and not isinstance(leased(me).acquire(), Acquired):
            return "busy"
        me.redis.incr("work")
        return "done"

    def outer(me: Any) -> str:
        lock = leased(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        with me.critical_section():
            answer = inner(me, got.grant if passes_the_grant else None)
        lock.release(got.grant)
        return answer

    return outer


def redispatched(token_of: Callable[[Any, int], str]) -> Worker:
    """The first attempt at a job fails, and the job is tried once more, with a lock per job."""

    def run(me: Any) -> str:
        for attempt in (1, 2):
            token = token_of(me, attempt)
            lock = TokenAwareAcquire(me.redis, KEY, ttl_ms=TTL_MS, token=partial(str, token))
            got = lock.acquire()
            if not isinstance(got, Acquired):
                break
            if attempt == 2:
                with me.critical_section():
                    me.redis.incr("work")
                lock.release(got.grant)
                return "done"
            # The first attempt fails. It keeps the lock, so that nobody else takes up the job.
        return "failed for good"

    return run


each_attempt = redispatched(lambda me, attempt: f"{me.name}-{attempt}")
same_job = redispatched(lambda me, attempt: f"{me.name}-job")


def early(*, retry_frees: bool) -> Worker:
    """Releases before it handles the job; when that fails, a retry may free "its" lock by name."""

    def run(me: Any) -> str:
        lock = leased(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        lock.release(got.grant)
        me.redis.incr("failures")
        if retry_frees:
            me.redis.delete(KEY)
        else:
            lock.release(got.grant)
        return "failed"

    return run


def leader(*, stops_first: bool) -> Worker:
    """A leader that steps down: it has still one thing to write."""

    def lead(me: Any) -> str:
        lock = leased(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
            if not stops_first:
                lock.release(got.grant)
                me.redis.incr("work")
        if stops_first:
            lock.release(got.grant)
        return "done"

    return lead


def balance(lab: Lab) -> None:
    lab.redis.set("balance", 100)


def buffering(*, flushes_first: bool, nx: bool = True) -> Worker:
    """Writes are collected in a pipeline, and sent together."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=nx, px=TTL_MS):
            return "busy"
        buffer = me.redis.pipeline(transaction=False)
        buffer.set("balance", int(me.redis.get("balance")) - 30)
        if flushes_first:
            buffer.execute()
        release(me, token)
        if not flushes_first:
            buffer.execute()
        return "done"

    return hold


CASES = (
    Case(
        "nested-acquire", "F38",
        "a function that holds the lock calls one that takes it: busy, by itself",
        wrong=nested(passes_the_grant=False), right=nested(passes_the_grant=True),
        check=nobody_waits_for_itself, danger=second_comer, pauses=0,
        shortest="A A", broken=(6, 6), met=(4, 6),
        mutants={"without passing the grant": nested(passes_the_grant=False)},
    ),
    Case(
        "retry-blocked-by-its-own-lock", "F38",
        "the failed attempt keeps the lock of the job, and the retry comes with another token",
        wrong=each_attempt, right=same_job, check=nobody_waits_for_itself, danger=second_comer,
        pauses=0, shortest="A A", broken=(4, 4), met=(6, 8),
        mutants={"a token for each attempt": each_attempt},
    ),
    Case(
        "retry-frees-a-lock-it-never-took", "F38",
        "the lock is released early, the job fails, and its retry frees the next one's lock",
        wrong=early(retry_frees=True), right=early(retry_frees=False),
        check=only_the_owner_releases.on(KEY), danger=late_release, pauses=0,
        shortest="A A A B A", broken=(4, 32), met=(32, 32),
        mutants={"freed by name": early(retry_frees=True)},
    ),
    Case(
        "released-before-it-stopped", "F49",
        "a leader steps down and then finishes what it was doing",
        wrong=leader(stops_first=False), right=leader(stops_first=True), check=mutual_exclusion,
        danger=second_comer, pauses=0, shortest="A A A B", broken=(8, 14), met=(4, 6),
        mutants={"without NX": without_nx},
    ),
    Case(
        "flushed-after-the-release", "F49",
        "writes are collected, the lock is released, and then they are sent",
        wrong=buffering(flushes_first=False), right=buffering(flushes_first=True), setup=balance,
        check=no_lost_update.on("balance"), danger=second_comer, pauses=0,
        shortest="A A A B B B B A", broken=(6, 14), met=(6, 8),
        mutants={"without NX": buffering(flushes_first=True, nx=False)},
    ),
)  # fmt: skip
