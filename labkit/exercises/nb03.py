"""The exercises of notebook 03."""

from __future__ import annotations

from typing import Any

from labkit.cases.helpers import the_waiter_gets_in
from labkit.cases.losing import waiting
from labkit.cases.rules import happened, never_falls, never_revived, only_the_owner_changes
from labkit.exercises.marking import (
    Criterion,
    Mark,
    mark_repair,
    mark_schedule,
    somebody_is_done,
)
from labkit.locks import Acquired, FencedLease, Renewed
from labkit.resources import fenced_row
from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.invariants import Danger, only_the_owner_releases
from labkit.sim.lab import Lab

KEY = "lock"
#: A shortest schedule that breaks `renews_first`; a test holds it against the search.
SHORTEST_RENEWS_FIRST = "A A t B B B A"


def row(lab: Lab) -> None:
    """A row that writes the number down, and refuses nobody."""
    lab.shared.row = fenced_row("nobody", compare="nothing")


def renews_first(me: Any) -> str:
    """Renews its lease right before it writes."""
    lock = FencedLease(me.redis, "lock", counter="fence", ttl_ms=100, token=me.token)
    got = lock.acquire()
    if not isinstance(got, Acquired) or not isinstance(lock.renew(got.grant), Renewed):
        return "busy"
    me.shared.row.write(me.name, got.grant.fence)
    return "done"


def break_it(schedule: str) -> Mark:
    """Exercise 1: let a write through that comes after its successor's."""
    return mark_schedule(schedule, worker=renews_first, shortest=SHORTEST_RENEWS_FIRST, setup=row,
                         check=never_falls)  # fmt: skip


def living_on(worker: Any) -> Any:
    """A process that takes one job after the other: an error ends the job, and not the process."""

    def process(me: Any) -> str:
        try:
            answer = str(worker(me))
        except ValueError:
            answer = "failed"
        me.sleep(1.0)
        return answer

    return process


def the_error_gets_out(lab: Lab) -> str | None:
    """A's caller learns that the work has failed; A is busy only while B works."""
    answer = lab.returned.get("A")
    return None if answer in ("failed", "busy") else f"A's caller is told {answer!r}"


a_works = Danger("A was inside", lambda transition: any(
    who == "A" and event.name == "enter" for who, event in happened(transition)))  # fmt: skip


def let_b_in(worker: Any) -> Mark:
    """Exercise 2: when the work has failed, its helper ends, and the next one gets in."""
    both = {"A": living_on(worker), "B": waiting}
    try:
        found = explore(both, check=[the_error_gets_out, a_works], pauses=0)
    except LabkitError as error:
        return Mark(False, str(error))
    if not found.dangers[a_works.name] and not found.violating:
        return Mark(False, "A's work never begins.")
    criteria = [
        Criterion("The error of the work does not get out.",
                  {"check": the_error_gets_out, "pauses": 0}),
        Criterion("B gives up waiting, and nobody is working any more.",
                  {"check": the_waiter_gets_in, "pauses": 0}),
        Criterion("A lease that is not yours is changed.",
                  {"check": [only_the_owner_changes, only_the_owner_releases.on(KEY)],
                   "pauses": 2}),
        Criterion("Your helper brings back a lease that has ended.",
                  {"check": never_revived, "pauses": 2}),
    ]  # fmt: skip
    return mark_repair(both, criteria, "The helper ends with the work, and B gets in.")


def steps(lab: Lab) -> None:
    """How many steps are done. A write is refused if its number is smaller than the last one."""
    lab.shared.steps = fenced_row(0, compare="<=")


def both_steps_are_there(lab: Lab) -> str | None:
    """What somebody has reported as done is there in the end."""
    done = [letter for letter, answer in lab.returned.items() if answer == "done"]
    left = lab.shared.steps.read()
    return f"{done[0]} is done, and {left} of 2 steps are there" if done and left < 2 else None


def tidy_up(worker: Any) -> Mark:
    """Exercise 3: who has lost its lease stops, and undoes nothing."""
    criteria = [
        Criterion("Without any pause, nobody is done.",
                  {"check": somebody_is_done, "setup": steps, "pauses": 0}),
        Criterion("Without any pause, a step is missing.",
                  {"check": both_steps_are_there, "setup": steps, "pauses": 0}),
        Criterion("After a pause, a step is missing.",
                  {"check": both_steps_are_there, "setup": steps, "pauses": 2}),
    ]  # fmt: skip
    return mark_repair(worker, criteria, "Whoever is done has left both steps.")
