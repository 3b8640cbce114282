"""Virtual time and randomness, inside a worker and only there.

virtual clock  integer milliseconds that only jump forward, and only on the move `t`

While a machine runs, the functions below are replaced by ones that first ask who is calling: a
worker gets the virtual clock and its own seeded randomness, everybody else gets the real thing.
The originals are put back at the end, also after an exception. C code (``datetime.now``) and the
order of a set of strings cannot be replaced; what they change shows up as non-determinism.
"""

from __future__ import annotations

import _threading_local
import asyncio.base_events
import builtins
import contextlib
import functools
import logging
import os
import queue
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent

from labkit.sim import threads

if TYPE_CHECKING:
    from labkit.sim.process import Process

#: The virtual clock's zero as a calendar date: 2026-01-01 00:00:00 UTC, in seconds.
EPOCH_S = 1_767_225_600

#: Here the clock is read to measure or to stamp; nothing that a worker does depends on it.
_MEASUREMENTS = (
    *("redis.client", "redis.connection", "redis.observability", "redis.maint_"),
    "logging",  # stamps its records
)

Replacement = Callable[..., Any]


def current_process() -> Process | None:
    """The process whose code is running right now, or None outside of workers."""
    return getattr(getcurrent(), "process", None)


def _clock(scale: int, zero_s: int = 0) -> Replacement:
    def read(process: Process) -> float | int:
        caller = sys._getframe(2).f_globals.get("__name__", "")
        measured = caller.startswith(_MEASUREMENTS)
        now_ms = process.now_ms if measured else process.read_clock()
        if scale == 1:
            return zero_s + now_ms / 1000
        return (zero_s * 1000 + now_ms) * (scale // 1000)

    return read


def _sleep(process: Process, seconds: float) -> None:
    process.sleep(seconds)


def _urandom(process: Process, size: int) -> bytes:
    return process.random.randbytes(size)


def _uuid1(process: Process, *_: Any, **__: Any) -> uuid.UUID:
    return uuid.UUID(int=process.random.getrandbits(128), version=1)


def _print(process: Process, *words: Any, sep: str | None = " ", **_: Any) -> None:
    """Workers run many times in an exploration; what they print becomes a note of the step."""
    process.event("note", text=(" " if sep is None else sep).join(map(str, words)))


def _log(process: Process, logger: logging.Logger, record: logging.LogRecord) -> None:
    """As for `print`: what a library logs belongs to the step, not to the reader's screen."""
    process.event("note", text=record.getMessage())


def _thread_number(process: Process) -> int:
    """For names such as "Thread-1": the same in every run."""
    return len(process.threads)


def _event_loop(process: Process, loop: Any) -> None:
    process.refuse(
        "runs an asyncio event loop, which labkit does not model: who goes on first is decided "
        "inside the loop. Write the same with threads and the synchronous client"
    )


_REPLACED: list[tuple[Any, str, Replacement]] = [
    (time, "time", _clock(1, EPOCH_S)),
    (time, "monotonic", _clock(1)),
    (time, "perf_counter", _clock(1)),
    (time, "time_ns", _clock(1_000_000_000, EPOCH_S)),
    (time, "monotonic_ns", _clock(1_000_000_000)),
    (time, "perf_counter_ns", _clock(1_000_000_000)),
    (time, "sleep", _sleep),
    (os, "urandom", _urandom),
    (uuid, "uuid1", _uuid1),
    (builtins, "print", _print),
    (logging.Logger, "callHandlers", _log),
    (threading, "Lock", threads.Lock),
    (threading, "_allocate_lock", threads.Lock),
    (threading, "RLock", lambda process: threading._PyRLock()),  # type: ignore[attr-defined]
    (threading, "local", lambda process, *args, **kwargs: _threading_local.local(*args, **kwargs)),
    (threading, "get_ident", threads.ident),
    (threading, "current_thread", threads.current),
    (threading, "_counter", _thread_number),
    (threading.Thread, "start", threads.start),
    (threading.Thread, "is_alive", threads.is_alive),
    (threading.Thread, "join", threads.join),
    # Queues are Python but for this one, which stands behind executors.
    (queue, "SimpleQueue", lambda process: queue._PySimpleQueue()),  # type: ignore[attr-defined]
    (asyncio.base_events.BaseEventLoop, "run_forever", _event_loop),
]


def _random_function(name: str) -> Replacement:
    return lambda process, *args, **kwargs: getattr(process.random, name)(*args, **kwargs)


_REPLACED += [
    (random, name, _random_function(name))
    for name, value in vars(random).items()
    if getattr(value, "__self__", None) is random._inst
]


def _dispatcher(original: Any, virtual: Replacement) -> Any:
    @functools.wraps(original)
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        process = current_process()
        if process is None:
            return original(*args, **kwargs)
        return virtual(process, *args, **kwargs)

    return dispatch


_DISPATCHERS = [
    (owner, name, getattr(owner, name), _dispatcher(getattr(owner, name), virtual))
    for owner, name, virtual in _REPLACED
]
_BY_ORIGINAL = {id(original): dispatch for owner, _, original, dispatch in _DISPATCHERS
                if isinstance(owner, type(sys))}  # fmt: skip


class _Patches:
    """The places to patch; `from time import sleep` makes more of them in other modules."""

    def __init__(self) -> None:
        self._modules = -1
        self._elsewhere: list[tuple[dict[str, Any], str, Any, Any]] = []
        self._depth = 0
        self._lock = threading.RLock()

    def _aliases(self, namespace: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, Any, Any]]:
        for name, value in list(namespace.items()):
            dispatch = _BY_ORIGINAL.get(id(value))
            if dispatch is not None:
                yield namespace, name, value, dispatch

    def places(self, namespaces: tuple[dict[str, Any], ...]) -> list[Any]:
        if self._modules != len(sys.modules):
            self._elsewhere = [
                alias
                for module_name, module in list(sys.modules.items())
                if module is not None and module_name not in ("__main__", __name__)
                for alias in self._aliases(getattr(module, "__dict__", {}))
            ]
            self._modules = len(sys.modules)
        return self._elsewhere + [a for space in namespaces for a in self._aliases(space)]

    @contextlib.contextmanager
    def applied(self, namespaces: tuple[dict[str, Any], ...]) -> Iterator[None]:
        with self._lock, contextlib.ExitStack() as undo:
            self._depth += 1
            undo.callback(self._leave)
            if self._depth == 1:
                self._apply(undo, namespaces)
            yield

    def _apply(self, undo: contextlib.ExitStack, namespaces: tuple[dict[str, Any], ...]) -> None:
        for namespace, name, original, dispatch in self.places(namespaces):
            namespace[name] = dispatch
            undo.callback(namespace.__setitem__, name, original)
        for owner, name, original, dispatch in _DISPATCHERS:
            if isinstance(owner, type):
                setattr(owner, name, dispatch)
                undo.callback(setattr, owner, name, original)

    def _leave(self) -> None:
        self._depth -= 1


_patches = _Patches()


@contextlib.contextmanager
def virtual_world(*functions: Any) -> Iterator[None]:
    """Replace time and randomness for workers while the block runs.

    Args:
        functions: the worker functions; names that their modules imported are replaced as well.
    """
    spaces = [vars(sys.modules["__main__"])]
    spaces += [getattr(function, "__globals__", {}) for function in functions]
    with _patches.applied(tuple(spaces)), _interruptible():
        yield


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C while a worker runs stops the run, even if the worker catches the exception."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        process = current_process()
        if process is not None:
            process.interrupted = True
        before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
