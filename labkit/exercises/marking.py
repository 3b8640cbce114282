"""How an answer is marked: solved or not, in one sentence that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from labkit.cases.scorecard import LIMITS, no_end
from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.lab import Lab
from labkit.sim.replaying import replay
from labkit.sim.report import HOLDS, Exploration
from labkit.sim.trace import Trace


@dataclass(frozen=True)
class Mark:
    """The mark of one answer, with what its schedule does, if it is one."""

    solved: bool
    sentence: str
    trace: Trace | None = None

    def __repr__(self) -> str:
        steps = f"\n{self.trace}" if self.trace else ""
        return f"{'Solved' if self.solved else 'Not solved yet'}. {self.sentence}{steps}"


@dataclass(frozen=True)
class Criterion:
    """One thing that a repair must do.

    Attributes:
        fails: what to say when it does not, before the schedule that shows it.
        bounds: what is explored: check, setup, pauses, faults, workers.
        work: whether the work must be done in every schedule.
    """

    fails: str
    bounds: dict[str, Any]
    work: bool = False

    def explore(self, worker: Any) -> Exploration:
        """Every schedule of the worker within the bounds."""
        return explore(worker, **LIMITS, **self.bounds)

    def missed(self, exploration: Exploration) -> Mark | None:
        """What to say about such a worker; None if it meets the criterion."""
        faultless = not exploration.bounds.pauses and not any(exploration.bounds.faults.values())
        if faultless and exploration.raised:
            reason = next(iter(exploration.raised)).rstrip(".")
            return Mark(False, f"Without any fault, your worker raised {reason}.")
        if exploration.verdict != HOLDS:
            return Mark(False, f"{self.fails}\n{_evidence(exploration)}")
        worked = exploration.worked if exploration.sections else 0
        if self.work and worked < exploration.schedules:
            idle = exploration.schedules - worked
            return Mark(False, f"{self.fails}\nIn {idle:,} of {exploration.schedules:,} schedules "
                        f"nobody gets in.")  # fmt: skip
        return None


def mark_repair(worker: Any, criteria: Iterable[Criterion], praise: str) -> Mark:
    """Mark a repaired worker: the first criterion that it misses, or praise with the count."""
    count = 0
    for criterion in criteria:
        try:
            exploration = criterion.explore(worker)
        except LabkitError as error:
            return Mark(False, str(error))
        missed = criterion.missed(exploration)
        if missed is not None:
            return missed
        count = exploration.schedules
    return Mark(True, f"{praise} It holds in all {count:,} schedules.")


def mark_schedule(
    schedule: str, *, worker: Callable[[Any], Any], shortest: str, **bounds: Any
) -> Mark:
    """Mark a schedule that should break a rule; its length stands beside the shortest."""
    try:
        trace = replay(worker, schedule, partial=True, **bounds)
    except LabkitError as error:
        return Mark(False, str(error))
    if trace.broken is None:
        ended = "" if trace.about_to else " Everybody has ended."
        rule = f" ({trace.rule})" if trace.rule else ""
        return Mark(False, f'After "{schedule}" the rule still holds{rule}.{ended}', trace)
    length, best = len(trace.schedule), len(shortest.split())
    compared = "There is no shorter one." if length == best else f"The shortest has {best}."
    return Mark(True, f"{trace.broken}, after {length} letters. {compared}", trace)


def _evidence(exploration: Exploration) -> str:
    found = exploration.counterexample
    if found is not None:
        return f'Look at "{found.schedule}": {found.reason}.'
    return no_end(exploration)


def somebody_is_done(lab: Lab) -> str | None:
    """A rule for exercises: a lock that lets nobody do the work protects nothing."""
    return None if "done" in lab.returned.values() else "nobody is done"
