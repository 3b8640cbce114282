"""Replay: one schedule, move by move, strictly.

execution   one run of all workers from start to end
replay      an execution that makes exactly the moves of a schedule
strategy    a rule that chooses the next move where no schedule is given
simulation  an execution whose moves a strategy chooses
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.commands import Command, Ended, Pending, Waiting
from labkit.sim.errors import LabkitError, ScheduleError
from labkit.sim.machine import BROKEN, MEMORY, PASS_TIME, WORLD, Machine, State, Transition
from labkit.sim.nodes import Worker
from labkit.sim.program import Program, Setup
from labkit.sim.schedule import Move, Schedule, thread_name
from labkit.sim.trace import Step, Trace, step_of


class Execution:
    """One execution in progress: a machine, the state it is in, and the steps so far."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program = program
        self.machine = machine
        self.state: State = machine.start
        self.steps: list[Step] = []
        self.broken = machine.broken_at_start
        self.broken_at: int | None = None if self.broken is None else 0

    def enabled(self) -> dict[Move, State]:
        """The moves that are possible now, each with the state it leads to."""
        return dict(self.machine.successors(self.state))

    def make(self, move: Move) -> Step:
        """Make a move.

        Raises:
            ScheduleError: when it is not enabled; it says why, and what is.
        """
        enabled = self.enabled()
        if move not in enabled:
            raise self._not_enabled(move, enabled)
        transition = self.machine.transition(self.state, move)
        return self._arrive(transition, enabled[move])

    def pass_to(self, now_ms: int) -> Step:
        """Let time pass to an instant that is not after the next deadline."""
        transition = self.machine.passing(self.state, now_ms)
        return self._arrive(transition, self.machine.pass_to(self.state, now_ms))

    def trace(self, *, partial: bool = False) -> Trace:
        """What has happened so far. A check at the end is asked only when all have ended."""
        program, pending = self.program, self.machine.pending(self.state)
        broken, complete = self.broken, not self.enabled()
        if broken is None and complete:
            broken = program.checks.judge(self.machine, self.state)
        text = str(Schedule(step.move for step in self.steps))
        return Trace(
            worker=program.name,
            letters=self.machine.letters,
            steps=tuple(self.steps),
            pending=pending,
            broken=broken,
            broken_at=len(self.steps) if self.broken_at is None and broken else self.broken_at,
            rule="; ".join(program.checks.names) or None,
            call=program.call("replay", text, partial=partial),
            complete=complete,
            start=self.machine.worlds.contents(self.machine.start[WORLD]),
        )

    def _arrive(self, transition: Transition, state: State) -> Step:
        before, self.state = self.state[MEMORY], state
        if before != BROKEN and state[MEMORY] == BROKEN:
            self.broken = self.machine.observe(before, transition)[1]
            self.broken_at = len(self.steps) + 1
        self.steps.append(step_of(len(self.steps) + 1, transition))
        return self.steps[-1]

    def _not_enabled(self, move: Move, enabled: Mapping[Move, State]) -> ScheduleError:
        number = len(self.steps) + 1
        possible = tuple(map(str, enabled))
        so_far = " ".join(str(step.move) for step in self.steps) or "the start"
        pending = self.machine.pending(self.state)
        waiting = [f"{w} {p}" for w, p in pending.items() if not isinstance(p, Ended)]
        return ScheduleError(
            f'Move {number}, "{move}", is not possible after {so_far}: '
            f"{why_not(self.machine, self.state, move)}. {_possible(enabled, waiting)}",
            move_number=number,
            enabled=possible,
        )


def _possible(enabled: Iterable[Move], waiting: Sequence[str] = ()) -> str:
    """The moves that can be made, as a sentence; faults apart, since few readers mean them."""
    if not enabled:
        return f"Nothing is possible: {' and '.join(waiting) or 'all have ended'}."
    plain = [str(move) for move in enabled if not move.is_fault]
    faults = [str(move) for move in enabled if move.is_fault]
    apart = f" (and the faults {' '.join(faults)})" if faults else ""
    return f"Possible: {' '.join(plain) or 'no move but a fault'}{apart}."


def why_not(machine: Machine, state: State, move: Move) -> str:
    """Why a move is not enabled in this state, as half a sentence."""
    pending = machine.pending(state)
    if move.worker is None:
        return _why_not_the_world(machine, state, move, pending)
    who = thread_name(move.worker, move.thread)
    if move.worker not in machine.letters:
        return f"there is no worker {move.worker}, only {', '.join(machine.letters)}"
    if who not in pending:
        threads = [name for name in pending if name[0] == move.worker]
        return f"{move.worker} has not started so many threads, only {', '.join(threads)}"
    if move.kind == moves.LATE_REQUEST:
        if machine.worlds.arrives(state[WORLD], who):
            return "nobody can go on any more, so that the run is complete"
        return f"no request of {who} is delayed: first, {who}~ must have lost one"
    own = pending[who]
    if isinstance(own, Ended):
        return f"{who} has ended ({own})"
    if isinstance(own, Waiting):
        until = machine.wakes_at(state, move)
        return f"{who} {own}" + ("" if until is None else f", until {until} ms")
    return _why_not_its_command(machine, state, move, own)


def _why_not_its_command(machine: Machine, state: State, move: Move, own: Command) -> str:
    who = thread_name(move.worker or "", move.thread)
    if machine.worlds.down(state[WORLD]) and own.store == "redis":
        return f"the Redis server is down, so {own} gets no further; try {who}, which is told so"
    if move.kind in (moves.LOST_REPLY, moves.LATE_REPLY):
        what = "lost" if move.kind == moves.LOST_REPLY else "late"
        return f"{own} would wait, so there is no reply yet that could be {what}"
    return "this kind of move is not allowed here"


