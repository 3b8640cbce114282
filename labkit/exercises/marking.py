"""How an answer is marked: solved or not, in one sentence that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.replaying import replay
from labkit.sim.report import HOLDS, Exploration


@dataclass(frozen=True)
class Mark:
    """The mark of one answer."""

    solved: bool
    sentence: str

    def __repr__(self) -> str:
        return f"{'Solved' if self.solved else 'Not solved yet'}. {self.sentence}"


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

    def mark(self, worker: Any) -> Mark | None:
        """None if the worker meets it."""
        exploration = explore(worker, **self.bounds)
        if exploration.verdict != HOLDS:
            return Mark(False, f"{self.fails} {_evidence(exploration)}")
        worked = exploration.worked if exploration.sections else 0
        if self.work and worked < exploration.schedules:
            idle = exploration.schedules - worked
            return Mark(False, f"{self.fails} In {idle:,} of {exploration.schedules:,} schedules "
                        f"nobody gets in.{_raised(exploration)}")  # fmt: skip
        return None


def mark_repair(worker: Any, criteria: Iterable[Criterion], praise: str) -> Mark:
    """Mark a repaired worker: the first criterion that it misses, or praise with the count."""
    last: dict[str, Any] = {}
    for criterion in criteria:
        try:
            missed = criterion.mark(worker)
        except LabkitError as error:
            return Mark(False, str(error))
        if missed is not None:
            return missed
        last = criterion.bounds
    count = explore(worker, **last).schedules
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
        doing = trace.about_to or "Everybody has ended"
        return Mark(False, f'After "{schedule}" the rule still holds. {doing}.')
    length, best = len(trace.schedule), len(shortest.split())
    compared = "There is no shorter one." if length == best else f"The shortest has {best}."
    return Mark(True, f"{trace.broken}, after {length} letters. {compared}")


def _evidence(exploration: Exploration) -> str:
    if exploration.counterexample is None:
        return f"The search gave up: {exploration.stopped}."
    found = exploration.counterexample
    return f'Look at "{found.schedule}": {found.reason}.{_raised(exploration)}'


def _raised(exploration: Exploration) -> str:
    """Without faults, a worker that raises is usually a slip of the pen; say so."""
    if any(exploration.bounds.faults.values()):
        return ""
    reason = next(iter(exploration.raised), "")
    return f" Your worker raised {reason}." if reason else ""
