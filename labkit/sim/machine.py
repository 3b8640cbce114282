"""The machine: every state a program can be in, and every move from there.

state        the world, what each worker has been told so far, and the budgets that are left
transition   one move from one state to the next, with everything that happened on the way
enabled      said of a move that can be made in a state
blocked      said of a worker that cannot move until another move has been made

A state is a tuple of small integers: (world, budget, memory, worker A, worker B, ...). Worlds and
workers' local states are numbered in tables, so that each command runs once in each world and each
worker runs once on each list of replies, however many schedules lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from labkit.sim import schedule as moves
from labkit.sim.commands import Command, Ended, Pending
from labkit.sim.nodes import Locals, Worker
from labkit.sim.process import Event
from labkit.sim.replies import LOST, Blocked, Lost
from labkit.sim.schedule import Move
from labkit.sim.store import Contents, Store
from labkit.sim.worlds import Worlds

State = tuple[int, ...]
K = TypeVar("K")
V = TypeVar("V")

#: Where a state keeps what; the workers follow.
WORLD, BUDGET, MEMORY, WORKERS = 0, 1, 2, 3
#: The memory of a run in which a rule has been broken.
BROKEN = -1
UNLIMITED = -1
PASS_TIME = Move(moves.TIME)


@dataclass(frozen=True, slots=True)
class Turn:
    """A worker runs on to its next command: what it did on the way, and how it ended if it did.

    Attributes:
        answered: its command that was waiting until now, and the reply.
    """

    worker: str
    events: tuple[Event, ...]
    ended: Ended | None
    answered: tuple[Command, bytes | Lost] | None = None


@dataclass(frozen=True, slots=True)
class Transition:
    """One move, with all that happened.

    Attributes:
        command: the pending command of the worker that moved (None for `t`, or while it waited).
        reply: the server's reply, whether or not it reached the worker; None if nothing ran, or
            if the command waits.
        turns: the workers that ran on, in the order in which they did.
    """

    move: Move
    command: Command | None
    reply: bytes | None
    turns: tuple[Turn, ...]
    before: Contents
    after: Contents
    at_ms: int


class Option(NamedTuple):
    """A move of one worker in one world, and where it leads.

    Attributes:
        cost: the budget it draws on.
        served: workers whose waiting commands it answers, and with what.
    """

    move: Move
    world: int
    local: int
    cost: str
    served: tuple[tuple[str, bytes], ...] = ()


class _Table(dict[K, V]):
    """A table whose entries are found when they are first asked for."""

    def __init__(self, find: Callable[[K], V]) -> None:
        self._find = find

    def __missing__(self, key: K) -> V:
        self[key] = value = self._find(key)
        return value


class Machine:
    """All states of one program.

    Args:
        workers: letter to worker function.
        setup: declares and fills the stores, and chooses the server's dialect.
        faults: the kinds of fault that may happen.
        monitors: watch every transition; see `labkit.sim.invariants`.
        stores: the stores by name; the simulated Redis unless given.
        budget: how often each kind of move with a cost may happen (missing: no limit).
        symmetry: treat workers that run the same function and have not moved as interchangeable.
    """

    def __init__(
        self,
        workers: Mapping[str, Worker],
        *,
        setup: Callable[[Worlds], None] | None = None,
        faults: Sequence[str] = (),
        monitors: Sequence[Any] = (),
        stores: Mapping[str, Store] | None = None,
        budget: Mapping[str, int] | None = None,
        symmetry: bool = False,
    ) -> None:
        self.letters = tuple(workers)
        self.faults = tuple(faults)
        self.monitors = tuple(monitors)
        self.worlds = Worlds(stores)
        world = self.worlds.first(setup)
        self.locals = Locals(workers, self.worlds.resources)
        #: world -> local state -> moves
        self._options = _Table[int, _Table[int, tuple[Option, ...]]](
            lambda world: _Table(partial(self._find, world))
        )
        self._budgets = _Budgets(budget or {}, (moves.TIME, *faults))
        self._memories: list[Any] = []
        self._memory_numbers: dict[Any, int] = {}
        self._observed: dict[tuple[Any, ...], int] = {}
        self._alike = _same_function(workers) if symmetry else ()
        locals_ = tuple(self.locals.start[letter] for letter in self.letters)
        memory, self.broken_at_start = self._first_memory(world, locals_)
        self.start: State = (world, self._budgets.start, memory, *locals_)

    def close(self) -> None:
        """End the processes and the stores. What is in the tables stays."""
        self.locals.close()
        self.worlds.close()

    # -- moves --------------------------------------------------------------------------------

    def successors(self, state: State) -> list[tuple[Move, State]]:
        """Every enabled move and the state it leads to, in the order of the workers, `t` last."""
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
                others = self._served(state, option) if served else ()
                kept = (self._memory_after(memory, world, local, option, others)
                        if watched else memory)  # fmt: skip
                after = [world_after, left, kept, *locals_]
                after[place] = local_after
                for other, local_other in others:
                    after[other] = local_other
                found.append((move, tuple(after)))  # type: ignore[arg-type]
        if self._alike:
            found = self._once_for_all_alike(state, found)
        later = self._time_passes(state, can_run)
        if later is None:
            # If nobody can run either, all have ended or are stuck: a crash would change nothing.
            return found if can_run else []
        return [*found, (PASS_TIME, later)]

    def transition(self, state: State, move: Move) -> Transition:
        """What happens on an enabled move, in full."""
        world = state[WORLD]
        if move.kind == moves.TIME:
            at_ms = self.deadline(state) or 0
            return self.passing(state, at_ms)
        local = state[WORKERS + self.letters.index(move.worker or "")]
        option = next(o for o in self._options[world][local] if o.move == move)
        return self._describe(world, local, option, self._served(state, option))

    def _served(self, state: State, option: Option) -> tuple[tuple[int, int], ...]:
        """The workers that a move serves: their place in a state, and where they get to."""
        now_ms = self.worlds.now_ms(option.world)
        places = [(WORKERS + self.letters.index(worker), reply) for worker, reply in option.served]
        return tuple((p, self.locals.after(state[p], reply, now_ms)) for p, reply in places)

    def pass_to(self, state: State, now_ms: int) -> State:
        """Time passes to an instant that is not after the next deadline."""
        world, budget, memory, *before = state
        wakes_at, wake = self.locals.wakes_at, self.locals.wake
        after = [local if wakes_at[local] is None else wake(local, now_ms) for local in before]
        if self.monitors and memory != BROKEN:
            woken = tuple(new for old, new in zip(before, after, strict=True) if new != old)
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
        """What each worker is about to do."""
        return {node.worker: node.pending for node in self._nodes(state)}

    def wakes_at(self, state: State, letter: str) -> int | None:
        """When the worker's wait ends, in ms; None if it does not wait."""
        return self.locals.wakes_at[state[WORKERS + self.letters.index(letter)]]

    def met(self, state: State) -> tuple[Any, ...]:
        """What each monitor remembers; nothing once a rule has been broken."""
        return () if state[MEMORY] == BROKEN else self._memories[state[MEMORY]]

    def _nodes(self, state: State) -> list[Any]:
        return [self.locals.nodes[local] for local in state[WORKERS:]]

    def _find(self, world: int, local: int) -> tuple[Option, ...]:
        """The moves of one worker in one world, in the order that decides ties."""
        node = self.locals.nodes[local]
        now_ms = self.worlds.now_ms(world)
        options: list[Option] = []
        if isinstance(node.pending, Command):
            after, reply, served = self.worlds.execute(world, node.pending)
            possible = [(moves.RUN, after, reply, served), (moves.LOST_REPLY, after, LOST, served),
                        (moves.LOST_REQUEST, world, LOST, ())]  # fmt: skip
            if isinstance(reply, Blocked):  # there is no reply yet that could be lost
                del possible[1]
            for kind, world_after, told, others in possible:
                if kind == moves.RUN or kind in self.faults:
                    local_after = self.locals.after(local, told, now_ms)
                    if told is LOST:  # the client does not use that connection again
                        world_after = self.worlds.ended(world_after, node.pending.session)
                    world_after = self._without(world_after, local_after)
                    move = Move(kind, node.worker)
                    options.append(Option(move, world_after, local_after, kind, others))
        if moves.CRASH in self.faults and not node.ended:
            crash = Move(moves.CRASH, node.worker)
            crashed = self.locals.crashed[node.worker]
            options.append(Option(crash, self._without(world, crashed), crashed, moves.CRASH))
        return tuple(options)

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
        self, world: int, local: int, option: Option, served: tuple[tuple[int, int], ...]
    ) -> Transition:
        pending = self.locals.nodes[local].pending
        command = pending if isinstance(pending, Command) else None
        reply = None
        if command is not None and option.move.kind in (moves.RUN, moves.LOST_REPLY):
            told = self.worlds.execute(world, command).reply
            reply = None if isinstance(told, Blocked) else told
        turns = (option.local, *(local_after for _, local_after in served))
        return Transition(
            option.move, command, reply, tuple(map(self._turn, turns)),
            self.worlds.contents(world), self.worlds.contents(option.world),
            self.worlds.now_ms(world),
        )  # fmt: skip

    def passing(self, state: State, at_ms: int) -> Transition:
        """What happens when time passes to an instant not after the next deadline."""
        later = [(local, self.locals.wake(local, at_ms)) for local in state[WORKERS:]]
        turns = tuple(self._turn(after) for before, after in later if after != before)
        before = self.worlds.contents(state[WORLD])
        world = self._later(state[WORLD], at_ms, *zip(*later, strict=True))
        after = self.worlds.contents(world)
        return Transition(PASS_TIME, None, None, turns, before, after, at_ms)

    def _turn(self, local: int) -> Turn:
        node = self.locals.nodes[local]
        return Turn(node.worker, node.events, node.ended, node.answered)

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
        self, memory: int, world: int, local: int, option: Option, served: tuple[Any, ...]
    ) -> int:
        key = (memory, world, local, option.move.kind, *served)
        return self._remembered(key, partial(self._describe, world, local, option, served))

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
        turns = tuple(self._turn(local) for local in locals_)
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


class _Budgets:
    """How many moves of each kind are left, as numbers."""

    def __init__(self, limits: Mapping[str, int], kinds: tuple[str, ...]) -> None:
        self._kinds = kinds
        self._left: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        #: (budget, kind) -> the budget after one more move of this kind; None: none was left
        self.spend = _Table[tuple[int, str], "int | None"](self._spend)
        self.start = self._number(tuple(limits.get(kind, UNLIMITED) for kind in kinds))

    def _spend(self, key: tuple[int, str]) -> int | None:
        budget, kind = key
        left = list(self._left[budget])
        place = self._kinds.index(kind)
        if left[place] == 0:
            return None
        left[place] -= left[place] != UNLIMITED
        return self._number(tuple(left))

    def _number(self, left: tuple[int, ...]) -> int:
        number = self._numbers.setdefault(left, len(self._left))
        if number == len(self._left):
            self._left.append(left)
        return number


def _same_function(workers: Mapping[str, Worker]) -> tuple[tuple[int, ...], ...]:
    places: dict[Worker, list[int]] = {}
    for place, function in enumerate(workers.values(), start=WORKERS):
        places.setdefault(function, []).append(place)
    return tuple(tuple(group) for group in places.values() if len(group) > 1)
