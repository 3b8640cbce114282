"""Schedules as text: which move comes next, one letter after the other.

move          one thing that can happen: a worker runs its pending command, time passes, a fault
schedule      the moves we ask for, in order, as text: A B A B
interleaving  the order in which the commands of several workers follow each other
fault         a move that no worker asks for: a lost reply, a crash, a failover
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from labkit.sim.errors import ScheduleError

RUN, LOST_REPLY, LOST_REQUEST, CRASH = "", "?", "~", "!"
LATE_REQUEST, LATE_REPLY = "^", "-"
TIME, FAILOVER, EVICTION, DOWN, UP = "t", "f", "e", "d", "u"

#: Kinds of move in the order in which a tie between two equally good schedules is decided.
KINDS = (RUN, LATE_REPLY, LATE_REQUEST, LOST_REPLY, LOST_REQUEST, CRASH,
         TIME, FAILOVER, EVICTION, DOWN, UP)  # fmt: skip

MEANING = {
    RUN: "the worker's pending command runs",
    LOST_REPLY: "the server executes the command, the reply is lost",
    LOST_REQUEST: "the request does not arrive in time",
    LATE_REQUEST: "a delayed request arrives after all",
    LATE_REPLY: "the server executes the command, the reply is still on its way",
    CRASH: "the process crashes here and never runs again",
    TIME: "time passes to the earliest deadline",
    FAILOVER: "the replica takes over without the most recent change",
    EVICTION: "keys that have a TTL are lost",
    DOWN: "the Redis server goes down",
    UP: "the Redis server comes back",
}

#: Faults that `explore(faults=...)` can be asked for.
FAULTS = tuple(kind for kind in KINDS if kind not in (RUN, TIME))
OF_A_COMMAND = (LATE_REPLY, LATE_REQUEST, LOST_REPLY, LOST_REQUEST)
OF_A_SERVER = (FAILOVER, EVICTION, DOWN, UP)
#: Moves with which the server executes the pending command at once.
EXECUTED = (RUN, LATE_REPLY, LOST_REPLY)

_TOKEN = re.compile(r"([A-Z])([1-9][0-9]*)?([?~^!-])?|([tfedu])")


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a schedule: a worker's (with its thread, 1 is the main one) or the world's."""

    kind: str
    worker: str | None = None
    thread: int = 1
    #: Sort key: A…Z, A2…, then the faults, then time and the server's moves.
    rank: tuple[int, int, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rank = (KINDS.index(self.kind), self.thread, self.worker or "")
        object.__setattr__(self, "rank", rank)

    def __str__(self) -> str:
        return f"{thread_name(self.worker or '', self.thread)}{self.kind}"

    @property
    def is_fault(self) -> bool:
        return self.kind in FAULTS


def thread_name(worker: str, thread: int) -> str:
    """How a thread of a worker is written: A is the main one, A2 the first that A has started."""
    return worker if thread == 1 else f"{worker}{thread}"


class Schedule(tuple[Move, ...]):
    """A sequence of moves. ``str()`` gives its text and ``Schedule.parse`` reads it back."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str | Iterable[Move]) -> Schedule:
        """Read a schedule; spaces are optional and ``#`` starts a comment.

        Raises:
            ScheduleError: for a character that is no move; it says where, and what is possible.
        """
        if isinstance(text, str):
            return cls(_moves(text))
        made = tuple(text) if isinstance(text, Iterable) else (text,)
        if not all(isinstance(move, Move) for move in made):
            raise ScheduleError(f'{text!r} is not a schedule. Write it as text, such as "A B A B".')
        return cls(made)

    def __str__(self) -> str:
        return " ".join(map(str, self))

    def __repr__(self) -> str:
        return f"Schedule({str(self)!r})"

    @property
    def faults(self) -> int:
        return sum(move.is_fault for move in self)

    @property
    def switches(self) -> int:
        """How often another worker moves than the one that moved before."""
        workers = [move.worker for move in self if move.worker is not None]
        return sum(a != b for a, b in zip(workers, workers[1:], strict=False))


def _moves(text: str) -> Iterator[Move]:
    for line_number, line in enumerate(text.splitlines(), start=1):
        code = line.split("#", 1)[0]
        position = 0
        while position < len(code):
            if code[position].isspace():
                position += 1
                continue
            match = _TOKEN.match(code, position)
            if match is None:
                raise _unknown(code, position, line_number)
            yield _move(match, text)
            position = match.end()


def _move(match: re.Match[str], text: str) -> Move:
    worker, thread, suffix, world = match.groups()
    if world:
        return Move(world)
    number = int(thread or 1)
    if number == 1 and thread:
        raise ScheduleError(
            f'"{match[0]}" in "{text}": the main thread is written {worker}; '
            f"{worker}2 is the first thread that {worker} has started."
        )
    if number > 1 and suffix == CRASH:
        raise ScheduleError(
            f'"{match[0]}" in "{text}": a crash ends the whole process with all its threads. '
            f"Write {worker}!."
        )
    return Move(suffix or RUN, worker, number)


def _unknown(code: str, position: int, line_number: int) -> ScheduleError:
    hint = ""
    if code[position].islower() and code[position].isalpha():
        hint = " Workers are capital letters."
    return ScheduleError(
        f'"{code[position]}" is not a move (line {line_number}, character {position + 1} of '
        f'"{code.strip()}").{hint} A move is a worker\'s letter (A, B, ... or A2 for a thread), '
        f"a letter with one of ? ~ ^ - ! behind it, or one of t f e d u."
    )
