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
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

import redis

#: Which command compares and deletes: a script (any server), DELEX (Redis 8.4 and later), or
#: DELIFEQ (Valkey 9.0 and later).
ReleaseBy = Literal["lua", "delex", "delifeq"]
#: Which command compares and renews: a script, or SET with IFEQ (Redis 8.4, Valkey 8.1).
RenewBy = Literal["lua", "set ifeq"]

#: A shorter lease is over before a slow answer arrives: most likely it was meant in seconds.
SHORTEST_TTL_MS = 50


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
class Request:
    """What was sent to acquire the lock. It opens nothing: that takes a grant.

    Attributes:
        token: the owner token that the key has, if the request was executed.
        sent_at: when it was sent first, in seconds of `time.monotonic`.
    """

    token: str
    sent_at: float


class _Answer:
    """An answer of a lock, neither true nor false: so that `if lock.acquire():` is noticed."""

    def __bool__(self) -> bool:
        raise TypeError(
            f"{type(self).__name__} is neither true nor false: several answers are possible. "
            f"Ask with isinstance(answer, Acquired), or with match."
        )


@dataclass(frozen=True)
class Acquired(_Answer):
    """The lock is ours; `grant` opens the critical section."""

    grant: Grant


@dataclass(frozen=True)
class Busy(_Answer):
    """Somebody holds the lock. That is an answer, not an error."""


@dataclass(frozen=True)
class Unknown(_Answer):
    """No answer came. The server may or may not have done what was asked; never presume.

    Attributes:
        request: what was sent, after an `acquire` that can be asked again: `acquire(again=...)`.
    """

    error: redis.RedisError
    request: Request | None = None


@dataclass(frozen=True)
class Failed(_Answer):
    """The server answered, with an error."""

    error: redis.RedisError


@dataclass(frozen=True)
class Released(_Answer):
    """The lock was ours and is free now."""


@dataclass(frozen=True)
class NotOwner(_Answer):
    """The lock was not ours any more (or, after an unknown answer, is already released)."""


@dataclass(frozen=True)
class Renewed(_Answer):
    """The lock is still ours; `grant` takes the place of the one before."""

    grant: Grant


@dataclass(frozen=True)
class Lost(_Answer):
    """The lock is not ours any more. Stop: what it protects may be in other hands by now."""


Acquisition = Acquired | Busy | Unknown | Failed
Release = Released | NotOwner | Unknown | Failed
Renewal = Renewed | Lost | Unknown | Failed

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
    """An owner token, compared and deleted by the server in one command.

    After an unknown answer, release again: the token is in the grant, so nothing is forgotten.
    """

    def __init__(
        self,
        client: redis.Redis,
        key: str,
        *,
        ttl_ms: int,
        token: Callable[[], str] = new_token,
        release_by: ReleaseBy = "lua",
    ) -> None:
        super().__init__(client, key, ttl_ms=ttl_ms, token=token)
        self._release_by = _chosen("release_by", release_by, ReleaseBy)

    def release(self, grant: Grant) -> Release:
        try:
            deleted = self._redis.execute_command(*_release_command(self._release_by, grant))
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Released() if deleted else NotOwner()


class TokenAwareAcquire(CompareAndDelete):
    """SET NX GET: the server answers with the holder's token, and a client knows its own.

    Without GET, a request that is sent twice because its first answer was lost (redis-py does so by
    itself, up to ten times) is told that the lock is taken: by itself. Needs Redis 7.0 or later.
    """

    def acquire(self, again: Unknown | None = None) -> Acquisition:
        """Ask for the lock.

        Args:
            again: the unknown answer of an earlier call: this is the same attempt, asked once more.
        """
        now = time.monotonic()
        request = self._request(again, now)
        try:
            holder = self._redis.set(self._key, request.token, nx=True, get=True, px=self._ttl_ms)
        except NO_ANSWER as error:
            return Unknown(error, request)
        except redis.RedisError as error:
            return Failed(error)
        if holder is None:  # nobody had it before: this command has set it
            return Acquired(Grant(self._key, request.token, now, self._ttl_ms))
        if _text(holder) == request.token:  # set by an earlier one, which began the lease
            return Acquired(Grant(self._key, request.token, request.sent_at, self._ttl_ms))
        return Busy()

    def _request(self, again: Unknown | None, now: float) -> Request:
        """The same attempt once more, or a new one."""
        earlier = None if again is None else again.request
        return earlier or Request(self._new_token(), now)


