"""An external service, such as one that sends or pays: no transaction, no way back.

Each request is one step. A reply (`?`) or a request (`~`) can be lost; then the caller runs into
its time-out and cannot tell the two apart. It lives in memory, and is put back with the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from labkit.sim import resp
from labkit.sim.commands import Command
from labkit.sim.errors import LabkitError
from labkit.sim.replies import Lost
from labkit.sim.shared import Ask
from labkit.sim.store import Contents, Key


class ServiceTimeout(TimeoutError):
    """No answer came. The service may have done what was asked."""


@dataclass(frozen=True, slots=True)
class Done:
    """What the service has done, in order: each request with its number."""

    requests: tuple[tuple[str, int], ...] = ()

    @property
    def sessions(self) -> Iterable[str]:
        return ()

    @property
    def fingerprint(self) -> Any:
        return self.requests

    @property
    def highest(self) -> int:
        return max((number for _, number in self.requests), default=0)

    def contents(self) -> Contents:
        text = ", ".join(f"{what} ({number})" for what, number in self.requests)
        return {"done": Key(text or "nothing", self.requests, None, row=True)}

    def deadline(self) -> int | None:
        return None


class Ledger:
    """The service's own book, as a store of the machine."""

    served = ()

    def __init__(self, refuses: bool) -> None:
        self._refuses = refuses
        self._done = Done()

    def execute(self, command: Command, now_ms: int) -> bytes:
        verb, *words = command.words[0]
        if verb == b"LIST":
            listed = [word for what, number in self._done.requests for word in (what, number)]
            return resp.encode([w if isinstance(w, int) else w.encode() for w in listed])
        what, number = words[0].decode(), int(words[1])
        if self._refuses and number < self._done.highest:
            return resp.encode(0)
        self._done = Done((*self._done.requests, (what, number)))
        return resp.encode(1)

    def snapshot(self) -> Done:
        return self._done

    def restore(self, snapshot: Done) -> None:
        self._done = snapshot

    def expire(self, now_ms: int) -> None:
        """What is done does not expire."""

    def end(self, sessions: Iterable[str]) -> None:
        """It knows no sessions."""

    def close(self) -> None:
        """Nothing to give back."""


class Caller:
    """What stands behind `me.shared.<name>`."""

    def __init__(self, ask: Ask, session: str, name: str) -> None:
        self._ask = ask
        self._session = session
        self._name = name

    def send(self, what: str, fence: int) -> bool:
        """Ask for something, with the number of a grant: whether it was done.

        Raises:
            ServiceTimeout: when no answer came.
        """
        if not isinstance(what, str) or not isinstance(fence, int):
            raise LabkitError(f"send({what!r}, {fence!r}): it takes text, and a whole number.")
        words = (b"SEND", what.encode(), b"%d" % fence)
        return resp.decode(self._request(words, f'SEND "{what}" with number {fence}')) == 1

    def done(self) -> list[tuple[str, int]]:
        """What the service has done so far, in order, each with its number."""
        listed = resp.decode(self._request((b"LIST",), "LIST"))
        pairs = zip(listed[::2], listed[1::2], strict=True)
        return [(what.decode(), number) for what, number in pairs]

    def _request(self, words: tuple[bytes, ...], text: str) -> bytes:
        answer = self._ask(Command((words,), self._session, self._name, text=text))
        if isinstance(answer, Lost):
            raise ServiceTimeout(f"no answer from {self._name}: it may have done it")
        return bytes(answer)


class service:  # noqa: N801  written like a function, as `sqlite` is
    """A service for `lab.shared.<name>` that takes a number with each request.

    Args:
        refuses: whether it refuses a number lower than one it has accepted. Most services that
            one can buy do not.
    """

    def __init__(self, *, refuses: bool = True) -> None:
        self._refuses = refuses

    def store(self) -> Ledger:
        return Ledger(self._refuses)

    def handle(self, ask: Ask, new_session: Callable[[], str], name: str) -> Caller:
        return Caller(ask, new_session(), name)
