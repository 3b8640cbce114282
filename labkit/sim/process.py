"""A worker's process: plain Python that stops in front of every command.

worker            a function that shares things with others; whose moves we put in order
process           one run of a worker: started, told a reply, asked for its next command, ended
thread            a part of a process that moves on its own
critical section  the part of a worker that only one may be in at a time

What exploration needs from a worker is small: `start`, `send(reply)`, `pending`, `close`. Here it
is a function under greenlet; a program in another language could stand behind the same four.
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from greenlet import getcurrent, greenlet

from labkit.sim import watchdog
from labkit.sim.commands import RAISED, RETURNED, Command, Ended, Pending, Waiting
from labkit.sim.errors import Crashed, LabkitError, NotModelled, WorkerStuckInPython
from labkit.sim.replies import Lost, Reply
from labkit.sim.shared import Resource, Shared

if TYPE_CHECKING:
    from redis import Redis

#: Clock readings and empty sleeps allowed between two commands. Virtual time stands still there,
#: so a loop that waits for the clock to advance would never end.
READINGS_MAX = 10_000
#: Commands refused to a crashed process before it is simply left where it is.
REFUSALS_MAX = 100


@dataclass(frozen=True, slots=True)
class Event:
    """Something a worker did that is no command: it entered a section, noted a sentence, ..."""

    name: str
    details: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, detail: str) -> Any:
        return dict(self.details)[detail]


class _Greenlet(greenlet):
    process: Process


class Process:
    """One run of a worker function.

    Attributes:
        pending: the command it is stopped in front of, or why it waits, or how it ended.
        events: what it did since it was last resumed.
        clock_was_read: whether that depended on the clock.
        interrupted: Ctrl-C was pressed while it ran, whatever it has made of that.
        random: its own generator, seeded by its name.
    """

    def __init__(
        self, name: str, function: Callable[[Me], Any], resources: Mapping[str, Resource]
    ) -> None:
        self.name = name
        self.pending: Pending
        self.events: list[Event] = []
        self.clock_was_read = False
        self.interrupted = False
        self.now_ms = 0
        self.random = random.Random(f"labkit {name}")
        self._function = function
        self._readings = 0
        self._closed = False
        self._refusals = 0
        self._me = Me(self, resources)
        self._greenlet = _Greenlet(self._run)
        self._greenlet.process = self

    # -- what the machine calls ---------------------------------------------------------------

    def start(self, now_ms: int) -> None:
        """Run to the first command."""
        self._resume(None, now_ms)

    def send(self, reply: Reply, now_ms: int) -> None:
        """Deliver the reply to the pending command (or end the wait), run to the next command."""
        self._resume(reply, now_ms)

    def close(self) -> None:
        """Throw the process away. Its ``finally`` blocks run here but reach no server."""
        self._closed = True
        if self._greenlet and not self._greenlet.dead:
            self._greenlet.parent = getcurrent()
            with contextlib.suppress(Crashed), watchdog.watching(self.name):
                self._greenlet.throw(Crashed())

    def _resume(self, reply: Reply, now_ms: int) -> None:
        self.now_ms = now_ms
        self.events = []
        self.clock_was_read = False
        self._readings = 0
        self._greenlet.parent = getcurrent()
        with watchdog.watching(self.name), _no_collection():
            answer = self._greenlet.switch(reply)
        if self.interrupted or isinstance(answer, LabkitError):
            self.close()
            raise KeyboardInterrupt if self.interrupted else answer
        self.pending = answer

    def _run(self, _: Reply) -> Ended:
        try:
            value = self._function(self._me)
        except (LabkitError, Crashed):
            raise
        except (Exception, SystemExit) as error:
            return Ended(RAISED, error=error, reason=f"{type(error).__name__}: {error}")
        return Ended(RETURNED, value)

    # -- what worker code reaches through `me`, the client and the replaced functions -----------

    def ask(self, command: Command) -> bytes | Lost:
        """Stop in front of `command`; returns when the machine has a reply for it."""
        reply = self._park(command)
        assert isinstance(reply, bytes | Lost), "a command is answered with a reply"
        return reply

    def sleep(self, seconds: float, why: Any = "sleeps") -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        ms = math.ceil(seconds * 1000 - 1e-6)
        if ms == 0:
            self._count_reading()
        else:
            self._park(Waiting(ms, why))

    def read_clock(self) -> int:
        """The virtual clock. A reading counts as a reply: what follows may depend on it."""
        self.clock_was_read = True
        self._count_reading()
        return self.now_ms

    def event(self, name: str, **details: Any) -> None:
        event = Event(name, tuple(details.items()))
        try:
            hash(event)
        except TypeError:
            self._give_up(LabkitError(
                f"Worker {self.name} reports {name} with {details}, and not all of these can be "
                f"hashed. Use numbers, text and tuples of them."
            ))  # fmt: skip
        if not self._closed:
            self.events.append(event)

    def refuse(self, what: str) -> NoReturn:
        """Stop the whole run: the worker does something the simulation does not have."""
        self._give_up(NotModelled(f"Worker {self.name} {what}."))

    def _count_reading(self) -> None:
        self._readings += 1
        if self._readings > READINGS_MAX:
            self._give_up(
                WorkerStuckInPython(
                    f"Worker {self.name} read the clock {READINGS_MAX:,} times without sending a "
                    f"command. Virtual time stands still until the move t, so a loop that waits "
                    f"for the clock never ends. Let the worker sleep: me.sleep(seconds)."
                )
            )

    def _give_up(self, error: LabkitError) -> NoReturn:
        """Hand the error to the machine directly, so that no ``except`` of the worker eats it."""
        parent = getcurrent().parent
        assert parent is not None
        parent.switch(error)
        raise Crashed

    def _park(self, pending: Pending) -> Reply:
        current = getattr(getcurrent(), "process", None)
        if current is not self and not self._closed:
            self._refuse_stranger(current)
        if self._closed:
            if self._greenlet.dead:  # a destructor, such as that of redis-py's pipeline
                raise ConnectionError(f"a client of an earlier run of worker {self.name} is used")
            self._refusals += 1
            if self._refusals > REFUSALS_MAX:
                self._give_up(LabkitError(f"Worker {self.name} went on after its crash."))
            raise Crashed
        parent = getcurrent().parent
        assert parent is not None
        reply: Reply = parent.switch(pending)
        return reply

    def _refuse_stranger(self, current: Process | None) -> NoReturn:
        """Somebody else sends a command over a connection of this worker."""
        what = (
            f"uses a client (or a lock made with one) that belongs to worker {self.name}. A client "
            f"belongs to the run of one worker: make it, and the lock, inside the worker function"
        )
        if current is not None:
            current.refuse(what)
        raise LabkitError(f"Code outside of the workers {what}.")


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """A collection of garbage would run other people's destructors as if the worker called them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
