"""Parameters: numbers to configure a design with, computed from the reader's own numbers.

All times are milliseconds. A formula is shown beside its result. What was not given is either taken
as 0 and named (`assumed`), or the result stays open and says what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labkit.decision.conditions import Facts, condition

# Proposals, marked as judgement wherever they are shown.
CLOCK_ERROR = 0.01  #: how much slower or faster two clocks may run
SHORT_MS = 1_000  #: a transaction may last this long
HIGH_LOAD, SATURATED = 0.3, 0.8
WAITING_SHARE = 0.1  #: of the pool that may be waiting at any time
RETRY_BASE_MS, RETRY_CAP_MS = 50, 1_000
KEY_KEPT_MS = 72 * 3_600_000

Numbers = dict[str, float]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of the result.

    Attributes:
        value: None when something is missing or no value exists.
        inputs: the numbers that went in.
        assumed: the numbers that were not given and taken as 0.
        missing: the numbers without which there is no value.
        notes: identifiers of sentences about the value.
    """

    id: str
    value: float | None
    unit: str
    formula: str
    inputs: Mapping[str, float]
    assumed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The value with its unit: "93,000 ms (93 s)", "0.25"; "open" without a value."""
        if self.value is None:
            return "open"
        number = f"{self.value:,.0f}" if self.unit else f"{self.value:.3g}"
        return f"{number} {self.unit}{_in_words(self.value, self.unit)}".strip()


def _in_words(value: float, unit: str) -> str:
    """Many milliseconds in a larger unit as well: " (93 s)"."""
    large = ((7_200_000, 3_600_000, "h"), (120_000, 60_000, "min"), (10_000, 1_000, "s"))
    fits = (f" ({value / size:.3g} {name})" for least, size, name in large if value >= least)
    return next(fits, "") if unit == "ms" else ""


@dataclass(frozen=True, slots=True)
class Formula:
    """How a parameter is computed, for which designs, and from what.

    `needs` must be there (given, or computed before); `takes` count as 0 when not given.
    """

    id: str
    unit: str
    when: str
    text: str
    compute: Callable[[Numbers], float | None]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def work_bound(n: Mapping[str, float]) -> float | None:
    """The enforced limit, else the larger of the longest run seen and twice the 99 % mark."""
    if "hard_cap_ms" in n:
        return n["hard_cap_ms"]
    seen = [n[key] * times for key, times in (("work_max_ms", 1), ("work_p99_ms", 2)) if key in n]
    return max(seen, default=None)


def ttl(n: Mapping[str, float]) -> float:
    """A lease that outlives the work, a pause, the last write and the way to Redis."""
    extra = sum(n.get(key, 0) for key in ("pause_ms", "final_write_p99_ms", "redis_p999_ms"))
    return math.ceil(round((n["work_bound_ms"] + extra) / (1 - CLOCK_ERROR), 6))


def load(n: Mapping[str, float]) -> float | None:
    """How much of the time the busiest key is taken: arrivals per second times seconds held."""
    if "arrivals_per_s" in n and "work_p50_ms" in n:
        return n["arrivals_per_s"] * n["work_p50_ms"] / 1_000
    return None


def classes(given: Mapping[str, Any]) -> dict[str, Any]:
    """The classes that the numbers give: `dur`, `cont`, and whether the key is saturated."""
    found: dict[str, Any] = {}
    bound, busy = work_bound(given), load(given)
    if bound is not None:
        too_long = ttl({**given, "work_bound_ms": bound}) > given.get("recover_ms", math.inf)
        found["dur"] = "short" if bound <= SHORT_MS else "long" if too_long else "bounded"
    if busy is not None:
        found["cont"] = "high" if busy >= HIGH_LOAD else "low"
        found["saturated"] = busy >= SATURATED
    return found


def _holder_deadline(n: Numbers) -> float:
    return math.floor(n["ttl_ms"] * (1 - CLOCK_ERROR) - n.get("final_write_p99_ms", 0))


def _wait_limit(n: Numbers) -> float:
    limits = [n["caller_deadline_ms"] - n["work_p99_ms"] - n.get("final_write_p99_ms", 0)]
    if n.get("busy_share") and "pool" in n:
        conflicts = n["arrivals_per_s"] * n["busy_share"]
        limits.append(WAITING_SHARE * n["pool"] / conflicts * 1_000)
    return math.floor(max(0, min(limits)))


def _attempts(n: Numbers) -> float:
    """Sleeps that fit into the wait limit on average (full jitter: half of each maximum)."""
    mean, sleeps = 0.0, 0
    while True:
        mean += min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** min(sleeps, 10)) / 2
        if mean > n["wait_limit_ms"] or sleeps >= 1_000:
            return sleeps
        sleeps += 1


def _queue_wait(n: Numbers) -> float | None:
    rho = n["load"]
    return None if rho >= 1 else math.ceil(rho * n["work_p50_ms"] / (1 - rho))


_LEASES = "redis_design or mode in (LEASE_ROW, SEQUENCER)"
_RENEWED = "design=D10 or (dur=long and (design=D11 or mode in (LEASE_ROW, SEQUENCER)))"
_EXTRA = ("pause_ms", "final_write_p99_ms", "redis_p999_ms")

FORMULAS = (
    Formula("work_bound_ms", "ms", "not design in (D00, D14)",
            "hard_cap_ms if enforced, else max(work_max_ms, 2 x work_p99_ms)",
            work_bound, ("hard_cap_ms or work_max_ms or work_p99_ms",)),
    Formula("ttl_ms", "ms", f"({_LEASES}) and not ({_RENEWED})",
            "(work_bound_ms + pause_ms + final_write_p99_ms + redis_p999_ms) / (1 - 0.01)",
            ttl, ("work_bound_ms",), _EXTRA),
    Formula("ttl_ms", "ms", _RENEWED,
            "recover_ms: the longest that others may stay blocked; renewed while the work goes on",
            lambda n: n["recover_ms"], ("recover_ms",)),
    Formula("visibility_ms", "ms", "design=D12",
            "(work_bound_ms + pause_ms + final_write_p99_ms + redis_p999_ms) / (1 - 0.01)",
            ttl, ("work_bound_ms",), _EXTRA),
    Formula("holder_deadline_ms", "ms", f"({_LEASES}) and not ({_RENEWED})",
            "ttl_ms x (1 - 0.01) - final_write_p99_ms, from before the request was sent",
            _holder_deadline, ("ttl_ms",), ("final_write_p99_ms",)),
    Formula("renew_every_ms", "ms", _RENEWED, "ttl_ms / 3",
            lambda n: max(1, math.floor(n["ttl_ms"] / 3)), ("ttl_ms",)),
    Formula("stop_after_ms", "ms", _RENEWED,
            "ttl_ms x (1 - 0.01) - final_write_p99_ms, from the last confirmed renewal's sending",
            _holder_deadline, ("ttl_ms",), ("final_write_p99_ms",)),
    Formula("client_timeout_ms", "ms", "redis_design", "min(redis_p999_ms, ttl_ms / 10)",
            lambda n: math.ceil(min(n["redis_p999_ms"], n["ttl_ms"] / 10)),
            ("redis_p999_ms", "ttl_ms")),
    Formula("tolerated_pause_ms", "ms", f"redis_design and ({_RENEWED})",
            "stop_after_ms - renew_every_ms - client_timeout_ms",
            lambda n: n["stop_after_ms"] - n["renew_every_ms"] - n["client_timeout_ms"],
            ("stop_after_ms", "renew_every_ms", "client_timeout_ms")),
    Formula("max_renewals", "", _RENEWED, "work_bound_ms / renew_every_ms, rounded up",
            lambda n: math.ceil(n["work_bound_ms"] / n["renew_every_ms"]),
            ("work_bound_ms", "renew_every_ms")),
    Formula("load", "", "not design in (D00, D14)", "arrivals_per_s x work_p50_ms / 1000",
            load, ("arrivals_per_s", "work_p50_ms")),
    Formula("busy_share", "", "busy in (skip, wait) and not design in (D00, D14)",
            "load / (1 + load): how many attempts, tried once, find it busy",
            lambda n: n["load"] / (1 + n["load"]), ("load",)),
    Formula("queue_wait_ms", "ms", "(busy=wait or can_queue) and not design in (D00, D14)",
            "load x work_p50_ms / (1 - load): mean wait in line, when durations vary as much as "
            "exponential ones; half of it when they are constant",
            _queue_wait, ("load", "work_p50_ms")),
    Formula("worst_wait_ms", "ms", "(busy=wait or can_queue) and not design in (D00, D14)",
            "(workers - 1) x work_p99_ms: all the others are first",
            lambda n: (n["workers"] - 1) * n["work_p99_ms"], ("workers", "work_p99_ms")),
    Formula("wait_limit_ms", "ms", "busy=wait and not design in (D00, D14)",
            "min(caller_deadline_ms - work_p99_ms - final_write_p99_ms, "
            "0.1 x pool / (arrivals_per_s x busy_share) x 1000)",
            _wait_limit, ("caller_deadline_ms", "work_p99_ms"), ("final_write_p99_ms",)),
    Formula("retry_base_ms", "ms", "busy=wait and not design in (D00, D14)",
            "sleep a random time up to min(retry_cap_ms, retry_base_ms x 2^n)",
            lambda n: RETRY_BASE_MS),
    Formula("retry_cap_ms", "ms", "busy=wait and not design in (D00, D14)",
            "the longest single sleep", lambda n: RETRY_CAP_MS),
    Formula("retry_attempts", "", "busy=wait and not design in (D00, D14)",
            "sleeps whose mean total fits into wait_limit_ms", _attempts, ("wait_limit_ms",)),
    Formula("optimistic_attempts", "", "design=D04",
            "e^(arrivals_per_s x work_p50_ms / 1000): mean number of tries until one wins",
            lambda n: math.exp(min(n["load"], 50)), ("load",)),
    Formula("retry_horizon_ms", "ms", "ded and not one_db and design in (D08, D12)",
            "0.9 x key_retention_ms: after that a repeat counts as new at the receiver",
            lambda n: math.floor(n["key_retention_ms"] * 0.9), ("key_retention_ms",)),
    Formula("own_key_retention_ms", "ms",
            "design in (D01, D02, D03, D08, D12) and not mode in (VERSION, REASSERT)",
            "max(72 hours, retry_horizon_ms + pause_ms)",
            lambda n: max(KEY_KEPT_MS, n.get("retry_horizon_ms", 0) + n.get("pause_ms", 0))),
    Formula("transaction_limit_ms", "ms", "design in (D03, D05, D07) or mode=ADVISORY",
            "at most this long: statement and lock time-outs of the database", lambda n: SHORT_MS),
)  # fmt: skip


def parameters(facts: Facts, given: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """All parameters of a design (which one, the facts say), in the order of their computation."""
    numbers: Numbers = {
        key: value for key, value in given.items() if isinstance(value, int | float)
    }
    found = []
    for formula in FORMULAS:
        if condition(formula.when)(facts):
            found.append(_one(formula, numbers))
            if found[-1].value is not None:
                numbers[formula.id] = found[-1].value
    return tuple(found)


def wanted(facts: Facts) -> set[str]:
    """What the parameters of a design can be computed from."""
    formulas = [formula for formula in FORMULAS if condition(formula.when)(facts)]
    names = [name for formula in formulas for name in (*formula.needs, *formula.takes)]
    return set(" or ".join(names).split(" or "))


def _one(formula: Formula, n: Numbers) -> Parameter:
    missing = tuple(need for need in formula.needs
                    if not any(key in n for key in need.split(" or ")))  # fmt: skip
    value = None if missing else formula.compute(n)
    inputs = {key: n[key] for key in n if _names(formula, key)}
    assumed = () if missing else tuple(key for key in formula.takes if key not in n)
    return Parameter(formula.id, value, formula.unit, formula.text, inputs, assumed, missing,
                     tuple(_notes(formula.id, value, n)))  # fmt: skip


def _names(formula: Formula, key: str) -> bool:
    """Whether the text of a formula names this number."""
    return key in formula.text.replace(",", " ").replace("(", " ").replace(")", " ").split()


def _notes(id: str, value: float | None, n: Numbers) -> list[str]:
    if value is None:
        return ["no_end"] if id == "queue_wait_ms" and n.get("load", 0) >= 1 else []
    checks = {
        "ttl_ms": ("blocks_too_long", value > n.get("recover_ms", math.inf)),
        "tolerated_pause_ms": ("pause_too_long", value < n.get("pause_ms", 0)),
        "wait_limit_ms": ("no_time_to_wait", value <= 0),
        "optimistic_attempts": ("too_many_tries", value > 1.5),
    }
    note, applies = checks.get(id, ("", False))
    return [note] if applies else []
