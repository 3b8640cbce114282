"""Exploration: every schedule within the bounds, counted, and the shortest that breaks a rule.

exploration      the examination of every schedule within bounds
bound            a limit that is part of the verdict: pauses, faults, moves, states, seconds
verdict          violated, holds within bounds, or gave up at a named bound
counterexample   a shortest schedule that breaks the rule, with its trace

The search goes layer by layer: all states after n moves, each with the number of ways that lead to
it. Different schedules that lead to the same state are counted together from there on, so counts
in the billions need only some thousands of states.
"""

from __future__ import annotations

import heapq
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.commands import RAISED, RETURNED, Ended
from labkit.sim.errors import (
    LabkitBug,
    LabkitError,
    NondeterminismError,
    ScheduleError,
)
from labkit.sim.machine import BROKEN, MEMORY, WORKERS, Machine, State
from labkit.sim.nodes import Worker
from labkit.sim.program import Program, Setup, fault_budget
from labkit.sim.replaying import Execution, executing
from labkit.sim.report import Bounds, Counterexample, Exploration
from labkit.sim.schedule import Move, Schedule
from labkit.sim.trace import Trace

Layer = dict[State, int]
Progress = Callable[[str], None]

_REPORT_AFTER_S, _REPORT_EVERY_S = 3.0, 1.0
_LOOK_EVERY = 1024  # states between two looks at the clock
_real_clock = time.perf_counter
_NOT_DETERMINISTIC = "Something in the workers, the setup or the check is not deterministic."


def explore(
    worker: Worker | Mapping[str, Worker],
    *,
    check: Check | Iterable[Check],
    workers: str | None = None,
    setup: Setup | None = None,
    pauses: int = 1,
    faults: str | Mapping[str, int] = "",
    lag: int = 1,
    evict: str | None = None,
    moves_max: int = 200,
    states_max: int = 2_000_000,
    seconds_max: float | None = None,
    symmetry: bool = False,
    progress: Progress | None = None,
) -> Exploration:
    """Examine every schedule within the bounds.

    Args:
        worker: one function for all workers, or a mapping letter -> function; a tuple of functions
            makes threads of one process.
        check: an invariant, a function of the finished lab that returns None or a sentence,
            or several of them.
        workers: the letters, when `worker` is one function ("AB" unless given).
        setup: fills the stores: `setup(lab)`.
        pauses: how often time may pass while somebody could run.
        faults: which faults may happen: "?!" allows one of each, {"?": 2} two lost replies.
        lag: how many of the last changes a failover loses.
        evict: a pattern for the keys that an eviction takes; None: those that have a TTL.
        moves_max: schedules with more moves are counted in `cut` only.
        states_max, seconds_max: where to give up.
        symmetry: workers that run the same function and have not moved are interchangeable;
            counts stay exact, fewer states are visited. Only for workers that do not decide by
            their own name.
        progress: called with a line of text now and then; stderr unless given.

    Raises:
        LabkitError: for bad arguments, a check that fails itself, a worker that cannot be run.
    """
    _number("pauses", pauses)
    _number("moves_max", moves_max)
    _number("states_max", states_max)
    budget = fault_budget(faults)
    program = Program(worker, workers, setup, check, lag, evict)
    if not program.checks.all:
        raise LabkitError("explore needs a check: an invariant, or a function of the finished lab.")
    if seconds_max is not None and not isinstance(seconds_max, int | float):
        raise LabkitError(f"seconds_max={seconds_max!r}: it must be a number of seconds, or None.")
    bounds = Bounds(tuple(program.workers), pauses, budget, moves_max, states_max, seconds_max, lag)
    with program.virtual():
        machine = program.machine(
            faults=list(budget), budget={moves.TIME: pauses, **budget}, symmetry=symmetry
        )
        search = _Search(program, machine, bounds, progress or _to_stderr)
        try:
            search.run()
        finally:
            machine.close()
    return search.result()


