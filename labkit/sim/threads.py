"""What `threading` is inside a worker: locks and threads that the schedule moves.

Only locks, threads and the identity of a thread are replaced here. Event, Condition, Semaphore,
Barrier, Timer and Queue are Python code on top of locks, and run as they are.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent

if TYPE_CHECKING:
    from labkit.sim.process import Process


class Lock:
    """`threading.Lock`: who finds it taken waits until another thread of the process frees it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._taken = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        seconds = None if timeout < 0 else timeout
        if self._taken and not (blocking and self._process.wait(self._free, seconds)):
            return False
        self._taken = True
        return True

    def release(self) -> None:
        if not self._taken:
            raise RuntimeError("release unlocked lock")
        self._taken = False

    def _free(self) -> bool:
        return not self._taken

    def locked(self) -> bool:
        return self._taken

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()


def ident(process: Process) -> int:
    """`threading.get_ident`: the thread's number."""
    return getattr(getcurrent(), "number", 1)


def current(process: Process) -> threading.Thread:
    """`threading.current_thread`."""
    return getattr(getcurrent(), "python", None) or threading.main_thread()


def start(process: Process, thread: threading.Thread) -> None:
    """`Thread.start`: the thread runs once the one that starts it stops."""
    if thread._started.is_set():  # type: ignore[attr-defined]
        raise RuntimeError("threads can only be started once")
    thread._started.set()  # type: ignore[attr-defined]
    process.start_thread(thread)
    thread._ident = len(process.threads)  # type: ignore[attr-defined]
    # For Python itself there is nothing to wait for, as executors do when Python ends.
    if hasattr(thread, "_handle"):  # from Python 3.13 on
        thread._handle = threading._make_thread_handle(0)  # type: ignore[attr-defined]
        thread._handle._set_done()
    thread._is_stopped = True  # type: ignore[attr-defined]


def is_alive(process: Process, thread: threading.Thread) -> bool:
    """`Thread.is_alive`; the main thread is, as long as anybody can ask."""
    if thread is threading.main_thread():
        return True
    return thread._started.is_set() and not process.thread_of(thread).over  # type: ignore[attr-defined]


def join(process: Process, thread: threading.Thread, timeout: float | None = None) -> None:
    """`Thread.join`."""
    if not thread._started.is_set():  # type: ignore[attr-defined]
        raise RuntimeError("cannot join thread before it is started")
    joined = process.thread_of(thread)
    if joined is getcurrent():
        raise RuntimeError("cannot join current thread")
    if not joined.over:
        process.wait(lambda: joined.over, timeout)