def _why_not_the_world(
    machine: Machine, state: State, move: Move, pending: Mapping[str, Pending]
) -> str:
    if all(isinstance(ending, Ended) for ending in pending.values()):
        return "all workers have ended"
    down = machine.worlds.down(state[WORLD])
    what = "that has a TTL" if machine.evict is None else f'that matches "{machine.evict}"'
    reasons = {
        moves.TIME: "no key expires and nobody sleeps, so there is nothing that time could change",
        moves.FAILOVER: "nothing has changed in Redis since the start, or the last f, to be lost",
        moves.EVICTION: "the Redis server is down" if down else f"Redis holds no key {what}",
        moves.DOWN: "the Redis server is down already; u brings it back" if down else "",
        moves.UP: "" if down else "the Redis server is up; only after d can it come back",
    }
    return reasons[move.kind] or "nobody can go on any more, so that the run is complete"


@contextlib.contextmanager
def executing(program: Program, faults: Sequence[str] = moves.FAULTS) -> Iterator[Execution]:
    """An execution without budgets: every modelled move may be made, faults of these kinds too."""
    with program.virtual():
        machine = program.machine(faults=faults)
        try:
            yield Execution(program, machine)
        finally:
            machine.close()


def replay(
    worker: Worker | Mapping[str, Worker],
    schedule: str | Iterable[Move],
    *,
    workers: str | None = None,
    setup: Setup | None = None,
    check: Check | Iterable[Check] | None = None,
    lag: int = 1,
    evict: str | None = None,
    partial: bool = False,
) -> Trace:
    """Make exactly the moves of a schedule.

    Args:
        worker: the worker function, or a mapping letter -> function.
        schedule: such as "A B A B".
        workers: the letters, when `worker` is one function ("AB" unless given).
        setup: fills the stores before the first move.
        check: an invariant, a function of the finished lab, or several.
        lag: how many of the last changes a failover loses.
        evict: a pattern for the keys that an eviction takes; None: those that have a TTL.
        partial: accept a schedule that stops before everybody has ended.

    Raises:
        ScheduleError: for a move that is not enabled, or a schedule that stops early.
    """
    program = Program(worker, workers, setup, check, lag, evict)
    with executing(program) as execution:
        for move in Schedule.parse(schedule):
            execution.make(move)
        if not partial and execution.broken is None and execution.enabled():
            raise _stops_early(execution)
        return execution.trace(partial=partial)


def simulate(
    worker: Worker | Mapping[str, Worker],
    *,
    strategy: Callable[[Execution], Move | int | None] | None = None,
    pause: tuple[str, int, float] | None = None,
    workers: str | None = None,
    setup: Setup | None = None,
    check: Check | Iterable[Check] | None = None,
    moves_max: int = 1_000,
) -> Trace:
    """Let a strategy choose the moves; `earliest` unless another one is given.

    Args:
        strategy: a function of the execution: the next move, an instant in ms to let time pass
            to, or None at the end.
        pause: (letter, after_step, seconds): that worker does not move for so long once it has
            made `after_step` moves.
        moves_max: where to stop a simulation that does not end.
    """
    choose = strategy or earliest(pause)
    program = Program(worker, workers, setup, check)
    if pause is not None and pause[0] not in program.workers:
        raise LabkitError(f"pause={pause}: there is no worker {pause[0]}.")
    with executing(program) as execution:
        while len(execution.steps) < moves_max:
            chosen = choose(execution)
            if chosen is None:
                break
            if isinstance(chosen, Move):
                execution.make(chosen)
            else:
                execution.pass_to(chosen)
        # A pause may end where no deadline is, so that its schedule alone says too little.
        call = program.call("simulate", strategy=strategy and strategy.__name__, pause=pause)
        return replace(execution.trace(), call=call)


def earliest(
    pause: tuple[str, int, float] | None = None,
) -> Callable[[Execution], Move | int | None]:
    """The strategy that runs whoever is ready, in name order, and lets time pass only otherwise."""
    frozen = _Freeze(*pause) if pause else None

    def choose(execution: Execution) -> Move | int | None:
        frozen_now = frozen is not None and frozen.holds(execution)
        enabled = execution.enabled()
        for move in enabled:
            if move.kind == moves.RUN and not (frozen_now and move.worker == frozen.letter):  # type: ignore[union-attr]
                return move
        if PASS_TIME not in enabled:
            return frozen.end_ms if frozen_now and frozen is not None else None
        deadline = execution.machine.deadline(execution.state)
        if frozen_now and frozen is not None and frozen.end_ms < (deadline or 0):
            return frozen.end_ms
        return PASS_TIME

    return choose


class _Freeze:
    """One pause of one worker: it is not chosen from its n-th move on, for so many seconds."""

    def __init__(self, letter: str, after_step: int, seconds: float) -> None:
        self.letter = letter
        self._after_step = after_step
        self._length_ms = round(seconds * 1000)
        self.end_ms = -1

    def holds(self, execution: Execution) -> bool:
        now_ms = execution.machine.worlds.now_ms(execution.state[WORLD])
        if self.end_ms < 0:
            made = sum(step.move.worker == self.letter for step in execution.steps)
            if made < self._after_step:
                return False
            self.end_ms = now_ms + self._length_ms
        return now_ms < self.end_ms


def _stops_early(execution: Execution) -> ScheduleError:
    enabled = execution.enabled()
    trace = execution.trace()
    return ScheduleError(
        f'The schedule "{trace.schedule}" stops before everybody has ended. {trace.about_to}. '
        f"{_possible(enabled)} Or say partial=True.",
        move_number=len(execution.steps) + 1,
        enabled=tuple(map(str, enabled)),
    )
