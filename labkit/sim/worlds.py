"""Worlds: what all stores hold at one instant, numbered, each command run once in each.

world  the stores' contents and the clock at one instant
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from labkit.sim.commands import BLOCKING, Command
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.replies import Blocked
from labkit.sim.shared import Resource, checked_name
from labkit.sim.store import Contents, FakeRedis, Key, Saved, Store

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


class Worlds:
    """The tables `contents and clock -> number` and `(number, command) -> (number, reply)`."""

    def __init__(self, stores: Mapping[str, Store] | None = None) -> None:
        self.stores: dict[str, Store] = dict(stores or {"redis": FakeRedis()})
        self.resources: dict[str, Resource] = {}
        self._worlds: list[tuple[int, tuple[Saved, ...]]] = []
        self.deadlines: list[int | None] = []  # world -> the first instant at which a key expires
        self._numbers: dict[Any, int] = {}
        self._current = -1  # the world that the stores hold at this moment
        self._executed: dict[tuple[Any, ...], Executed] = {}
        self._later: dict[tuple[int, int], int] = {}
        self._ended: dict[tuple[int, str], int] = {}

    def first(self, setup: Callable[[Worlds], None] | None) -> int:
        """The world at time 0, after `setup` has declared and filled the stores."""
        if setup is not None:
            setup(self)
        world = self._save(0)
        if any(snapshot.sessions for snapshot in self._worlds[world][1]):
            raise LabkitError("The setup leaves a transaction open. Let it COMMIT.")
        return world

    def declare(self, name: str, resource: Any) -> None:
        """Add a resource; for setups."""
        self.resources[checked_name(name, resource)] = resource
        self.stores[name] = resource.store()

    def speak(self, server: str) -> None:
        """Imitate another server; for setups."""
        self.stores["redis"].speak(server)  # type: ignore[attr-defined]

    def set_up(self, command: Command) -> bytes:
        """Run a command before the first move; for setups."""
        reply = self._store(command).execute(command, 0)
        if isinstance(reply, Blocked):
            raise LabkitError(f'The setup would wait in "{command}", and nobody else runs yet.')
        return reply

    def close(self) -> None:
        for store in self.stores.values():
            store.close()

    def execute(self, world: int, command: Command) -> Executed:
        """Run a command in a world."""
        # Two workers that send the same words are answered alike, unless their connections count.
        by_session = command.store != "redis" or command.name in _OF_A_SESSION
        session = command.session if by_session else ""
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

    def ended(self, world: int, who: str) -> int:
        """The same world after a connection ("A1"), or all those of a worker ("A"), have ended."""
        known = self._ended.get((world, who))
        if known is None:
            names = {name for snapshot in self._worlds[world][1] for name in snapshot.sessions
                     if who in (name, name[:1])}  # fmt: skip
            known = world
            if names:
                self._restore(world)
                self._current = -1
                for store in self.stores.values():
                    store.end(names)
                known = self._save(self.now_ms(world))
            self._ended[world, who] = known
        return known

    def now_ms(self, world: int) -> int:
        return self._worlds[world][0]

    def contents(self, world: int) -> Contents:
        """The keys of Redis, and the rows of the resources, such as "bank.account 1"."""
        return merged(zip(self.stores, self._worlds[world][1], strict=True))

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


def merged(snapshots: Iterable[tuple[str, Saved]]) -> Contents:
    """The contents of several stores, named by store unless they are keys of Redis."""
    found: dict[str, Key] = {}
    for name, snapshot in snapshots:
        prefix = "" if name == "redis" else f"{name}."
        found |= {prefix + key: value for key, value in snapshot.contents().items()}
    return found
