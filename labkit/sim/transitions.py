"""Transitions: one move with all that happens, and what machines keep of it.

transition  one move from one state to the next, with everything that happened on the way
turn        a worker runs on to its next command
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from labkit.sim.commands import Command, Ended
from labkit.sim.process import Event
from labkit.sim.replies import Lost, Reply
from labkit.sim.schedule import Move, thread_name
from labkit.sim.store import Contents

K = TypeVar("K")
V = TypeVar("V")
UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class Turn:
    """A worker runs on to its next command: what it did on the way, and how it ended if it did.

    Attributes:
        answered: its command that was waiting until now, and the reply.
        thread: the thread that was told something; others of the worker may have run on as well.
    """

    worker: str
    events: tuple[Event, ...]
    ended: Ended | None
    answered: tuple[Command, bytes | Lost] | None = None
    thread: int = 1

    @property
    def who(self) -> str:
        return thread_name(self.worker, self.thread)


@dataclass(frozen=True, slots=True)
class Transition:
    """One move, with all that happened.

    Attributes:
        command: the pending command of the worker that moved, or its delayed one that arrives
            (None for the world's moves, or while it waited).
        reply: the server's reply, whether or not it reached the worker; None if nothing ran, or
            if the command waits.
        turns: the workers that ran on, in the order in which they did.
        refused: nothing ran because the server was down.
        lost: how many changes a failover has lost.
    """

    move: Move
    command: Command | None
    reply: bytes | None
    turns: tuple[Turn, ...]
    before: Contents
    after: Contents
    at_ms: int
    refused: bool = False
    lost: int = 0


class Option(NamedTuple):
    """A move in one world, and where it leads.

    Attributes:
        local: the local state of the worker that moves (-1: nobody).
        cost: the budget it draws on.
        served: connections whose waiting commands it ends, and what their workers are told.
    """

    move: Move
    world: int
    local: int
    cost: str
    served: tuple[tuple[str, bytes | Lost], ...] = ()


class Outcome(NamedTuple):
    """What becomes of a request, with each kind of move: what its worker is told, and `served`."""

    kind: str
    world: int
    told: Reply
    served: tuple[tuple[str, bytes | Lost], ...] = ()


class Table(dict[K, V]):
    """A table whose entries are found when they are first asked for."""

    def __init__(self, find: Callable[[K], V]) -> None:
        self._find = find

    def __missing__(self, key: K) -> V:
        self[key] = value = self._find(key)
        return value


class Budgets:
    """How many moves of each kind are left, as numbers."""

    def __init__(self, limits: Mapping[str, int], kinds: tuple[str, ...]) -> None:
        self._kinds = kinds
        self._left: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        #: (budget, kind) -> the budget after one more move of this kind; None: none was left
        self.spend = Table[tuple[int, str], "int | None"](self._spend)
        self.start = self._number(tuple(limits.get(kind, UNLIMITED) for kind in kinds))

    def _spend(self, key: tuple[int, str]) -> int | None:
        budget, kind = key
        left = list(self._left[budget])
        place = self._kinds.index(kind)
        if left[place] == 0:
            return None
        left[place] -= left[place] != UNLIMITED
        return self._number(tuple(left))

    def _number(self, left: tuple[int, ...]) -> int:
        number = self._numbers.setdefault(left, len(self._left))
        if number == len(self._left):
            self._left.append(left)
        return number


def same_function(workers: Mapping[str, Any], start: int) -> tuple[tuple[int, ...], ...]:
    """The places of workers that run the same function, counted from `start`."""
    places: dict[Any, list[int]] = {}
    for place, function in enumerate(workers.values(), start):
        places.setdefault(function, []).append(place)
    return tuple(tuple(group) for group in places.values() if len(group) > 1)
