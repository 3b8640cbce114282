"""redis-py, unmodified, with the machine at the other end of its connection.

The seam is the socket. redis-py packs commands and parses replies as always (pipelines, scripts,
transactions and retries included); only the bytes go to `ask` instead of a network. What belongs
to a connection rather than to the data (HELLO, AUTH, CLIENT, SELECT, SCRIPT LOAD and a NOSCRIPT
round trip) is answered here and is no move.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import math
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.client import CaseInsensitiveDict
from redis.connection import AbstractConnection, ConnectionPool
from redis.retry import Retry

from labkit.sim import resp
from labkit.sim.commands import Command, Words
from labkit.sim.errors import NotModelled
from labkit.sim.replies import DOWN, GAVE_UP, Lost

Ask = Callable[[Command], "bytes | Lost"]

_NOSCRIPT = b"-NOSCRIPT No matching script. Please use EVAL.\r\n"
#: Answered here without a move, because they touch no data.
_CHATTER = {b"HELLO", b"AUTH", b"CLIENT", b"SELECT", b"SCRIPT"}


class WorkerSocket:
    """What redis-py takes for a socket: bytes out become commands, replies come back as bytes."""

    def __init__(
        self,
        ask: Ask,
        session: str,
        await_reply: Callable[[float], None] | None,
        scripts: dict[bytes, bytes],
    ) -> None:
        self._ask = ask
        self._session = session
        self._await_reply = await_reply
        self._timeout: float | None = None
        self._commands = resp.CommandReader()
        self._sent: deque[Words] = deque()
        self._arrived = b""
        self._scripts = scripts
        self._db = 0

    # -- the part of a socket's interface that redis-py uses ----------------------------------

    def settimeout(self, seconds: float | None) -> None:
        self._timeout = seconds

    def sendall(self, data: bytes) -> None:
        self._sent.extend(self._commands.feed(bytes(data)))

    def recv_into(self, buffer: bytearray) -> int:
        if not self._arrived:
            self._arrived = self._next_reply()
        size = min(len(buffer), len(self._arrived))
        buffer[:size], self._arrived = self._arrived[:size], self._arrived[size:]
        return size

    def recv(self, size: int, *_: Any) -> bytes:
        buffer = bytearray(size)
        return bytes(buffer[: self.recv_into(buffer)])

    def shutdown(self, *_: Any) -> None:
        self._sent.clear()

    def close(self) -> None:
        self._sent.clear()

    # -- commands -----------------------------------------------------------------------------

    def _next_reply(self) -> bytes:
        words = self._sent.popleft()
        name = words[0].upper()
        if name in _CHATTER:
            return self._chatter(name, words)
        if name == b"MULTI":
            return self._exchange(self._transaction(words))
        if name == b"EVALSHA":
            source = self._scripts.get(words[1].lower())
            if source is None:
                return _NOSCRIPT
            words = (b"EVAL", source, *words[2:])
        return self._exchange((words,))

    def _transaction(self, multi: Words) -> tuple[Words, ...]:
        """Everything up to EXEC: the server runs it at once, so it is one move."""
        words = [multi]
        while words[-1][0].upper() != b"EXEC":
            if not self._sent:
                raise NotModelled("A MULTI must be sent together with its EXEC: use a pipeline.")
            words.append(self._sent.popleft())
        return tuple(words)

    def _exchange(self, words: tuple[Words, ...]) -> bytes:
        patient = self._timeout if self._await_reply is not None else None
        patience_ms = math.ceil(patient * 1000 - 1e-6) if patient else None
        command = Command(words, self._session, db=self._db, patience_ms=patience_ms)
        reply = self._ask(command)
        if reply is DOWN:
            raise ConnectionError("the server is down, or the connection has ended")
        if isinstance(reply, Lost):
            if patient and self._await_reply is not None and reply is not GAVE_UP:
                self._await_reply(patient)
            raise TimeoutError("timed out")
        return reply

    def _chatter(self, name: bytes, words: Words) -> bytes:
        if name == b"HELLO":
            raise NotModelled("Workers speak RESP2 here; leave out protocol=3.")
        if name == b"SELECT":
            self._db = int(words[1])
        if name == b"CLIENT" and words[1].upper() not in (b"SETINFO", b"SETNAME"):
            raise NotModelled(f"CLIENT {words[1].decode()} is not modelled.")
        if name == b"SCRIPT":
            return self._script(words)
        return resp.OK

    def _script(self, words: Words) -> bytes:
        action = words[1].upper()
        if action == b"LOAD":
            sha = hashlib.sha1(words[2]).hexdigest().encode()
            self._scripts[sha] = words[2]
            return resp.encode(sha)
        if action == b"EXISTS":
            return resp.encode([int(sha.lower() in self._scripts) for sha in words[2:]])
        raise NotModelled(f"SCRIPT {action.decode()} is not modelled.")


class WorkerConnection(AbstractConnection):
    """redis-py's own connection; only connecting is different."""

    def __init__(
        self,
        *,
        ask: Ask,
        new_session: Callable[[], str],
        scripts: dict[bytes, bytes],
        await_reply: Callable[[float], None] | None = None,
        socket_timeout: float | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.socket_timeout = socket_timeout
        self._lab = (ask, new_session, await_reply, scripts)

    def _connect(self) -> WorkerSocket:
        ask, new_session, await_reply, scripts = self._lab
        worker_socket = WorkerSocket(ask, new_session(), await_reply, scripts)
        worker_socket.settimeout(self.socket_timeout)
        return worker_socket

    def _host_error(self) -> str:
        return "socket"

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("lab", "simulated")]

    def can_read(self, timeout: float = 0) -> bool:
        return False


