"""Rules that several cases use, and the dangers that a right worker has to survive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from labkit.sim import resp
from labkit.sim import schedule as moves
from labkit.sim.commands import CRASHED, RAISED, Command
from labkit.sim.invariants import Danger, Invariant, says_taken, setters
from labkit.sim.lab import Lab
from labkit.sim.machine import Transition
from labkit.sim.process import Event

KEY = "lock"
#: Commands that may compare before they delete, and those that release in any way.
COMPARING = ("EVAL", "EVALSHA", "DELEX", "DELIFEQ")
RELEASING = (*COMPARING, "DEL", "UNLINK", "EXEC")


def happened(transition: Transition) -> Iterator[tuple[str, Event]]:
    """What workers reported in a transition."""
    return ((turn.worker, event) for turn in transition.turns for event in turn.events)


def _always_ends(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    for key, now in transition.after.items():
        if rule.looks_at(key) and not now.row and now.expires_at_ms is None:
            return memory, f"{key} has no expiry after {_said(transition)}"
    return memory, None


def _owner_changes(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    """Remembers who has set each key, or moved its end."""
    set_by = {key: who for key, who in memory if key in transition.after}
    for key, now in transition.after.items():
        before = transition.before.get(key)
        if transition.reply is not None and before != now and rule.looks_at(key):
            if before is not None and set_by.get(key, "") != transition.move.worker:
                return memory, f"{_said(transition)} changed the {key} that {set_by[key]} had set"
            set_by[key] = transition.move.worker or ""
    return frozenset(set_by.items()), None


def _never_revived(rule: Invariant, inside: Any, transition: Transition) -> tuple[Any, str | None]:
    """Remembers who is inside a critical section."""
    who = transition.move.worker
    if who in inside:
        for key in transition.after.keys() - transition.before.keys():
            if rule.looks_at(key):
                return inside, f"{_said(transition)} brought back the {key} that {who} had lost"
    return who_is_inside(inside, transition), None


def who_is_inside(inside: frozenset[str], transition: Transition) -> frozenset[str]:
    """Who is in a critical section after a transition, given who was before it."""
    for worker, event in happened(transition):
        if event.name == "enter":
            inside |= {worker}
        elif event.name == "leave":
            inside -= {worker}
    return inside


def _never_falls(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    """Looks at the rows themselves, so that a write whose answer was lost counts as well."""
    for key, now in transition.after.items():
        before = transition.before.get(key)
        if before is not None and now.row and before != now:
            numbers = [re.findall(r"(?:fence |\()(\d+)", one.text) for one in (before, now)]
            if all(numbers) and int(numbers[1][-1]) < int(numbers[0][-1]):
                return memory, f"{_said(transition)} was accepted after {numbers[0][-1]}"
    return memory, None


def holds(worker: str, transition: Transition) -> bool:
    """Whether the lock has this worker's token."""
    lock = transition.after.get(KEY)
    return lock is not None and lock.text.startswith(f"{worker}-")


