"""The simulated Redis: fakeredis under the virtual clock, with contents that can be put back.

store        something that answers commands and can be saved and restored
contents     what a store holds at one instant, remaining times included
fingerprint  contents as one hashable value; equal fingerprints behave alike
"""

from __future__ import annotations

import contextlib
import copy
import fnmatch
import functools
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import redis
from fakeredis import FakeServer
from fakeredis._core._database import Item
from fakeredis._helpers import NoResponse, SimpleError, SimpleString
from fakeredis._socket import FakeSocket

from labkit.sim import resp
from labkit.sim.commands import Command, Words
from labkit.sim.dialects import REDIS_7, Dialect, dialect
from labkit.sim.errors import NotModelled
from labkit.sim.replies import DOWN, Blocked, Lost
from labkit.sim.virtual import EPOCH_S
from labkit.sim.waiting import Ear, Waiter, serve

_BLOCKING = {"BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX", "BLMPOP", "BZMPOP",
             "WAIT", "WAITAOF", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR"}  # fmt: skip
_MAY_BLOCK = {"XREAD", "XREADGROUP"}
#: Answered in an order that differs between two runs of Python, or that depends on the past.
_UNORDERED = {b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"KEYS"}
_RANDOM = {"RANDOMKEY", "SRANDMEMBER", "SPOP", "HRANDFIELD", "ZRANDMEMBER"}


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its text for people, its value, and when it expires.

    ``expires_at_ms`` is the last instant at which the key still exists (None: it has no TTL).
    ``row``: it is a row of a table, which nobody expects to expire.
    """

    text: str
    value: Any
    expires_at_ms: int | None
    row: bool = False


Contents = Mapping[str, Key]


class Saved(Protocol):
    """What a store gives to be put back later. Compare `fingerprint`, never the object itself."""

    @property
    def fingerprint(self) -> Any: ...
    @property
    def sessions(self) -> Iterable[str]:
        """The connections whose end would change something: they watch, or hold a transaction."""
    def contents(self) -> Contents: ...
    def deadline(self) -> int | None: ...


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """A store's contents at one instant. Compare `fingerprint`, never the snapshot itself."""

    fingerprint: Any
    keys: Mapping[tuple[int, bytes], Key]
    watches: tuple[tuple[str, frozenset[tuple[bytes, int]], bool], ...] = ()
    waiters: tuple[Waiter, ...] = ()

    @property
    def sessions(self) -> Iterable[str]:
        return [name for name, *_ in self.watches] + [w.command.session for w in self.waiters]

    def contents(self) -> Contents:
        """The keys of database 0 as text."""
        return {name.decode("utf-8", "backslashreplace"): key
                for (db, name), key in self.keys.items() if db == 0}  # fmt: skip

    @property
    def data(self) -> Any:
        """The part of the fingerprint that a replica has, too."""
        return self.fingerprint[0]

    def deadline(self) -> int | None:
        """The first instant at which a key is gone: Redis keeps a key with PX 100 at 100 ms."""
        ends = [k.expires_at_ms for k in self.keys.values() if k.expires_at_ms is not None]
        return min(ends) + 1 if ends else None


class Store(Protocol):
    """What the machine needs of a store.

    Attributes:
        served: commands that waited and that the last one has answered, in order: the connection
            and the reply.
    """

    served: tuple[tuple[str, bytes], ...]

    def execute(self, command: Command, now_ms: int) -> bytes | Blocked: ...
    def snapshot(self) -> Any: ...
    def restore(self, snapshot: Any) -> None: ...
    def expire(self, now_ms: int) -> None: ...
    def end(self, sessions: Iterable[str]) -> None:
        """These connections have ended, by a crash, an error or with their process."""
    def close(self) -> None: ...


class FakeRedis:
    """fakeredis as a store of the machine.

    Args:
        server: the server to imitate; see `labkit.sim.dialects`.
    """

    def __init__(self, server: str = REDIS_7) -> None:
        self.dialect: Dialect = dialect(server)
        self.waiters: list[Waiter] = []
        self.served: tuple[tuple[str, bytes], ...] = ()
        self._server = FakeServer(self.dialect.version, self.dialect.kind)
        self._sessions: dict[str, Session] = {}
        self._clock = _ServerClock()

    def speak(self, server: str) -> None:
        """Imitate another server from now on. Connections that are open keep to the old one."""
        self.dialect = dialect(server)
        self._server.version, self._server.server_type = self.dialect.version, self.dialect.kind
        self._sessions.clear()

    def execute(self, command: Command, now_ms: int) -> bytes | Blocked:
        """Run a command; the RESP2 bytes of its reply (of all replies, for a transaction)."""
        session = self._session(command.session)
        with self._clock.at(now_ms), self._listening() as heard:
            session.use_db(command.db)
            reply = b"".join(session.run(self._modelled(words)) for words in command.words)
            self.served = tuple(serve(self.waiters, heard, self._session)) if heard else ()
        if reply.startswith(b"-ERR unknown command"):
            raise NotModelled(self._unknown(command))
        if session.blocks_s is None:
            return reply
        self.waiters.append(Waiter.of(command, session.blocks_s, now_ms))
        return self.waiters[-1].blocked(now_ms)

    @contextlib.contextmanager
    def _listening(self) -> Iterator[list[tuple[int, bytes]]]:
        """Which of the keys that somebody waits for have changed, in the order of the changes."""
        heard: list[tuple[int, bytes]] = []
        ears = [Ear(heard, w.command.db, key) for w in self.waiters for key in w.keys]
        for ear in ears:
            self._server.dbs[ear.db].add_watch(ear.key, ear)
        yield heard
        for ear in ears:
            self._server.dbs[ear.db].remove_watch(ear.key, ear)

    def snapshot(self) -> Snapshot:
        keys = {
            (number, name): _key(item)
            for number, db in self._server.dbs.items()
            for name, item in sorted(db._dict.items())
        }
        watches = tuple(
            (name, frozenset((key, self._number(db)) for key, db in s._watches), s._watch_notified)
            for name, s in sorted(self._sessions.items())
            if s._watches
        )
        prints = tuple((k, _fingerprint(v.value), v.expires_at_ms) for k, v in keys.items())
        waiters = tuple(self.waiters)
        return Snapshot((prints, watches, waiters), keys, watches, waiters)

    def restore(self, snapshot: Snapshot) -> None:
        for session in self._sessions.values():
            session._clear_watches()
        self.hold(snapshot.keys)
        for session_name, keys, dirty in snapshot.watches:
            self._session(session_name).watch_again(keys, dirty)
        self.waiters = list(snapshot.waiters)

    def hold(self, keys: Mapping[tuple[int, bytes], Key]) -> None:
        """Hold these keys and no others."""
        for db in self._server.dbs.values():
            db._dict.clear()
            db._expiry_heap.clear()
        for (number, name), key in keys.items():
            self._server.dbs[number][name] = _item(key)

    def disconnect(self) -> tuple[tuple[str, Lost], ...]:
        """All connections break: who waits is told, and whose EXEC is to come will not succeed."""
        for session in self._sessions.values():
            if session._watches:
                session.notify_watch()
        waiters, self.waiters = self.waiters, []
        return tuple((waiter.command.session, DOWN) for waiter in waiters)

    def expire(self, now_ms: int) -> None:
        """Remove what has expired, and tell the connections that watch it (Redis >= 6.0.9)."""
        self._remove(lambda _, ends_at_ms: ends_at_ms is not None and ends_at_ms < now_ms)
        self.waiters = [w for w in self.waiters if w.ends_at_ms is None or w.ends_at_ms > now_ms]

    def evict(self, pattern: str | None) -> None:
        """Remove the keys that match, or those that have a TTL, as when memory runs short."""
        self._remove(functools.partial(_evictable, pattern))

    def _remove(self, chosen: Callable[[bytes, int | None], bool]) -> None:
        for db in self._server.dbs.values():
            for name, item in list(db._dict.items()):
                if chosen(name, item.expireat and _deadline_ms(item.expireat)):
                    for session in list(db._watches.get(name, ())):
                        session.notify_watch()
                    del db._dict[name]

    def end(self, sessions: Iterable[str]) -> None:
        """A connection that has ended watches nothing any more, and waits for nothing."""
        for name in sessions:
            self._session(name)._clear_watches()
        self.waiters = [w for w in self.waiters if w.command.session not in sessions]

    def close(self) -> None:
        """Nothing to give back."""

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            session = Session(self._server, db=0, client_class=redis.Redis)
            session.more = self.dialect.more
            self._sessions[name] = session
        return self._sessions[name]

    def _number(self, db: Any) -> int:
        return next(number for number, known in self._server.dbs.items() if known is db)

    def _modelled(self, words: Words) -> Words:
        name = words[0].decode("utf-8", "replace").upper()
        if name in _BLOCKING or (name in _MAY_BLOCK and b"BLOCK" in map(bytes.upper, words)):
            raise NotModelled(f"{name} blocks the connection, which is not modelled yet.")
        if name in _RANDOM:
            raise NotModelled(f"{name} answers at random, so its schedule could not be replayed.")
        # fakeredis 2.41 cuts the deadlines of these three to whole seconds; SET says the same
        # as the last two, and nothing else says the same as the first.
        if name == "GETEX" and len(words) > 2:
            raise NotModelled("GETEX with an expiry is not modelled: use GET and PEXPIRE.")
        if name == "PSETEX" and len(words) == 4:
            return (b"SET", words[1], words[3], b"PX", words[2])
        if name == "SETEX" and len(words) == 4:
            return (b"SET", words[1], words[3], b"EX", words[2])
        return words

    def _unknown(self, command: Command) -> str:
        return (
            f"The simulated Redis (fakeredis, as {self.dialect.title}) does not know "
            f'"{command.name}". {self.dialect.who_knows(command.name)}If a real server does, '
            f"ask it there, without a schedule: labkit.servers.race(...) or server.client()."
        )


class Session(FakeSocket):
    """One connection to the fake server; replies come back as RESP2 bytes.

    Attributes:
        more: commands that fakeredis lacks, by name.
        blocks_s: the time-out of the command that has just found nothing and waits (0: none).
        serving: whether it runs a command that has waited.
    """

    more: Mapping[str, Any] = {}
    blocks_s: float | None = None
    serving = False

    def run(self, words: Words) -> bytes:
        self.blocks_s = None
        self._replies: list[bytes] = []
        self._unordered = words[0].upper() in _UNORDERED
        self.sendall(resp.encode(words))
        return b"".join(self._replies)

    def use_db(self, db: int) -> None:  # `select` is fakeredis's own: the command
        if self._db_num != db:
            self.run((b"SELECT", b"%d" % db))

    def put_response(self, msg: Any) -> None:
        if self._unordered and isinstance(msg, list):
            msg = sorted(msg)
        self._replies.append(resp.encode(msg))

    def _decode_result(self, result: Any) -> Any:
        if isinstance(result, list):
            return [self._decode_result(element) for element in result]
        if isinstance(result, SimpleString):
            return resp.Status(result.value)
        if isinstance(result, SimpleError):
            return resp.ErrorReply(result.value)
        return result

    def _blocking(self, timeout: float | None, find: Any, shape: Any = None) -> Any:
        """What fakeredis calls for a command that may block: try once, and never wait."""
        found = find(not self.serving)
        if found is None and not self._in_transaction:
            self.blocks_s = timeout or 0
            return NoResponse()
        return found

    def _name_to_func(self, cmd_name: str) -> Any:
        if cmd_name in self.more:
            function, signature = self.more[cmd_name]
            return functools.partial(function, self), signature
        return super()._name_to_func(cmd_name)

    def has_list(self, key: bytes) -> bool:
        item = self._db.get(key)
        return item is not None and isinstance(item.value, list)

    def watch_again(self, keys: frozenset[tuple[bytes, int]], dirty: bool) -> None:
        for key, number in keys:
            db = self._server.dbs[number]
            self._watches.add((key, db))
            db.add_watch(key, self)
        self._watch_notified = dirty


class _ServerClock:
    """Gives fakeredis the virtual time: its modules get another `time` while a command runs."""

    def __init__(self) -> None:
        self._modules = [
            module
            for name, module in list(sys.modules.items())
            if name.startswith("fakeredis") and getattr(module, "time", None) is time
        ]

    @contextlib.contextmanager
    def at(self, now_ms: int) -> Iterator[None]:
        now_s = EPOCH_S + now_ms / 1000
        virtual = SimpleNamespace(time=lambda: now_s, monotonic=lambda: now_s)
        for module in self._modules:
            module.time = virtual  # type: ignore[attr-defined]
        try:
            yield
        finally:
            for module in self._modules:
                module.time = time  # type: ignore[attr-defined]


def _evictable(pattern: str | None, name: bytes, ends_at_ms: int | None) -> bool:
    if pattern is None:
        return ends_at_ms is not None
    return fnmatch.fnmatchcase(name.decode("utf-8", "backslashreplace"), pattern)


def _deadline_ms(expireat_s: float) -> int:
    """Milliseconds of virtual time. The 0.4 absorbs rounding in seconds as a float."""
    return math.floor((expireat_s - EPOCH_S) * 1000 + 0.4)


def _key(item: Any) -> Key:
    value = item.value if isinstance(item.value, bytes) else copy.deepcopy(item.value)
    ends = None if item.expireat is None else _deadline_ms(item.expireat)
    return Key(_text(value), value, ends)


def _item(key: Key) -> Any:
    item: Any = Item(key.value if isinstance(key.value, bytes) else copy.deepcopy(key.value))
    if key.expires_at_ms is not None:
        # A little later, so that comparing floats cannot end a lease 1 ms early.
        item.expireat = EPOCH_S + (key.expires_at_ms + 0.2) / 1000
    return item


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return f"({type(value).__name__})"


def _fingerprint(value: Any) -> Any:
    """A hashable value that is equal exactly when the contents are."""
    if isinstance(value, bytes | str | int | float | bool | type(None)):
        return value
    if isinstance(value, list | tuple):
        return tuple(map(_fingerprint, value))
    if isinstance(value, set | frozenset):
        return frozenset(map(_fingerprint, value))
    if isinstance(value, dict):
        # In order: HGETALL answers in the order in which fields were set.
        return tuple((_fingerprint(k), _fingerprint(v)) for k, v in value.items())
    return type(value).__name__, _fingerprint(vars(value))