def assert_holds(
    worker: Worker | Mapping[str, Worker], *, check: Any, **bounds: Any
) -> Exploration:
    """For tests: explore, and fail with the schedule, its trace and the line that replays it.

    Raises:
        AssertionError: when the rule is violated, the exploration gave up, or the work was never
            done, so that there was nothing to check.
    """
    exploration = explore(worker, check=check, **bounds)
    if exploration.verdict != "holds within bounds" or not exploration.worked:
        raise AssertionError(f"\n{exploration}")
    return exploration


class _Search:
    def __init__(self, program: Program, machine: Machine, bounds: Bounds, say: Progress) -> None:
        self.program = program
        self.machine = machine
        self.bounds = bounds
        self.say = say
        self.schedules = self.violating = self.cut = self.states = 0
        self.left = self.returned = 0
        self.sections = False
        self.raised: Counter[str] = Counter()
        self.dangers = dict.fromkeys((danger.name for danger in program.checks.dangers), 0)
        self.stopped = ""
        self.moves_made = self.next_look = 0
        self.shortest: Schedule | None = None
        self.started = self.reported = _real_clock()
        self._works: dict[int, frozenset[str]] = {}

    def run(self) -> None:
        layer: Layer = {self.machine.start: 1}
        try:
            while layer and not self.stopped:
                layer = self._advance(layer)
                self.moves_made += 1
            self._look_for_the_shortest(layer)  # stopped: these are seen, though not examined
        except KeyboardInterrupt:
            self.stopped = "it was interrupted"

    def _advance(self, layer: Layer) -> Layer:
        """Make every move from every state of a layer; the states of the next layer."""
        following: Layer = {}
        successors, get = self.machine.successors, following.get
        last = self.moves_made == self.bounds.moves_max
        broken_ends: set[State] = set()
        for state, ways in layer.items():
            if self.states >= self.next_look and self._out_of_bounds():
                break
            self.states += 1
            found = successors(state)
            if not found:
                if self._finish(state, ways):
                    broken_ends.add(state)
            elif last:
                self.cut += ways
            else:
                for _, after in found:
                    following[after] = get(after, 0) + ways
        self._look_for_the_shortest(layer, broken_ends)
        return following

    def _finish(self, state: State, ways: int) -> bool:
        """Count a complete schedule's end; whether a rule is broken there."""
        broken = state[MEMORY] == BROKEN
        if not broken:
            broken = self.program.checks.judge(self.machine, state) is not None
        self.schedules += ways
        self.violating += ways * broken
        works = [self._work(local) for local in state[WORKERS:]]
        self.left += ways * any("leave" in work for work in works)
        self.returned += ways * any(RETURNED in work for work in works)
        self.sections = self.sections or any("enter" in work for work in works)
        if self.dangers and not broken:
            met = self.machine.met(state)[-len(self.dangers) :]
            for name, happened in zip(self.dangers, met, strict=True):
                self.dangers[name] += ways * (happened is True)
        ends = [end for end in self.machine.pending(state).values() if isinstance(end, Ended)]
        for reason in dict.fromkeys(end.reason for end in ends if end.how == RAISED):
            self.raised[reason] += ways
        return broken

    def _work(self, local: int) -> frozenset[str]:
        """What a worker's end says about its work: sections entered and left, and how it ended."""
        if local not in self._works:
            node = self.machine.locals.nodes[local]
            names = {event.name for step in node.path() for event in step.events}
            self._works[local] = frozenset(names | {node.ended.how if node.ended else ""})
        return self._works[local]

    def _out_of_bounds(self) -> bool:
        now = _real_clock()
        self.next_look = min(self.states + _LOOK_EVERY, self.bounds.states_max)
        if self.states >= self.bounds.states_max:
            self.stopped = f"states_max={self.bounds.states_max:,} was reached"
        elif self.bounds.seconds_max is not None and now - self.started > self.bounds.seconds_max:
            self.stopped = f"seconds_max={self.bounds.seconds_max:g} was reached"
        elif now - self.started > _REPORT_AFTER_S and now - self.reported > _REPORT_EVERY_S:
            self.reported = now
            self.say(f"exploring: {self.states:,} states, {self.schedules:,} schedules "
                     f"complete, {now - self.started:.0f} s")  # fmt: skip
        return bool(self.stopped)

    def _look_for_the_shortest(self, layer: Layer, broken_ends: Iterable[State] = ()) -> None:
        """The first layer with a violation has the shortest schedules; take the best of them."""
        if self.shortest is None:
            broken = {*broken_ends, *(state for state in layer if state[MEMORY] == BROKEN)}
            if broken:
                self.shortest = _best(self.machine, self.moves_made, broken)

    def result(self) -> Exploration:
        counterexample = None
        if self.shortest is not None:
            counterexample = self._confirmed(self.shortest)
        return Exploration(
            program=self.program.name,
            rule="; ".join(self.program.checks.names),
            bounds=self.bounds,
            schedules=self.schedules,
            violating=self.violating,
            worked=self.left if self.sections else self.returned,
            sections=self.sections,
            states=self.states,
            cut=self.cut,
            stopped=self.stopped or (f"moves_max={self.bounds.moves_max}" if self.cut else ""),
            raised=self.raised,
            dangers=self.dangers,
            runs=self.machine.locals.runs,
            counterexample=counterexample,
        )

    def _confirmed(self, schedule: Schedule) -> Counterexample:
        """The counterexample: as it was found, and once more in a new machine, must be the same."""
        first = _made(Execution(self.program, self.machine), schedule)
        with executing(self.program, faults=list(self.bounds.faults)) as again:
            try:
                second = _made(again, schedule)
            except ScheduleError as error:
                raise NondeterminismError(
                    f"The second time: {error} {_NOT_DETERMINISTIC}"
                ) from error
        for a, b in zip(first.steps, second.steps, strict=True):
            if a != b:
                raise NondeterminismError(
                    f'Two runs of "{schedule}" differ at step {a.number}:\n{a}\n{b}\n'
                    f"{_NOT_DETERMINISTIC}"
                )
        if first.broken is None:
            raise LabkitBug(
                f'"{schedule}" broke a rule in the exploration, but not when made alone.'
            )
        if first.broken != second.broken:
            raise NondeterminismError(
                f'"{schedule}" was judged twice. First: {first.broken}. Then: {second.broken}. '
                f"{_NOT_DETERMINISTIC}"
            )
        return Counterexample(schedule, second, first.broken)


