"""Worlds: what all stores hold at one instant, numbered, each command run once in each.

world  the stores' contents and the clock at one instant, with what else decides how they go on:
       requests still on their way, what a replica has not seen, whether the server is down
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from labkit.sim import schedule as moves
from labkit.sim.commands import BLOCKING, Command
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.replies import DOWN, Blocked, Lost
from labkit.sim.shared import Resource, checked_name
from labkit.sim.store import Contents, FakeRedis, Key, Saved, Store

#: Commands whose effect depends on what was sent on the same connection before.
_OF_A_SESSION = {"WATCH", "UNWATCH", "EXEC", "DISCARD", *BLOCKING}


class World(NamedTuple):
    """All stores at one instant.

    Attributes:
        delayed: requests that have not arrived in time, and whose they are ("A", "A2"); the
            oldest of each comes first.
        unseen: what Redis held before each of the last changes: a replica has not seen those yet.
        down: whether the Redis server is down.
    """

    now_ms: int
    snapshots: tuple[Saved, ...]
    delayed: tuple[tuple[str, Command], ...] = ()
    unseen: tuple[Any, ...] = ()
    down: bool = False

    @property
    def key(self) -> Any:
        """A hashable value; worlds with equal keys go on alike."""
        prints = tuple(snapshot.fingerprint for snapshot in self.snapshots)
        unseen = tuple(snapshot.data for snapshot in self.unseen)
        return self.now_ms, prints, self.delayed, unseen, self.down

    @property
    def sessions(self) -> set[str]:
        """Connections whose end would change something."""
        return {name for snapshot in self.snapshots for name in snapshot.sessions}


class Executed(NamedTuple):
    """What a command did.

    Attributes:
        world: the world it leads to.
        reply: what the server answers, that the command waits there, or that nobody is there.
        served: the commands of others, waiting until now, that end with it: (connection, what
            its worker is told), in the order in which the server answers them.
    """

    world: int
    reply: bytes | Blocked | Lost
    served: tuple[tuple[str, bytes | Lost], ...] = ()


class Worlds:
    """The tables `contents and clock -> number` and `(number, command) -> (number, reply)`.

    Args:
        lag: how many changes a replica may miss; 0 if none will ever take over.
        evict: a pattern for the keys that an eviction takes, instead of those that have a TTL.
    """

    def __init__(self, lag: int = 0, evict: str | None = None) -> None:
        self.redis = FakeRedis()
        self.stores: dict[str, Store] = {"redis": self.redis}
        self.resources: dict[str, Resource] = {}
        self.deadlines: list[int | None] = []  # world -> the first instant at which a key expires
        self._lag, self._pattern = lag, evict
        self._worlds: list[World] = []
        self._numbers: dict[Any, int] = {}
        self._current = -1  # the world that the stores hold at this moment
        self._executed: dict[tuple[Any, ...], Executed] = {}
        self._later: dict[tuple[int, int], int] = {}
        self._ended: dict[tuple[int, str], int] = {}

    def first(self, setup: Callable[[Worlds], None] | None) -> int:
        """The world at time 0, after `setup` has declared and filled the stores."""
        if setup is not None:
            setup(self)
        world = self._save(World(0, ()))
        if self._worlds[world].sessions:
            raise LabkitError("The setup leaves a transaction open. Let it COMMIT.")
        return world

    def declare(self, name: str, resource: Any) -> None:
        """Add a resource; for setups."""
        self.resources[checked_name(name, resource)] = resource
        self.stores[name] = resource.store()

    def set_up(self, command: Command) -> bytes:
        """Run a command before the first move; for setups."""
        reply = self._store(command).execute(command, 0)
        if isinstance(reply, Blocked):
            raise LabkitError(f'The setup would wait in "{command}", and nobody else runs yet.')
        return reply

    def close(self) -> None:
        for store in self.stores.values():
            store.close()

    def request(self, world: int, command: Command) -> Executed:
        """A worker sends a command; nobody answers while the server is down."""
        if self._worlds[world].down and command.store == "redis":
            return Executed(world, DOWN)
        return self.execute(world, command)

    def execute(self, world: int, command: Command) -> Executed:
        """Run a command in a world."""
        # Two workers that send the same words are answered alike, unless their connections count.
        by_session = command.store != "redis" or command.name in _OF_A_SESSION
        session = command.session if by_session else ""
        key = (world, command.words, command.store, command.db, session, command.patience_ms)
        known = self._executed.get(key)
        if known is None:
            before = self._restored(world)
            store = self._store(command)
            reply = store.execute(command, before.now_ms)
            known = self._executed[key] = Executed(self._save(before), reply, store.served)
        return known

    def at(self, world: int, now_ms: int) -> int:
        """The same world at a later instant, without what has expired by then."""
        known = self._later.get((world, now_ms))
        if known is None:
            before = self._restored(world)
            for store in self.stores.values():
                store.expire(now_ms)
            known = self._later[world, now_ms] = self._save(before._replace(now_ms=now_ms), lag=0)
        return known

    def ended(self, world: int, who: str) -> int:
        """The same world after a connection ("A1"), or all those of a worker ("A"), have ended.

        Not those whose request is still on its way: the server has not heard of their end either.
        """
        known = self._ended.get((world, who))
        if known is None:
            now = self._worlds[world]
            names = {name for name in now.sessions if who in (name, name[:1])}
            names -= {command.session for _, command in now.delayed}
            known = world
            if names:
                before = self._restored(world)
                for store in self.stores.values():
                    store.end(names)
                known = self._save(before)
            self._ended[world, who] = known
        return known

    # -- requests that are late, and what happens to the server itself --------------------------

    def delay(self, world: int, who: str, command: Command) -> int:
        """The request is still on its way; a transaction in a database does not wait for it."""
        now = self._worlds[world]
        if command.store != "redis" and command.session in now.sessions:
            return self.ended(world, command.session)
        delayed = sorted((*now.delayed, (who, command)), key=lambda one: one[0])
        return self._number(now._replace(delayed=tuple(delayed)))

    def arrives(self, world: int, who: str) -> tuple[Command, Executed] | None:
        """Somebody's oldest delayed request is executed; nobody waits for the reply any more."""
        now = self._worlds[world]
        place = next((n for n, (whose, _) in enumerate(now.delayed) if whose == who), None)
        if place is None:
            return None
        command = now.delayed[place][1]
        delayed = now.delayed[:place] + now.delayed[place + 1 :]
        done = self.execute(self._number(now._replace(delayed=delayed)), command)
        return command, done._replace(world=self.ended(done.world, command.session))

    def happens(self, world: int, kind: str) -> Executed | None:
        """Failover, eviction, or the end or return of the server; None where it is not possible."""
        now = self._worlds[world]
        # A connection that breaks takes with it what is on its way.
        on_way = tuple(one for one in now.delayed if one[1].store != "redis")
        if kind == moves.DOWN and not now.down:
            self._restored(world)
            served = self.redis.disconnect()
            return Executed(self._save(now._replace(delayed=on_way, down=True)), DOWN, served)
        if kind == moves.UP and now.down:
            return Executed(self._number(now._replace(down=False)), DOWN)
        if kind == moves.FAILOVER and now.unseen:
            self._restored(world)
            served = self.redis.disconnect()
            self.redis.hold(now.unseen[0].keys)
            self.redis.expire(now.now_ms)
            after = now._replace(delayed=on_way, unseen=(), down=False)
            return Executed(self._save(after, lag=0), DOWN, served)
        if kind == moves.EVICTION and not now.down:
            self._restored(world)
            self.redis.evict(self._pattern)
            after_number = self._save(now, lag=0)
            return None if after_number == world else Executed(after_number, DOWN)
        return None

    def now_ms(self, world: int) -> int:
        return self._worlds[world].now_ms

    def down(self, world: int) -> bool:
        """Whether the Redis server is down."""
        return self._worlds[world].down

    def unseen(self, world: int) -> int:
        """How many of the last changes a failover would lose."""
        return len(self._worlds[world].unseen)

    def contents(self, world: int) -> Contents:
        """The keys of Redis, and the rows of the resources, such as "bank.account 1"."""
        return merged(zip(self.stores, self._worlds[world].snapshots, strict=True))

    def _store(self, command: Command) -> Store:
        store = self.stores.get(command.store)
        if store is None:
            known = ", ".join(self.stores)
            raise NotModelled(f'There is no store "{command.store}" here, only {known}.')
        return store

    def _save(self, before: World, lag: int | None = None) -> int:
        """The number of what the stores hold now, after something has happened in `before`.

        Args:
            lag: how many changes of Redis to remember for a failover; 0 if this was none.
        """
        lag = self._lag if lag is None else lag
        snapshots = tuple(store.snapshot() for store in self.stores.values())
        unseen = before.unseen
        if lag and before.snapshots and snapshots[0].data != before.snapshots[0].data:  # type: ignore[attr-defined]
            unseen = (*unseen, before.snapshots[0])[-lag:]
        self._current = self._number(before._replace(snapshots=snapshots, unseen=unseen))
        return self._current

    def _number(self, world: World) -> int:
        number = self._numbers.setdefault(world.key, len(self._worlds))
        if number == len(self._worlds):
            self._worlds.append(world)
            ends = [end for one in world.snapshots if (end := one.deadline()) is not None]
            self.deadlines.append(min(ends, default=None))
        return number

    def _restored(self, world: int) -> World:
        """The world, after the stores have been put there; something is about to change them."""
        now = self._worlds[world]
        if world != self._current:
            for store, snapshot in zip(self.stores.values(), now.snapshots, strict=True):
                store.restore(snapshot)
        self._current = -1
        return now


def merged(snapshots: Iterable[tuple[str, Saved]]) -> Contents:
    """The contents of several stores, named by store unless they are keys of Redis."""
    found: dict[str, Key] = {}
    for name, snapshot in snapshots:
        prefix = "" if name == "redis" else f"{name}."
        found |= {prefix + key: value for key, value in snapshot.contents().items()}
    return found
