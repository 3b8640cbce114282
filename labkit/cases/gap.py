"""How often is a gap hit? Random arrivals, each decided by a schedule that runs.

A and B arrive at random within a second. Each looks (GET) when it arrives and takes (SET) a gap
later. The order of those four commands is a schedule, and its replay says who got in.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.sim.invariants import mutual_exclusion
from labkit.sim.replaying import replay

WINDOW_MS = 1_000


def look_then_take(me: Any) -> bool:
    """GET, then SET, then inside until long after the last arrival."""
    if me.redis.get("lock") is not None:
        return False
    me.redis.set("lock", me.name)
    with me.critical_section():
        me.work(seconds=10)
    return True


def collisions(
    gaps_ms: Iterable[float], *, runs: int = 10_000, seed: int = 1
) -> Mapping[float, int]:
    """For each gap between GET and SET: in how many of `runs` random arrivals both got in.

    Args:
        gaps_ms: lengths of the gap, in milliseconds.
        runs: pairs of arrivals, the same ones for every gap.
        seed: of the arrivals.
    """
    generator = random.Random(seed)
    arrivals = [(generator.uniform(0, WINDOW_MS), generator.uniform(0, WINDOW_MS))
                for _ in range(runs)]  # fmt: skip
    verdicts: dict[str, bool] = {}
    return {gap: sum(_both_in(a, b, gap, verdicts) for a, b in arrivals) for gap in gaps_ms}


def schedule_of(a_ms: float, b_ms: float, gap_ms: float) -> str:
    """The order of the commands, when A arrives at `a_ms` and B at `b_ms`."""
    times = [(a_ms, "A"), (a_ms + gap_ms, "A"), (b_ms, "B"), (b_ms + gap_ms, "B")]
    order = "".join(letter for _, letter in sorted(times))
    # Who looks after the other has taken finds the lock, goes away, and has no second command.
    return {"AABB": "AAB", "BBAA": "BBA"}.get(order, order)


def _both_in(a_ms: float, b_ms: float, gap_ms: float, verdicts: dict[str, bool]) -> bool:
    schedule = schedule_of(a_ms, b_ms, gap_ms)
    if schedule not in verdicts:
        trace = replay(look_then_take, schedule, check=mutual_exclusion, partial=True)
        verdicts[schedule] = trace.broken is not None
    return verdicts[schedule]
