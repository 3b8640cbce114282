"""A trace, sorted into lanes: what the timeline draws, free of coordinates.

lane  one line of a timeline: a worker, a lock's owner, or a value
mark  one step on a worker's lane
span  something that lasts: a critical section, a lease, several workers inside at once
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass

from labkit.sim import resp
from labkit.sim import schedule as moves
from labkit.sim.commands import Command, Waiting
from labkit.sim.machine import Transition
from labkit.sim.trace import Step, Trace

READ, WRITE, REFUSED, UNSENT, WAKE = "read", "write", "refused", "unsent", "wake"
START = 0  # the position before the first step

_READS = {"GET", "MGET", "EXISTS", "TTL", "PTTL", "PEXPIRETIME", "STRLEN", "HGET", "HGETALL",
          "LLEN", "LRANGE", "ZSCORE", "ZRANGE", "SCARD", "SMEMBERS", "SISMEMBER", "TIME", "PING",
          "WATCH", "UNWATCH", "SELECT"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark:
    """One step on a worker's lane.

    Attributes:
        at: the number of its step.
        kind: READ, WRITE, REFUSED, UNSENT or WAKE.
        fault: the move's kind, when it is a fault.
        reply: what the worker was told.
        notes: what it noted, and how it ended.
        number: a fencing number it was granted.
    """

    at: int
    kind: str
    fault: str
    command: str
    reply: str
    notes: tuple[str, ...]
    number: str


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasts from one step to another (`end` None: to the end of the picture).

    Attributes:
        who: the workers it belongs to; "" for what was there before the first move.
        text: what it says; for a lease the value and, if there is one, the time to live.
        ending: how a lease ended, when that is worth a word.
    """

    start: int
    end: int | None
    who: str
    text: str = ""
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """A command that would change a key: accepted or refused. `number`: its fencing number."""

    at: int
    who: str
    accepted: bool
    before: str
    after: str
    number: str = ""


class Story:
    """A trace in lanes.

    Attributes:
        marks, sections: letter to its marks and critical sections.
        ended: letter to the step with which the worker ended.
        idle: (letter, step) to what the worker does while time passes: "pause" or "waits".
        together: spans in which more than one worker is in the critical section.
        leases: lock key to the spans in which it exists.
        writes: resource key to the writes.
        first: resource key to its value at the start ("" for none).
    """

    def __init__(self, trace: Trace, lock: str) -> None:
        self.trace = trace
        self.marks: dict[str, list[Mark]] = {letter: [] for letter in trace.letters}
        self.sections: dict[str, list[Span]] = {letter: [] for letter in trace.letters}
        self.ended: dict[str, int] = {}
        self.together: list[Span] = []
        for step in trace.steps:
            self._mark(step)
        self._enter_and_leave()
        self.idle = dict(self._idle())
        keys = _keys(trace)
        locks = [key for key in keys if fnmatch.fnmatchcase(key, lock)]
        self.leases = {key: list(_leases(trace, key)) for key in locks}
        self.writes = {key: list(_writes(trace, key)) for key in keys if key not in locks}
        self.first = {key: trace.start[key].text if key in trace.start else ""
                      for key in self.writes}  # fmt: skip

    def _mark(self, step: Step) -> None:
        for turn in step.transition.turns:
            own = turn.worker == step.move.worker
            notes = [str(e["text"]) for e in turn.events if e.name == "note"]
            if turn.ended is not None:
                self.ended[turn.worker] = step.number
                if step.move.kind != moves.CRASH:
                    notes.append(str(turn.ended))
            numbers = [str(e["number"]) for e in turn.events if e.name == "granted"]
            self.marks[turn.worker].append(Mark(
                step.number, kind_of(step.transition) if own else WAKE,
                step.move.kind if own else "", step.command if own else "",
                step.reply if own else "", tuple(notes), "".join(numbers),
            ))  # fmt: skip

    def _enter_and_leave(self) -> None:
        inside: dict[str, int] = {}
        since = START
        for step in self.trace.steps:
            before = tuple(inside)
            for worker, name in _section_events(step.transition):
                if name == "enter":
                    inside[worker] = step.number
                elif name == "leave" or worker in inside:
                    # Without an "enter", it was entered before the first move.
                    start = inside.pop(worker, START)
                    self.sections[worker].append(Span(start, step.number, worker))
            if tuple(inside) != before:
                self._inside_at_once(before, since, step.number)
                since = step.number
        for worker, start in inside.items():
            self.sections[worker].append(Span(start, None, worker))
        self._inside_at_once(tuple(inside), since, None)

    def _inside_at_once(self, who: tuple[str, ...], start: int, end: int | None) -> None:
        if len(who) > 1:
            self.together.append(Span(start, end, "".join(sorted(who))))

    def _idle(self) -> Iterator[tuple[tuple[str, int], str]]:
        """While time passes, a worker that could run is paused; read from its next turn."""
        for letter, pending in self.trace.pending.items():
            doing = {Command: "pause", Waiting: "waits"}.get(type(pending), "")
            for step in reversed(self.trace.steps):
                turned = any(turn.worker == letter for turn in step.transition.turns)
                if step.move.kind == moves.TIME:
                    doing = "waits" if turned else doing
                    if doing:
                        yield (letter, step.number), doing
                elif turned:
                    doing = "pause" if step.transition.command is not None else "waits"