#: Puts the end of the lease off, only if it is still ours; what is gone stays gone.
COMPARE_AND_RENEW = """\
-- compare and renew
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
"""


class OwnerCheckedRenewal(TokenAwareAcquire):
    """A lease that its owner, and nobody else, can put off, for as long as it has not ended.

    Renewal shortens no pause: whoever is stopped does not renew either. After an unknown answer the
    old grant counts on; ask again while something of it remains.
    """

    def __init__(
        self,
        client: redis.Redis,
        key: str,
        *,
        ttl_ms: int,
        token: Callable[[], str] = new_token,
        release_by: ReleaseBy = "lua",
        renew_by: RenewBy = "lua",
    ) -> None:
        super().__init__(client, key, ttl_ms=ttl_ms, token=token, release_by=release_by)
        self._renew_by = _chosen("renew_by", renew_by, RenewBy)

    def renew(self, grant: Grant) -> Renewal:
        """Begin the lease anew, if it is still ours."""
        key, token, sent_at = grant.key, grant.token, time.monotonic()
        renew: tuple[Any, ...] = ("EVAL", COMPARE_AND_RENEW, 1, key, token, self._ttl_ms)
        if self._renew_by == "set ifeq":
            renew = ("SET", key, token, "IFEQ", token, "PX", self._ttl_ms)
        try:
            renewed = self._redis.execute_command(*renew)
        except NO_ANSWER as error:
            return Unknown(error)
        except redis.RedisError as error:
            return Failed(error)
        return Renewed(replace(grant, sent_at=sent_at, ttl_ms=self._ttl_ms)) if renewed else Lost()


#: Takes the lock if it is free or already ours, and counts the grant, in one step. The counter has
#: no expiry: a number that came a second time would let an old holder write.
TAKE_AND_COUNT = """\
-- take and count
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then
    return nil
end
local number = redis.call("INCR", KEYS[2])
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return number
"""


class FencedLease(OwnerCheckedRenewal):
    """A lease whose grants are numbered: `grant.fence`, larger with every grant.

    The number goes along with every write, and what the lock protects refuses a smaller one than
    it has accepted. Without that refusal it protects nothing. Asked again after an unknown answer,
    the server counts once more: a number may be left out, and none comes twice.

    Args:
        counter: a second key, for the numbers. Whatever removes it or sets it back (eviction,
            FLUSHDB, a restart without persistence, a failover) makes numbers come again. On Redis
            Cluster it must be in the same hash slot as the lock: "{job}:lock", "{job}:fence".
    """

    def __init__(
        self,
        client: redis.Redis,
        key: str,
        *,
        counter: str,
        ttl_ms: int,
        token: Callable[[], str] = new_token,
    ) -> None:
        super().__init__(client, key, ttl_ms=ttl_ms, token=token)
        if counter == key:
            raise ValueError(f"counter={counter!r}: the numbers need a key of their own.")
        self._counter = counter

    def acquire(self, again: Unknown | None = None) -> Acquisition:
        sent_at = time.monotonic()
        request = self._request(again, sent_at)
        take = ("EVAL", TAKE_AND_COUNT, 2, self._key, self._counter, request.token, self._ttl_ms)
        try:
            number = self._redis.execute_command(*take)
        except NO_ANSWER as error:
            return Unknown(error, request)
        except redis.RedisError as error:
            return Failed(error)
        if number is None:
            return Busy()
        return Acquired(Grant(self._key, request.token, sent_at, self._ttl_ms, int(number)))


