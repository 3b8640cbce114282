"""What a worker is told instead of a reply: that none comes, or that it is still to come."""

from __future__ import annotations

from dataclasses import dataclass


class Lost:
    """Takes the place of a reply that never comes; the client runs into its time-out."""

    def __repr__(self) -> str:
        return "(no reply)"


LOST = Lost()
#: The same, of a command that blocks or whose reply is late: the client's time-out is over by now.
GAVE_UP = Lost()
#: The server is down, or its connection has just broken: the client is told at once.
DOWN = Lost()


@dataclass(frozen=True, slots=True)
class Blocked:
    """Takes the place of a reply that is still to come: the command waits at the server.

    Attributes:
        ms: how long at most; None: until somebody else makes an answer possible.
        told: what the worker is told at that end.
    """

    ms: int | None
    told: bytes | Lost


@dataclass(frozen=True, slots=True)
class Late:
    """Takes the place of a reply that is on its way: the client waits `ms` for it (None: ever)."""

    reply: bytes
    ms: int | None


Reply = bytes | Lost | Blocked | Late | bool | None  # None: a wait is over by itself; True: ended
