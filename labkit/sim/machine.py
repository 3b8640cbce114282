"""The machine: every state a program can be in, and every move from there.

state    the world, what each worker has been told so far, and the budgets that are left
enabled  said of a move that can be made in a state
blocked  said of a worker that cannot move until another move has been made

A state is a tuple of small integers: (world, budget, memory, worker A, worker B, ...). Worlds and
workers' local states are numbered in tables, so that each command runs once in each world and each
worker runs once on each list of replies, however many schedules lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.commands import Command, Pending, Waiting
from labkit.sim.nodes import Locals, Node, Worker
from labkit.sim.replies import LOST, Late, Lost, Reply
from labkit.sim.schedule import Move, thread_name
from labkit.sim.transitions import Budgets, Option, Outcome, Table, Transition, Turn, same_function
from labkit.sim.worlds import Worlds

__all__ = ["Machine", "State", "Transition", "Turn"]

State = tuple[int, ...]
Step = tuple[int, int]  # from one local state to another one

#: Where a state keeps what; the workers follow.
WORLD, BUDGET, MEMORY, WORKERS = 0, 1, 2, 3
#: The memory of a run in which a rule has been broken.
BROKEN = -1
PASS_TIME = Move(moves.TIME)


class Machine:
    """All states of one program.

    Args:
        workers: letter to worker function, or to several: the threads of one process.
        setup: declares and fills the stores, and chooses the server's dialect.
        faults: the kinds of fault that may happen.
        monitors: watch every transition; see `labkit.sim.invariants`.
        budget: how often each kind of move with a cost may happen (missing: no limit).
        symmetry: treat workers that run the same function and have not moved as interchangeable.
        lag, evict: what a failover and an eviction take; see `Worlds`.
    """

    def __init__(
        self,
        workers: Mapping[str, Worker],
        *,
        setup: Callable[[Worlds], None] | None = None,
        faults: Sequence[str] = (),
        monitors: Sequence[Any] = (),
        budget: Mapping[str, int] | None = None,
        symmetry: bool = False,
        lag: int = 1,
        evict: str | None = None,
    ) -> None:
        self.letters = tuple(workers)
        self.faults = tuple(faults)
        self.monitors = tuple(monitors)
        self.evict = evict
        self.worlds = Worlds(lag if moves.FAILOVER in faults else 0, evict)
        world = self.worlds.first(setup)
        self.locals = Locals(workers, self.worlds.resources)
        #: world -> local state -> moves
        self._options = Table[int, Table[int, tuple[Option, ...]]](
            lambda world: Table(partial(self._find, world))
        )
        #: world -> moves of the server itself
        self._of_server = Table[int, tuple[Option, ...]](self._find_of_server)
        self._kinds = (moves.RUN, *(kind for kind in moves.OF_A_COMMAND if kind in faults))
        self._server_kinds = tuple(kind for kind in moves.OF_A_SERVER if kind in faults)
        self._budgets = Budgets(budget or {}, (moves.TIME, *faults))
        self._memories: list[Any] = []
        self._memory_numbers: dict[Any, int] = {}
        self._observed: dict[tuple[Any, ...], int] = {}
        self._alike = same_function(workers, WORKERS) if symmetry else ()
        locals_ = tuple(self.locals.start[letter] for letter in self.letters)
        memory, self.broken_at_start = self._first_memory(world, locals_)
        self.start: State = (world, self._budgets.start, memory, *locals_)

    def close(self) -> None:
        """End the processes and the stores. What is in the tables stays."""
        self.locals.close()
        self.worlds.close()

    # -- moves --------------------------------------------------------------------------------

    def successors(self, state: State) -> list[tuple[Move, State]]:
        """Every enabled move and the state it leads to: workers first, then time and server."""
        found, can_run = self._moves_of_workers(state)
        if self._alike:
            found = self._once_for_all_alike(state, found)
        later = self._time_passes(state, can_run)
        if later is not None:
            found.append((PASS_TIME, later))
        elif not can_run:
            return []  # all have ended or are stuck for good: a crash would change nothing
        if self._server_kinds:
            found += self._moves_of_server(state)
        return found

    def _moves_of_workers(self, state: State) -> tuple[list[tuple[Move, State]], bool]:
        """Their moves, and whether any of them costs nothing: whether somebody can run."""
        world, budget, memory, *locals_ = state
        options, spend = self._options[world], self._budgets.spend
        watched = self.monitors and memory != BROKEN
        can_run = False
        found: list[tuple[Move, State]] = []
        for place, local in enumerate(locals_, WORKERS):
            for option in options[local]:
                move, world_after, local_after, cost, served = option
                left: int | None = budget
                if cost:
                    left = spend[budget, cost]
                    if left is None:
                        continue
                else:
                    can_run = True
                after: list[Any] = [world_after, left, memory, *locals_]
                after[place] = local_after
                others = self._serve(after, served) if served else ()
                if watched:
                    after[MEMORY] = self._memory_after(memory, world, local, option, others,
                                                       after[WORLD])  # fmt: skip
                found.append((move, tuple(after)))
        return found, can_run

    def transition(self, state: State, move: Move) -> Transition:
        """What happens on an enabled move, in full."""
        world = state[WORLD]
        if move.kind == moves.TIME:
            return self.passing(state, self.deadline(state) or 0)
        local, options = -1, self._of_server[world]
        if move.worker is not None:
            place = WORKERS + self.letters.index(move.worker)
            local, options = state[place], self._options[world][state[place]]
        option = next(o for o in options if o.move == move)
        after = [option.world, *state[1:]]
        if move.worker is not None:
            after[place] = option.local
        others = self._serve(after, option.served)
        return self._describe(world, local, option, others, after[WORLD])

    def _serve(
        self, after: list[Any], served: Iterable[tuple[str, bytes | Lost]]
    ) -> tuple[Step, ...]:
        """In a state, let the commands end that were waiting; who ran on, from where to where."""
        steps = []
        for session, told in served:
            place = WORKERS + self.letters.index(session[0])
            before, now_ms = after[place], self.worlds.now_ms(after[WORLD])
            thread = self.locals.nodes[before].thread_in(session)
            after[place] = self.locals.after(before, thread, told, now_ms)
            after[WORLD] = self._without(after[WORLD], after[place])
            steps.append((before, after[place]))
        return tuple(steps)

    def _moves_of_server(self, state: State) -> Iterator[tuple[Move, State]]:
        world, budget, memory, *locals_ = state
        for option in self._of_server[world]:
            left = self._budgets.spend[budget, option.cost]
            if left is not None:
                after: list[Any] = [option.world, left, memory, *locals_]
                others = self._serve(after, option.served)
                if self.monitors and memory != BROKEN:
                    after[MEMORY] = self._memory_after(memory, world, -1, option, others,
                                                       after[WORLD])  # fmt: skip
                yield option.move, tuple(after)

    def pass_to(self, state: State, now_ms: int) -> State:
        """Time passes to an instant that is not after the next deadline."""
        world, budget, memory, *before = state
        wakes_at, wake = self.locals.wakes_at, self.locals.wake
        after = [local if wakes_at[local] is None else wake(local, now_ms) for local in before]
        if self.monitors and memory != BROKEN:
            woken = tuple(step for step in zip(before, after, strict=True) if step[0] != step[1])
            key = (memory, world, now_ms, woken)
            memory = self._remembered(key, partial(self.passing, state, now_ms))
        return (self._later(world, now_ms, before, after), budget, memory, *after)

    def deadline(self, state: State) -> int | None:
        """The instant to which `t` goes: the earliest expiry, or the earliest end of a wait."""
        wakes_at, expires_at = self.locals.wakes_at, self.worlds.deadlines[state[WORLD]]
        ends = [end for local in state[WORKERS:] if (end := wakes_at[local]) is not None]
        if expires_at is not None:
            ends.append(expires_at)
        return min(ends, default=None)

    def pending(self, state: State) -> dict[str, Pending]:
        """What each worker, and each thread that it has started ("A2"), is about to do."""
        return {
            thread_name(node.worker, number): pending
            for node in self._nodes(state)
            for number, pending in enumerate(node.pendings, 1)
        }

    def wakes_at(self, state: State, move: Move) -> int | None:
        """When the wait of the move's thread ends, in ms; None if it does not wait."""
        local = state[WORKERS + self.letters.index(move.worker or "")]
        return self.locals.ends[local][move.thread - 1]

    def met(self, state: State) -> tuple[Any, ...]:
        """What each monitor remembers; nothing once a rule has been broken."""
        return () if state[MEMORY] == BROKEN else self._memories[state[MEMORY]]

    def _nodes(self, state: State) -> list[Node]:
        return [self.locals.nodes[local] for local in state[WORKERS:]]

    def _find(self, world: int, local: int) -> tuple[Option, ...]:
        """The moves of one worker in one world."""
        node = self.locals.nodes[local]
        options: list[Option] = []
        for thread, pending in enumerate(node.pendings, 1):
            who = thread_name(node.worker, thread)
            for kind, world_after, told, served in self._outcomes(world, who, pending):
                after = self.locals.after(local, thread, told, self.worlds.now_ms(world))
                move = Move(kind, node.worker, thread)
                options.append(Option(move, self._without(world_after, after), after, kind, served))
            arrived = moves.LATE_REQUEST in self._kinds and self.worlds.arrives(world, who)
            if arrived:
                _, (after_world, _, served) = arrived
                move = Move(moves.LATE_REQUEST, node.worker, thread)
                options.append(Option(move, after_world, local, moves.LATE_REQUEST, served))
        if moves.CRASH in self.faults and not node.ended:
            crash = Move(moves.CRASH, node.worker)
            crashed = self.locals.crashed[node.worker]
            options.append(Option(crash, self._without(world, crashed), crashed, moves.CRASH))
        return tuple(options)

    def _outcomes(self, world: int, who: str, pending: Pending) -> Iterator[Outcome]:
        """What may become of a thread's request."""
        if isinstance(pending, Waiting) and pending.arriving is not None:
            yield Outcome(moves.RUN, world, pending.arriving)
        if not isinstance(pending, Command):
            return
        after, reply, served = self.worlds.request(world, pending)
        # After an error, the client does not use that connection again.
        ended, session = self.worlds.ended, pending.session
        if isinstance(reply, Lost):
            yield Outcome(moves.RUN, ended(after, session), reply)
            return
        yield Outcome(moves.RUN, after, reply, served)
        if isinstance(reply, bytes):  # else there is none that could be late or lost
            if moves.LATE_REPLY in self._kinds:
                yield Outcome(moves.LATE_REPLY, after, Late(reply, pending.patience_ms), served)
            if moves.LOST_REPLY in self._kinds:
                yield Outcome(moves.LOST_REPLY, ended(after, session), LOST, served)
        if moves.LOST_REQUEST in self._kinds:
            late = moves.LATE_REQUEST in self._kinds
            lost = self.worlds.delay(world, who, pending) if late else world
            yield Outcome(moves.LOST_REQUEST, ended(lost, session), LOST)

    def _find_of_server(self, world: int) -> tuple[Option, ...]:
        happened = [(kind, self.worlds.happens(world, kind)) for kind in self._server_kinds]
        return tuple(Option(Move(kind), done.world, -1, kind, done.served)
                     for kind, done in happened if done is not None)  # fmt: skip

    def _without(self, world: int, local: int) -> int:
        """The world without the connections of this worker, if it has ended."""
        node = self.locals.nodes[local]
        return self.worlds.ended(world, node.worker) if node.ended else world

    def _later(self, world: int, now_ms: int, before: Iterable[int], after: Iterable[int]) -> int:
        world = self.worlds.at(world, now_ms)
        for old, new in zip(before, after, strict=True):
            if old != new:
                world = self._without(world, new)
        return world

    def _time_passes(self, state: State, can_run: bool) -> State | None:
        """The state after `t`. While somebody could run it is a pause, and costs one."""
        budget: int | None = state[BUDGET]
        if can_run:
            budget = self._budgets.spend[state[BUDGET], moves.TIME]
            if budget is None:
                return None
        elif all(node.ended for node in self._nodes(state)):
            return None
        at_ms = self.deadline(state)
        if at_ms is None:
            return None
        later = self.pass_to(state, at_ms)
        return (later[WORLD], budget, *later[MEMORY:])  # type: ignore[arg-type]

    # -- transitions in full ------------------------------------------------------------------

    def _describe(
        self, world: int, local: int, option: Option, others: tuple[Step, ...], world_after: int
    ) -> Transition:
        move, worlds = option.move, self.worlds
        command: Command | None = None
        reply: Reply = None
        if move.worker is not None:
            pending = self.locals.nodes[local].pendings[move.thread - 1]
            command = pending if isinstance(pending, Command) else None
        if move.kind == moves.LATE_REQUEST:
            arrived = worlds.arrives(world, thread_name(move.worker or "", move.thread))
            assert arrived is not None
            command, (_, reply, _) = arrived
        elif command is not None and move.kind in moves.EXECUTED:
            reply = worlds.request(world, command).reply
        steps = others if move.worker is None else ((local, option.local), *others)
        return Transition(
            move, command, reply if isinstance(reply, bytes) else None,
            tuple(turn for step in steps for turn in self._turns(*step)),
            worlds.contents(world), worlds.contents(world_after), worlds.now_ms(world),
            refused=isinstance(reply, Lost),
            lost=worlds.unseen(world) if move.kind == moves.FAILOVER else 0,
        )  # fmt: skip

    def passing(self, state: State, at_ms: int) -> Transition:
        """What happens when time passes to an instant not after the next deadline."""
        later = [(local, self.locals.wake(local, at_ms)) for local in state[WORKERS:]]
        turns = tuple(turn for step in later for turn in self._turns(*step))
        before = self.worlds.contents(state[WORLD])
        world = self._later(state[WORLD], at_ms, *zip(*later, strict=True))
        after = self.worlds.contents(world)
        return Transition(PASS_TIME, None, None, turns, before, after, at_ms)

    def _turns(self, before: int, after: int) -> list[Turn]:
        """What a worker has done between two local states, once for each time it was told."""
        nodes, turns = self.locals.nodes, []
        node: Node | None = nodes[after]
        while node is not None and node is not nodes[before]:
            turns.append(Turn(node.worker, node.events, node.ended, node.answered, node.thread))
            node = node.parent
        return turns[::-1]

    # -- what monitors remember ---------------------------------------------------------------

    def observe(self, memory: int, transition: Transition) -> tuple[int, str | None]:
        """The memory after a transition; BROKEN and the broken rule's sentence if one is."""
        kept = []
        for monitor, remembered in zip(self.monitors, self._memories[memory], strict=True):
            after, sentence = monitor.observe(remembered, transition)
            if sentence is not None:
                return BROKEN, sentence
            kept.append(after)
        return self._memory(tuple(kept)), None

    def _memory_after(
        self, memory: int, world: int, local: int, option: Option, others: tuple[Step, ...],
        world_after: int,
    ) -> int:  # fmt: skip
        key = (memory, world, local, option.move.kind, option.move.thread, *others)
        describe = partial(self._describe, world, local, option, others, world_after)
        return self._remembered(key, describe)

    def _remembered(self, key: tuple[Any, ...], describe: Callable[[], Transition]) -> int:
        """The memory after a transition. The key starts with the memory before it."""
        known = self._observed.get(key)
        if known is None:
            known, _ = self.observe(key[0], describe())
            self._observed[key] = known
        return known

    def _memory(self, memory: Any) -> int:
        number = self._memory_numbers.setdefault(memory, len(self._memories))
        if number == len(self._memories):
            self._memories.append(memory)
        return number

    def _first_memory(self, world: int, locals_: tuple[int, ...]) -> tuple[int, str | None]:
        memory = self._memory(tuple(monitor.start for monitor in self.monitors))
        contents = self.worlds.contents(world)
        nodes = [self.locals.nodes[local] for local in locals_]
        turns = tuple(Turn(node.worker, node.events, node.ended) for node in nodes)
        return self.observe(memory, Transition(PASS_TIME, None, None, turns, contents, contents, 0))

    # -- symmetry -----------------------------------------------------------------------------

    def _once_for_all_alike(
        self, state: State, found: list[tuple[Move, State]]
    ) -> list[tuple[Move, State]]:
        """Of interchangeable workers only the first moves; its moves count once for each."""
        weights: dict[str | None, int] = {}
        for group in self._alike:
            fresh = [place for place in group if state[place] == self.start[place]]
            for place in fresh:
                weights[self.letters[place - WORKERS]] = len(fresh) if place == fresh[0] else 0
        return [pair for pair in found for _ in range(weights.get(pair[0].worker, 1))]
