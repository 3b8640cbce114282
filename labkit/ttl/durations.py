"""Measured durations, checked: positive numbers of milliseconds, in order of size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labkit.sim.errors import LabkitError
from labkit.ttl.limits import FEWEST

#: Unit -> how many ms it has.
UNITS = {"us": 0.001, "µs": 0.001, "ms": 1.0, "s": 1_000.0, "sec": 1_000.0, "min": 60_000.0}

#: A typical run this short (in ms) makes us ask whether seconds were meant.
SHORT_RUN = 60


@dataclass(frozen=True, eq=False)
class Durations:
    """Durations of runs.

    Attributes:
        ordered: in ms, the shortest first.
        origin: where they come from, in a few words.
        doubts: what a reader should look at before believing the result, as sentences.
    """

    ordered: np.ndarray
    origin: str
    doubts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ordered)

    def __repr__(self) -> str:
        least, most = self.ordered[0], self.ordered[-1]
        said = f"{len(self):,} durations from {least:,.4g} to {most:,.6g} ms ({self.origin})"
        return "\n".join([said, *(f"Please check: {doubt}" for doubt in self.doubts)])


def checked(values: Sequence[float], unit: str | None, origin: str,
            where: Callable[[int], str]) -> Durations:  # fmt: skip
    """Durations from plain numbers.

    Args:
        unit: of the numbers; milliseconds when nobody says.
        where: the place of the n-th value, for a message.
    """
    factor = factor_of(unit)
    numbers = np.array(values, float)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if len(bad):
        more = f" {len(bad) - 1:,} more are like it." if len(bad) > 1 else ""
        raise LabkitError(
            f"{where(int(bad[0]))} is {numbers[bad[0]]:g}: a duration is a number above 0.{more} "
            f"Correct these values, or take out those that are no durations."
        )
    if len(numbers) < FEWEST:
        n = f"{len(numbers)} duration{'s' * (len(numbers) != 1)}"
        raise LabkitError(f"{n} ({origin}): too few to say anything. From {FEWEST} on the median "
                          f"has limits, from 59 on p95, from 299 on p99.")  # fmt: skip
    doubts = tuple(_doubts(numbers, unit, where))
    return Durations(np.sort(numbers * factor), origin, doubts)


def factor_of(unit: str | None) -> float:
    """How many ms a unit has."""
    if unit is not None and unit not in UNITS:
        raise LabkitError(f"unit={unit!r}: it is one of {', '.join(UNITS)}.")
    return UNITS[unit or "ms"]


def _doubts(numbers: np.ndarray, unit: str | None, where: Callable[[int], str]) -> Iterable[str]:
    median = float(np.median(numbers))
    if unit is None and numbers.max() < SHORT_RUN:
        yield (f"no duration is above {numbers.max():g}. They are taken as milliseconds; "
               f'if they are seconds, say unit="s".')  # fmt: skip
    for odd, times in (
        (numbers < median / 200, 1_000),  # seconds among milliseconds
        (numbers > median * 200, 0.001),  # milliseconds among seconds
    ):
        alike = odd & (numbers * times > median / 10) & (numbers * times < median * 10)
        if alike.any():
            first = int(np.flatnonzero(alike)[0])
            size = "a thousandth of" if times > 1 else "a thousand times"
            yield (f"{where(first)} is {numbers[first]:g}, about {size} what is usual "
                   f"({median:g}); {alike.sum():,} such in all. Another unit?")  # fmt: skip
