"""Notices a worker that runs in Python for ever: `while True: pass` between two commands.

One thread for all machines looks once in a while whether the same stretch of worker code has been
running since it last looked, and then raises an exception inside it.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator

from labkit.sim.errors import WorkerStuckInPython

#: Seconds that a worker may compute without sending a command.
LIMIT_S = 5.0

_cpu_s = time.process_time  # not real time: a machine may stand still, or be very busy
_real_sleep = time.sleep
_running: dict[int, float] = {}  # OS thread -> since when worker code runs in it
_thread: threading.Thread | None = None


class _Interrupt(BaseException):
    """Raised in the spinning worker; `watching` turns it into an error that explains."""


@contextlib.contextmanager
def watching(worker: str) -> Iterator[None]:
    """Stop worker code that runs in this block for more than LIMIT_S without a command."""
    _start()
    ident = threading.get_ident()
    _running[ident] = _cpu_s()
    try:
        yield
    except _Interrupt:
        raise WorkerStuckInPython(
            f"Worker {worker} ran for {LIMIT_S:g} s without sending a command or sleeping. "
            f"Is there a loop that waits for something? Let it sleep: me.sleep(seconds)."
        ) from None
    finally:
        _running.pop(ident, None)


def _start() -> None:
    global _thread
    if _thread is None or not _thread.is_alive():
        _thread = threading.Thread(target=_watch, name="labkit watchdog", daemon=True)
        _thread.start()


def _watch() -> None:
    while True:
        _real_sleep(min(LIMIT_S / 4, 0.5))
        now = _cpu_s()
        for ident, since in list(_running.items()):
            if now - since > LIMIT_S and _running.get(ident) == since:
                _raise_in(ident)


def _raise_in(ident: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(ident), ctypes.py_object(_Interrupt)
    )
