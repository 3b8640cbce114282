"""Every move there is now: what it does, or why it cannot be made; and the key that makes it."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labkit.sim import schedule as moves
from labkit.sim.machine import Machine, State
from labkit.sim.replaying import why_not
from labkit.sim.schedule import Move, Schedule

#: The key that asks for a hint; no move has it.
HINT = "h"


@dataclass(frozen=True, slots=True)
class Option:
    """A move that can be made now, or cannot. `text` says what it does, or why not."""

    move: Move
    text: str
    enabled: bool

    @property
    def lane(self) -> str:
        """Whose move it is: a worker's letter; "" for time and the server."""
        return self.move.worker or ""

    def __str__(self) -> str:
        return f"{self.move}: {self.text}"


def options(machine: Machine, state: State) -> list[Option]:
    """All moves, worker by worker, then time and the server's; faults only where allowed.

    A reason that stands against several moves of a worker is said once.
    """
    enabled = dict(machine.successors(state))
    found: list[Option] = []
    reasons: set[tuple[str | None, int, str]] = set()
    for move in _moves(machine, state):
        possible = move in enabled
        text = _effect(machine, state, move) if possible else why_not(machine, state, move)
        reason = (move.worker, move.thread, text)
        if possible or reason not in reasons:
            found.append(Option(move, text, possible))
        if not possible:
            reasons.add(reason)
    return found


def _moves(machine: Machine, state: State) -> Iterator[Move]:
    """Whatever could be written: each thread's moves, then those of the world, named by letters."""
    for who in machine.pending(state):
        (move,) = Schedule.parse(who)  # "A", or "A2" for a thread
        for kind in (moves.RUN, *machine.faults):
            if not kind.isalpha() and (kind != moves.CRASH or move.thread == 1):
                yield Move(kind, move.worker, move.thread)
    for kind in (moves.TIME, *machine.faults):
        if kind.isalpha():
            yield Move(kind)


def _effect(machine: Machine, state: State, move: Move) -> str:
    if move.kind == moves.RUN:
        return str(machine.pending(state)[str(move)])
    if move.kind == moves.TIME:
        return f"time passes to {machine.deadline(state)} ms"
    return moves.MEANING[move.kind].rsplit(", ", 1)[-1]  # the command stands on another button


class Keys:
    """One key for each move, which it keeps: its own letter where that is free."""

    def __init__(self) -> None:
        self._moves: dict[str, Move] = {}

    def give(self, those: Iterable[Move]) -> None:
        """Give a key to each of these moves that has none, while there are some."""
        for move in sorted(those, key=lambda move: len(str(move))):
            if not self.of(move):
                own = str(move).lower()
                for key in (own, *string.digits[1:], *string.ascii_lowercase):
                    if len(key) == 1 and key != HINT and key not in self._moves:
                        self._moves[key] = move
                        break

    def of(self, move: Move) -> str:
        """The key of a move, or "" if it has none."""
        return next((key for key, known in self._moves.items() if known == move), "")

    def move(self, key: str) -> Move | None:
        return self._moves.get(key.lower())

    def __str__(self) -> str:
        return ", ".join(f"{key} = {move}" for key, move in self._moves.items())
