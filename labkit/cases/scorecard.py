"""A scorecard: one lock, tried in several cases, and several locks side by side.

The worker may take and release its lock in any way it likes, as long as the lock is the key `lock`
and the work stands in `with me.critical_section():`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labkit.cases.case import Case, Workers
from labkit.cases.catalogue import named
from labkit.sim.errors import LabkitError
from labkit.sim.report import HOLDS, Exploration
from labkit.sim.trace import table

#: The cases that notebook 01 has shown, in its order.
SO_FAR = ("look-then-take", "take-then-expire", "expiry-fails", "late-delete")


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
            return f"{self.found.verdict}: {self.found.stopped}"
        danger, met = next(iter(self.found.dangers.items()))
        survived = f"; in {met:,} of them {danger}" if met else ""
        return f"holds in all {self.found.schedules:,} schedules{survived}"


@dataclass(frozen=True)
class Scorecard:
    """A worker's lines, and whether it does its work at all."""

    lines: tuple[Line, ...]

    @property
    def holding(self) -> int:
        return sum(line.holds for line in self.lines)

    @property
    def work(self) -> str:
        """Whether somebody gets in, in every schedule without a fault. A shut door is no lock."""
        for line in self.lines:
            if line.found is None or any(line.found.bounds.faults.values()):
                continue
            worked = line.found.worked if line.found.sections else 0
            if worked < line.found.schedules:
                why = "".join(f" Your worker raised {one}." for one in list(line.found.raised)[:1])
                return (f"Nobody gets in, in {line.found.schedules - worked:,} of "
                        f"{line.found.schedules:,} schedules without a fault.{why}")  # fmt: skip
        return "Without a fault, the work is always done."

    def __str__(self) -> str:
        rows = table([(line.case.name, line.long) for line in self.lines])
        total = f"{self.holding} of {len(self.lines)} cases hold. {self.work}"
        return "\n".join([*rows, total])

    __repr__ = __str__


def score(worker: Workers, names: Iterable[str] = SO_FAR) -> Scorecard:
    """Try a worker in each of these cases, in every schedule within the case's bounds.

    Raises:
        LabkitError: when there is no case of such a name.
    """
    return Scorecard(tuple(_line(named(name), worker) for name in names))


def _line(case: Case, worker: Workers) -> Line:
    try:
        return Line(case, case.explore(worker))
    except LabkitError as error:
        return Line(case, None, str(error))


@dataclass(frozen=True)
class Comparison:
    """Locks by their names, each with its scorecard over the same cases."""

    cards: Mapping[str, Scorecard]

    def __str__(self) -> str:
        first = next(iter(self.cards.values()))
        head = ("", *(line.case.name for line in first.lines))
        rows = [(name, *(line.short for line in card.lines)) for name, card in self.cards.items()]
        return "\n".join(table([head, *rows]))

    __repr__ = __str__


def compare(workers: Mapping[str, Workers], names: Iterable[str] = SO_FAR) -> Comparison:
    """Several locks, each in the same cases: holds, or the shortest schedule that breaks it."""
    names = tuple(names)
    return Comparison({name: score(worker, names) for name, worker in workers.items()})
