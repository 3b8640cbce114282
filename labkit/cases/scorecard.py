"""A scorecard: one lock, tried in several cases, and several locks side by side.

The worker may take and release its lock in any way it likes, as long as the lock is the key `lock`
and the work stands in `with me.critical_section():`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labkit.cases.case import Case, Workers
from labkit.cases.catalogue import named
from labkit.cases.rules import KEY, nothing_is_left
from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.invariants import Danger
from labkit.sim.report import HOLDS, Exploration
from labkit.sim.trace import table

#: A worker that needs more than this is hardly one that takes a lock once.
LIMITS: dict[str, Any] = {"moves_max": 60, "seconds_max": 20}
#: The cases that notebook 01 has shown, in its order.
SO_FAR = ("look-then-take", "take-then-expire", "expiry-fails", "late-delete")


lock_taken = Danger("the lock was taken", lambda transition: KEY in transition.after)


@dataclass(frozen=True)
class Line:
    """What became of one case.

    Attributes:
        found: the exploration; None if it could not be made, and then `problem` says why.
    """

    case: Case
    found: Exploration | None
    problem: str = ""

    @property
    def holds(self) -> bool:
        return self.found is not None and self.found.verdict == HOLDS

    @property
    def short(self) -> str:
        """Holds, or the shortest schedule that breaks it."""
        if self.found is None:
            return "not tested"
        if self.found.counterexample:
            return str(self.found.counterexample.schedule)
        return "holds" if self.holds else self.found.verdict

    @property
    def long(self) -> str:
        """With the counts: in how many schedules, and in how many of them there was danger."""
        if self.found is None:
            return self.problem
        if self.found.counterexample:
            return (f"breaks in {self.found.violating:,} of {self.found.schedules:,} schedules: "
                    f"{self.short}")  # fmt: skip
        if not self.holds:
            return no_end(self.found)
        danger, met = next(iter(self.found.dangers.items()))
        survived = f"; in {met:,} of them {danger}" if met else ""
        return f"holds in all {self.found.schedules:,} schedules{survived}"


@dataclass(frozen=True)
class Scorecard:
    """A worker's lines, and what it does when nothing goes wrong.

    Attributes:
        unfit: why the worker is no lock at all, so that its lines say nothing; "" if it is one.
        remark: what it does without faults and pauses, as a sentence.
    """

    lines: tuple[Line, ...]
    unfit: str
    remark: str

    @property
    def holding(self) -> int:
        return sum(line.holds for line in self.lines)

    def __str__(self) -> str:
        if self.unfit:
            return f"Not scored. {self.unfit}"
        rows = table([(line.case.name, line.long) for line in self.lines])
        return "\n".join([*rows, f"{self.holding} of {len(self.lines)} cases hold. {self.remark}"])

    __repr__ = __str__


def score(worker: Workers, names: Iterable[str] = SO_FAR) -> Scorecard:
    """Try a worker in each of these cases, in every schedule within the case's bounds.

    Raises:
        LabkitError: when there is no case of such a name.
    """
    cases = [named(name) for name in names]
    unfit, remark = _without_faults(worker, cases[0])
    lines = () if unfit else tuple(_line(case, worker) for case in cases)
    return Scorecard(lines, unfit, remark)


def _without_faults(worker: Workers, case: Case) -> tuple[str, str]:
    """Whether the worker is a lock at all, and whether it leaves the lock free."""
    try:
        found = explore(worker, check=[nothing_is_left, lock_taken], setup=case.setup,
                        workers=case.workers, pauses=0, **LIMITS)  # fmt: skip
    except LabkitError as error:
        return str(error), ""
    if found.stopped or found.cut:
        return no_end(found), ""
    worked = found.worked if found.sections else 0
    raised = "".join(f" Your worker raised {what.rstrip('.')}, in {n:,} of {found.schedules:,}."
                     for what, n in list(found.raised.items())[:1])  # fmt: skip
    if worked < found.schedules:
        idle = found.schedules - worked
        return (f"Nobody gets in, in {idle:,} of {found.schedules:,} schedules without a fault."
                f"{raised}", "")  # fmt: skip
    if not found.dangers[lock_taken.name] and not found.violating:
        return 'Your lock is not the key "lock", so there is nothing to try.', ""
    if found.violating:
        return "", f"But a lock is left behind, without any fault: it is not released.{raised}"
    if raised:
        return "", f"But look at this, without any fault:{raised}"
    return "", "Without a fault, the work is always done, and the lock is free afterwards."


def no_end(found: Exploration) -> str:
    """Why a search was not finished, in words that help."""
    if found.cut:
        return (f"There are schedules with more than {found.bounds.moves_max} moves. Does your "
                f"worker ask again and again? Give it a limit.")  # fmt: skip
    return f"The search was stopped: {found.stopped}."


def _line(case: Case, worker: Workers) -> Line:
    try:
        return Line(case, case.explore(worker, **LIMITS))
    except LabkitError as error:
        return Line(case, None, str(error))


@dataclass(frozen=True)
class Comparison:
    """Locks by their names, each with its scorecard over the same cases."""

    names: tuple[str, ...]
    cards: Mapping[str, Scorecard]

    def __str__(self) -> str:
        unfit = ("not scored", *[""] * (len(self.names) - 1))
        rows = [(name, *(tuple(line.short for line in card.lines) or unfit))
                for name, card in self.cards.items()]  # fmt: skip
        rows.insert(0, ("", *self.names))
        return "\n".join(table(rows))

    __repr__ = __str__


def compare(workers: Mapping[str, Workers], names: Iterable[str] = SO_FAR) -> Comparison:
    """Several locks, each in the same cases: holds, or the shortest schedule that breaks it."""
    names = tuple(names)
    return Comparison(names, {name: score(worker, names) for name, worker in workers.items()})