class LeaseLost(Exception):
    """The lease is over, or not certain any more. Stop, and undo nothing: it may be in other hands.

    Catch it before any `except Exception` that compensates.
    """


class Held:
    """A lease that is renewed as long as the work goes on, by the work itself, and never after it.

    Nothing runs in the background, so no renewal can die unnoticed or outlive the work. In return,
    each piece of work between two calls of `go_on` must be shorter than a third of the lease; then
    one renewal may stay without an answer, and the next one is still in time.

    Args:
        margin_ms: stop so long before the lease ends: what a write takes to arrive, and what two
            clocks can differ over the length of a lease.
    """

    def __init__(self, lock: OwnerCheckedRenewal, grant: Grant, *, margin_ms: int = 0) -> None:
        self.grant = grant
        self._lock = lock
        self._margin_ms = margin_ms

    def go_on(self) -> None:
        """Call it before each piece of work. Renews when a third of the lease is over.

        Raises:
            LeaseLost: when the lease is not ours any more, or less than the margin remains of it.
        """
        whole_ms = self.grant.ttl_ms or 0
        if self.grant.remaining_ms() <= whole_ms * 2 / 3:
            renewal = self._lock.renew(self.grant)
            if isinstance(renewal, Lost):
                raise LeaseLost
            if isinstance(renewal, Renewed):
                self.grant = renewal.grant
            # No answer, or an error: what remains of the old grant counts, and we ask again.
        if self.grant.remaining_ms(self._margin_ms) <= 0:
            raise LeaseLost


def detect_release(client: redis.Redis) -> ReleaseBy:
    """Which release this server has. Ask when the service starts, not when a lock is released.

    The commands are tried on a key that does not exist, which changes nothing; a version number
    would say less, since other servers speak the same protocol.
    """
    nobody = Grant(f"no-such-lock:{new_token()}", "nobody", 0.0, None)
    ways: tuple[ReleaseBy, ...] = ("delex", "delifeq")
    for way in ways:
        try:
            client.execute_command(*_release_command(way, nobody))
        except redis.ResponseError:  # unknown command, or not permitted
            continue
        return way
    return "lua"


def _release_command(way: ReleaseBy, grant: Grant) -> tuple[Any, ...]:
    if way == "delex":  # without IFEQ it would delete whatever is there
        return "DELEX", grant.key, "IFEQ", grant.token
    if way == "delifeq":
        return "DELIFEQ", grant.key, grant.token
    return "EVAL", COMPARE_AND_DELETE, 1, grant.key, grant.token


def _delete(client: redis.Redis, grant: Grant) -> Release:
    """The naive release: whoever's lock it is by now, it is gone."""
    try:
        return Released() if client.delete(grant.key) else NotOwner()
    except NO_ANSWER as error:
        return Unknown(error)
    except redis.RedisError as error:
        return Failed(error)


def _checked(ttl_ms: int) -> int:
    if not isinstance(ttl_ms, int) or isinstance(ttl_ms, bool) or ttl_ms < SHORTEST_TTL_MS:
        seconds = isinstance(ttl_ms, int | float) and not isinstance(ttl_ms, bool) and ttl_ms > 0
        meant = f" If you mean {ttl_ms:g} s, write {ttl_ms * 1000:.0f}." if seconds else ""
        raise ValueError(
            f"ttl_ms={ttl_ms!r}: a lease lasts a whole number of milliseconds, "
            f"{SHORTEST_TTL_MS} or more.{meant}"
        )
    return ttl_ms


def _chosen(name: str, value: str, possible: Any) -> Any:
    if value not in get_args(possible):
        known = ", ".join(f'"{one}"' for one in get_args(possible))
        raise ValueError(f"{name}={value!r}: it is one of {known}.")
    return value


def _text(value: Any) -> str | None:
    """redis-py gives text or bytes, depending on decode_responses."""
    return value.decode() if isinstance(value, bytes) else value
