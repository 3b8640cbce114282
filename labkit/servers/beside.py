"""The resources of a program beside a real Redis: SQLite is real wherever it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from labkit.sim.commands import Command
from labkit.sim.shared import Resource, checked_name
from labkit.sim.store import Contents, Store
from labkit.sim.worlds import merged


class Beside:
    """Sends each command to its store; what is for Redis goes to `redis`."""

    def __init__(self, redis: Callable[[Command], bytes]) -> None:
        self.resources: dict[str, Resource] = {}
        self._redis = redis
        self._stores: dict[str, Store] = {}
        self._one_at_a_time = threading.Lock()

    def declare(self, name: str, resource: Any) -> None:
        self.resources[checked_name(name, resource)] = resource
        self._stores[name] = resource.store()

    def execute(self, command: Command) -> bytes:
        if command.store == "redis":
            return self._redis(command)
        with self._one_at_a_time:
            reply = self._stores[command.store].execute(command, 0)
        assert isinstance(reply, bytes), "a database answers at once"
        return reply

    def end(self, who: str) -> None:
        """A connection such as "A1", or all those of worker "A", have ended."""
        with self._one_at_a_time:
            self._end(who)

    def _end(self, who: str) -> None:
        for store in self._stores.values():
            store.end([name for name in store.snapshot().sessions if who in (name, name[:1])])

    def contents(self) -> Contents:
        return merged((name, store.snapshot()) for name, store in self._stores.items())

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