def kind_of(transition: Transition) -> str:
    """Whether a command read, wrote, was refused, or never reached the server."""
    if transition.command is None or transition.reply is None:
        return UNSENT
    if transition.command.name in _READS:
        return READ
    return WRITE if accepted(transition) else REFUSED


def accepted(transition: Transition) -> bool:
    """Whether the server did what a writing command asked for."""
    if transition.reply is None or transition.command is None:
        return False
    if transition.before != transition.after:
        return True
    answer = resp.show(transition.reply)
    if transition.command.name == "SET":  # with GET it answers the old value when it is refused
        return answer == "OK"
    return answer not in ("(nil)", "0") and not answer.startswith("(error)")


def _section_events(transition: Transition) -> Iterator[tuple[str, str]]:
    for turn in transition.turns:
        for event in turn.events:
            if event.name in ("enter", "leave"):
                yield turn.worker, event.name
        if transition.move.kind == moves.CRASH:
            yield turn.worker, "crash"


def _named(command: Command | None) -> set[str]:
    """The keys that a command names; a script names them after their number."""
    keys: set[bytes] = set()
    for words in command.words if command and command.store == "redis" else ():
        if words[0].upper() in (b"EVAL", b"EVALSHA") and words[2].isdigit():
            keys.update(words[3 : 3 + int(words[2])])
        elif len(words) > 1 and words[0].upper() not in (b"PING", b"MULTI", b"EXEC"):
            keys.add(words[1])
    return {key.decode("utf-8", "backslashreplace") for key in keys}


def _keys(trace: Trace) -> list[str]:
    """The keys that the workers touch or change, in order of appearance."""
    keys: dict[str, None] = {}
    for step in trace.steps:
        before, after = step.transition.before, step.transition.after
        changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
        keys.update(dict.fromkeys(sorted(changed | _named(step.transition.command))))
    for pending in trace.pending.values():
        if isinstance(pending, Command):
            keys.update(dict.fromkeys(sorted(_named(pending))))
    return list(keys)


def _leases(trace: Trace, key: str) -> Iterator[Span]:
    now, since, who, text = trace.start.get(key), START, "", ""
    if now is not None:
        text = now.text
    for step in trace.steps:
        move, after = step.transition, step.transition.after.get(key)
        if after == now and not (_sets(move, key) and step.move.worker != who):
            continue
        if now is not None:
            yield Span(since, step.number, who, text, _ending(step, who) if after is None else "")
        if after is not None:
            if now is None or after.value != now.value or _sets(move, key):
                who = step.move.worker or ""
            ttl = after.expires_at_ms
            value = after.text if after.text.startswith(who) else f"{who}: {after.text}"
            text = f"{value} · " + ("no TTL" if ttl is None else f"{ttl - step.at_ms} ms")
        now, since = after, step.number
    if now is not None:
        yield Span(since, None, who, text)


def _sets(transition: Transition, key: str) -> bool:
    command = transition.command
    return (command is not None and command.name in ("SET", "SETEX", "PSETEX", "SETNX")
            and key in _named(command) and accepted(transition))  # fmt: skip


def _ending(step: Step, who: str) -> str:
    by_itself = {moves.TIME: "expires", moves.FAILOVER: "lost in a failover",
                 moves.EVICTION: "evicted"}  # fmt: skip
    if step.move.kind in by_itself:
        return by_itself[step.move.kind]
    return f"deleted by {step.move.worker}" if step.move.worker != who else ""


def _writes(trace: Trace, key: str) -> Iterator[Write]:
    for step in trace.steps:
        move = step.transition
        who = step.move.worker or ""
        numbers = [str(event["number"]) for turn in move.turns for event in turn.events
                   if event.name == "accepted" and str(event["resource"]) == key]  # fmt: skip
        before, after = (c[key].text if key in c else "" for c in (move.before, move.after))
        if before != after:
            yield Write(step.number, who, True, before, after, "".join(numbers))
        elif key in _named(move.command) and move.reply is not None and kind_of(move) != READ:
            yield Write(step.number, who, accepted(move), before, after, "".join(numbers))
