"""What an exploration reports, and how it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.sim import schedule as moves
from labkit.sim.schedule import Schedule
from labkit.sim.trace import Trace

VIOLATED, HOLDS, GAVE_UP = "violated", "holds within bounds", "gave up"

_PLURALS = {
    moves.LOST_REPLY: ("lost reply", "lost replies"),
    moves.LOST_REQUEST: ("lost request", "lost requests"),
    moves.LATE_REPLY: ("late reply", "late replies"),
    moves.LATE_REQUEST: ("late request", "late requests"),
    moves.CRASH: ("crash", "crashes"),
    moves.FAILOVER: ("failover", "failovers"),
    moves.EVICTION: ("eviction", "evictions"),
    moves.DOWN: ("server that goes down", "servers that go down"),
    moves.UP: ("return of the server", "returns of the server"),
}
#: What `not_tried` names: the faults that a reader meets first.
_NAMED = (moves.LOST_REPLY, moves.LOST_REQUEST, moves.CRASH)
_NUMBERS = {1: "a second", 2: "a third", 3: "a fourth", 4: "a fifth"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an exploration was asked to try."""

    workers: tuple[str, ...]
    pauses: int
    faults: Mapping[str, int]
    moves_max: int
    states_max: int
    seconds_max: float | None
    lag: int = 1

    def __str__(self) -> str:
        tried = [_count(len(self.workers), "worker", "workers")]
        tried.append(_count(self.pauses, "pause", "pauses"))
        tried += [_count(n, *_PLURALS[kind]) for kind, n in self.faults.items() if n]
        if self.faults.get(moves.FAILOVER) and self.lag > 1:
            tried[-1] += f" (a failover loses up to {self.lag} changes)"
        return ", ".join(tried if any(self.faults.values()) else [*tried, "no faults"])

    @property
    def not_tried(self) -> str:
        """The next things that could be tried, as a list in words."""
        missing = [] if self.pauses else ["pauses"]
        missing += [_PLURALS[kind][1] for kind in _NAMED if not self.faults.get(kind)]
        if not self.faults.get(moves.FAILOVER):
            missing.append("failover")
        missing.append(f"{_NUMBERS.get(len(self.workers), 'another')} worker")
        return ", ".join(missing)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The best of all shortest schedules that break the rule.

    Attributes:
        schedule: its moves.
        trace: what happens.
        reason: which rule is broken and by whom, as a sentence.
    """

    schedule: Schedule
    trace: Trace
    reason: str

    def __str__(self) -> str:
        return f"{self.trace}\n{self.trace.call}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of `explore`.

    Attributes:
        program: the workers, by the name of their function.
        rule: what was checked.
        schedules: complete schedules within the bounds, exactly, unless `exact` is False.
        violating: those among them in which the check fails.
        worked: those in which the work was done at all: a critical section was left or, in
            programs without sections, a worker returned.
        sections: whether anybody ever entered a critical section.
        states: the size of the search as it was done.
        cut: beginnings of schedules longer than `moves_max`.
        stopped: the bound that stopped the search, or "".
        raised: what workers raised, with the number of schedules.
        dangers: for each danger among the checks, in how many schedules it was met and survived.
        runs: how often a worker function was run.
    """

    program: str
    rule: str
    bounds: Bounds
    schedules: int
    violating: int
    worked: int
    sections: bool
    states: int
    cut: int
    stopped: str
    raised: Mapping[str, int]
    dangers: Mapping[str, int]
    runs: int
    counterexample: Counterexample | None

    @property
    def exact(self) -> bool:
        return not self.stopped

    @property
    def verdict(self) -> str:
        """ "violated", "holds within bounds", or "gave up"."""
        if self.counterexample is not None:
            return VIOLATED
        return GAVE_UP if self.stopped else HOLDS

    @property
    def summary(self) -> str:
        """The verdict and the counts, as one sentence."""
        least = "" if self.exact else "at least "
        if self.verdict == VIOLATED and not self.schedules:
            return f"violated, before any schedule was complete ({self.bounds})"
        if self.verdict == VIOLATED:
            counts = f"{least}{self.violating:,} of {least}{self.schedules:,} schedules"
            return f"violated in {counts} ({self.bounds})"
        if self.verdict == HOLDS:
            return (
                f"holds within bounds: no failing schedule among {self.schedules:,} ({self.bounds})"
            )
        return f"gave up, no failing schedule so far among {self.schedules:,} ({self.bounds})"

    def __str__(self) -> str:
        found = self.counterexample
        lines = [f"Broken by {found.schedule}: {found.reason}."] if found else []
        lines += [f"Rule: {self.rule}.", f"Verdict: {self.summary}."]
        if self.stopped:
            cut = f", {self.cut:,} beginnings were cut" if self.cut else ""
            lines.append(f"The search is not complete: {self.stopped}{cut}.")
        if found is None:
            lines.append(f"Not tried: {self.bounds.not_tried}.")
            lines.append(f"The work was done in {self.worked:,} of them.")
            lines += [f"{danger} in {n:,} of them." for danger, n in self.dangers.items()]
        lines += [
            f"A worker raised {reason} in {n:,} of them." for reason, n in self.raised.items()
        ]
        if found is not None:
            lines.append(str(found.trace))
            lines.append("A share of schedules is not a likelihood. To see it again:")
            lines.append(found.trace.call)
        return "\n".join(lines)

    __repr__ = __str__


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"
