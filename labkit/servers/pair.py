"""A real server with a simulated Redis beside it: every command goes to both, and both must agree.

The simulated one is the book: it knows when each key ends in virtual time. On the server no key may
end by itself, however slow the machine is, so each command is sent together with a PEXPIREAT that
puts off the end of every key that has a TTL, to an instant a day away. GT makes that a no-op for a
key that was put off before, so that WATCH never notices. Only `t` lets keys end.

What must be equal after every command: the reply, the keys with their values, and which of them
have a TTL. Not compared, because the real answer cannot be the same: how long a TTL still lasts,
the wording of an error behind its code, the order of what has no order. There the worker is told
what the simulation says.

A command that blocks is sent with the time-out 0, so that it ends only when the schedule says so:
when somebody pushes, or on `t`, where the server is asked to end it as at its time-out.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence
from typing import Any

from labkit.servers.server import TIMEOUT_S, Server, Wire, elements, split
from labkit.sim import resp
from labkit.sim.commands import Command, Words, describe
from labkit.sim.errors import LabkitError
from labkit.sim.replies import Blocked
from labkit.sim.store import Contents, FakeRedis
from labkit.sim.waiting import NO_ARRAY

_DAY_MS = 24 * 60 * 60 * 1000
_TIMES = {b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME", b"TIME"}
_UNORDERED = {b"KEYS", b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"HKEYS", b"HVALS", b"HGETALL"}
_READ = {  # type of a key -> what shows its value: a command, and what follows the key
    b"string": (b"GET",),
    b"list": (b"LRANGE", b"0", b"-1"),
    b"hash": (b"HGETALL",),
    b"set": (b"SMEMBERS",),
    b"zset": (b"ZRANGE", b"0", b"-1", b"WITHSCORES"),
    b"stream": (b"XRANGE", b"-", b"+"),
}


class Disagreement(LabkitError):
    """The server did something else than the simulation: `where`, `simulated` and `real`."""

    def __init__(self, where: str, what: str, simulated: Any, real: Any, server: str) -> None:
        super().__init__(
            f"{where}: {what} is not the same.\n  simulation: {simulated}\n  {server}: {real}\n"
            f"One of them is wrong. It is not your fault; please report this text."
        )
        self.where, self.simulated, self.real = where, simulated, real


class KeysDiffer(Disagreement):
    """Not the same keys. One may have ended in real time, on a machine that stood still."""


class Pair:
    """The server and the book, as one store in which each session has its own connection."""

    def __init__(self, server: Server) -> None:
        self.where = "The setup"  # the step that is being made, for errors
        self.now_ms = 0
        self.served: tuple[tuple[str, bytes], ...] = ()  # by the last command: (session, reply)
        self._server = server
        self._book = FakeRedis()
        self._wires: dict[str, Wire] = {}
        self._admin = Wire(server)
        self._admin.clear()
        self._written: set[tuple[int, bytes]] = set()
        self._answers: dict[Any, tuple[list[Words], list[bytes]]] = {}
        self._put_off_to = b"%d" % (time.time() * 1000 + _DAY_MS)

    def contents(self) -> Contents:
        return self._book.snapshot().contents()

    def speak(self, server: str) -> None:
        """Choose what the book imitates; the server must understand that as it is."""
        self._book.speak(server)
        self._admin.must_understand(server)

    def execute(self, command: Command) -> bytes | Blocked:
        """Run a command on both; the bytes of the reply, if replies and contents agree."""
        waited = {waiter.command.session: waiter for waiter in self._book.waiters}
        simulated = self._book.execute(command, self.now_ms)
        self.served = self._book.served
        if command.session not in self._wires:
            self._wires[command.session] = Wire(self._server)
        if isinstance(simulated, Blocked):
            self._wait(command)
            return simulated
        sent = [*command.words, *self._put_off(command.db)]
        replies = self._wires[command.session].exchange(sent, command.db)
        real = b"".join(replies[: len(command.words)])
        if _meanings(command, simulated) != _meanings(command, real):
            raise self._differs(f"the reply to {command}", simulated, real)
        for session, reply in self.served:
            self._answered(waited[session].command, reply)
        self._compare()
        if any(reply[:1] == b"-" for reply in replies[len(command.words) :]):
            raise LabkitError(f"{self._server.name} refuses PEXPIREAT with GT, so that keys would "
                              f"end by themselves. Use Redis 7 or Valkey, or later.")  # fmt: skip
        return simulated

    def expire(self, now_ms: int) -> None:
        """Let the keys and the waits end that are due at this instant, and see them gone."""
        self.now_ms, before = now_ms, self._book.snapshot().keys.keys()
        waited = self._book.waiters
        self._book.expire(now_ms)
        for waiter in waited:
            if waiter not in self._book.waiters and waiter.gives_up:
                self._hang_up(waiter.command.session)
            elif waiter not in self._book.waiters:
                session = waiter.command.session
                self._admin.exchange([(b"CLIENT", b"UNBLOCK", self._wires[session].id, b"TIMEOUT")])
                self._answered(waiter.command, NO_ARRAY)
        for db, key in before - self._book.snapshot().keys.keys():
            self._admin.exchange([(b"PEXPIRE", key, b"1")], db)
            deadline = time.monotonic() + TIMEOUT_S
            while self._admin.exchange([(b"EXISTS", key)], db) != [b":0\r\n"]:
                if time.monotonic() > deadline:
                    raise LabkitError(f"{self.where}: {self._server.name} keeps a key that is due.")
                time.sleep(0.0005)
        self._compare()

    def crash(self, worker: str) -> None:
        """The worker's connections end."""
        for session in [name for name in self._wires if name[0] == worker]:
            self.end(session)

    def end(self, session: str) -> None:
        """A connection ends."""
        self._book.end([session])
        if session in self._wires:
            self._hang_up(session)

    def evict(self, pattern: str | None) -> None:
        """Remove the keys that match, or those that have a TTL."""
        before = self._book.snapshot().keys.keys()
        self._book.evict(pattern)
        for db, key in before - self._book.snapshot().keys.keys():
            self._admin.exchange([(b"DEL", key)], db)
        self._compare()

    def _hang_up(self, session: str) -> None:
        """End a connection, and see that the server has noticed: it must not be served any more."""
        number = self._wires[session].id
        self._wires.pop(session).close()
        self._until(number, rb"^\$0\r\n", "still serves a connection that has ended")

    def _wait(self, command: Command) -> None:
        """Send a command that blocks, and see that the server lets it wait."""
        wire = self._wires[command.session]
        number = wire.id  # asked for while it still answers
        wire.use(command.db)
        wire.send([(*command.words[0][:-1], b"0")])
        self._until(number, rb" flags=\w*b", f"does not let {command} wait")

    def _until(self, number: bytes, said: bytes, otherwise: str) -> None:
        """Wait until what the server says of a connection looks like this."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            raw = self._admin.exchange([(b"CLIENT", b"LIST", b"ID", number)])[0]
            if re.search(said, raw):
                return
            if time.monotonic() > deadline:
                raise LabkitError(f"{self.where}: {self._server.name} {otherwise}.")
            time.sleep(0.0005)

    def _answered(self, command: Command, simulated: bytes) -> None:
        """The reply to a command that has waited."""
        real = self._wires[command.session].receive(1)[0]
        if _meanings(command, simulated) != _meanings(command, real):
            raise self._differs(f"the late reply to {command}", simulated, real)

    def close(self) -> None:
        """End the connections. On a server of the reader's own, remove what was written here."""
        with contextlib.suppress(LabkitError):
            for db, key in self._written if self._server.process is None else ():
                self._admin.exchange([(b"DEL", key)], db)
        for wire in (self._admin, *self._wires.values()):
            wire.close()

    def _put_off(self, db: int) -> list[Words]:
        """The commands that keep the server from ending a key by itself."""
        snapshot = self._book.snapshot()
        self._book.restore(snapshot)  # as the machine does between two commands
        self._written |= snapshot.keys.keys()
        return [(b"PEXPIREAT", name, self._put_off_to, b"GT")
                for (number, name), key in snapshot.keys.items()
                if number == db and key.expires_at_ms is not None]  # fmt: skip

    def _compare(self) -> None:
        """Both must give the same answers to all questions about what they hold."""
        fingerprint = self._book.snapshot().fingerprint
        for db in {0} | {number for number, _ in self._written}:
            if (db, fingerprint) not in self._answers:
                asked = self._questions(db)
                self._answers[db, fingerprint] = asked, self._ask_book(asked, db)
            asked, simulated_answers = self._answers[db, fingerprint]
            real_answers = self._admin.exchange(asked, db)
            for words, simulated, real in zip(asked, simulated_answers, real_answers, strict=True):
                if _meaning(words, simulated) != _meaning(words, real):
                    raise self._differs(f"the answer to {describe((words,))}", simulated, real)

    def _questions(self, db: int) -> list[Words]:
        """What shows all that the book holds in a database."""
        keys = [name for number, name in self._book.snapshot().keys if number == db]
        kinds = self._ask_book([(b"TYPE", key) for key in keys], db)
        questions: list[Words] = [(b"KEYS", b"*")]
        for key, kind in zip(keys, map(resp.decode, kinds), strict=True):
            if kind not in _READ:
                raise LabkitError(f"A key of type {kind.decode()} cannot be compared yet.")
            command, *more = _READ[kind]
            questions += [(b"TYPE", key), (command, key, *more), (b"PTTL", key)]
        return questions

    def _ask_book(self, commands: Sequence[Words], db: int) -> list[bytes]:
        answer = self._book.execute(Command(tuple(commands), "look", db=db), self.now_ms)
        assert isinstance(answer, bytes)
        return split(answer)

    def _differs(self, what: str, simulated: bytes, real: bytes) -> Disagreement:
        error = KeysDiffer if what.endswith(" KEYS *") else Disagreement
        return error(self.where, what, resp.show(simulated), resp.show(real), self._server.name)


def _meanings(command: Command, raw: bytes) -> list[Any]:
    """What the replies to a command mean; a transaction's results one by one."""
    *queued, last = split(raw)
    if len(command.words) > 1 and last[:1] == b"*" and last != NO_ARRAY:
        return [*queued, *map(_meaning, command.words[1:-1], elements(last))]
    return [*map(_meaning, command.words, [*queued, last])]


def _meaning(words: Words, raw: bytes) -> Any:
    """What of a reply must be the same everywhere."""
    name = words[0].upper()
    if raw == NO_ARRAY:  # RESP2 has two ways to say "nothing", and fakeredis knows one
        return resp.NIL
    if raw[:1] == b"-":
        return raw.split(b" ")[0]
    if name in _TIMES and raw[:2] != b":-":
        return "a time"
    if name in _UNORDERED and raw[:1] == b"*":
        found = elements(raw)
        return sorted(zip(found[::2], found[1::2], strict=True) if name == b"HGETALL" else found)
    return raw
