"""Traces: what happened, one step per move, as text that is the same on every machine.

step   one move as it happened: command, reply, notes
trace  all steps of one execution, in order
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labkit.sim import resp
from labkit.sim import schedule as moves
from labkit.sim.commands import CRASHED, Command, Ended, Pending, Waiting
from labkit.sim.errors import LabkitError
from labkit.sim.replies import DOWN
from labkit.sim.schedule import Move, Schedule, thread_name
from labkit.sim.store import Contents
from labkit.sim.transitions import Transition, Turn


@dataclass(frozen=True, slots=True)
class Step:
    """One move as it happened.

    Attributes:
        number: counted from 1.
        at_ms: the virtual clock, after the move.
        command: what was executed, or lost, or never sent, as text.
        reply: what the worker was told, as text.
        notes: what else happened: expiries, sections entered and left, ends, notes of the worker.
        transition: the whole of it, for drawing.
    """

    number: int
    move: Move
    at_ms: int
    command: str
    reply: str
    notes: tuple[str, ...]
    transition: Transition = field(compare=False, repr=False)

    @property
    def spoken(self) -> str:
        """The step as a spoken sentence."""
        who, kind = self.move.worker, self.move.kind
        if kind == moves.TIME:
            what = f"time passes to {self.at_ms} ms"
            return f"{what} ({self.notes[0]})" if self.notes else what
        if kind in moves.OF_A_SERVER:
            return self.command.strip("()")
        who = str(Move(moves.RUN, who, self.move.thread))
        if kind == moves.CRASH:
            if self.command:
                store = self.transition.command.store if self.transition.command else ""
                where = "Redis" if store == "redis" else f"the database {store}"
                return f"{who} dies before {self.command}, which never reaches {where}"
            return f"{who} dies while it waits"
        if self.transition.command is None:
            return f"the reply reaches {who}"
        if self.transition.refused:
            return f"{who}'s {self.command} meets no server"
        said = {
            moves.RUN: f"{who} runs {self.command}",
            moves.LATE_REPLY: f"{who} runs {self.command}, and the reply is on its way",
            moves.LATE_REQUEST: f"{who}'s delayed {self.command} arrives after all",
            moves.LOST_REPLY: f"{who} runs {self.command}, and the reply is lost",
            moves.LOST_REQUEST: f"{who}'s {self.command} does not arrive",
        }
        return said[kind]


@dataclass(frozen=True)
class Trace:
    """One execution.

    Attributes:
        worker: the worker function's name, for the line that replays it.
        letters: the workers.
        steps: one per move.
        pending: what each worker was about to do after the last step.
        broken: the sentence of the rule that is broken, or None.
        broken_at: the number of the step that broke it (0: before the first), or None.
        rule: the rule's name, or None when nothing was checked.
        complete: whether no move is left: all have ended, or those that have not are stuck.
        start: the store's contents before the first move.
        call: the line of Python that replays it.
    """

    worker: str
    letters: tuple[str, ...]
    steps: tuple[Step, ...]
    pending: Mapping[str, Pending]
    broken: str | None
    broken_at: int | None
    rule: str | None
    call: str
    complete: bool
    start: Contents = field(compare=False, repr=False)

    @property
    def schedule(self) -> Schedule:
        return Schedule(step.move for step in self.steps)

    @property
    def spoken(self) -> str:
        """The whole trace as one spoken line."""
        return "; ".join(step.spoken for step in self.steps) + "."

    @property
    def about_to(self) -> str:
        """What each worker that has not ended would do next, as one line."""
        waiting = [_about_to(letter, pending) for letter, pending in self.pending.items()
                   if not isinstance(pending, Ended)]  # fmt: skip
        return " · ".join(waiting)

    def __str__(self) -> str:
        lines = table([("#", "move", "at", "command", "reply", ""), *map(_row, self.steps)])
        if self.about_to:
            lines.append(self.about_to)
        if self.broken is not None:
            earlier = self.broken_at != len(self.steps)
            where = f" at step {self.broken_at}" if earlier else ""
            lines.append(f"Broken{where}: {self.broken}.")
        return "\n".join(lines)

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the trace as a picture (.svg), a page (.html) or a block for a comment (.md)."""
        path = Path(path)
        render = RENDERERS.get(path.suffix)
        if render is None:
            raise LabkitError(
                f'"{path.name}": a trace is saved as {", ".join(sorted(RENDERERS))}; '
                f"the ending of the name says which."
            )
        path.write_text(render(self), encoding="utf-8", newline="\n")
        return path


