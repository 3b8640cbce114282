"""What a process does that may be stopped: take the lock, wait for the word, write, release.

    python -m labkit.servers.paused NAME SERVER FILE CHECKED
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import time

from redis import Redis

from labkit.locks import Acquired, FencedLease

LEASE_MS = 300
#: How long it tries to get the lock.
PATIENCE_S = 30
WRITE = "UPDATE data SET value = ?, fence = ? WHERE id = 1"


def work(name: str, url: str, file: str, checked: str) -> None:
    """One process from its start to its end; each line that it prints is an answer."""
    lock = FencedLease(Redis.from_url(url), "lock", counter="fence", ttl_ms=LEASE_MS)
    end = time.monotonic() + PATIENCE_S
    while not isinstance(got := lock.acquire(), Acquired):
        if time.monotonic() > end:
            raise SystemExit(f"{name} was not granted the lock within {PATIENCE_S} s: {got}")
        time.sleep(0.02)
    fence = got.grant.fence
    print(f"number {fence}", flush=True)
    sys.stdin.readline()
    sql: str = WRITE
    values: tuple[object, ...] = (name, fence)
    if checked == "True":
        sql, values = f"{WRITE} AND fence < ?", (name, fence, fence)
    with contextlib.closing(sqlite3.connect(file, timeout=PATIENCE_S)) as row:
        accepted = row.execute(sql, values).rowcount == 1
        row.commit()
    print("accepted" if accepted else "refused", flush=True)
    lock.release(got.grant)


if __name__ == "__main__":
    work(*sys.argv[1:])
