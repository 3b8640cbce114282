"""What a worker is told instead of a reply: that none comes, or that it is still to come."""

from __future__ import annotations

from dataclasses import dataclass


class Lost:
    """Takes the place of a reply that never comes; the client runs into its time-out."""

    def __repr__(self) -> str:
        return "(no reply)"


LOST = Lost()
#: The same, of a command that blocks: the client's time-out is over by now.
GAVE_UP = Lost()


@dataclass(frozen=True, slots=True)
class Blocked:
    """Takes the place of a reply that is still to come: the command waits at the server.

    Attributes:
        ms: how long at most; None: until somebody else makes an answer possible.
        told: what the worker is told at that end.
    """

    ms: int | None
    told: bytes | Lost


Reply = bytes | Lost | Blocked | None  # None: a wait is over