def plain_client(ask: Ask, new_session: Callable[[], str]) -> redis.Redis:
    """The client behind `me.redis` and `lab.redis`: text replies, no retries, no waiting."""
    # redis-py takes longer to build a client than to use it, so this one is a copy. It does not
    # tell the server its own version: looking that up takes longest of all.
    client = copy.copy(plain_template())
    callbacks, client.response_callbacks = client.response_callbacks, CaseInsensitiveDict({})
    dict.update(client.response_callbacks, callbacks)  # the names are in capitals already
    settings = _connection_settings(client, ask=ask, new_session=new_session)
    del settings["retry"]  # a connection does not retry by itself, and copies what it is given
    client.connection_pool = ConnectionPool(WorkerConnection, **settings)
    return client


def client(
    ask: Ask,
    new_session: Callable[[], str],
    await_reply: Callable[[float], None] | None,
    *,
    single_connection_client: bool = False,
    **settings: Any,
) -> redis.Redis:
    """A redis-py client with redis-py's own defaults (retries, time-outs) unless set otherwise."""
    if settings.get("health_check_interval"):
        raise NotModelled("health_check_interval is not modelled: it depends on unseen clocks.")
    client = redis.Redis(**{"protocol": 2, **settings})
    pool = client.connection_pool
    pool.connection_class = WorkerConnection
    pool.connection_kwargs = _connection_settings(
        client, ask=ask, new_session=new_session, await_reply=await_reply
    )
    return client.client() if single_connection_client else client


@functools.cache
def plain_template() -> redis.Redis:
    """What `plain_client` copies. Built outside of workers: building it draws random numbers."""
    return redis.Redis(
        decode_responses=True, retry=Retry(NoBackoff(), 0), socket_timeout=None, protocol=2,
        driver_info=None,
    )  # fmt: skip


def _connection_settings(client: redis.Redis, **lab: Any) -> dict[str, Any]:
    """A client's settings, without those that concern the network."""
    settings = client.connection_pool.connection_kwargs
    lab["scripts"] = {}  # the server keeps them, so a new connection still has them
    return lab | {name: settings[name] for name in _KNOWN_SETTINGS & settings.keys()}


_KNOWN_SETTINGS = {
    name
    for name in inspect.signature(AbstractConnection.__init__).parameters
    if name != "self" and not name.startswith(("maint", "orig", "oss"))
}

#: Unused names would hide the one that matters: a lost reply is felt as `socket.timeout`.
assert TimeoutError is socket.timeout
