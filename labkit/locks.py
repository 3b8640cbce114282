"""Locks, from naive to correct, each as it would stand in a service.

lease              a lock that ends by itself after a time
owner token        a value that only one attempt has, so that it can tell its own lease
fencing token      a number that grows with every grant, so that a resource can refuse old ones
indefinite result  no answer came: the command may have been executed, or not

Copy this module: redis-py is all it needs. The classes are a ladder. Each repairs one fault of the
one before, and the notebooks show by which schedule the fault is found. For production, take a lock
that is maintained, such as redis-py's own `Lock`, once you know which of these it is.

What all of them can never do: a lock is a lease. It can end while its holder is paused, so whatever
it protects must still be able to refuse a write that comes too late.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import redis


@dataclass(frozen=True)
class Grant:
    """Permission to enter the critical section, for a limited time.

    Attributes:
        key: the lock.
        token: the owner token of this attempt; nobody else has it.
        sent_at: when the request was sent, in seconds of `time.monotonic`. The lease may have
            begun as early as this, so validity is counted from here, not from the reply.
        ttl_ms: how long the lease lasts; None if it never ends.
        fence: a number that grows with every grant, for locks that give one.
    """

    key: str
    token: str
    sent_at: float
    ttl_ms: int | None
    fence: int | None = None

    def remaining_ms(self, margin_ms: int = 0) -> float:
        """How long the lease is still certain to last, by this machine's clock."""
        if self.ttl_ms is None:
            return float("inf")
        return self.ttl_ms - (time.monotonic() - self.sent_at) * 1000 - margin_ms


@dataclass(frozen=True)
class Acquired:
    """The lock is ours; `grant` opens the critical section."""

    grant: Grant


@dataclass(frozen=True)
class Busy:
    """Somebody holds the lock. That is an answer, not an error."""


@dataclass(frozen=True)
class Unknown:
    """No answer came. The server may or may not have done what was asked; never presume."""

    error: redis.RedisError


@dataclass(frozen=True)
class Failed:
    """The server answered, with an error."""

    error: redis.RedisError


@dataclass(frozen=True)
class Released:
    """The lock was ours and is free now."""


@dataclass(frozen=True)
class NotOwner:
    """The lock was not ours any more (or, after an unknown answer, is already released)."""


Acquisition = Acquired | Busy | Unknown | Failed
Release = Released | NotOwner | Unknown | Failed

#: Without these, the outcome of a command is not known: it may have been executed.
NO_ANSWER = (redis.ConnectionError, redis.TimeoutError)


class Lock(Protocol):
    """What every rung of the ladder offers."""

    def acquire(self) -> Acquisition: ...
    def release(self, grant: Grant) -> Release: ...


def new_token() -> str:
    """An owner token that nobody else will ever have: 128 random bits."""
    return secrets.token_hex(16)


class LookThenTake:
    """GET, then SET. Two workers can both look before either takes."""

    def __init__(self, client: redis.Redis, key: str) -> None:
        self._redis = client
        self._key = key

    def acquire(self) -> Acquisition:
        sent_at = time.monotonic()
        try:
            if self._redis.get(self._key) is not None:
                return Busy()
            self._redis.set(self._key, "taken")
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Acquired(Grant(self._key, "taken", sent_at, ttl_ms=None))

    def release(self, grant: Grant) -> Release:
        return _delete(self._redis, grant)


class TakeThenExpire:
    """SETNX, then PEXPIRE. A crash between the two leaves a lock that never ends."""

    def __init__(self, client: redis.Redis, key: str, *, ttl_ms: int) -> None:
        self._redis = client
        self._key = key
        self._ttl_ms = _checked(ttl_ms)

    def acquire(self) -> Acquisition:
        sent_at = time.monotonic()
        try:
            if not self._redis.setnx(self._key, "taken"):
                return Busy()
            self._redis.pexpire(self._key, self._ttl_ms)
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Acquired(Grant(self._key, "taken", sent_at, self._ttl_ms))

    def release(self, grant: Grant) -> Release:
        return _delete(self._redis, grant)


class _Lease:
    """What the remaining rungs share: one atomic command that takes the key and sets its expiry."""

    def __init__(
        self, client: redis.Redis, key: str, *, ttl_ms: int, token: Callable[[], str] = new_token
    ) -> None:
        self._redis = client
        self._key = key
        self._ttl_ms = _checked(ttl_ms)
        self._new_token = token

    def acquire(self) -> Acquisition:
        token = self._new_token()
        sent_at = time.monotonic()
        try:
            taken = self._redis.set(self._key, token, nx=True, px=self._ttl_ms)
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Acquired(Grant(self._key, token, sent_at, self._ttl_ms)) if taken else Busy()


class ConstantValue(_Lease):
    """SET NX PX with a constant, and DEL. A late owner deletes its successor's lock."""

    def __init__(self, client: redis.Redis, key: str, *, ttl_ms: int) -> None:
        super().__init__(client, key, ttl_ms=ttl_ms, token=lambda: "taken")

    def release(self, grant: Grant) -> Release:
        return _delete(self._redis, grant)


class CheckThenDelete(_Lease):
    """An owner token; GET, compare in the client, DEL. The lock can change hands in between."""

    def release(self, grant: Grant) -> Release:
        try:
            holder = self._redis.get(grant.key)
            if _text(holder) != grant.token:
                return NotOwner()
            return Released() if self._redis.delete(grant.key) else NotOwner()
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)


#: Deletes the key only if it still holds our token; the server runs a script as one command.
COMPARE_AND_DELETE = """\
-- compare and delete
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
end
return 0
"""


class CompareAndDelete(_Lease):
    """An owner token, compared and deleted by the server in one command."""

    def release(self, grant: Grant) -> Release:
        try:
            deleted = self._redis.eval(COMPARE_AND_DELETE, 1, grant.key, grant.token)
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Released() if deleted else NotOwner()


def _delete(client: redis.Redis, grant: Grant) -> Release:
    """The naive release: whoever's lock it is by now, it is gone."""
    try:
        return Released() if client.delete(grant.key) else NotOwner()
    except NO_ANSWER as error:
        return Unknown(error)
    except redis.RedisError as error:
        return Failed(error)


def _checked(ttl_ms: int) -> int:
    if not isinstance(ttl_ms, int) or ttl_ms < 1:
        raise ValueError(
            f"ttl_ms={ttl_ms!r}: a lease lasts a whole number of milliseconds, 1 or more."
        )
    return ttl_ms


def _text(value: bytes | str | None) -> str | None:
    """redis-py gives text or bytes, depending on decode_responses."""
    return value.decode() if isinstance(value, bytes) else value
