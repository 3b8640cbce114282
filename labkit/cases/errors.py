"""Cases of errors, F41: on the way in they leak the lock, on the way out they hide an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import redis

from labkit.cases.case import Case
from labkit.cases.rules import (
    BodyFailed,
    body_error_survives,
    body_raised,
    lost,
    nothing_is_left,
    overrun,
)
from labkit.cases.workers import KEY, TTL_MS, Worker, release
from labkit.locks import Acquired, CompareAndDelete, Unknown
from labkit.sim.invariants import nobody_waits_for_itself

# -- the body fails, and then the release does ----------------------------------------------------


def failing(hold: Callable[[Any], AbstractContextManager[Any]]) -> Worker:
    """The work inside the section fails, for a reason that the caller should learn."""

    def work(me: Any) -> None:
        with hold(me), me.critical_section():
            me.redis.incr("work")
            raise BodyFailed("no such account")

    return work


@contextmanager
def careful(me: Any) -> Iterator[None]:
    """The body's error survives; the failed release becomes a note on it."""
    lock = redis_lock(me)
    if not lock.acquire():
        raise redis.exceptions.LockError("busy")
    try:
        yield
    except BaseException as error:
        try:
            lock.release()
        except redis.RedisError as second:
            error.add_note(f"and the lock was not released: {second}")
        raise
    lock.release()


def redis_lock(me: Any, **settings: Any) -> Any:
    return me.redis.lock(KEY, timeout=TTL_MS / 1000, blocking=False, **settings)


@contextmanager
def in_finally(me: Any) -> Iterator[None]:
    lock = redis_lock(me)
    if not lock.acquire():
        raise redis.exceptions.LockError("busy")
    try:
        yield
    finally:
        lock.release()


# -- an error between acquiring and the work ------------------------------------------------------


def reading_settings(*, protected: bool, released: bool = True) -> Worker:
    """After it has the lock, a worker reads a setting, which is not there."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=True, px=TTL_MS):
            return "busy"
        if not protected:
            int(me.redis.get("limit"))
        try:
            with me.critical_section():
                int(me.redis.get("limit"))
        finally:
            if released:
                release(me, token)
        return "done"

    return hold


# -- no answer on release -------------------------------------------------------------------------


class Forgetful:
    """Forgets its token before the release has been answered, as some libraries do."""

    def __init__(self, me: Any) -> None:
        self._lock = CompareAndDelete(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)
        self._got: Any = None

    def acquire(self) -> bool:
        self._got = self._lock.acquire()
        return isinstance(self._got, Acquired)

    def release(self) -> bool:
        """Whether an answer came."""
        got, self._got = self._got, None
        return got is not None and not isinstance(self._lock.release(got.grant), Unknown)


class Remembering(Forgetful):
    """Keeps the token until the server has answered."""

    def release(self) -> bool:
        return not isinstance(self._lock.release(self._got.grant), Unknown)


def releasing(make: Callable[[Any], Forgetful], times: int = 2) -> Worker:
    """Tries to release a second time when the first try was not answered."""

    def hold(me: Any) -> str:
        lock = make(me)
        if not lock.acquire():
            return "busy"
        with me.critical_section():
            me.note("works")
        for _ in range(times):
            if lock.release():
                return "done"
        return "not released"

    return hold


# -- no answer on acquire -------------------------------------------------------------------------


def taking(*, read_back: bool, same_token: bool = True) -> Worker:
    """No answer: ask again. Whose lock is it that is in the way?"""

    def hold(me: Any) -> str:
        token = me.token()
        try:
            got = me.redis.set(KEY, token, nx=True, px=TTL_MS)
        except redis.TimeoutError:
            token = token if same_token else me.token()
            got = read_back and me.redis.get(KEY) == token
            got = got or me.redis.set(KEY, token, nx=True, px=TTL_MS)
        if not got:
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        release(me, token)
        return "done"

    return hold


CASES = (
    Case(
        "lost-lease-hides-the-error", "F41",
        "leaving `with` finds the lease lost, and hides the error",
        wrong=failing(redis_lock), right=failing(careful),
        check=body_error_survives, danger=overrun,
        shortest="A A B t A", broken=(38, 44), met=(38, 44),
        mutants={"release in finally": failing(in_finally)},
    ),
    Case(
        "no-answer-hides-the-error", "F41",
        "the release is not answered, and its time-out hides the error",
        wrong=failing(redis_lock), right=failing(careful), faults="?~", pauses=0,
        check=body_error_survives,
        danger=lost("a release was not answered while the lock was there", "EVAL"),
        shortest="A A A~ B", broken=(66, 114), met=(26, 114),
        mutants={"release in finally": failing(in_finally),
                 "raise_on_release_error=False alone": failing(
                     lambda me: redis_lock(me, raise_on_release_error=False))},
    ),
    Case(
        "error-before-try", "F41",
        "an error between acquiring and `try` leaves the lock to its TTL",
        wrong=reading_settings(protected=False), right=reading_settings(protected=True),
        check=nothing_is_left, danger=body_raised, pauses=0,
        shortest="A A B", broken=(4, 4), met=(6, 6),
        mutants={"no release on error": reading_settings(protected=True, released=False)},
    ),
    Case(
        "token-forgotten-too-early", "F41", "the token is dropped before the release is answered",
        wrong=releasing(Forgetful), right=releasing(Remembering), faults="~", pauses=0,
        check=nothing_is_left, danger=lost("a release did not arrive", "EVAL"),
        shortest="A A~ B", broken=(6, 16), met=(8, 18),
        mutants={"without a second try": releasing(Remembering, times=1)},
    ),
    Case(
        "lost-reply-repeated", "F41",
        "acquire raises, but the lock is taken: the next try meets itself",
        wrong=taking(read_back=False), right=taking(read_back=True), faults="?", pauses=0,
        check=nobody_waits_for_itself.on(KEY), danger=lost("an acquire was not answered", "SET"),
        shortest="A? A", broken=(6, 36), met=(28, 48),
        mutants={"without reading back": taking(read_back=False),
                 "a new token for the second try": taking(read_back=True, same_token=False)},
    ),
)  # fmt: skip
