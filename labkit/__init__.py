"""Lock Lab's helper package: schedules that run, and what they say about Redis locks.

The parts, and what each may import from the others (a test compares this table with the code):

    lazy       ->
    sim        ->
    locks      ->
    draw       ->  sim
    resources  ->  sim lazy
    cases      ->  sim locks resources lazy
    show       ->  sim locks cases draw ttl lazy
    scheduler  ->  sim cases draw show lazy
    servers    ->  sim locks lazy
    decision   ->  sim cases lazy
    ttl        ->  sim locks decision lazy
    exercises  ->  sim locks cases resources
    workbook   ->
    checkup    ->  servers

`import labkit` loads none of them: the names below are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: Name in `labkit` -> module that defines it.
_WHERE = {
    "explore": "labkit.sim.exploration",
    "assert_holds": "labkit.sim.exploration",
    "replay": "labkit.sim.replaying",
    "simulate": "labkit.sim.replaying",
    "earliest": "labkit.sim.replaying",
    "Schedule": "labkit.sim.schedule",
    "LabkitError": "labkit.sim.errors",
    "ScheduleError": "labkit.sim.errors",
    "NotModelled": "labkit.sim.errors",
    "Invariant": "labkit.sim.invariants",
    "mutual_exclusion": "labkit.sim.invariants",
    "no_lost_update": "labkit.sim.invariants",
    "only_the_owner_releases": "labkit.sim.invariants",
    "only_the_owner_renews": "labkit.sim.invariants",
    "freed_after_crash": "labkit.sim.invariants",
    "no_stale_write": "labkit.sim.invariants",
    "no_shared_number": "labkit.sim.invariants",
    "one_effect_per_key": "labkit.sim.invariants",
    "nothing_after_loss": "labkit.sim.invariants",
    "nobody_waits_for_itself": "labkit.sim.invariants",
    "every_waiter_ends": "labkit.sim.invariants",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        # Traces can be saved as pictures once the drawing part is there.
        importlib.import_module("labkit.draw.saving")
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"labkit has no {name!r}. It has: {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
