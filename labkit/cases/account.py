"""An account that holds 100, and workers that each take 30 from it.

A worker returns a true value if it took the money, and a false one if it went away without.
"""

from __future__ import annotations

from typing import Any

from labkit.sim.exploration import explore
from labkit.sim.lab import Lab

START, WITHDRAWAL = 100, 30


def account(lab: Lab) -> None:
    """A setup: the account holds 100."""
    lab.redis.set("balance", START)


def money_is_right(lab: Lab) -> str | None:
    """A check: what is left is 100 minus 30 for everybody who took money."""
    taken = sum(bool(answer) for answer in lab.returned.values())
    right, left = START - WITHDRAWAL * taken, int(str(lab.redis.get("balance")))
    if left == right:
        return None
    return f"{taken} took {WITHDRAWAL} each, and {left} is left instead of {right}"


def balance_left(lab: Lab) -> str | None:
    """A check that always answers: it reports what is left, for tables of outcomes."""
    return f"{lab.redis.get('balance')!s} is left"


def what_can_be_left(worker: Any) -> str:
    """Every balance that can be left, over all schedules without pauses: "40 or 70"."""
    left: set[str] = set()
    explore(worker, check=lambda lab: left.add(lab.redis.get("balance")), setup=account, pauses=0)
    return " or ".join(sorted(left))
