"""Worlds: what all stores hold at one instant, numbered, each command run once in each.

world  the stores' contents and the clock at one instant
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labkit.sim.commands import BLOCKING, Command
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.process import Blocked
from labkit.sim.store import Contents, FakeRedis, Snapshot, Store

#: Commands whose effect depends on what was sent on the same connection before.
_OF_A_SESSION = {"WATCH", "UNWATCH", "EXEC", "DISCARD", *BLOCKING}


class Executed(NamedTuple):
    """What a command did.

    Attributes:
        world: the world it leads to.
        reply: what the server answers, or that the command waits there.
        served: the commands of others, waiting until now, that it made an answer possible for:
            (worker, reply), in the order in which the server answers them.
    """

    world: int
    reply: bytes | Blocked
    served: tuple[tuple[str, bytes], ...] = ()


Setup = Callable[[Callable[[Command], bytes], Callable[[str], None]], None]


class Worlds:
    """The tables `contents and clock -> number` and `(number, command) -> (number, reply)`."""

    def __init__(self, stores: Mapping[str, Store] | None = None) -> None:
        self.stores: dict[str, Store] = dict(stores or {"redis": FakeRedis()})
        self._worlds: list[tuple[int, tuple[Snapshot, ...]]] = []
        self.deadlines: list[int | None] = []  # world -> the first instant at which a key expires
        self._numbers: dict[Any, int] = {}
        self._current = -1  # the world that the stores hold at this moment
        self._executed: dict[tuple[Any, ...], Executed] = {}
        self._later: dict[tuple[int, int], int] = {}
        self._hung_up: dict[tuple[int, str], int] = {}

    def first(self, setup: Setup | None) -> int:
        """The world at time 0, after `setup` has filled the stores and chosen their dialect."""

        def execute(command: Command) -> bytes:
            reply = self._store(command).execute(command, 0)
            if isinstance(reply, Blocked):
                raise LabkitError(f'The setup would wait in "{command}", and nobody else runs yet.')
            return reply

        if setup is not None:
            setup(execute, self.stores["redis"].speak)
        return self._save(0)

    def execute(self, world: int, command: Command) -> Executed:
        """Run a command in a world."""
        # Two workers that send the same words are answered alike, unless their connections count.
        session = command.session if command.name in _OF_A_SESSION else ""
        key = (world, command.words, command.store, command.db, session, command.patience_ms)
        known = self._executed.get(key)
        if known is None:
            self._restore(world)
            now_ms = self.now_ms(world)
            self._current = -1
            store = self._store(command)
            reply = store.execute(command, now_ms)
            known = self._executed[key] = Executed(self._save(now_ms), reply, store.served)
        return known

    def hung_up(self, world: int, worker: str) -> int:
        """The same world without the commands of a worker that wait there: it has crashed."""
        known = self._hung_up.get((world, worker))
        if known is None:
            self._restore(world)
            self._current = -1
            for store in self.stores.values():
                store.hang_up(worker)
            known = self._hung_up[world, worker] = self._save(self.now_ms(world))
        return known

    def at(self, world: int, now_ms: int) -> int:
        """The same world at a later instant, without what has expired by then."""
        known = self._later.get((world, now_ms))
        if known is None:
            self._restore(world)
            self._current = -1
            for store in self.stores.values():
                store.expire(now_ms)
            known = self._later[world, now_ms] = self._save(now_ms)
        return known

    def now_ms(self, world: int) -> int:
        return self._worlds[world][0]

    def contents(self, world: int, store: str = "redis") -> Contents:
        return self._worlds[world][1][list(self.stores).index(store)].contents()

    def _store(self, command: Command) -> Store:
        store = self.stores.get(command.store)
        if store is None:
            known = ", ".join(self.stores)
            raise NotModelled(f'There is no store "{command.store}" here, only {known}.')
        return store

    def _save(self, now_ms: int) -> int:
        snapshots = tuple(store.snapshot() for store in self.stores.values())
        key = (now_ms, *(snapshot.fingerprint for snapshot in snapshots))
        self._current = self._numbers.setdefault(key, len(self._worlds))
        if self._current == len(self._worlds):
            self._worlds.append((now_ms, snapshots))
            ends = [end for snapshot in snapshots if (end := snapshot.deadline()) is not None]
            self.deadlines.append(min(ends, default=None))
        return self._current

    def _restore(self, world: int) -> None:
        if world != self._current:
            for store, snapshot in zip(self.stores.values(), self._worlds[world][1], strict=True):
                store.restore(snapshot)
            self._current = world
