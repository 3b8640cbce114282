"""The schedule being written: play, undo, paste; and what is known about it. No browser here."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from labkit.scheduler.options import options
from labkit.scheduler.search import MOVES_MAX, STATES_MAX, Node, Search, Walk
from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.errors import LabkitError
from labkit.sim.nodes import Worker
from labkit.sim.program import Program, Setup, fault_budget
from labkit.sim.replaying import Execution
from labkit.sim.report import Bounds
from labkit.sim.schedule import Move, Schedule
from labkit.sim.store import Contents
from labkit.sim.trace import Trace


class Stepper:
    """A schedule that is written letter by letter.

    Args:
        schedule: where to begin.
        pauses, faults: what the search tries, as for `labkit.explore`. Whoever plays may make the
            same kinds of move as often as they like.
        workers, setup, check, more: as for `labkit.replay`.

    Attributes:
        trace: what has happened so far.
        options: every move, whether possible or not.
        error: why the last move or text was not possible; "" if it was.
        bounds: what the search tries.
    """

    def __init__(
        self,
        worker: Worker | Mapping[str, Worker],
        schedule: str = "",
        *,
        workers: str | None = None,
        setup: Setup | None = None,
        check: Check | Iterable[Check] | None = None,
        pauses: int = 1,
        faults: str | Mapping[str, int] = "",
        **more: Any,
    ) -> None:
        _refuse_unknown(more)
        if not isinstance(pauses, int) or pauses < 0:
            raise LabkitError(f"pauses={pauses!r}: it must be a whole number, 0 or more.")
        budget = {kind: count for kind, count in fault_budget(faults).items() if count}
        self._program = Program(worker, workers, setup, check, **more)
        letters = tuple(self._program.workers)
        self.bounds = Bounds(letters, pauses, budget, MOVES_MAX, STATES_MAX, None)
        with self._program.virtual():
            self._machine = self._program.machine(faults=list(budget))
            self._machine.locals.close()
        self._walk = Walk(self._program, self._machine, {moves.TIME: pauses, **budget})
        self.whole = Search(self._walk, self._walk.start)
        self._others: dict[Node, Search] = {}
        self._undone: tuple[Move, ...] = ()
        self._make(())
        self.error = ""
        self.write(schedule)

    # -- the schedule -------------------------------------------------------------------------

    @property
    def schedule(self) -> str:
        return str(self.trace.schedule)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    @property
    def contents(self) -> Contents:
        """What the stores hold now."""
        steps = self.trace.steps
        return steps[-1].transition.after if steps else self.trace.start

    def write(self, text: str) -> None:
        """Take a whole schedule. If it is not possible, `error` says why and all stays as it is."""
        self._try(lambda: Schedule.parse(text))

    def play(self, move: Move) -> None:
        """Add one move."""
        self._try(lambda: (*self.trace.schedule, move))

    def undo(self) -> None:
        """Take back the last move."""
        self._back_to(max(0, len(self.trace.schedule) - 1))

    def restart(self) -> None:
        """Take back every move; `redo` makes them again, one by one."""
        self._back_to(0)

    def redo(self) -> None:
        """Make the first move that was taken back."""
        if self._undone:
            undone = self._undone[1:]
            self._try(lambda: (*self.trace.schedule, self._undone[0]), undone)

    def _back_to(self, length: int) -> None:
        made = self.trace.schedule
        self._try(lambda: made[:length], (*made[length:], *self._undone))

    def _try(self, schedule: Any, undone: tuple[Move, ...] = ()) -> None:
        try:
            self._make(schedule())
        except LabkitError as error:
            self.error = str(error)
        else:
            self.error, self._undone = "", undone

    def _make(self, schedule: Iterable[Move]) -> None:
        """All moves from the start: the machine's tables know every one that was made before."""
        with self._virtual():
            execution, node = Execution(self._program, self._machine), self._walk.start
            for move in schedule:
                execution.make(move)
                node = self._walk.follow(node, move)
            trace = execution.trace(partial=bool(execution.enabled()))
            self.options = options(self._machine, execution.state)
        self.trace: Trace = trace
        self._here = node

    @contextmanager
    def _virtual(self) -> Iterator[None]:
        with self._program.virtual():
            try:
                yield
            finally:
                self._machine.locals.close()

    # -- what can come ------------------------------------------------------------------------

    @property
    def has_rule(self) -> bool:
        return bool(self._program.checks.all)

    @property
    def at_start(self) -> bool:
        return self._here == self._walk.start

    @property
    def searched(self) -> bool:
        """Whether everything that can come from here has been looked at."""
        return self.whole.over and self._search().over

    @property
    def states(self) -> int:
        """How many states the search has seen."""
        return self.whole.states + sum(search.states for search in self._others.values())

    @property
    def from_here(self) -> tuple[Schedule | None, str]:
        """A shortest way to a violation, if there is one; and where the search gave up, or ""."""
        search = self._search()
        return search.path(self._here), search.stopped

    @property
    def shortest(self) -> Schedule | None:
        """A shortest schedule that breaks a rule, as `labkit.explore` finds it."""
        return self.whole.path(self._walk.start)

    def search(self, seconds: float) -> bool:
        """Search on for so long, one state at least; whether it has come to its end."""
        with self._virtual():
            end = time.perf_counter() + seconds
            while not self.searched:
                search = self._search()
                try:
                    next(search.steps, None)
                except LabkitError as error:  # of a worker or a check, on a way not taken so far
                    search.stopped, search.over = f"an error: {error}", True
                if time.perf_counter() >= end:
                    break
        return self.searched

    def _search(self) -> Search:
        """The search that knows where we are; beyond the bounds, one that begins here."""
        if not self.whole.over or self.whole.knows(self._here):
            return self.whole
        if self._here not in self._others:
            self._others[self._here] = Search(self._walk, self._here)
        return self._others[self._here]


def _refuse_unknown(more: Mapping[str, Any]) -> None:
    known = {*inspect.signature(Stepper).parameters, *inspect.signature(Program).parameters}
    known -= {"worker", "schedule", "more"}
    unknown = sorted(set(more) - known)
    if unknown:
        raise LabkitError(f"be_the_scheduler has no setting {unknown[0]}=. "
                          f"It has: {', '.join(sorted(known))}.")  # fmt: skip
