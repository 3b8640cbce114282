"""What a worker is about to do: its pending command, a wait, or its end.

command          one request to a store (a transaction counts as one)
pending command  the command a worker is stopped in front of
deadline         an instant at which something happens by itself: a key expires, a wait ends
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from labkit.sim.replies import GAVE_UP, Blocked, Late, Lost

Words = tuple[bytes, ...]

#: Commands that wait at the server until there is something to answer.
BLOCKING = frozenset({"BLPOP", "BRPOP", "BLMOVE"})

RETURNED, RAISED, CRASHED, STUCK = "returned", "raised", "crashed", "stuck"


@dataclass(frozen=True, slots=True)
class Command:
    """One request, as it goes over the wire.

    Attributes:
        words: one tuple per command; a transaction has several, from MULTI to EXEC.
        session: the connection it is sent on, such as "A1" (WATCH belongs to a connection).
        store: the store it goes to.
        db: the number of the Redis database.
        text: how it is shown, where its words are not what a person would write.
        patience_ms: how long its client waits for the reply, if the command may block.
    """

    words: tuple[Words, ...]
    session: str
    store: str = "redis"
    db: int = 0
    text: str = field(default="", compare=False)
    patience_ms: int | None = None

    @property
    def name(self) -> str:
        """The command's name in capitals; EXEC for a transaction."""
        return self.words[-1][0].decode("utf-8", "replace").upper()

    def __str__(self) -> str:
        """How a person would write it; part of traces, so it is the same everywhere."""
        return self.text or describe(self.words)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The worker sleeps, works, waits for a reply or a thread, or in a command that blocks.

    Attributes:
        ms: for how long at most; None: until another worker or thread ends it.
        command: the command that blocks, or whose reply is on its way.
        told: what the worker is told at the end of that time.
        arriving: the reply that is on its way.
    """

    ms: int | None
    why: str
    command: Command | None = None
    told: bytes | Lost | None = None
    arriving: bytes | None = None

    def __str__(self) -> str:
        if self.arriving is not None:
            return f"waits for the reply to {self.command}"
        if self.command is not None:
            return f"waits in {self.command}" + (" for ever" if self.ms is None else "")
        return f"{self.why} for " + ("ever" if self.ms is None else f"{self.ms} ms")


@dataclass(frozen=True, slots=True)
class Ended:
    """The worker has ended: `how` is returned, raised, crashed or stuck."""

    how: str
    value: Any = None
    error: BaseException | None = field(default=None, compare=False)
    reason: str = ""

    def __str__(self) -> str:
        if self.how == RETURNED:
            return "returned" if self.value is None else f"returned {self.value!r}"
        return f"{self.how} {self.reason}".strip()


Pending = Command | Waiting | Ended


def waiting(command: Command, reply: Blocked | Late) -> Waiting:
    """What a thread does while the reply to its command is still to come."""
    if isinstance(reply, Late):
        return Waiting(reply.ms, "waits for", command, GAVE_UP, reply.reply)
    return Waiting(reply.ms, "waits in", command, reply.told)


def end_of(*threads: Pending) -> Ended:
    """How a worker has ended when no move is left: one that still waits is stuck."""
    for pending in threads:
        if not isinstance(pending, Ended):
            return Ended(STUCK, reason=str(pending))
    assert isinstance(threads[0], Ended)
    return threads[0]


_PLAIN = re.compile(r"[\w.:/*@+\-{}|=<>]+")
_SCRIPT_NAME = re.compile(r"\s*--\s*([^\n]+)")
_LONGEST_SCRIPT = 32
#: Random tokens of libraries, such as a UUID without dashes: shown by how they begin.
_RANDOM = re.compile(r"([0-9a-f]{6})[0-9a-f]{18,}")


def describe(words: tuple[Words, ...]) -> str:
    """A command as one line of text; a transaction's commands are joined by semicolons."""
    return "; ".join(map(_line, words))


def _line(words: Words) -> str:
    text = [word.decode("utf-8", "backslashreplace") for word in words]
    text[0] = text[0].upper()
    if text[0] == "EVAL" and len(text) > 1:
        return " ".join(["EVAL", _script(text[1]), *map(_quote, text[3:])])
    return " ".join([text[0], *map(_quote, text[1:])])


def _quote(word: str) -> str:
    word = _RANDOM.sub(r"\1...", word)
    return word if _PLAIN.fullmatch(word) else '"' + word.replace('"', '\\"') + '"'


def _script(source: str) -> str:
    """A script by the name in its first line's comment, else by its beginning."""
    named = _SCRIPT_NAME.match(source)
    if named:
        return f"<{named[1].strip()}>"
    flat = " ".join(source.split())
    return f"<{flat if len(flat) <= _LONGEST_SCRIPT else flat[: _LONGEST_SCRIPT - 3] + '...'}>"
