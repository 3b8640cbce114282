"""A server that runs, and raw connections to it: commands out, the bytes of their replies back.

Raw, because the simulation keeps replies as bytes too: OK as a status and "OK" as data differ. A
server that does not answer is an error after TIMEOUT_S, never a wait.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.connection import ConnectionPool
from redis.retry import Retry

from labkit.sim import resp
from labkit.sim.commands import Words
from labkit.sim.dialects import dialect
from labkit.sim.errors import LabkitError

URL = "LABKIT_REDIS_URL"
TIMEOUT_S = 5.0
#: No second attempts: what goes wrong is seen at once. And no search for redis-py's own version,
#: which takes longer than all the rest of connecting.
PLAIN: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "driver_info": None}


class NoServer(LabkitError):
    """There is no server of that kind here, it does not start, or it must not be used."""


class NotUnderstood(NoServer):
    """The server lacks a command that a setup asks for."""


class ServerGone(LabkitError):
    """A server stopped, or does not answer any more."""


@dataclass(frozen=True)
class Server:
    """A server that runs. `process` and `log` are None for the reader's own."""

    kind: str
    url: str
    name: str
    version: str = ""
    process: subprocess.Popen[bytes] | None = None
    log: Path | None = None

    def client(self, **settings: Any) -> redis.Redis:
        """A redis-py client; text replies and a time-out unless set otherwise."""
        return redis.Redis.from_url(
            self.url, **{"decode_responses": True, "socket_timeout": TIMEOUT_S, **settings}
        )

    def gone(self, error: object) -> ServerGone:
        """The error for a server that does not answer, with what is known about why."""
        if self.process is None:
            return ServerGone(f"{self.name} does not answer ({error}). Does it run?")
        return ServerGone(f"{self.name} {self.state(error)} Start another: `with running() as …`.")

    def state(self, error: object) -> str:
        code = self.process.poll() if self.process else None
        lines = self.log.read_text("utf-8", "replace").split("\n") if self.log else []
        said = " / ".join(line.strip()[:120] for line in lines[-4:] if line.strip()) or "nothing"
        how = f"hangs ({error})" if code is None else f"has stopped (exit code {code})"
        return f"{how}. Its last output: {said}."


class Wire:
    """A connection. To connect (socket or TLS, password, database) is redis-py's work."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._db = 0
        pool = ConnectionPool.from_url(server.url, protocol=2, socket_timeout=TIMEOUT_S, **PLAIN)
        self._connection: Any = pool.make_connection()
        try:
            self._connection.connect()
        except (redis.RedisError, OSError) as error:
            raise server.gone(error) from error

    def exchange(self, commands: Sequence[Words], db: int = 0) -> list[bytes]:
        """Send the commands in one go; the bytes of the reply to each."""
        self.use(db)
        self.send(commands)
        return self.receive(len(commands))

    def use(self, db: int) -> None:
        if db != self._db:
            if self._server.process is None:
                raise LabkitError(f"A worker uses database {db}. On a server of your own labkit "
                                  f"stays in the one that the address names.")  # fmt: skip
            self._db = db
            self.exchange([(b"SELECT", b"%d" % db)], db)

    @functools.cached_property
    def id(self) -> bytes:
        """The number that the server has given this connection; ask before a command blocks it."""
        return b"%d" % resp.decode(self.exchange([(b"CLIENT", b"ID")], self._db)[0])

    def send(self, commands: Sequence[Words]) -> None:
        try:
            self._connection._sock.sendall(b"".join(map(resp.encode, commands)))
        except OSError as error:
            raise self._server.gone(error) from error

    def receive(self, count: int) -> list[bytes]:
        """The bytes of the next replies; a command that blocks answers late."""
        arrived, replies = b"", list[bytes]()
        try:
            while len(replies) < count:
                received = self._connection._sock.recv(65_536)
                if not received:
                    raise ConnectionError("it closed the connection")
                arrived += received
                replies = split(arrived)
        except OSError as error:
            raise self._server.gone(error) from error
        return replies

    def clear(self) -> None:
        """Make sure that there are no keys. The reader's own server is only looked at."""
        if self._server.process is not None:
            self.exchange([(b"FLUSHALL",)])
        elif example := resp.decode(self.exchange([(b"RANDOMKEY",)])[0]):
            raise NoServer(
                f"The database that {URL} names is not empty (it holds {example!r}, for instance), "
                f"and labkit uses an empty one only: choose another number, such as "
                f"redis://localhost:6379/9."
            )

    def must_understand(self, dialect_name: str) -> None:
        """Make sure that the server has what a setup asks for with `lab.server`."""
        asked = dialect(dialect_name)
        for words in asked.probes:
            if self.exchange([words])[0][:1] == b"-":
                raise NotUnderstood(
                    f"The setup asks for {asked.title}, and {self._server.name} does not "
                    f"understand {words[0].decode()} as it is used there."
                )

    def close(self) -> None:
        self._connection.disconnect()


def split(raw: bytes) -> list[bytes]:
    """The complete replies in `raw`, each as its bytes."""
    replies, start = [], 0
    while end := _end(raw, start):
        replies.append(raw[start:end])
        start = end
    return replies


def elements(raw: bytes) -> list[bytes]:
    """The elements of an array reply, each as its bytes."""
    return split(raw[raw.find(b"\n") + 1 :])


def _end(raw: bytes, start: int) -> int:
    """Where the reply that begins at `start` ends; 0 if not all of it is there."""
    end = raw.find(b"\n", start) + 1
    kind, size = raw[start : start + 1], raw[start + 1 : end]
    if end and kind == b"$" and int(size) >= 0:
        end += int(size) + 2
    elif end and kind == b"*":
        for _ in range(int(size)):
            end = end and _end(raw, end)
    return end if end <= len(raw) else 0
