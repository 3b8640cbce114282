"""The exercises of notebook 02."""

from __future__ import annotations

from typing import Any

from labkit.cases.rules import happened, never_revived, only_the_owner_changes, who_is_inside
from labkit.exercises.marking import Criterion, Mark, mark_repair, mark_schedule
from labkit.sim import resp
from labkit.sim import schedule as moves
from labkit.sim.invariants import Invariant, mutual_exclusion, only_the_owner_releases
from labkit.sim.lab import Lab
from labkit.sim.machine import Transition

KEY, LEASE_MS, WORK_MS = "lock", 100, 160
#: A shortest schedule that breaks `watches`; a test holds it against the search.
SHORTEST_WATCHES = "A A A A t B A"

only_owner = only_the_owner_releases.on(KEY)


def watches(me: Any) -> None:
    """Watches the lock while it compares, so that no change escapes it."""
    token = me.token()
    if not me.redis.set("lock", token, nx=True, px=100):
        return
    with me.critical_section():
        me.redis.incr("done")
    with me.redis.pipeline() as pipe:
        pipe.watch("lock")
        if pipe.get("lock") == token:
            pipe.delete("lock")


def break_it(schedule: str) -> Mark:
    """Exercise 1: let one worker of `watches` remove the other's lock."""
    return mark_schedule(schedule, worker=watches, shortest=SHORTEST_WATCHES, check=only_owner)


def _ends_while_at_work(rule: Invariant, inside: Any, transition: Transition) -> Any:
    gone = KEY in transition.before and KEY not in transition.after
    if transition.move.kind == moves.TIME and gone and inside:
        return inside, f"the lease ends while {' and '.join(sorted(inside))} works"
    return who_is_inside(inside, transition), None


def _works_on(rule: Invariant, inside: Any, transition: Transition) -> Any:
    """A worker whose renewal is answered with 0 or nil has to leave its section at once."""
    who, command = transition.move.worker, transition.command
    after = who_is_inside(inside, transition)
    renewal = transition.move.kind == moves.RUN and command is not None and command.name != "GET"
    told = renewal and transition.reply is not None and resp.decode(transition.reply) in (0, None)
    if who in inside and who in after and told:
        return after, f"{who}'s {transition.command} is refused, and {who} works on"
    return after, None


def _leaves_early(rule: Invariant, entered: Any, transition: Transition) -> Any:
    """Remembers when each worker has entered its section."""
    since = dict(entered)
    for worker, event in happened(transition):
        if event.name == "enter":
            since[worker] = transition.at_ms
        elif event.name == "leave" and worker in since:
            worked = transition.at_ms - since.pop(worker)
            if worked < WORK_MS:
                return entered, f"{worker} has worked {worked} ms"
    return frozenset(since.items()), None


def _short(rule: Invariant, memory: Any, transition: Transition) -> Any:
    lock = transition.after.get(KEY)
    if lock is None:
        return memory, None
    if lock.expires_at_ms is None or lock.expires_at_ms - transition.at_ms > LEASE_MS:
        return memory, f"{transition.command} asks for more than {LEASE_MS} ms"
    return memory, None


lasts_as_long_as_the_work = Invariant("A lease lasts as long as the work", _ends_while_at_work)
stops_when_lost = Invariant("Who has lost its lease stops", _works_on)
works_to_the_end = Invariant(f"The work takes {WORK_MS} ms", _leaves_early)
short_lease = Invariant(f"A lease lasts {LEASE_MS} ms at most", _short)


def renew_it(worker: Any) -> Mark:
    """Exercise 2: a renewal that moves the end of one's own lease only, and revives nothing."""
    calm, paused = {"pauses": 0}, {"pauses": 3}
    criteria = [
        Criterion("Both can get in.", {"check": mutual_exclusion, **calm}),
        Criterion("Your lock never lets anybody in.", {"check": mutual_exclusion, **calm},
                  work=True),
        Criterion("The work is not done: it takes 160 ms.", {"check": works_to_the_end, **calm}),
        Criterion("Without any pause, your lease is over before the work is.",
                  {"check": lasts_as_long_as_the_work, **calm}),
        Criterion("Nobody gets in soon after a crash: your lease is long, instead of renewed.",
                  {"check": short_lease, **calm}),
        Criterion("Your renewal brings back a lease that had ended.",
                  {"check": never_revived, **paused}),
        Criterion("Your renewal, or your release, changes a lock that is not yours.",
                  {"check": [only_the_owner_changes, only_owner], **paused}),
        Criterion("Your renewal is refused, and you go on working.",
                  {"check": stops_when_lost, **paused}),
    ]  # fmt: skip
    return mark_repair(worker, criteria, "Only the owner renews, and only what is still there.")


def nobody_is_shut_out_by_its_own_lock(lab: Lab) -> str | None:
    """The rule of exercise 3: who is told "busy" has not left a lock of its own."""
    holder = str(lab.redis.get(KEY))
    for letter, answer in lab.returned.items():
        if not answer and holder.startswith(f"{letter}-"):
            return f"{letter} went away, and the lock that is there is {letter}'s own"
    return None


def ask_again(worker: Any) -> Mark:
    """Exercise 3: ask again after a lost reply, and know one's own lock."""
    criteria = [
        Criterion("Both can get in.", {"check": mutual_exclusion, "pauses": 0}),
        Criterion("Your lock never lets anybody in.", {"check": mutual_exclusion, "pauses": 0},
                  work=True),  # fmt: skip
        Criterion("You take the lock, and turn away from it: nil means that nobody had it.",
                  {"check": nobody_is_shut_out_by_its_own_lock, "pauses": 0}),
        Criterion("You delete a lock that is not yours.",
                  {"check": only_owner, "pauses": 0, "faults": "?~"}),
        Criterion("The request never arrives, and you go in without a lock.",
                  {"check": mutual_exclusion, "pauses": 0, "faults": "~"}),  # fmt: skip
        Criterion("After a lost reply you go away, and the lock that is there is your own.",
                  {"check": nobody_is_shut_out_by_its_own_lock, "pauses": 0, "faults": "?"}),
        Criterion("After a lost reply both can get in.",
                  {"check": mutual_exclusion, "pauses": 0, "faults": "?"}),
        Criterion("After a lost reply the lock is taken, and nobody uses it.",
                  {"check": mutual_exclusion, "pauses": 0, "faults": "?"}, work=True),
    ]  # fmt: skip
    return mark_repair(worker, criteria, "Ask again with the same token, and know it.")
