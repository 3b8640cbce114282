"""A case: a named situation with a worker that gets it wrong and one that gets it right.

case    worker(s), what they share, the rule that must hold, and the faults that may happen
mutant  the right worker with one safeguard taken out: the case must notice
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labkit.sim.exploration import explore
from labkit.sim.invariants import Danger
from labkit.sim.lab import Lab
from labkit.sim.report import HOLDS, Exploration

Workers = Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True)
class Case:
    """A situation, and what is expected of it.

    Attributes:
        name: how it is asked for, such as "late-delete".
        fault: the class of fault it belongs to, such as "F04".
        text: what goes wrong, in one line.
        wrong, right: the workers.
        check: the rule that `wrong` breaks and `right` keeps.
        danger: what `right` has to survive; counted, so that nothing holds unchallenged.
        shortest: the shortest schedule that breaks the rule.
        broken: in how many schedules `wrong` breaks it, and of how many.
        met: in how many schedules `right` meets the danger, and of how many.
        mutants: the missing safeguard -> the right worker without it.
        setup, workers, pauses, faults: the situation and its bounds, as for `explore`.
    """

    name: str
    fault: str
    text: str
    wrong: Workers
    right: Workers
    check: Any
    danger: Danger
    shortest: str
    broken: tuple[int, int]
    met: tuple[int, int]
    mutants: Mapping[str, Workers]
    setup: Callable[[Lab], Any] | None = None
    workers: str = "AB"
    pauses: int = 1
    faults: str | Mapping[str, int] = field(default="")

    def explore(self, worker: Workers, **limits: Any) -> Exploration:
        """Every schedule of a worker in this situation: one's own, or `case.wrong`.

        Args:
            limits: moves_max, states_max, seconds_max as for `labkit.explore`.
        """
        rules = self.check if isinstance(self.check, list) else [self.check]
        return explore(
            worker, check=[*rules, self.danger], setup=self.setup, workers=self.workers,
            pauses=self.pauses, faults=self.faults, **limits,
        )  # fmt: skip

    def keeps(self, worker: Workers) -> bool:
        """Whether a worker keeps the rule, does its work, and was in danger."""
        found = self.explore(worker)
        return found.verdict == HOLDS and bool(found.worked) and all(found.dangers.values())

    def __str__(self) -> str:
        return f"{self.name} ({self.fault}): {self.text}"

    __repr__ = __str__