def _made(execution: Execution, schedule: Schedule) -> Trace:
    for move in schedule:
        execution.make(move)
    return execution.trace()


def _best(machine: Machine, length: int, targets: set[State]) -> Schedule:
    """Of all schedules of this length that end in a target, the best one.

    Fewest faults, then the fewest `t`, the fewest switches of worker, then the order of the moves.
    No move makes any of these smaller, so the first target that is reached by always going on from
    the best beginning so far is the answer.
    """
    move_of: dict[Any, Move] = {}
    queue: list[tuple[Any, ...]] = [(0, 0, 0, (), machine.start, "")]
    seen = set()
    while queue:
        faults, times, switches, path, state, last = heapq.heappop(queue)
        if len(path) == length:
            if state in targets:
                return Schedule(move_of[rank] for rank in path)
        elif (len(path), state, last) not in seen:
            seen.add((len(path), state, last))
            for move, after in machine.successors(state):
                move_of[move.rank] = move
                heapq.heappush(queue, (
                    faults + move.is_fault,
                    times + (move.kind == moves.TIME),
                    switches + (move.worker is not None and last not in ("", move.worker)),
                    (*path, move.rank), after, move.worker or last,
                ))  # fmt: skip
    raise LabkitBug("No schedule leads to a state that was reached.")


def _number(name: str, value: int) -> None:
    if not isinstance(value, int) or value < 0:
        raise LabkitError(f"{name}={value!r}: it must be a whole number, 0 or more.")


def _to_stderr(line: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    sys.stderr.write(line + end)
    sys.stderr.flush()
