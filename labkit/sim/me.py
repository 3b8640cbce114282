"""What a worker holds in its hand: Redis, the resources, the clock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from labkit.sim.shared import Resource, Shared

if TYPE_CHECKING:
    from redis import Redis

    from labkit.sim.process import Process


class Me:
    """A worker's handle to everything it shares with others: Redis, stores, the clock.

    Attributes:
        name: the worker's letter.
        shared: the resources, by name.
    """

    def __init__(self, process: Process, resources: Mapping[str, Resource]) -> None:
        self._process = process
        self._attempts = 0
        self._connections = 0
        self._redis: Redis | None = None
        self.name = process.name
        self.shared = Shared(resources, process.ask, self._session)

    @property
    def redis(self) -> Redis:
        """A redis-py client without automatic retries: a lost reply reaches the worker at once."""
        if self._redis is None:
            from labkit.sim.connection import plain_client

            self._redis = plain_client(self._process.ask, self._session)
        return self._redis

    def client(self, **settings: Any) -> Redis:
        """Another redis-py client with any of redis-py's settings, its own defaults included."""
        from labkit.sim.connection import client

        return client(self._process.ask, self._session, self._await_reply, **settings)

    def sleep(self, seconds: float) -> None:
        """Like `time.sleep`."""
        self._process.sleep(seconds)

    def work(self, seconds: float) -> None:
        """Like `sleep`, for time spent on the work that the section is there for."""
        self._process.sleep(seconds, why="works")

    def now(self) -> float:
        """The virtual clock in seconds, like `time.monotonic`."""
        return self._process.read_clock() / 1000

    def token(self) -> str:
        """A new owner token: A-1, A-2, ... for the attempts of worker A."""
        self._attempts += 1
        return f"{self.name}-{self._attempts}"

    def note(self, text: str) -> None:
        """Write a sentence into the trace."""
        self._process.event("note", text=str(text))

    def event(self, name: str, **details: Any) -> None:
        """Tell the invariants that something happened that no command shows.

        Names that invariants know: granted(number), accepted(resource, number), effect(key),
        renewed(), lost(), compensated(). Details must be hashable.
        """
        self._process.event(name, **details)

    @contextlib.contextmanager
    def critical_section(self) -> Iterator[None]:
        """Everything inside the block happens while the worker believes that it is alone."""
        self._process.event("enter")
        try:
            yield
        finally:
            self._process.event("leave")

    def _session(self) -> str:
        self._connections += 1
        return f"{self.name}{self._connections}"

    def _await_reply(self, seconds: float) -> None:
        self._process.sleep(seconds, why="waits for a reply")
