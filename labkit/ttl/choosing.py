"""Choosing a TTL: how often a lease would be over too early, against how long a crash blocks.

The settings are computed as the decision computes them (`labkit.decision.parameters`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.decision.parameters import FORMULAS, ttl, work_bound
from labkit.locks import SHORTEST_TTL_MS
from labkit.sim.errors import LabkitError
from labkit.sim.trace import table
from labkit.ttl.advice import advise
from labkit.ttl.comparing import Question, Row, count, ms, number
from labkit.ttl.durations import Durations
from labkit.ttl.limits import Quantile, quantile
from labkit.ttl.reading import read_durations

QUANTILES = (0.5, 0.95, 0.99, 0.999)


@dataclass(frozen=True, eq=False)
class TtlChoice:
    """A TTL with its reasons; print it.

    Attributes:
        ttl_ms: the TTL to set.
        renew_every_ms: how often to renew it; None when the work fits without.
        change_design: whether a TTL alone, of any length, is the wrong answer.
        recommendation: one sentence.
        reasons: why this TTL.
        changes: what to change besides, and why.
        rows: the TTLs compared.
    """

    durations: Durations
    quantiles: tuple[Quantile, ...]
    rows: tuple[Row, ...]
    ttl_ms: int
    renew_every_ms: int | None
    recommendation: str
    reasons: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def change_design(self) -> bool:
        return bool(self.changes)

    @property
    def max_ms(self) -> float:
        return float(self.durations.ordered[-1])

    @property
    def histogram(self) -> str:
        """How many runs took how long, as text."""
        ordered = self.durations.ordered
        lines: list[tuple[str, ...]] = [("from", "to", "runs", "")]
        edges = [d * 10.0**p for p in range(-4, 9) for d in (1, 1.5, 2, 3, 5, 7)]
        places = np.searchsorted(ordered, edges, "left")
        for low, high, first, last in zip(edges, edges[1:], places, places[1:], strict=False):
            if last > first:
                bar = "█" * math.ceil(40 * (last - first) / len(ordered))
                lines.append((ms(low), ms(high), f"{last - first:,}", bar))
        return "\n".join(table(lines))

    def __str__(self) -> str:
        changes = ["", "Change the design, not the TTL:", *_bullets(self.changes)]
        return "\n".join([
            repr(self.durations), "", *self._quantile_lines(), "", *self._ttl_lines(), "",
            self.recommendation, *_bullets(self.reasons), *(changes if self.changes else []), "",
            "Limits: each is right for 95 of 100 samples like this one, if runs are alike and",
            "independent. A bad hour or a new release is not in them.",
        ])  # fmt: skip

    __repr__ = __str__

    def _quantile_lines(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("", "value", "at least", "at most")]
        for q in self.quantiles:
            high = f"unknown: takes {q.needed:,} runs" if q.high is None else ms(q.high)
            rows.append((q.name, ms(q.value), "unknown" if q.low is None else ms(q.low), high))
        rows.append(("max", ms(self.max_ms), ms(self.max_ms), "unknown: the next may be longer"))
        return table(rows)

    def _ttl_lines(self) -> list[str]:
        rows: list[tuple[str, ...]] = [
            ("TTL", f"outlasted by, of {len(self.durations):,}", "expiries a day (limits)",
             "a crash blocks for", "callers by then")
        ]  # fmt: skip
        for row in self.rows:
            mark = " <-" if row.ttl_ms == self.ttl_ms else ""
            a_day = f"{count(row.a_day)} ({count(row.a_day_low)} to {count(row.a_day_high)})"
            rows.append((ms(row.ttl_ms), f"{row.outlasting:,}", a_day,
                         f"up to {ms(row.blocked_ms)}", f"{count(row.waiting)}{mark}"))  # fmt: skip
        return table(rows)


def choose_ttl(
    durations_ms: Any,
    *,
    runs_per_day: float,
    recover_ms: float,
    harm: bool = True,
    arrivals_per_s: float | None = None,
    hard_cap_ms: float | None = None,
    pause_ms: float = 0,
    final_write_p99_ms: float = 0,
    redis_p999_ms: float = 0,
    ttls_ms: Iterable[float] = (),
) -> TtlChoice:
    """Compare TTLs for the durations that were measured, and recommend one with its reasons.

    Args:
        durations_ms: numbers, or what `read_durations` takes or returns.
        recover_ms: how long the others may be kept out after a crash.
        harm: whether two runs at once leave something to repair (data, money, trust), not only
            time that is wasted.
        arrivals_per_s: callers that want the lock; the runs, spread over the day, unless given.
        hard_cap_ms: a limit after which a run is really ended.
        pause_ms: longer pauses than those that are in the durations already.
        final_write_p99_ms, redis_p999_ms: the last write, and the way to Redis and back.
        ttls_ms: further TTLs to compare.

    Raises:
        LabkitError: for durations or numbers that cannot be; it says which, and what can.
    """
    durations = read_durations(durations_ms)
    if not isinstance(harm, bool):
        raise LabkitError(f"harm={harm!r}: True or False: do two runs at once leave something to "
                          f"repair?")  # fmt: skip
    quantiles = tuple(quantile(durations.ordered, q) for q in QUANTILES)
    numbers = {"work_p50_ms": quantiles[0].value, "work_p99_ms": quantiles[2].value,
               "work_max_ms": float(durations.ordered[-1])}  # fmt: skip
    extras = {"pause_ms": pause_ms, "final_write_p99_ms": final_write_p99_ms,
              "redis_p999_ms": redis_p999_ms}  # fmt: skip
    numbers |= {name: number(name, value, least=0) for name, value in extras.items()}
    if hard_cap_ms is not None:
        numbers["hard_cap_ms"] = number("hard_cap_ms", hard_cap_ms)
    asked = Question(
        durations, numbers, number("runs_per_day", runs_per_day),
        None if arrivals_per_s is None else number("arrivals_per_s", arrivals_per_s),
        number("recover_ms", recover_ms), harm,
    )  # fmt: skip
    further = [asked.lease("ttls_ms", value) for value in ttls_ms]
    settings = _settings(asked)
    ends = [*further, int(settings["whole_ms"]), int(settings["ttl_ms"]), int(recover_ms)]
    renew = settings.get("renew_every_ms")
    return TtlChoice(
        durations, quantiles, tuple(map(asked.row, asked.compared(ends))),
        int(settings["ttl_ms"]), None if renew is None else int(renew),
        *advise(asked, quantiles, settings),
    )  # fmt: skip


def _settings(asked: Question) -> dict[str, float]:
    """The decision's parameters: without renewal, or when that takes too long a TTL, with it."""
    found = dict(asked.numbers)
    found["work_bound_ms"] = work_bound(found) or 0
    found["whole_ms"] = max(ttl(found), SHORTEST_TTL_MS)
    longest = asked.lease("recover_ms", asked.recover_ms)
    found["ttl_ms"] = min(found["whole_ms"], longest)
    names = ["holder_deadline_ms"]
    if found["whole_ms"] > longest:
        names = ["renew_every_ms", "stop_after_ms"]
    for formula in FORMULAS:
        if formula.id in names:
            found[formula.id] = formula.compute(found) or 0
    return found


def _bullets(sentences: Iterable[str]) -> list[str]:
    return [f"- {sentence}" for sentence in sentences]
