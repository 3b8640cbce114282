"""The same workers in real time: threads, a real clock, and whatever order comes of it.

Nothing here can be replayed. It is for seeing that worker functions run unchanged outside of the
simulation, and how rarely a race that a four-letter schedule shows is met by chance.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from redis import Redis

from labkit.servers.beside import Beside
from labkit.servers.server import PLAIN, Server, Wire
from labkit.sim.commands import RAISED, RETURNED, STUCK, Command, Ended
from labkit.sim.errors import Crashed
from labkit.sim.lab import Lab
from labkit.sim.me import Me
from labkit.sim.nodes import Worker
from labkit.sim.process import Event, Process
from labkit.sim.program import Program, Setup, functions_of


@dataclass(frozen=True)
class Race:
    """What came of it: how each worker ended (returned, raised or stuck), and what they noted."""

    ended: Mapping[str, Ended]
    events: tuple[tuple[float, str, Event], ...]  # instant in seconds, letter, event

    def __str__(self) -> str:
        return "\n".join(f"{letter} {ended}" for letter, ended in self.ended.items())

    __repr__ = __str__


def race(
    server: Server,
    worker: Worker | Mapping[str, Worker],
    workers: str | None = None,
    *,
    setup: Setup | None = None,
    seconds_max: float = 10,
) -> Race:
    """Run the workers at once, each in a thread of its own.

    Args:
        server: its keys are removed first (your own must be empty); what workers leave stays.
        workers: the letters, when `worker` is one function ("AB" unless given).
        seconds_max: a worker that takes longer is reported as stuck, and stopped.
    """
    program = Program(worker, workers, setup, None)
    with contextlib.closing(Wire(server)) as wire:
        wire.clear()
        beside = Beside(lambda command: b"".join(wire.exchange(command.words, command.db)))
        speak = wire.must_understand
        if setup is not None:
            setup(Lab(beside.execute, 0, beside.resources, beside.declare, speak))
    start = threading.Barrier(len(program.workers))
    threads = [_Thread(w, f, start, server, beside) for w, f in program.workers.items()]
    deadline = time.monotonic() + seconds_max
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
        ended = {thread.name: thread.ended for thread in threads}
    finally:
        for thread in threads:
            thread.stop()
        beside.close()
    if server.process is not None and server.process.poll() is not None:
        raise server.gone("it stopped during the race")
    events = [event for thread in threads for event in thread.events]
    return Race(ended, tuple(sorted(events, key=lambda event: event[0])))


class _Thread(threading.Thread):
    """One worker. Behind `me` it takes the place of a `Process`: the real clock, real sleep."""

    def __init__(
        self,
        letter: str,
        function: Worker,
        start: threading.Barrier,
        server: Server,
        beside: Beside,
    ) -> None:
        super().__init__(name=letter, daemon=True)
        self.ended = Ended(STUCK, reason="(it was still running when time was up)")
        self.events: list[tuple[float, str, Event]] = []
        self._function, *self._beside_it = functions_of(function)
        self._together = start
        self._beside = beside
        self._me = RealMe(self, server, beside)

    def run(self) -> None:
        self._together.wait()
        try:
            for function in self._beside_it:
                threading.Thread(target=function, args=(self._me,), daemon=True).start()
            self.ended = Ended(RETURNED, self._function(self._me))
        except BaseException as error:
            self.ended = Ended(RAISED, error=error, reason=f"{type(error).__name__}: {error}")
        self._beside.end(self.name)

    def ask(self, command: Command) -> bytes:
        """What `me.shared` sends; `me.redis` has connections of its own."""
        return self._beside.execute(command)

    def stop(self) -> None:
        """End a worker that loops, `while True: pass` included. Asleep, it ends when it wakes."""
        if self.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.ident or 0), ctypes.py_object(Crashed)
            )

    def sleep(self, seconds: float, why: str = "sleeps") -> None:
        time.sleep(seconds)

    def read_clock(self) -> float:
        return time.monotonic() * 1000

    def event(self, name: str, **details: Any) -> None:
        self.events.append((time.monotonic(), self.name, Event(name, tuple(details.items()))))


class RealMe(Me):
    """`me` in real time: everything as in the simulation, over real connections."""

    def __init__(self, thread: _Thread, server: Server, beside: Beside) -> None:
        super().__init__(cast(Process, thread), beside.resources)
        self._server = server

    @property
    def redis(self) -> Redis:
        if self._redis is None:
            self._redis = self._server.client(**PLAIN)
        return self._redis

    def client(self, **settings: Any) -> Redis:
        return self._server.client(**{"decode_responses": False, **settings})
