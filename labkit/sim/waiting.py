"""Commands that wait at the server: who waits for what, and who is served when something comes.

waiter  a command that waits at the server, with its connection, until somebody pushes

As in Redis: after a command (a whole transaction, a whole script) the server goes through the keys
that have changed, in that order, and serves who waits for each, first come, first served.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from labkit.sim.commands import Command
from labkit.sim.errors import NotModelled
from labkit.sim.replies import GAVE_UP, Blocked

if TYPE_CHECKING:
    from labkit.sim.store import Session

NO_ARRAY = b"*-1\r\n"


class Waiter(NamedTuple):
    """A command that waits. `ends_at_ms`: when the server answers "nothing", or its client goes."""

    command: Command
    ends_at_ms: int | None
    gives_up: bool

    @classmethod
    def of(cls, command: Command, timeout_s: float, now_ms: int) -> Waiter:
        """A command that has found nothing; 0 s is for ever. Its client may have less patience."""
        server_ms = math.ceil(timeout_s * 1000 - 1e-6) or math.inf
        client_ms = math.inf if command.patience_ms is None else command.patience_ms
        ms = min(server_ms, client_ms)
        ends_at_ms = None if math.isinf(ms) else now_ms + int(ms)
        return cls(command, ends_at_ms, client_ms <= server_ms and ends_at_ms is not None)

    @property
    def keys(self) -> tuple[bytes, ...]:
        words = self.command.words[0]
        return words[1:2] if self.command.name == "BLMOVE" else words[1:-1]

    def blocked(self, now_ms: int) -> Blocked:
        """What its worker learns: how long it may take, and what it is told then."""
        ms = None if self.ends_at_ms is None else self.ends_at_ms - now_ms
        return Blocked(ms, GAVE_UP if self.gives_up else NO_ARRAY)


class Ear:
    """Notes that a key has changed. fakeredis tells it as it tells a connection that watches."""

    def __init__(self, heard: list[tuple[int, bytes]], db: int, key: bytes) -> None:
        self.db, self.key = db, key
        self._heard = heard

    def notify_watch(self) -> None:
        self._heard.append((self.db, self.key))


def serve(
    waiters: list[Waiter], heard: list[tuple[int, bytes]], session: Callable[[str], Session]
) -> Iterator[tuple[str, bytes]]:
    """Answer who waits for the keys that have changed: (connection, reply), in order."""
    for db, key in heard:  # grows on the way: BLMOVE pushes, too
        for waiter in list(waiters):
            if waiter in waiters and waiter.command.db == db and key in waiter.keys:
                reply = _answer(waiter, session(waiter.command.session))
                if reply:
                    waiters.remove(waiter)
                    yield waiter.command.session, reply


def _answer(waiter: Waiter, session: Session) -> bytes:
    """The reply to a command that waits; empty while there is still nothing."""
    ready = [key for key in waiter.keys if session.has_list(key)]
    if len(ready) > 1:
        # Redis 7.0 takes the one that was pushed first, Valkey the one that is named first.
        raise NotModelled(
            f'"{waiter.command}" waits, and one command has put something into several of its '
            f"keys. Which of them it gets differs between servers, so this is not modelled."
        )
    session.serving = True
    try:
        return session.run(waiter.command.words[0])
    finally:
        session.serving = False
