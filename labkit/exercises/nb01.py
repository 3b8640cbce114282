"""The exercises of notebook 01."""

from __future__ import annotations

from typing import Any

from labkit.exercises.marking import Criterion, Mark, mark_repair, mark_schedule
from labkit.sim.commands import CRASHED
from labkit.sim.invariants import freed_after_crash, mutual_exclusion
from labkit.sim.lab import Lab

#: A shortest schedule that breaks `looks_twice`; a test holds it against the search.
SHORTEST_LOOKS_TWICE = "A A B B B A"


def looks_twice(me: Any) -> None:
    """Looks at the lock twice before it takes it, to be on the safe side."""
    if me.redis.get("lock") is None and me.redis.get("lock") is None:
        me.redis.set("lock", me.name)
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


def break_it(schedule: str) -> Mark:
    """Exercise 1: let both workers of `looks_twice` into the critical section."""
    return mark_schedule(
        schedule, worker=looks_twice, shortest=SHORTEST_LOOKS_TWICE, check=mutual_exclusion
    )


def repair_it(worker: Any) -> Mark:
    """Exercise 2: a crash leaves no lock without an expiry, and the lock still does its work."""
    criteria = [
        Criterion("Both can get in.", {"check": mutual_exclusion, "pauses": 0}),
        Criterion("Your lock never lets anybody in.", {"check": mutual_exclusion, "pauses": 0},
                  work=True),  # fmt: skip
        Criterion("A crash still leaves the lock for ever.",
                  {"check": freed_after_crash.on("lock"), "pauses": 0, "faults": "!"}),  # fmt: skip
    ]
    return mark_repair(worker, criteria, "The lock is taken and given its end in one step.")


def survivors_get_in(lab: Lab) -> str | None:
    """The rule of exercise 3: when one worker crashes, the other one gets its turn."""
    if CRASHED not in lab.outcome.values():
        return None
    for letter, answer in lab.returned.items():
        if answer != "done":
            return f"{letter} tried for 120 ms after a crash and {answer or 'did nothing'}"
    return None


def be_patient(worker: Any) -> Mark:
    """Exercise 3: a waiter may not keep a dead worker's lock alive."""
    criteria = [
        Criterion("Both can get in.", {"check": mutual_exclusion, "pauses": 0}),
        Criterion("Your lock never lets anybody in.", {"check": mutual_exclusion, "pauses": 0},
                  work=True),  # fmt: skip
        Criterion("A crash can leave the lock for ever.",
                  {"check": freed_after_crash.on("lock"), "pauses": 0, "faults": "!"}),  # fmt: skip
        Criterion("After a crash the lock outlives the waiter's patience.",
                  {"check": survivors_get_in, "pauses": 0, "faults": "!"}),  # fmt: skip
    ]
    return mark_repair(worker, criteria, "Only the winner's command touches the expiry.")
