"""Cases of leases that end too early: F07 shorter than the work, F08 a pause that is too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.cases.case import Case
from labkit.cases.fencing import not_stale, rows
from labkit.cases.rules import counts_on_its_own, late_write, lost, reported
from labkit.cases.workers import KEY, TTL_MS, Worker, granted, numbered, write, writing
from labkit.locks import Held, LeaseLost, Lost, OwnerCheckedRenewal, Renewed
from labkit.resources import sqlite
from labkit.sim.invariants import mutual_exclusion, one_effect_per_key
from labkit.sim.lab import Lab


def renewable(me: Any) -> OwnerCheckedRenewal:
    return OwnerCheckedRenewal(me.redis, KEY, ttl_ms=TTL_MS, token=me.token)


def working(pieces_s: Sequence[float], *, renewals: int | None = None) -> Worker:
    """Waits for the lock, and works in pieces; between two pieces the lease is renewed."""

    def hold(me: Any) -> str:
        lock = renewable(me)
        for attempt in range(3):
            if attempt:
                me.sleep(0.12)
            grant = granted(me, lock)
            if grant is not None:
                held = Held(lock, grant)
                with me.critical_section():
                    for number, piece_s in enumerate(pieces_s):
                        if renewals is None or number <= renewals:
                            held.go_on()
                        if held.grant != grant:
                            me.event("renewed")
                        me.work(piece_s)
                lock.release(held.grant)
                return "done"
        return "gave up"

    return hold


def looking_at_the_clock(row: str) -> Worker:
    """Asks its clock right before the write. The pause comes after the answer."""

    def hold(me: Any) -> str:
        me.redis.get("job")
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        if grant.remaining_ms() <= 0:
            return "lost"
        accepted = write(me, row, me.name, grant.fence)
        lock.release(grant)
        return "done" if accepted else "refused"

    return hold


def renewing_first(me: Any) -> str:
    """Renews right before the write: the pause comes after the renewal."""
    lock = numbered(me)
    grant = granted(me, lock)
    if grant is None or not isinstance(lock.renew(grant), Renewed):
        return "busy"
    write(me, "plain", me.name, grant.fence)
    lock.release(grant)
    return "done"


def cut_off(*, stops: bool) -> Worker:
    """Renews between pieces of 40 ms, and reports whenever it believes that the lease is valid."""

    def hold(me: Any) -> str:
        lock = renewable(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        held = Held(lock, grant)
        for _ in range(4):
            me.work(0.04)
            try:
                if stops:
                    held.go_on()
                elif isinstance(lock.renew(grant), Lost):
                    raise LeaseLost
            except LeaseLost:
                return "lost"
            me.event("valid")
        lock.release(held.grant)
        return "done"

    return hold


def never_stopping(me: Any) -> str:
    """Counts from the last time it asked, answered or not."""
    lock = renewable(me)
    grant = granted(me, lock)
    if grant is None:
        return "busy"
    for _ in range(4):
        me.work(0.04)
        asked_at = me.now()
        if isinstance(lock.renew(grant), Lost):
            return "lost"
        if (me.now() - asked_at) * 1000 < TTL_MS:
            me.event("valid")
    lock.release(grant)
    return "done"


def a_job(lab: Lab) -> None:
    """A job that has not been done, and that no attempt has claimed."""
    lab.shared.jobs = sqlite(
        "CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT, attempt INTEGER)",
        "INSERT INTO job VALUES (1, 'open', 0)",
    )


CLAIM = "UPDATE job SET attempt = ? WHERE id = 1 AND attempt < ? AND state = 'open'"
COMPLETE = "UPDATE job SET state = 'done' WHERE id = 1"


def completing(condition: str = "", *, claims: bool = True) -> Worker:
    """Claims the job with the number of its grant, does it, and reports that it is done."""

    def hold(me: Any) -> str:
        lock, jobs = numbered(me), me.shared.jobs
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        if claims and jobs.execute(CLAIM, grant.fence, grant.fence).rowcount == 0:
            return "done before"
        at = [grant.fence] if "?" in condition else []
        if jobs.execute(COMPLETE + condition, *at).rowcount == 1:
            me.event("effect", key="job 1")
        else:
            me.event("refused")
        lock.release(grant)
        return "done"

    return hold


completing_its_own = completing(" AND attempt = ? AND state = 'open'")

CASES = (
    Case(
        "ttl-below-the-work", "F07",
        "160 ms of work under a lease of 100 ms: nobody is paused, and two are inside",
        wrong=working([0.16]), right=working([0.04] * 4), check=mutual_exclusion, pauses=0,
        danger=reported("the work took longer than one lease", "renewed"),
        shortest="A B t t B", broken=(2, 2), met=(4, 4),
        mutants={"pieces longer than the lease": working([0.15, 0.01]),
                 "renewed only once": working([0.04] * 7, renewals=1)},
    ),
    Case(
        "checked-and-late", "F08",
        "the clock said that the lease is valid, and the pause came before the write",
        wrong=looking_at_the_clock("plain"), right=looking_at_the_clock("fenced"), setup=rows,
        check=not_stale, danger=late_write, shortest="A A t B B B A", broken=(6, 138), met=(6, 138),
        mutants={"without a look at the clock": writing("plain"),
                 "renewed right before the write": renewing_first},
    ),
    Case(
        "cut-off-from-the-lock", "F08",
        "renewals get no answer, and the holder goes on, since nobody has told it to stop",
        wrong=cut_off(stops=False), right=cut_off(stops=True), check=counts_on_its_own,
        faults={"~": 3}, pauses=0, danger=lost("a renewal got no answer", "EVAL"),
        shortest="A B t A~ t A~ t t A~", broken=(4, 226), met=(194, 226),
        mutants={"counted from the last question": never_stopping},
    ),
    Case(
        "completed-by-a-former-attempt", "F08",
        "who was paused reports a job as done that its successor is doing",
        wrong=completing(), right=completing_its_own, setup=a_job, check=one_effect_per_key,
        danger=late_write, shortest="A A t B B B A", broken=(36, 94), met=(36, 94),
        mutants={"without its own number": completing(),
                 "without claiming it": completing(claims=False)},
    ),
)  # fmt: skip