#: File ending -> function that renders a trace; `labkit.show` adds its own.
RENDERERS: dict[str, Callable[[Trace], str]] = {}


def step_of(number: int, transition: Transition) -> Step:
    """A transition as a step of a trace."""
    command = str(transition.command or "")
    if transition.move.kind == moves.TIME:
        command = f"(time passes to {transition.at_ms} ms)"
    elif transition.move.kind in moves.OF_A_SERVER:
        command = f"({_happened(transition)})"
    elif transition.move.kind == moves.RUN and transition.command is None:
        command = "(the reply arrives)"
    return Step(
        number, transition.move, transition.at_ms, command, _reply(transition),
        tuple(_notes(transition)), transition,
    )  # fmt: skip


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as aligned lines of text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows]  # fmt: skip


def _row(step: Step) -> tuple[str, ...]:
    notes = "; ".join(step.notes)
    return (str(step.number), str(step.move), f"{step.at_ms} ms", step.command, step.reply, notes)


def _happened(transition: Transition) -> str:
    """What a move of the server does, in words."""
    lost = transition.lost
    changes = "the last change is" if lost == 1 else f"the last {lost} changes are"
    return {
        moves.FAILOVER: f"failover: {changes} lost",
        moves.EVICTION: "eviction",
        moves.DOWN: "the Redis server goes down",
        moves.UP: "the Redis server comes back",
    }[transition.move.kind]


def _reply(transition: Transition) -> str:
    kind = transition.move.kind
    told = {moves.LOST_REPLY: "(reply lost)", moves.LOST_REQUEST: "(request lost)",
            moves.LATE_REPLY: "(reply on its way)"}  # fmt: skip
    if kind in told:
        return told[kind]
    if kind == moves.CRASH:
        return "(never sent)" if transition.command else ""
    if transition.reply is None:
        if not transition.command or kind == moves.LATE_REQUEST:
            return ""
        return "(no connection)" if transition.refused else "(waits)"
    return resp.show(transition.reply)


def _notes(transition: Transition) -> list[str]:
    notes = []
    if transition.move.kind == moves.TIME:
        gone = sorted(set(transition.before) - set(transition.after))
        notes += [f"{key} expires" for key in gone]
        notes += [f"{turn.who} wakes" for turn in transition.turns if not turn.answered]
    if transition.move.kind in (moves.FAILOVER, moves.EVICTION):
        notes += _changes(transition)
    for turn in transition.turns:
        notes += _turn_notes(turn)
    return notes


def _changes(transition: Transition) -> list[str]:
    """What has become of the keys."""
    notes = []
    for key in sorted({*transition.before, *transition.after}):
        before, after = transition.before.get(key), transition.after.get(key)
        if after is None:
            notes.append(f"{key} is gone")
        elif before != after:
            same = before is not None and before.value == after.value
            notes.append(f"{key} expires as before" if same else f"{key} is {after.text} again")
    return notes


def _turn_notes(turn: Turn) -> list[str]:
    said = {"enter": "enters the critical section", "leave": "leaves the critical section"}
    notes = []
    if turn.answered:
        command, reply = turn.answered
        if isinstance(reply, bytes):
            notes.append(f"{turn.who}'s {command} is answered: {resp.show(reply)}")
        elif reply is DOWN:
            notes.append(f"{turn.who}'s {command} is ended: the connection breaks")
        else:
            notes.append(f"{turn.who}'s client gives up waiting for {command}")
    for event in turn.events:
        if event.name == "note":
            notes.append(event["text"])
        else:
            details = ", ".join(f"{name} {value}" for name, value in event.details)
            who = thread_name(turn.worker, event.thread)
            notes.append(f"{who} {said[event.name]}" if event.name in said
                         else f"{who}: {event.name} {details}".rstrip())  # fmt: skip
    if turn.ended:
        notes.append(f"{turn.worker} has crashed" if turn.ended.how == CRASHED
                     else f"{turn.worker} {turn.ended}")  # fmt: skip
    return notes


def _about_to(letter: str, pending: Pending) -> str:
    if isinstance(pending, Command):
        return f"{letter} is about to: {pending}"
    if isinstance(pending, Waiting):
        return f"{letter} {pending}"
    return f"{letter} {pending}"
