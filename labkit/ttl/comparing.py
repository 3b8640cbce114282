"""TTLs side by side: how many of the runs seen outlast each, and how long a crash blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.decision.parameters import CLOCK_ERROR, ttl
from labkit.locks import SHORTEST_TTL_MS
from labkit.sim.errors import LabkitError
from labkit.ttl.durations import Durations
from labkit.ttl.limits import share_limits

DAY_S = 86_400
MOST_ROWS = 12
_EXTRA = ("pause_ms", "final_write_p99_ms", "redis_p999_ms")


@dataclass(frozen=True, slots=True)
class Row:
    """One TTL.

    Attributes:
        outlasting: how many of the runs seen outlast it: the lease is over during the work.
        a_day: how many such runs a day are expected, and between which limits.
        blocked_ms: how long a crash keeps the others out at most.
        waiting: how many callers have come by then.
    """

    ttl_ms: int
    outlasting: int
    a_day: float
    a_day_low: float
    a_day_high: float
    blocked_ms: int
    waiting: float


@dataclass(frozen=True, eq=False)
class Question:
    """What was asked, checked; `numbers` has the names that the decision uses.

    Attributes:
        arrivals_per_s: callers that want the lock, if that was said.
    """

    durations: Durations
    numbers: Mapping[str, float]
    runs_per_day: float
    arrivals_per_s: float | None
    recover_ms: float
    harm: bool

    @property
    def per_s(self) -> float:
        """Callers in a second; one for each run unless more was said."""
        return self.arrivals_per_s or self.runs_per_day / DAY_S

    @property
    def extra_ms(self) -> float:
        """What a lease must outlive besides the work."""
        return sum(self.numbers[name] for name in _EXTRA)

    def room_ms(self, ttl_ms: float) -> float:
        """How long a run may take under this TTL: the decision's `ttl`, turned round."""
        return ttl_ms * (1 - CLOCK_ERROR) - self.extra_ms

    def row(self, ttl_ms: int) -> Row:
        n, runs, room = len(self.durations), self.runs_per_day, self.room_ms(ttl_ms)
        fitting = int(np.searchsorted(self.durations.ordered, room, "right"))
        if self.numbers.get("hard_cap_ms", math.inf) <= room:
            fitting = n
        low, high = share_limits(n - fitting, n)
        return Row(ttl_ms, n - fitting, runs * (n - fitting) / n, runs * low, runs * high,
                   ttl_ms, self.per_s * ttl_ms / 1_000)  # fmt: skip

    def lease(self, name: str, value: Any) -> int:
        """A TTL that can be: longer than the way to Redis and back, and the other extras."""
        given = int(number(name, value))
        if given < SHORTEST_TTL_MS or self.room_ms(given) <= 0:
            raise LabkitError(
                f"{name}={value:g}: a lease this short is over before any work is done. The way to "
                f"Redis and back, the last write and the pauses take {self.extra_ms:g} ms here, "
                f"and labkit's locks last {SHORTEST_TTL_MS} ms or more. Is it meant in seconds?"
            )
        return given

    def compared(self, ends: list[int]) -> list[int]:
        """These TTLs, and round ones from the median run up to the longest of them."""
        median = {**self.numbers, "work_bound_ms": self.numbers["work_p50_ms"]}
        least, most = max(SHORTEST_TTL_MS, ttl(median)), max(ends)
        powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        found: set[int] = set()
        for digits in ((1, 2, 5), (1,)):
            found = {d * 10**p for p in powers for d in digits if least <= d * 10**p <= most}
            if len(found) < MOST_ROWS:
                break
        return sorted(found | set(ends))


def number(name: str, value: Any, least: float | None = None) -> float:
    """A number that is above 0, or `least` or more."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < (least or 0) or (least is None and value == 0):
        what = "0 or more" if least == 0 else "more than 0"
        raise LabkitError(f"{name}={value!r}: it is a number, {what}.")
    return float(value)


def ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.3g} ms"


def count(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"
