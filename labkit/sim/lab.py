"""The lab: the stores before the first move, and everything that is left after the last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from labkit.sim.commands import Command, Ended
from labkit.sim.errors import CheckError
from labkit.sim.shared import Resource, Shared

if TYPE_CHECKING:
    import redis

    from labkit.sim.worlds import Executed


class Outcome(str):
    """How a worker ended: "returned", "raised", "crashed" or "stuck".

    Attributes:
        error: the exception, if it raised one.
        reason: why, in words.
    """

    error: BaseException | None
    reason: str

    @classmethod
    def of(cls, ended: Ended) -> Outcome:
        outcome = cls(ended.how)
        outcome.error = ended.error
        outcome.reason = ended.reason
        return outcome


class Lab:
    """What a `setup` fills and a `check` reads.

    Attributes:
        redis: a redis-py client. In a check it reads the final instant and is no move.
        server: to be set in a setup: the server to imitate, "redis 7" unless chosen.
        shared: the resources, by name.
        returned: letter to what the worker's function returned (only those that returned).
        outcome: letter to `Outcome`.
        now_ms: the virtual clock.
    """

    def __init__(
        self,
        execute: Callable[[Command], bytes],
        now_ms: int = 0,
        resources: Mapping[str, Resource] | None = None,
        declare: Callable[[str, Any], None] | None = None,
        speak: Callable[[str], None] | None = None,
    ) -> None:
        self._execute = execute
        self._speak = speak
        self._redis: redis.Redis | None = None
        known = {} if resources is None else resources
        self.shared = Shared(known, execute, lambda: "lab", declare)
        self.returned: dict[str, Any] = {}
        self.outcome: dict[str, Outcome] = {}
        self.now_ms = now_ms

    @property
    def redis(self) -> redis.Redis:
        if self._redis is None:
            from labkit.sim.connection import plain_client

            self._redis = plain_client(self._execute, lambda: "lab")
        return self._redis

    @property
    def server(self) -> str:
        raise AttributeError("lab.server can only be set: it chooses what the server understands.")

    @server.setter
    def server(self, name: str) -> None:
        """Choose, in a setup, the server to imitate: "redis 8.4", "valkey 9", ..."""
        if self._speak is None:
            raise CheckError(f'lab.server = "{name}": the server is chosen in the setup.')
        self._speak(name)

    def end(self, letter: str, ended: Ended) -> None:
        """Record how a worker ended."""
        self.outcome[letter] = Outcome.of(ended)
        if ended.how == "returned":
            self.returned[letter] = ended.value


def read_only(execute: Callable[[int, Command], Executed], world: int) -> Any:
    """An `execute` for checks: it reads a finished world and refuses to change it."""

    def run(command: Command) -> bytes:
        after, reply, _ = execute(world, command)
        if after != world or not isinstance(reply, bytes):
            raise CheckError(
                f'The check ran "{command}", which changes the store. '
                f"A check only reads; put what it needs into setup or into a worker."
            )
        return reply

    return run
