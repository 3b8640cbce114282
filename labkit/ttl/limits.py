"""How sure a count or a quantile is, whatever the distribution looks like.

Every limit is one-sided: in 95 of 100 samples such as this one the true value is not beyond it.
That takes runs that are alike and do not depend on each other. Nothing here is an approximation
(order statistics, Clopper and Pearson), so small samples are treated as honestly as large ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CERTAINTY = 0.95
FEWEST = 5  #: with less, not even the median has an upper limit


@dataclass(frozen=True)
class Quantile:
    """A quantile of a sample; a limit is None where the sample is too small to have one.

    Attributes:
        needed: how many values an upper limit takes.
    """

    q: float
    value: float
    low: float | None
    high: float | None
    needed: int

    @property
    def name(self) -> str:
        return f"p{100 * self.q:g}"


def quantile(ordered: np.ndarray, q: float) -> Quantile:
    """The smallest value that at least the share `q` of the values does not exceed.

    The value of rank r is an upper limit of the true quantile unless r or more of the values lie
    below it, and how likely that is does not depend on the distribution.
    """
    n = len(ordered)
    value = float(ordered[max(0, math.ceil(round(q * n, 9)) - 1)])
    high = _first(n, lambda rank: at_most(rank - 1, n, q) >= CERTAINTY)
    beyond = _first(n, lambda rank: at_most(rank - 1, n, q) > 1 - CERTAINTY)  # the first too high
    return Quantile(
        q, value,
        float(ordered[beyond - 2]) if beyond >= 2 else None,
        float(ordered[high - 1]) if high <= n else None,
        math.ceil(math.log(1 - CERTAINTY) / math.log(q)),
    )  # fmt: skip


def share_limits(hits: int, n: int) -> tuple[float, float]:
    """Between what the true share lies when `hits` of `n` were seen (Clopper and Pearson)."""
    return 1 - _highest(n - hits, n), _highest(hits, n)


def at_most(k: int, n: int, p: float) -> float:
    """How likely it is that at most `k` of `n` happen, each with probability `p`."""
    if k < 0 or k >= n or p in (0, 1):
        return float(k >= n or (k >= 0 and p == 0))
    if k > n * p:  # add up the shorter tail
        return 1 - at_most(n - k - 1, n, 1 - p)
    log = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
           + k * math.log(p) + (n - k) * math.log1p(-p))  # fmt: skip
    reach = min(k, 60 + int(10 * math.sqrt(n * p * (1 - p))))  # what is further away is nothing
    down = np.arange(k, k - reach, -1)
    return math.exp(log) * (1 + float(np.cumprod(down / (n - down + 1) * ((1 - p) / p)).sum()))


def _highest(hits: int, n: int) -> float:
    """The largest share with which so few hits are not too unlikely."""
    if hits == n:
        return 1.0
    low, high = hits / n, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if at_most(hits, n, middle) > 1 - CERTAINTY:
            low = middle
        else:
            high = middle
    return high


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The smallest rank for which it holds; n + 1 if it never does."""
    low, high = 1, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
