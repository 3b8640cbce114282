"""A real process, stopped past the end of a real lease: SIGSTOP, SIGCONT, and a real clock.

Two processes share a lock on the server and a row in a file of SQLite; `paused` is what they run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from labkit.servers.paused import LEASE_MS
from labkit.servers.server import Server, Wire
from labkit.sim.errors import LabkitError

TABLE = "CREATE TABLE data (id INTEGER PRIMARY KEY, value TEXT, fence INTEGER NOT NULL)"


@dataclass(frozen=True)
class LateWrite:
    """What happened, line by line, and the row's value in the end."""

    lines: tuple[str, ...]
    value: str

    def __str__(self) -> str:
        return "\n".join([*self.lines, f"The row holds what {self.value} wrote."])

    __repr__ = __str__


def late_write(server: Server, *, checked: bool) -> LateWrite:
    """Stop a process that has the lock, let another one take it, and let the first one go on.

    Args:
        server: its keys are removed first (your own must be empty).
        checked: whether the row compares the number of the grant.

    Raises:
        LabkitError: where processes cannot be stopped (Windows), or when one does not answer.
    """
    if not hasattr(signal, "SIGSTOP"):
        raise LabkitError("Here a process cannot be stopped with SIGSTOP. Linux and macOS can.")
    with contextlib.closing(Wire(server)) as wire:
        wire.clear()
    with TemporaryDirectory() as folder, contextlib.ExitStack() as processes:
        file = Path(folder, "row.sqlite")
        with contextlib.closing(sqlite3.connect(file)) as row:
            row.execute(TABLE)
            row.execute("INSERT INTO data VALUES (1, 'nobody', 0)")
            row.commit()
        settings = (server.url, str(file), str(checked))
        first = processes.enter_context(_started("A", settings))
        lines = [f"A takes the lock: {_answer(first)}"]
        _stop(first)
        _say_write(first)  # it cannot read this before it goes on
        lines.append(f"A is stopped (SIGSTOP). Its lease of {LEASE_MS} ms ends.")
        second = processes.enter_context(_started("B", settings))
        lines.append(f"B takes the lock: {_answer(second)}")
        _say_write(second)
        lines.append(f"B writes: {_answer(second)}")
        first.send_signal(signal.SIGCONT)
        lines.append(f"A goes on (SIGCONT), and writes: {_answer(first)}")
        with contextlib.closing(sqlite3.connect(file)) as row:
            (value,) = row.execute("SELECT value FROM data").fetchone()
    return LateWrite(tuple(lines), value)


@contextlib.contextmanager
def _started(name: str, settings: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "labkit.servers.paused", name, *settings]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()  # also while it is stopped
        process.communicate()


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise LabkitError("A process ended without an answer; its reason stands above.")
    return line


def _say_write(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("write\n")
    process.stdin.flush()


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop it, and wait until it stands still."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
