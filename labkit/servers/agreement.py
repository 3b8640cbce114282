"""One schedule on a real server, the same steps, replies and verdict as in the simulation.

First the schedule is replayed in the simulation, which refuses what cannot be made. Then the same
moves are made once more for real: the worker functions run again, and each command goes to the
server, over one connection per session. The first thing that differs stops the run.

A server is not a store of `labkit.sim.machine`: the machine tries every enabled move of every
worker and then puts its stores back, and a server cannot go back. It can only be led through one
schedule, from the beginning to the end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from labkit.servers.beside import Beside
from labkit.servers.pair import Disagreement, KeysDiffer, Pair
from labkit.servers.server import Server
from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.commands import CRASHED, Command, Ended, Pending, Waiting, end_of
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.invariants import Invariant
from labkit.sim.lab import Lab
from labkit.sim.machine import PASS_TIME, Transition, Turn
from labkit.sim.nodes import Worker
from labkit.sim.process import Process
from labkit.sim.program import Program, Setup
from labkit.sim.replaying import replay
from labkit.sim.replies import LOST, Blocked, Lost, Reply
from labkit.sim.schedule import Move
from labkit.sim.store import Contents
from labkit.sim.trace import Step, Trace, step_of

_MOVES = (moves.RUN, moves.LOST_REPLY, moves.LOST_REQUEST, moves.CRASH, moves.TIME)


def replay_on(
    server: Server,
    worker: Worker | Mapping[str, Worker],
    schedule: str | Iterable[Move],
    *,
    workers: str | None = None,
    setup: Setup | None = None,
    check: Check | Iterable[Check] | None = None,
    partial: bool = False,
) -> Trace:
    """Make exactly the moves of a schedule on a real server; otherwise like `replay`.

    Args:
        server: its keys are removed first (a server of your own must be empty).

    Raises:
        Disagreement: at the first step that is not as in the simulation.
        ServerGone: when the server stops or does not answer.
        ScheduleError: as `replay` does.
    """
    simulated = replay(
        worker, schedule, workers=workers, setup=setup, check=check, partial=partial
    )
    return follow(server, Program(worker, workers, setup, check), simulated)


def follow(server: Server, program: Program, simulated: Trace, attempts: int = 3) -> Trace:
    """Make the moves of a trace on a real server, again if a key ran out in real time."""
    try:
        with program.virtual(), contextlib.closing(_Run(server, program, simulated)) as run:
            return run.trace()
    except KeysDiffer:
        if attempts == 1:
            raise
    return follow(server, program, simulated, attempts - 1)


class _Run:
    def __init__(self, server: Server, program: Program, simulated: Trace) -> None:
        self.server = server
        self.program = program
        self.simulated = simulated
        self.broken: str | None = None
        self.memories = [monitor.start for monitor in program.checks.monitors]
        self.processes: dict[str, Process] = {}
        self.pair = Pair(server)
        self.beside = Beside(self._ask)
        #: Workers whose command waits at the server, and how their wait ends by itself.
        self.waiting: dict[str, Blocked] = {}

    def close(self) -> None:
        for process in self.processes.values():
            process.close()
        self.pair.close()
        self.beside.close()

    def trace(self) -> Trace:
        """The whole run."""
        if self.program.setup is not None:
            self.program.setup(Lab(self._ask, 0, self.beside.resources, self.beside.declare,
                                   self.pair.speak))  # fmt: skip
        for letter, function in self.program.workers.items():
            self.processes[letter] = Process(letter, function, self.beside.resources)
            self.processes[letter].start(0)
        turns, contents = tuple(map(self._turn, self.processes)), self._contents()
        self._observe(Transition(PASS_TIME, None, None, turns, contents, contents, 0))
        steps = tuple(map(self._step, self.simulated.steps))
        if self.broken is None and self.simulated.complete:
            self.pair.where = "The check at the end"
            self.broken = self._judge()
        self._same("the verdict", self.simulated.broken, self.broken)
        pending = {letter: self._pending(letter) for letter in self.processes}
        return replace(self.simulated, steps=steps, pending=pending, broken=self.broken)

    def _step(self, simulated: Step) -> Step:
        """The same move for real."""
        move, pair = simulated.move, self.pair
        pair.where = f"Step {simulated.number}, {move} {simulated.command}".rstrip()
        if move.kind not in _MOVES or move.thread > 1:
            raise NotModelled(f'"{move}" cannot be made on a real server yet.')
        before, command = self._contents(), None
        reply: bytes | Blocked | None = None
        if move.worker is None:
            pair.expire(simulated.at_ms)
            woken = [turn.worker for turn in simulated.transition.turns]
            turns = [self._resume(w, self.waiting[w].told if w in self.waiting else None)
                     for w in woken]  # fmt: skip
        else:
            pending = self._pending(move.worker)
            command = pending if isinstance(pending, Command) else None
            self._same("the pending command", simulated.transition.command, command)
            if command is not None and move.kind in (moves.RUN, moves.LOST_REPLY):
                reply = self._execute(command)
            if command is not None and move.kind in (moves.LOST_REPLY, moves.LOST_REQUEST):
                self.beside.end(command.session)
            turns = [self._moved(move, reply)]
            if command is not None and reply is not None and command.store == "redis":
                turns += [self._resume(worker, told) for worker, told in pair.served]
        transition = Transition(
            move, command, reply if isinstance(reply, bytes) else None, tuple(turns), before,
            self._contents(), pair.now_ms,
        )  # fmt: skip
        self._observe(transition)
        step = step_of(simulated.number, transition)
        self._same("the step", simulated, step)
        return step

    def _moved(self, move: Move, reply: bytes | Blocked | None) -> Turn:
        """The worker of a move goes on, or starts to wait, or is gone."""
        letter = move.worker or ""
        if move.kind == moves.CRASH:
            self._crash(letter)
        elif isinstance(reply, Blocked):
            self.waiting[letter] = reply
            return Turn(letter, (), None)
        else:
            return self._resume(letter, reply if move.kind == moves.RUN else LOST)
        return self._turn(letter)

    def _pending(self, letter: str) -> Pending:
        pending, blocked = self.processes[letter].pending, self.waiting.get(letter)
        if blocked is None:
            return pending
        assert isinstance(pending, Command)
        return Waiting(blocked.ms, "waits in", pending)

    def _ask(self, command: Command) -> bytes:
        """For the setup and the checks, which never wait."""
        reply = self._execute(command)
        if isinstance(reply, Blocked):
            raise LabkitError(f'{self.pair.where} would wait in "{command}".')
        return reply

    def _execute(self, command: Command) -> bytes | Blocked:
        redis = command.store == "redis"
        return self.pair.execute(command) if redis else self.beside.execute(command)

    def _crash(self, letter: str) -> None:
        process = self.processes[letter]
        process.close()
        process.pending, process.events = Ended(CRASHED), []
        self.waiting.pop(letter, None)
        self.pair.crash(letter)
        self.beside.end(letter)

    def _resume(self, letter: str, reply: Reply) -> Turn:
        command = self.processes[letter].pending
        answered = None
        if self.waiting.pop(letter, None) is not None:
            assert isinstance(command, Command) and isinstance(reply, bytes | Lost)
            answered = (command, reply)
        self.processes[letter].send(reply, self.pair.now_ms)
        if isinstance(self.processes[letter].pending, Ended):
            self.beside.end(letter)
        return replace(self._turn(letter), answered=answered)

    def _contents(self) -> Contents:
        return {**self.pair.contents(), **self.beside.contents()}

    def _turn(self, letter: str) -> Turn:
        """What the worker did since it was last resumed."""
        process = self.processes[letter]
        ended = process.pending if isinstance(process.pending, Ended) else None
        return Turn(letter, tuple(process.events), ended)

    def _observe(self, transition: Transition) -> None:
        """Let the invariants that are judged after every step see it, until one is broken."""
        kept = self.memories
        for place, monitor in enumerate(self.program.checks.monitors):
            if self.broken is None:
                kept[place], self.broken = monitor.observe(kept[place], transition)

    def _judge(self) -> str | None:
        """The checks at the end, which read the real server."""
        lab = Lab(self._ask, self.pair.now_ms, self.beside.resources)
        for letter in self.processes:
            lab.end(letter, end_of(self._pending(letter)))
        for check in self.program.checks.all:
            judge = check.at_end if isinstance(check, Invariant) else check
            sentence = judge(lab) if judge else None
            if sentence is not None:
                return sentence
        return None

    def _same(self, what: str, simulated: object, real: object) -> None:
        if simulated != real:
            raise Disagreement(self.pair.where, what, simulated, real, self.server.name)
