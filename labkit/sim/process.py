"""A worker's process: plain Python that stops in front of every command.

worker            a function that shares things with others; whose moves we put in order
process           one run of a worker: started, told a reply, asked for its next command, ended
thread            a part of a process that moves on its own
critical section  the part of a worker that only one may be in at a time

What exploration needs from a worker is small: `start`, `send(reply)`, `pendings`, `close`. Here it
is a function under greenlet; a program in another language could stand behind the same four.

Threads switch where they stop: at commands, sleeps and waits. A thread that another one lets go on
(it was started, notified, joined, or its lock is free) runs once that one has stopped, in the order
of their numbers. So races in Python code between two such points are not explored.
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from greenlet import getcurrent, greenlet

from labkit.sim import watchdog
from labkit.sim.commands import RAISED, RETURNED, Command, Ended, Pending, Waiting
from labkit.sim.errors import Crashed, LabkitError, NotModelled, WorkerStuckInPython
from labkit.sim.me import Me
from labkit.sim.replies import Lost, Reply
from labkit.sim.schedule import thread_name
from labkit.sim.shared import Resource

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
    thread: int = 1

    def __getitem__(self, detail: str) -> Any:
        return dict(self.details)[detail]


class Thread(greenlet):
    """A thread of a process.

    Attributes:
        pending: the command it is stopped in front of, or why it waits, or how it ended.
        ready: while it waits for another thread: whether it can go on.
        python: what the worker's code knows it as; None for the main thread.
    """

    def __init__(
        self, process: Process, number: int, run: Callable[[Reply], Ended],
        python: threading.Thread | None = None,
    ) -> None:  # fmt: skip
        super().__init__(run)
        self.process = process
        self.number = number
        self.python = python
        self.pending: Pending = Waiting(None, "waits to start")
        self.ready: Callable[[], bool] | None = lambda: True

    @property
    def over(self) -> bool:
        return isinstance(self.pending, Ended)

    @property
    def name(self) -> str:
        return thread_name(self.process.name, self.number)


class Process:
    """One run of a worker function, or of several that are threads of one process.

    Attributes:
        threads: the main thread, and those that it has started.
        ran: the numbers of the threads that ran since it was last resumed.
        events: what they did.
        clock_was_read: whether that depended on the clock.
        interrupted: Ctrl-C was pressed while it ran, whatever it has made of that.
        random: its own generator, seeded by its name.
    """

    def __init__(
        self, name: str, worker: Callable[[Me], Any] | Sequence[Callable[[Me], Any]],
        resources: Mapping[str, Resource],
    ) -> None:  # fmt: skip
        self.name = name
        self.events: list[Event] = []
        self.ran: list[int] = []
        self.clock_was_read = False
        self.interrupted = False
        self.now_ms = 0
        self.random = random.Random(f"labkit {name}")
        self._function, *self._beside = worker if isinstance(worker, Sequence) else (worker,)
        self._readings = 0
        self._closed = False
        self._refusals = 0
        self._me = Me(self, resources)
        self.threads = [Thread(self, 1, self._run)]

    # -- what the machine calls ---------------------------------------------------------------

    @property
    def pendings(self) -> tuple[Pending, ...]:
        """What each thread is about to do."""
        return tuple(thread.pending for thread in self.threads)

    def start(self, now_ms: int) -> None:
        """Run to the first command."""
        self.send(None, now_ms)

    def send(self, reply: Reply, now_ms: int, thread: int = 1) -> None:
        """Deliver the reply to a thread's command (or end its wait); run to the next command."""
        self.now_ms = now_ms
        self.events, self.ran = [], []
        self.clock_was_read = False
        self._readings = 0
        running: Thread | None = self.threads[thread - 1]
        with watchdog.watching(self.name), _no_collection():
            while running is not None:
                self._resume(running, reply)
                waiting = (one for one in self.threads if one.ready is not None and one.ready())
                running, reply = next(waiting, None), True
        if all(one.over or (one.python and one.python.daemon) for one in self.threads):
            self._end_daemons()

    def close(self) -> None:
        """Throw the process away. Its ``finally`` blocks run here but reach no server."""
        self._closed = True
        for thread in self.threads:
            if not thread.dead:
                thread.parent = getcurrent()
                with contextlib.suppress(Crashed), watchdog.watching(self.name):
                    thread.throw(Crashed())

    def _resume(self, thread: Thread, reply: Reply) -> None:
        thread.ready = None
        thread.parent = getcurrent()
        self.ran.append(thread.number)
        answer = thread.switch(reply)
        if self.interrupted or isinstance(answer, LabkitError):
            self.close()
            raise KeyboardInterrupt if self.interrupted else answer
        thread.pending = answer

    def _end_daemons(self) -> None:
        """The process is over, and with it the threads that nobody waits for."""
        if any(not thread.over for thread in self.threads):
            self.close()
            for thread in self.threads:
                if not thread.over:
                    thread.pending, thread.ready = Ended(RETURNED), None

    def _run(self, _: Reply) -> Ended:
        try:
            for function in self._beside:
                threading.Thread(target=function, args=(self._me,)).start()
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

    def sleep(self, seconds: float, why: str = "sleeps") -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        ms = math.ceil(seconds * 1000 - 1e-6)
        if ms == 0:
            self._count_reading()
        else:
            self._park(Waiting(ms, why))

    def wait(self, ready: Callable[[], bool], seconds: float | None) -> bool:
        """Stop until another thread of this process has made `ready` true; whether it has."""
        ms = None if seconds is None else math.ceil(seconds * 1000 - 1e-6)
        if ms is not None and ms <= 0:
            self._count_reading()
            return ready()
        thread = getcurrent()
        if isinstance(thread, Thread) and thread.process is self:
            thread.ready = ready
        return self._park(Waiting(ms, "waits for a thread")) is True

    def start_thread(self, python: threading.Thread) -> None:
        """A thread of the worker's code begins; it runs once the one that starts it stops."""
        if self._closed:
            raise Crashed
        number = len(self.threads) + 1
        self.threads.append(Thread(self, number, lambda _: self._run_thread(python), python))
        self.event("note", text=f"{self.threads[-1].name} starts")

    def _run_thread(self, python: threading.Thread) -> Ended:
        end = Ended(RETURNED)
        try:
            python.run()
        except (LabkitError, Crashed):
            raise
        except SystemExit:
            pass
        except Exception as error:
            end = Ended(RAISED, error=error, reason=f"{type(error).__name__}: {error}")
        name = self.thread_of(python).name
        self.event("note", text=f"{name} has ended" if end.how == RETURNED else f"{name} {end}")
        return end

    def thread_of(self, python: threading.Thread) -> Thread:
        """The thread that the worker's code knows as `python`."""
        for thread in self.threads:
            if thread.python is python:
                return thread
        self.refuse(f'asks about "{python.name}", which is no thread that it has started')

    def read_clock(self) -> int:
        """The virtual clock. A reading counts as a reply: what follows may depend on it."""
        self.clock_was_read = True
        self._count_reading()
        return self.now_ms

    def event(self, name: str, **details: Any) -> None:
        event = Event(name, tuple(details.items()), getattr(getcurrent(), "number", 1))
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
            if current is not self:  # a destructor, such as that of redis-py's pipeline
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
