"""Cases of renewal by a helper, a thread of the worker: F09 it dies, F10 it outlives the work."""

from __future__ import annotations

import threading
from typing import Any

from labkit.cases.case import Case
from labkit.cases.losing import waiting
from labkit.cases.rules import reported, second_comer
from labkit.cases.workers import KEY, TTL_MS, Worker
from labkit.locks import Acquired, Grant, OwnerCheckedRenewal, Renewed
from labkit.sim.invariants import mutual_exclusion
from labkit.sim.lab import Lab


class Helper:
    """A thread that renews a lease every 30 ms, at most twelve times."""

    def __init__(self, lock: OwnerCheckedRenewal, grant: Grant, *, daemon: bool) -> None:
        self._lock, self._grant = lock, grant
        self._over, self.given_up = threading.Event(), threading.Event()
        threading.Thread(target=self._renew, daemon=daemon).start()

    def _renew(self) -> None:
        for _ in range(12):
            if self._over.wait(0.03):
                return
            if not isinstance(self._lock.renew(self._grant), Renewed):
                self.given_up.set()  # an exception of a thread would be seen by nobody
                return

    def stop(self) -> None:
        self._over.set()


def helped(*, asks: bool = True) -> dict[str, Worker]:
    """A works for 200 ms under a lease of 100 ms, which its helper renews; B waits for the lock.

    Args:
        asks: whether the work asks, piece by piece, if the helper still renews.
    """

    def work(me: Any) -> str:
        lock = OwnerCheckedRenewal(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        helper = Helper(lock, got.grant, daemon=True)
        with me.critical_section():
            for _ in range(5):
                me.work(0.04)
                if asks and helper.given_up.is_set():
                    me.event("lost")
                    return "lost"
        helper.stop()
        lock.release(got.grant)
        return "done"

    return {"A": work, "B": waiting}


def failing(*, stops: bool) -> dict[str, Worker]:
    """A's work fails half-way. Whether its helper is told decides how long B waits."""

    def work(me: Any) -> str:
        lock = OwnerCheckedRenewal(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        helper = Helper(lock, got.grant, daemon=False)
        try:
            with me.critical_section():
                me.work(0.04)
                raise ValueError("no such account")
        except ValueError:
            return "failed"
        finally:
            if stops:
                helper.stop()

    return {"A": work, "B": waiting}


def the_waiter_gets_in(lab: Lab) -> str | None:
    """A lease whose work has ended is over after its time, and the next one is let in."""
    if lab.returned.get("B") == "gave up":
        return "B gave up waiting, and nobody was working any more"
    return None


CASES = (
    Case(
        "helper-dies-unnoticed", "F09",
        "the renewing thread gives up, and the work goes on as if nothing had happened",
        wrong=helped(asks=False), right=helped(), faults="~", pauses=0,
        check=mutual_exclusion, danger=reported("the work learned that nobody renews", "lost"),
        shortest="A B t A2~ t t t t B", broken=(1, 44), met=(15, 44),
        mutants={"without asking": helped(asks=False)},
    ),
    Case(
        "helper-outlives-the-work", "F10",
        "the work has failed, and its helper renews on: the lock of a dead job lives",
        wrong=failing(stops=False), right=failing(stops=True),
        check=the_waiter_gets_in, danger=second_comer, pauses=0,
        shortest="A B t A2 t t A2 t A2 t B A2 t A2 t A2 t A2 t B A2 t A2 t A2 t A2 t A2",
        broken=(4, 7), met=(3, 4),
        mutants={"never stopped": failing(stops=False)},
    ),
)  # fmt: skip