def _not_refused(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    for worker, event in happened(transition):
        if event.name == "refused" and holds(worker, transition):
            return memory, f"{worker} holds the lock, and its write is refused"
    return memory, None


def _counts_on_its_own(
    rule: Invariant, memory: Any, transition: Transition
) -> tuple[Any, str | None]:
    """A worker that has found its lease valid says so with the event `valid`."""
    for worker, event in happened(transition):
        if event.name == "valid" and not holds(worker, transition):
            return memory, f"{worker} counts on its lease, and does not hold the lock any more"
    return memory, None


def _one_writer(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    """Remembers who has written with each number."""
    writers = dict(memory)
    for worker, event in happened(transition):
        if event.name == "accepted":
            first = writers.setdefault(event["number"], worker)
            if first != worker:
                number = event["number"]
                return memory, f"{worker}'s write is accepted with {first}'s number, {number}"
    return frozenset(writers.items()), None


def _in_order(rule: Invariant, memory: Any, transition: Transition) -> tuple[Any, str | None]:
    """Remembers who was granted the lock, in order, and the latest of them that has written."""
    order, latest = memory
    for worker, event in happened(transition):
        if event.name == "granted":
            order = (*(one for one in order if one != worker), worker)
        elif event.name == "accepted" and worker in order:
            if latest in order and order.index(worker) < order.index(latest):
                return memory, f"{worker}'s write is accepted after one of {latest}, a later holder"
            latest = worker
    return (order, latest), None


never_falls = Invariant("What a resource has accepted never gets a smaller number", _never_falls)
holder_is_not_refused = Invariant("Who holds the lock is not refused by the resource", _not_refused)
counts_on_its_own = Invariant("Who counts on a lease holds the lock", _counts_on_its_own)
in_order_of_grants = Invariant(
    "Nobody's write is accepted after that of a later holder", _in_order, start=((), None)
)
one_writer_per_number = Invariant("A number is accepted from one worker only", _one_writer)
always_ends = Invariant("A lock is never without an expiry", _always_ends, keys=KEY)
only_the_owner_changes = Invariant(
    "Only its owner changes a lock or its expiry", _owner_changes, keys=KEY
)
never_revived = Invariant(
    "A renewal never brings back a lock that has ended", _never_revived, keys=KEY
)


def nothing_is_left(lab: Lab) -> str | None:
    """The lock is free once everybody has ended in an orderly way."""
    holder = lab.redis.get(KEY)
    return None if holder is None else f"all have ended, and the lock of {holder!s} is still there"


def body_error_survives(lab: Lab) -> str | None:
    """What the caller sees is what went wrong in the section, not what went wrong after it."""
    for letter, outcome in lab.outcome.items():
        hidden = outcome.error and outcome.error.__context__
        while hidden is not None:
            if isinstance(hidden, BodyFailed):
                seen = type(outcome.error).__name__
                return f"{letter}'s caller sees {seen}, which hides {hidden!r}"
            hidden = hidden.__context__
    return None


class BodyFailed(Exception):
    """What the work inside the section raises."""


def survivors_get_in(lab: Lab) -> str | None:
    """When one worker crashes, the other one gets its turn."""
    if CRASHED in lab.outcome.values():
        for letter, answer in lab.returned.items():
            if answer == "gave up":
                return f"{letter} gave up waiting for a lock whose owner has crashed"
    return None


# -- dangers --------------------------------------------------------------------------------------


def _said(transition: Transition) -> str:
    return f"{transition.move.worker}'s {transition.command}"


def _on_answer(name: str, matches: Callable[[Command, Any], bool]) -> Danger:
    """A worker is told something at once: its command and the answer match."""

    def happens(transition: Transition) -> bool:
        command = transition.command
        if command is None or transition.reply is None or transition.move.kind != moves.RUN:
            return False
        return matches(command, resp.decode(transition.reply))

    return Danger(name, happens)


def answered(name: str, *commands: str, reply: Any) -> Danger:
    """The server refuses: one of these commands is answered like this."""
    return _on_answer(name, lambda command, told: command.name in commands and told == reply)


def _late(command: Command, reply: Any) -> bool:
    """A compare and delete finds another owner, or none; EXEC answers nil when it is too late."""
    return reply is None if command.name == "EXEC" else command.name in COMPARING and reply == 0


def lost(name: str, *commands: str) -> Danger:
    """The answer to one of these commands does not arrive, and the lock is there."""

    def happens(transition: Transition) -> bool:
        is_lost = transition.move.kind in (moves.LOST_REPLY, moves.LOST_REQUEST)
        command = transition.command
        about_it = command is not None and command.name in commands
        return is_lost and about_it and KEY in transition.after

    return Danger(name, happens)


def reported(name: str, event: str) -> Danger:
    """A worker reports this event."""
    return Danger(name, lambda transition: any(e.name == event for _, e in happened(transition)))


def _crashes_holding(transition: Transition, owners: frozenset[tuple[str, str]]) -> bool:
    holds = (KEY, transition.move.worker or "") in owners
    return transition.move.kind == moves.CRASH and KEY in transition.after and holds


def _owners(owners: frozenset[tuple[str, str]], transition: Transition) -> Any:
    return setters(always_ends, owners, transition)  # a rule about this lock


def _overruns(transition: Transition) -> bool:
    gone = KEY in transition.before and KEY not in transition.after
    return gone and transition.move.kind == moves.TIME


def _raises_after_release(transition: Transition) -> bool:
    ended = [turn.ended for turn in transition.turns if turn.ended]
    return KEY not in transition.after and any(one.how == RAISED for one in ended)


second_comer = _on_answer(
    "a second worker was refused the lock",
    lambda command, reply: says_taken(command.words[-1], reply),
)
late_release = _on_answer("a late owner's release was refused", _late)
crashed_holding = Danger("a worker crashed while it held the lock", _crashes_holding, _owners)
overrun = Danger("a lease ended before its holder had released it", _overruns)
late_write = reported("a write that came too late was refused", "refused")
told_lost = reported("a holder learned that its lease was lost", "lost")
body_raised = Danger("the work failed, and the lock was free afterwards", _raises_after_release)
