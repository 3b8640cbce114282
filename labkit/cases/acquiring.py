"""Cases of acquiring: F01 not one step, F02 no end, F03 one token for all, F06 losers refresh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import (
    RELEASING,
    always_ends,
    answered,
    crashed_holding,
    late_release,
    lost,
    only_the_owner_changes,
    second_comer,
    survivors_get_in,
)
from labkit.cases.workers import (
    KEY,
    TTL_MS,
    Worker,
    by_hand,
    release,
    right,
    using,
    without_nx,
    without_owner_check,
    without_px,
)
from labkit.locks import CompareAndDelete, LookThenTake, TakeThenExpire
from labkit.sim.invariants import freed_after_crash, mutual_exclusion, only_the_owner_releases

take_then_expire = using(lambda me: TakeThenExpire(me.redis, KEY, ttl_ms=TTL_MS))


def rewriting(rewrite: Callable[[Any, str], Any]) -> Worker:
    """The holder writes into its own lock how far it has come."""

    def hold(me: Any) -> str:
        token = me.token()
        if not me.redis.set(KEY, token, nx=True, px=TTL_MS):
            return "busy"
        with me.critical_section():
            rewrite(me, token)
        release(me, f"{token}:half")
        return "done"

    return hold


REWRITE = """\
-- compare and rewrite
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
end
return 0
"""


def refreshing(me: Any) -> str:
    """SETNX, then the expiry, whoever has won."""
    token = me.token()
    won = me.redis.setnx(KEY, token)
    me.redis.pexpire(KEY, TTL_MS)
    if not won:
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    release(me, token)
    return "done"


def patient(*, nx: bool = True, px: bool = True, loser_refreshes: bool = False) -> Worker:
    """Tries three times, 60 ms apart; a lease lasts 100 ms."""

    def wait(me: Any) -> str:
        token = me.token()
        for attempt in range(3):
            if attempt:
                me.sleep(0.06)
            won = me.redis.set(KEY, token, nx=nx, px=TTL_MS if px else None)
            if loser_refreshes and not won:
                me.redis.pexpire(KEY, TTL_MS)
            if won:
                with me.critical_section():
                    me.redis.incr("work")
                release(me, token)
                return "done"
        return "gave up"

    return wait


CASES = (
    Case(
        "look-then-take", "F01", "GET, then SET: both look before either takes",
        wrong=using(lambda me: LookThenTake(me.redis, KEY)), right=right,
        check=mutual_exclusion, danger=second_comer, pauses=0,
        shortest="A B B A", broken=(24, 46), met=(4, 6), mutants={"without NX": without_nx},
    ),
    Case(
        "take-then-expire", "F01", "SETNX, then PEXPIRE: a crash between them leaves it for ever",
        wrong=take_then_expire, right=right, faults="!", pauses=0,
        check=freed_after_crash.on(KEY), danger=crashed_holding,
        shortest="A A!", broken=(6, 42), met=(14, 28), mutants={"without PX": without_px},
    ),
    Case(
        "expiry-fails", "F02", "the second step fails, and not the process: nobody gives it an end",
        wrong=take_then_expire, right=right, faults="~", pauses=0, check=freed_after_crash.on(KEY),
        danger=lost("a release never arrived, and the lease had an end", *RELEASING),
        shortest="A A~", broken=(6, 42), met=(8, 28), mutants={"without PX": without_px},
    ),
    Case(
        "no-expiry", "F02", "the lock has no time to live: it outlives a crash for ever",
        wrong=without_px, right=right, faults="!", pauses=0,
        check=freed_after_crash.on(KEY), danger=crashed_holding,
        shortest="A A!", broken=(14, 28), met=(14, 28),
        mutants={"PX in a second step": take_then_expire},
    ),
    Case(
        "rewrite-drops-the-expiry", "F02",
        "SET on one's own lock, to note progress, removes its TTL",
        wrong=rewriting(lambda me, token: me.redis.set(KEY, f"{token}:half")),
        right=rewriting(lambda me, token: me.redis.eval(REWRITE, 1, KEY, token, f"{token}:half")),
        check=[always_ends, only_the_owner_changes],
        danger=answered("a late owner's rewrite was refused", "EVAL", reply=0),
        shortest="A A", broken=(26, 26), met=(38, 44),
        mutants={
            "without KEEPTTL": rewriting(lambda me, token: me.redis.eval(
                REWRITE.replace(', "KEEPTTL"', ""), 1, KEY, token, f"{token}:half")),
            "without the owner check": rewriting(lambda me, token: me.redis.set(
                KEY, f"{token}:half", xx=True, keepttl=True)),
        },
    ),
    Case(
        "constant-value", "F03",
        "all owners write the same value, so every lock looks like one's own",
        wrong=using(lambda me: CompareAndDelete(
            me.redis, KEY, ttl_ms=TTL_MS, token=lambda: "taken")),
        right=right, check=only_the_owner_releases.on(KEY), danger=late_release,
        shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"without a token of its own": by_hand(token=lambda me: "taken"),
                 "without the owner check": without_owner_check},
    ),
    Case(
        "process-id-as-token", "F03",
        "in containers every service is process 1: no token of its own",
        wrong=by_hand(token=lambda me: "process 1"), right=right,
        check=only_the_owner_releases.on(KEY), danger=late_release,
        shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"host name instead of token": by_hand(token=lambda me: "web-1")},
    ),
    Case(
        "loser-sets-the-expiry", "F06",
        "EXPIRE runs whoever has won: the loser moves the winner's end",
        wrong=refreshing, right=right, check=only_the_owner_changes, danger=second_comer,
        shortest="A B B", broken=(2, 20), met=(4, 6), pauses=0,
        mutants={"without NX": without_nx},
    ),
    Case(
        "loser-keeps-a-dead-lock", "F06",
        "each try of a waiter puts off the end of a dead owner's lock",
        wrong=patient(loser_refreshes=True), right=patient(), faults="!", pauses=0,
        check=survivors_get_in, danger=crashed_holding,
        shortest="A A! B B t B B t B B", broken=(18, 100), met=(22, 50),
        mutants={"without PX": patient(px=False)},
    ),
)  # fmt: skip
