"""Cases of units and options, F47: seconds or milliseconds, at least or at most, wait or lease."""

from __future__ import annotations

from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import late_release, second_comer
from labkit.cases.workers import KEY, TTL_MS, Worker, release, right, without_owner_check
from labkit.locks import Acquired, CompareAndDelete
from labkit.sim.invariants import mutual_exclusion, only_the_owner_releases

LEASE_S, WORK_S = 10, 5


def working(lease_ms: int, *, nx: bool = True) -> Worker:
    """Works for five seconds under a lease that should be enough."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=nx, px=lease_ms):
            return "busy"
        with me.critical_section():
            me.work(seconds=WORK_S)
        release(me, token)
        return "done"

    return hold


def ladder(me: Any) -> str:
    """The same with a lock whose argument says its unit: `ttl_ms`."""
    lock = CompareAndDelete(me.redis, KEY, ttl_ms=LEASE_S * 1000, token=me.token)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        me.work(seconds=WORK_S)
    lock.release(got.grant)
    return "done"


SHORTEN = """\
-- compare and shorten
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
"""


def scheduled(*, at_least_s: int, at_most_s: int, lease: str = "at most") -> Worker:
    """A scheduled job of five minutes, once on several machines: a minimum and a maximum hold."""
    lease_s = at_most_s if lease == "at most" else at_least_s

    def job(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=True, px=lease_s * 1000):
            return "busy"
        started = me.now()
        with me.critical_section():
            me.work(seconds=300)
        left_ms = round((started + at_least_s - me.now()) * 1000)
        if left_ms > 0:
            me.redis.eval(SHORTEN, 1, KEY, token, left_ms)
        else:
            release(me, token)
        return "done"

    return job


def waiting(**options: Any) -> Worker:
    """redis-py's own lock. `timeout` is the lease; `blocking_timeout` is how long to wait."""

    def hold(me: Any) -> str:
        lock = me.redis.lock(KEY, **options)
        if not lock.acquire():
            return "gave up"
        with me.critical_section():
            me.work(seconds=0.25)
        if lock.owned():
            lock.release()
        return "done"

    return hold


def guarding(*, clock_unit: int) -> Worker:
    """Deletes the key as long as its own clock says that the lease is not over."""

    def hold(me: Any) -> str:
        ends_ms = me.now() * 1000 + TTL_MS
        if not me.redis.set(KEY, me.token(), nx=True, px=TTL_MS):
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        if me.now() * clock_unit < ends_ms:
            me.redis.delete(KEY)
        return "done"

    return hold


CASES = (
    Case(
        "seconds-for-milliseconds", "F47", "a lease of 10, meant in seconds, given as PX",
        wrong=working(LEASE_S), right=ladder, check=mutual_exclusion, danger=second_comer,
        shortest="A t B", broken=(2, 4), met=(6, 8),
        mutants={"without NX": working(LEASE_S * 1000, nx=False), "seconds": working(LEASE_S)},
    ),
    Case(
        "at-least-for-at-most", "F47",
        "the minimum hold, 45 s, taken for the maximum; the job takes 300 s",
        wrong=scheduled(at_least_s=45, at_most_s=600, lease="at least"),
        right=scheduled(at_least_s=45, at_most_s=600), check=mutual_exclusion, danger=second_comer,
        shortest="A t B", broken=(2, 4), met=(6, 8),
        mutants={"a maximum below the work": scheduled(at_least_s=45, at_most_s=60)},
    ),
    Case(
        "wait-for-lease", "F47", "timeout=0.1, meant as the longest wait, is redis-py's lease",
        wrong=waiting(timeout=0.1), right=waiting(timeout=10, blocking_timeout=0.1),
        check=mutual_exclusion, danger=second_comer,
        shortest="A t B", broken=(8, 12), met=(16, 18),
        mutants={"lease and wait exchanged": waiting(timeout=0.1, blocking_timeout=10)},
    ),
    Case(
        "guard-in-the-wrong-unit", "F47",
        "a local deadline in ms, compared with a clock in seconds",
        wrong=guarding(clock_unit=1), right=right, check=only_the_owner_releases.on(KEY),
        danger=late_release, shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"a local guard in the right unit": guarding(clock_unit=1000),
                 "without the owner check": without_owner_check},
    ),
)  # fmt: skip
