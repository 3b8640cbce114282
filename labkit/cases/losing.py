"""Cases of losing a lease: F09 and F10 its renewal stops too early or too late, F11 and F12 loss.

F09 is about helpers that renew in the background. Here the helper is the work itself, which shows
what a helper has to do after a failure; those that cannot run, or die, are threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.cases.case import Case
from labkit.cases.fencing import rows
from labkit.cases.rules import (
    counts_on_its_own,
    crashed_holding,
    late_release,
    lost,
    survivors_get_in,
    told_lost,
)
from labkit.cases.workers import (
    KEY,
    TTL_MS,
    Worker,
    granted,
    leased,
    numbered,
    release,
    right,
    write,
)
from labkit.locks import COMPARE_AND_RENEW, Acquired, Held, LeaseLost, Released, Renewed
from labkit.resources import fenced_row
from labkit.sim import resp
from labkit.sim.invariants import Invariant, nothing_after_loss
from labkit.sim.lab import Lab
from labkit.sim.machine import Transition

# -- F09 ------------------------------------------------------------------------------------------


def renewed_in_pieces(*, at: float = 1 / 3, after_a_failure: str = "asks again") -> Worker:
    """Five pieces of 30 ms under a lease of 100 ms, renewed when a part of it is over.

    Args:
        at: which part of the lease has to be over.
        after_a_failure: "asks again", "stops renewing" or "gives up".
    """

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        renews = True
        for _ in range(5):
            if renews and grant.remaining_ms() <= TTL_MS * (1 - at):
                renewal = lock.renew(grant)
                if isinstance(renewal, Renewed):
                    grant = renewal.grant
                elif after_a_failure == "gives up":
                    return "lost"
                else:
                    renews = after_a_failure == "asks again"
            if grant.remaining_ms() <= 0:
                return "lost"
            me.work(0.03)
        lock.release(grant)
        return "done"

    return hold


def one_failure_is_survived(lab: Lab) -> str | None:
    """Nobody is paused, and one answer is lost: that alone ends no work."""
    for letter, answer in lab.returned.items():
        if answer == "lost":
            return f"{letter} gave up its work, since one renewal had got no answer"
    return None


# -- F10 ------------------------------------------------------------------------------------------


def job(me: Any) -> str:
    """Takes the lock with a token that its heartbeat, a process of its own, knows as well."""
    if not me.redis.set(KEY, "A-1", nx=True, px=TTL_MS):
        return "busy"
    with me.critical_section():
        me.work(0.06)
    release(me, "A-1")
    return "done"


def beating(beats: int, *, blindly: bool = False) -> Callable[[Any], str]:
    """A heartbeat: renews the lease of A-1 every 50 ms, at most so many times."""

    def beat(me: Any) -> str:
        for _ in range(beats):
            me.sleep(0.05)
            if blindly:
                me.redis.pexpire(KEY, TTL_MS)
            elif not me.redis.eval(COMPARE_AND_RENEW, 1, KEY, "A-1", TTL_MS):
                return "ended"
        return "at most so long"

    return beat


def waiting(me: Any) -> str:
    """Tries three times, 120 ms apart."""
    lock = leased(me)
    for attempt in range(3):
        if attempt:
            me.sleep(0.12)
        got = lock.acquire()
        if isinstance(got, Acquired):
            with me.critical_section():
                me.redis.incr("work")
            lock.release(got.grant)
            return "done"
    return "gave up"


def with_a_heartbeat(beat: Worker) -> dict[str, Worker]:
    return {"A": job, "B": waiting, "H": beat}


# -- F11 ------------------------------------------------------------------------------------------


def two_writes(*, asks: bool = True, stops: bool = True) -> Worker:
    """Write, look whether the lease is still ours, write."""

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        held = Held(lock, grant)
        for number in (1, 2):
            try:
                if asks:
                    held.go_on()
                me.event("valid")
            except LeaseLost:
                me.event("lost")
                me.note("the lease is lost, must terminate")
                if stops:
                    return "lost"
            write(me, "plain", f"{me.name}{number}", grant.fence)
        lock.release(held.grant)
        return "done"

    return hold


def retrying(me: Any) -> str:
    """Stops, and sends the step that was not done "once more, to be sure"."""
    lock = numbered(me)
    grant = granted(me, lock)
    if grant is None:
        return "busy"
    held = Held(lock, grant)
    try:
        for number in (1, 2):
            held.go_on()
            write(me, "plain", f"{me.name}{number}", grant.fence)
    except LeaseLost:
        me.event("lost")
        write(me, "plain", f"{me.name}2", grant.fence)
        return "lost"
    lock.release(held.grant)
    return "done"


def _claimed(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    """Looks at who ends with "done" on being told that the lock was not its own any more."""
    command, worker = transition.command, transition.move.worker
    refused = command is not None and command.name == "EVAL" and transition.reply is not None
    if refused and resp.decode(transition.reply or b"") == 0:
        for turn in transition.turns:
            if turn.ended and turn.ended.value == "done":
                return memory, f"{worker} reports success, and had lost its lease before the end"
    return memory, None


loss_is_reported = Invariant("Who lost its lease on the way does not report success", _claimed)


def reporting(me: Any) -> str:
    """What was done may have been done twice: the caller is told."""
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    return "done" if isinstance(lock.release(got.grant), Released) else "lease lost"


def asking_before_the_end(me: Any) -> str:
    """Looks whether the lock is still its own, and then releases it."""
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    still_ours = me.redis.get(KEY) == got.grant.token
    lock.release(got.grant)
    return "done" if still_ours else "lease lost"


# -- F12 ------------------------------------------------------------------------------------------


def steps(lab: Lab) -> None:
    """A job of two steps; a row says how many are done, and a grant may write it twice."""
    lab.shared.equal = fenced_row(0, compare="<=")
    lab.shared.plain = fenced_row(0, compare="nothing")


def undo(row: Any, fence: int) -> None:
    row.write(0, fence)


def undo_one_step(row: Any, fence: int) -> None:
    """Its own step, and the successor has gone on from there."""
    row.write(max(row.read() - 1, 0), fence)


def in_steps(row: str, on_loss: Callable[[Any, int], None] | None = None) -> Worker:
    """Goes on where the row says; a refused step means that the lease is lost as well."""

    def hold(me: Any) -> str:
        lock = numbered(me)
        grant = granted(me, lock)
        if grant is None:
            return "busy"
        held = Held(lock, grant)
        try:
            for number in range(getattr(me.shared, row).read() + 1, 3):
                held.go_on()
                if not write(me, row, number, grant.fence):
                    raise LeaseLost
            held.go_on()
        except LeaseLost:
            me.event("lost")
            if on_loss is not None:
                on_loss(getattr(me.shared, row), grant.fence)
                me.event("compensated")
            return "lost"
        lock.release(held.grant)
        return "done"

    return hold


def what_was_done_is_there(lab: Lab) -> str | None:
    """A successor that is done has left both steps done."""
    done = [letter for letter, answer in lab.returned.items() if answer == "done"]
    left = lab.shared.plain.read() + lab.shared.equal.read()  # each worker uses one of the rows
    return f"{done[0]} has done both steps, and {left} are left" if done and left < 2 else None


CASES = (
    Case(
        "renewal-stops-after-one-failure", "F09",
        "one renewal gets no answer, and no other is sent: the lease ends during the work",
        wrong=renewed_in_pieces(after_a_failure="stops renewing"), right=renewed_in_pieces(),
        check=one_failure_is_survived, faults="~", pauses=0,
        danger=lost("a renewal got no answer", "EVAL"),
        shortest="A B t t A~ t t t", broken=(2, 14), met=(8, 14),
        mutants={"renewed at two thirds": renewed_in_pieces(at=2 / 3),
                 "one failure counts as loss": renewed_in_pieces(after_a_failure="gives up")},
    ),
    Case(
        "heartbeat-outlives-the-job", "F10",
        "the job has crashed, its heartbeat has not: the lock of a dead job lives on",
        wrong=with_a_heartbeat(beating(4)), right=with_a_heartbeat(beating(2)), workers="ABH",
        check=survivors_get_in, faults="!", pauses=0, danger=crashed_holding,
        shortest="A A! B t H t H t B t H t H t B", broken=(5, 64), met=(16, 64),
        mutants={"no end to the renewals": with_a_heartbeat(beating(4)),
                 "whoever's lock it is": with_a_heartbeat(beating(4, blindly=True))},
    ),
    Case(
        "loss-is-only-logged", "F11",
        "the renewal says lost, a line is logged, and the work goes on",
        wrong=two_writes(stops=False), right=two_writes(), setup=rows, pauses=2,
        check=[nothing_after_loss, counts_on_its_own], danger=told_lost,
        shortest="A t A A A", broken=(2592, 2808), met=(302, 518),
        mutants={"never asks": two_writes(asks=False), "one more attempt": retrying},
    ),
    Case(
        "success-after-a-loss", "F11",
        "the release says that the lock was not ours any more, and the job reports success",
        wrong=right, right=reporting, check=loss_is_reported, danger=late_release,
        shortest="A A t A", broken=(38, 44), met=(38, 44),
        mutants={"asked before releasing": asking_before_the_end},
    ),
    Case(
        "displaced-holder-rolls-back", "F12",
        "a lost lease is handled like an error: the former holder undoes its successor's work",
        wrong=in_steps("plain", undo), right=in_steps("equal"), setup=steps, pauses=2,
        check=[nothing_after_loss, what_was_done_is_there], danger=told_lost,
        shortest="A t A A A", broken=(2816, 2858), met=(766, 808),
        mutants={"undone with its number": in_steps("equal", undo),
                 "undoes its own step only": in_steps("plain", undo_one_step),
                 "without the check at the row": in_steps("plain")},
    ),
)  # fmt: skip
