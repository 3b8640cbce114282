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
from labkit.sim.commands import CRASHED, Command, Ended, Pending, Waiting, end_of, waiting
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.invariants import Invariant
from labkit.sim.lab import Lab
from labkit.sim.machine import PASS_TIME
from labkit.sim.nodes import Worker
from labkit.sim.process import Process
from labkit.sim.program import Program, Setup
from labkit.sim.replaying import replay
from labkit.sim.replies import LOST, Blocked, Late, Lost, Reply
from labkit.sim.schedule import Move, thread_name
from labkit.sim.store import Contents
from labkit.sim.trace import Step, Trace, step_of
from labkit.sim.transitions import Transition, Turn

#: Why some moves cannot be made here.
_REFUSED = {
    moves.FAILOVER: "it takes a second server, a replica that has not seen the last change",
    moves.DOWN: "the server would have to stop, with all connections to it",
    moves.UP: "the server would have to stop first",
}


def replay_on(
    server: Server,
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
    """Make exactly the moves of a schedule on a real server; otherwise like `replay`.

    Args:
        server: its keys are removed first (a server of your own must be empty).

    Raises:
        Disagreement: at the first step that is not as in the simulation.
        ServerGone: when the server stops or does not answer.
        ScheduleError: as `replay` does.
    """
    simulated = replay(
        worker, schedule, workers=workers, setup=setup, check=check, lag=lag, evict=evict,
        partial=partial,
    )  # fmt: skip
    return follow(server, Program(worker, workers, setup, check, lag, evict), simulated)


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
        #: Threads ("A", "A2") whose reply is still to come, and how they wait for it.
        self.waiting: dict[str, Waiting] = {}
        #: Requests that have not arrived, and whose they are.
        self.delayed: list[tuple[str, Command]] = []
        self.crashed: set[str] = set()
        #: Connections whose wait this move has ended, with the replies.
        self.served: tuple[tuple[str, bytes], ...] = ()

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
        turns = tuple(self._turn(letter, 1) for letter in self.processes)
        contents = self._contents()
        self._observe(Transition(PASS_TIME, None, None, turns, contents, contents, 0))
        steps = tuple(map(self._step, self.simulated.steps))
        if self.broken is None and self.simulated.complete:
            self.pair.where = "The check at the end"
            self.broken = self._judge()
        self._same("the verdict", self.simulated.broken, self.broken)
        pending = {thread_name(letter, number): pending for letter in self.processes
                   for number, pending in enumerate(self._pendings(letter), 1)}  # fmt: skip
        return replace(self.simulated, steps=steps, pending=pending, broken=self.broken)

    def _step(self, simulated: Step) -> Step:
        """The same move for real."""
        move, pair = simulated.move, self.pair
        pair.where = f"Step {simulated.number}, {move} {simulated.command}".rstrip()
        if move.kind in _REFUSED:
            raise NotModelled(f'"{move}" cannot be made on a real server here: '
                              f"{_REFUSED[move.kind]}. Replay it in the simulation.")  # fmt: skip
        before = self._contents()
        reply: bytes | Blocked | None = None
        command = simulated.transition.command
        if move.worker is None:
            turns = self._world_moves(move, simulated)
        else:
            command, reply, turns = self._worker_moves(move, command)
            turns += [self._resume(*self._waiter(session), told) for session, told in self.served]
        transition = Transition(
            move, command, reply if isinstance(reply, bytes) else None, tuple(turns), before,
            self._contents(), pair.now_ms,
        )  # fmt: skip
        self._observe(transition)
        step = step_of(simulated.number, transition)
        self._same("the step", simulated, step)
        return step

    def _world_moves(self, move: Move, simulated: Step) -> list[Turn]:
        if move.kind == moves.EVICTION:
            self.pair.evict(self.program.evict)
            return []
        self.pair.expire(simulated.at_ms)
        return [self._resume(turn.worker, turn.thread, None)
                for turn in simulated.transition.turns]  # fmt: skip

    def _worker_moves(
        self, move: Move, simulated: Command | None
    ) -> tuple[Command | None, bytes | Blocked | None, list[Turn]]:
        """The command, its reply, and how the worker goes on: or starts to wait, or is gone."""
        letter, who = move.worker or "", thread_name(move.worker or "", move.thread)
        self.served = ()
        if move.kind == moves.LATE_REQUEST and simulated is not None:
            self.delayed.remove((who, simulated))
            reply = self._execute(simulated)
            self.beside.end(simulated.session)
            self.pair.end(simulated.session)
            return simulated, reply, []
        pending = self._pendings(letter)[move.thread - 1]
        command = pending if isinstance(pending, Command) else None
        self._same("the pending command", simulated, command)
        if move.kind == moves.CRASH:
            return command, None, [self._crash(letter)]
        if command is None:  # its reply arrives
            return None, None, [self._resume(letter, move.thread, self.waiting[who].arriving)]
        if move.kind == moves.LOST_REQUEST:
            self.delayed.append((who, command))
            self.beside.end(command.session)
            return command, None, [self._resume(letter, move.thread, LOST)]
        reply = self._execute(command)
        if isinstance(reply, Blocked) or move.kind == moves.LATE_REPLY:
            late = reply if isinstance(reply, Blocked) else Late(reply, command.patience_ms)
            self.waiting[who] = waiting(command, late)
            return command, reply, [Turn(letter, (), None, thread=move.thread)]
        if move.kind == moves.LOST_REPLY:
            self.beside.end(command.session)
            return command, reply, [self._resume(letter, move.thread, LOST)]
        return command, reply, [self._resume(letter, move.thread, reply)]

    def _pendings(self, letter: str) -> tuple[Pending, ...]:
        """What each thread of a worker is about to do."""
        if letter in self.crashed:
            return (Ended(CRASHED),)
        return tuple(self.waiting.get(thread_name(letter, number), pending)
                     for number, pending in enumerate(self.processes[letter].pendings, 1)
                     )  # fmt: skip

    def _waiter(self, session: str) -> tuple[str, int]:
        """The thread whose command waits on this connection."""
        who = next(who for who, waits in self.waiting.items()
                   if waits.command is not None and waits.command.session == session)  # fmt: skip
        return who[0], int(who[1:] or 1)

    def _ask(self, command: Command) -> bytes:
        """For the setup and the checks, which never wait."""
        reply = self._execute(command)
        if isinstance(reply, Blocked):
            raise LabkitError(f'{self.pair.where} would wait in "{command}".')
        return reply

    def _execute(self, command: Command) -> bytes | Blocked:
        if command.store != "redis":
            return self.beside.execute(command)
        reply = self.pair.execute(command)
        self.served = self.pair.served
        return reply

    def _crash(self, letter: str) -> Turn:
        self.processes[letter].close()
        self.crashed.add(letter)
        self.waiting = {who: waits for who, waits in self.waiting.items() if who[0] != letter}
        self.pair.crash(letter)
        self.beside.end(letter)
        return Turn(letter, (), Ended(CRASHED))

    def _resume(self, letter: str, thread: int, reply: Reply) -> Turn:
        """A thread goes on: with this reply, or at the end of its wait."""
        waits = self.waiting.pop(thread_name(letter, thread), None)
        answered = None
        if waits is not None and waits.command is not None:
            told = waits.told if reply is None else reply
            assert isinstance(told, bytes | Lost)
            reply, answered = told, (waits.command, told)
        self.processes[letter].send(reply, self.pair.now_ms, thread)
        turn = replace(self._turn(letter, thread), answered=answered)
        if turn.ended:
            self.beside.end(letter)
        return turn

    def _contents(self) -> Contents:
        return {**self.pair.contents(), **self.beside.contents()}

    def _turn(self, letter: str, thread: int) -> Turn:
        """What the worker did since it was last resumed."""
        process, pendings = self.processes[letter], self._pendings(letter)
        over = all(isinstance(pending, Ended) for pending in pendings)
        ended = end_of(*pendings) if over else None
        return Turn(letter, tuple(process.events), ended, thread=thread)

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
            lab.end(letter, end_of(*self._pendings(letter)))
        for check in self.program.checks.all:
            judge = check.at_end if isinstance(check, Invariant) else check
            sentence = judge(lab) if judge else None
            if sentence is not None:
                return sentence
        return None

    def _same(self, what: str, simulated: object, real: object) -> None:
        if simulated != real:
            raise Disagreement(self.pair.where, what, simulated, real, self.server.name)
