"""Invariants: rules that must always hold, each as a sentence that can be checked.

invariant         a rule that must always hold
witness           who and what broke a rule, as a sentence
danger            an event that a rule is there for, counted so that no rule holds unchallenged
mutual exclusion  the rule that at most one worker is in the critical section
stale write       a write with a lower number than one that the resource has already accepted

An invariant that is judged after every step is a small automaton: what it remembers, and how that
changes with each transition. Memories are hashable and kept small, because they are part of the
state. Which key is the lock is said with `.on("lock")`; without it, every key is looked at.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from labkit.sim import resp
from labkit.sim import schedule as moves
from labkit.sim.commands import CRASHED, STUCK, Command
from labkit.sim.lab import Lab
from labkit.sim.process import Event
from labkit.sim.schedule import thread_name
from labkit.sim.transitions import Transition

#: Moves whose reply reaches the worker, at once or later.
_TOLD = (moves.RUN, moves.LATE_REPLY)
Verdict = tuple[Any, str | None]  # what to remember, and the sentence if the rule is broken
Observe = Callable[["Invariant", Any, Transition], Verdict]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule.

    Attributes:
        name: the rule as a sentence.
        step: judges a transition, given what is remembered (None: judged at the end only).
        at_end: judges a finished lab.
        start: what is remembered at the beginning.
        keys: a pattern for the keys it looks at.
    """

    name: str
    step: Observe | None = None
    at_end: Callable[[Lab], str | None] | None = None
    start: Any = frozenset()
    keys: str = "*"

    def __str__(self) -> str:
        return self.name

    def on(self, keys: str) -> Invariant:
        """The same rule, for the keys that match this pattern."""
        return replace(self, keys=keys)

    def observe(self, memory: Any, transition: Transition) -> Verdict:
        assert self.step is not None
        return self.step(self, memory, transition)

    def looks_at(self, key: str) -> bool:
        return fnmatch.fnmatchcase(key, self.keys)


@dataclass(frozen=True, slots=True)
class Danger:
    """Something that a rule is there for. Among the checks, it never fails: it is counted.

    Attributes:
        name: what happened and was survived, as a sentence.
        happens: whether it happens in a transition; with `past`, also given what is remembered.
        past: what to remember, and how that changes, for a danger that depends on the past.
    """

    name: str
    happens: Callable[..., bool]
    past: Callable[[Any, Transition], Any] | None = None
    start: Any = frozenset()

    def observe(self, memory: Any, transition: Transition) -> tuple[Any, None]:
        """What is remembered; True, and nothing else, once it has happened."""
        if memory is True:
            return True, None
        if self.past is None:
            return self.happens(transition) or memory, None
        return self.happens(transition, memory) or self.past(memory, transition), None


def _events(transition: Transition) -> Iterator[tuple[str, Event]]:
    for turn in transition.turns:
        for event in turn.events:
            yield thread_name(turn.worker, event.thread), event


def _written(rule: Invariant, transition: Transition) -> Iterator[str]:
    """Keys of Redis whose value this transition's command created or changed."""
    if transition.reply is not None:
        for key, now in transition.after.items():
            before = transition.before.get(key)
            if rule.looks_at(key) and not now.row and (before is None or before.value != now.value):
                yield key


def setters(rule: Invariant, memory: Any, transition: Transition) -> frozenset[tuple[str, str]]:
    """Who set the value that a key has now, for each key of the rule that a worker has set."""
    setters = {key: who for key, who in memory if key in transition.after}
    for key in _written(rule, transition):
        setters[key] = transition.move.worker or ""
    return frozenset(setters.items())


def _one_inside(rule: Invariant, inside: frozenset[str], transition: Transition) -> Verdict:
    if transition.move.kind == moves.CRASH:
        inside = frozenset(who for who in inside if who[0] != transition.move.worker)
    for worker, event in _events(transition):
        if event.name == "enter":
            if inside:
                return inside, f"{' and '.join(sorted(inside | {worker}))} are both inside"
            inside |= {worker}
        elif event.name == "leave":
            inside -= {worker}
    return inside, None


def _no_lost_update(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    """Remembers who holds a value read from a key, and who has changed the key since."""
    held = dict(memory)
    worker, command = transition.move.worker, transition.command
    if command is None or transition.reply is None or worker is None:
        return memory, None
    key = _key(command.words[0])
    if command.name == "GET" and transition.move.kind in _TOLD and rule.looks_at(key):
        held[worker, key] = ""
    overwritten = {key for key in _set(command, transition.reply) if rule.looks_at(key)}
    for key in sorted(overwritten | set(_written(rule, transition))):
        changed_by = held.get((worker, key), "")
        if key in overwritten and changed_by:
            return memory, f"{worker} wrote {key} from an old value: {changed_by}'s update is lost"
        for holder, read in held:
            if read == key and holder != worker:
                held[holder, read] = worker
    return frozenset(held.items()), None


def _set(command: Command, reply: bytes) -> Iterator[str]:
    """The keys that a SET has written, alone or in a transaction."""
    answer = resp.decode(reply)
    if len(command.words) > 1 and answer is None:  # aborted by WATCH
        return
    for words in command.words:
        if words[0].upper() == b"SET" and (len(command.words) > 1 or not _refused(words, answer)):
            yield _key(words)


def _refused(words: tuple[bytes, ...], answer: Any) -> bool:
    """Whether a SET was refused by its condition: NX, XX or IFEQ.

    With GET the answer is the value before, so that "nothing" means success with NX.
    """
    options = [word.upper() for word in words[3:]]
    if b"GET" not in options:
        return answer is None
    if b"IFEQ" in options:
        return bool(answer != words[3 + options.index(b"IFEQ") + 1])
    return (b"NX" in options and answer is not None) or (b"XX" in options and answer is None)


def says_taken(words: tuple[bytes, ...], answer: Any) -> bool:
    """Whether a SET NX or SETNX is told that somebody else has the key.

    With GET, a client that finds its own value knows that it has the lock.
    """
    name = words[0].upper()
    if name == b"SETNX":
        return bool(answer == 0)
    asks = name == b"SET" and b"NX" in map(bytes.upper, words[3:])
    return asks and _refused(words, answer) and bool(answer != words[2])


def _key(words: tuple[bytes, ...]) -> str:
    return words[1].decode("utf-8", "backslashreplace") if len(words) > 1 else ""


def _owner_releases(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    worker = transition.move.worker
    if transition.reply is not None:
        for key, setter in memory:
            if key not in transition.after and setter != worker:
                return memory, f"{worker}'s {transition.command} removed what {setter} had set"
    return setters(rule, memory, transition), None


def _owner_renews(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    """A lease is a key with an expiry. A worker says with the event `renewed` that it renewed."""
    worker, command, set_by = transition.move.worker, transition.command, dict(memory)
    renewed = any(event.name == "renewed" for _, event in _events(transition))
    for key, now in transition.after.items() if transition.reply is not None else ():
        before, setter = transition.before.get(key), set_by.get(key, worker)
        if before is None and renewed and rule.looks_at(key):
            return memory, f"{worker}'s {command} brought back a lease that had ended"
        lease = before is not None and before.expires_at_ms is not None
        if lease and before != now and setter != worker:
            return memory, f"{worker}'s {command} changed the lease that {setter} had begun"
    return setters(rule, memory, transition), None


def _freed_after_crash(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    """Remembers which worker created a key that has no TTL, and who is gone."""
    created, gone = dict(memory[0]), dict(memory[1])
    for key in _written(rule, transition):
        if key not in transition.before:
            created[key] = transition.move.worker or ""
    lasting = {key for key, now in transition.after.items() if now.expires_at_ms is None}
    created = {key: who for key, who in created.items() if key in lasting}
    for turn in transition.turns:
        if turn.ended:
            gone[turn.worker] = "crashed" if turn.ended.how == CRASHED else "ended"
    for key, who in sorted(created.items()):
        if who in gone:
            return memory, f"{key} has no expiry, and {who}, who set it, has {gone[who]}"
    return (frozenset(created.items()), frozenset(gone.items())), None


def _not_behind_itself(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    command, worker = transition.command, transition.move.worker
    if command is not None and transition.move.kind in _TOLD:
        words, answer = command.words[0], resp.decode(transition.reply or resp.NIL)
        key = _key(words) if says_taken(words, answer) else ""
        if dict(memory).get(key) == worker:
            return (
                memory,
                f"{worker} is told that {key} is taken, and the one who took it is {worker}",
            )
    return setters(rule, memory, transition), None


def _no_stale_write(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    highest = dict(memory)
    for worker, event in _events(transition):
        if event.name == "accepted":
            number, seen = event["number"], highest.get(event["resource"])
            if seen is not None and number < seen:
                return memory, f"{worker}'s write with number {number} was accepted after {seen}"
            highest[event["resource"]] = number
    return frozenset(highest.items()), None


def _own_number(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    granted = dict(memory)
    for worker, event in _events(transition):
        if event.name == "granted":
            number = event["number"]
            if number in granted:
                return memory, f"{worker} and {granted[number]} were both granted number {number}"
            granted[number] = worker
    return frozenset(granted.items()), None


def _one_effect(rule: Invariant, memory: Any, transition: Transition) -> Verdict:
    done = dict(memory)
    for worker, event in _events(transition):
        if event.name == "effect":
            if event["key"] in done:
                return memory, f"{worker} did {event['key']}, which {done[event['key']]} had done"
            done[event["key"]] = worker
    return frozenset(done.items()), None


#: What nobody may do after a loss -> how it is said.
_AFTER_LOSS = {"enter": "went in", "effect": "did its work", "accepted": "its write was accepted",
               "compensated": "undid what was done"}  # fmt: skip


def _nothing_after_loss(rule: Invariant, lost: frozenset[str], transition: Transition) -> Verdict:
    for worker, event in _events(transition):
        if event.name == "lost":
            lost |= {worker}
        elif event.name == "granted":
            lost -= {worker}
        elif worker in lost and event.name in _AFTER_LOSS:
            return lost, f"{worker} knew that its lease was lost, and {_AFTER_LOSS[event.name]}"
    return lost, None


def _waiters_end(lab: Lab) -> str | None:
    for letter, outcome in lab.outcome.items():
        answer = lab.returned.get(letter)
        if outcome != CRASHED and answer not in ("done", "gave up", "queued"):
            how = f"returned {answer!r}" if outcome == "returned" else f"{outcome} {outcome.reason}"
            how = f"is stuck: it {outcome.reason}" if outcome == STUCK else how
            return f"{letter} {how}: neither done, nor gave up, nor queued"
    return None


mutual_exclusion = Invariant("At most one worker is in the critical section", _one_inside)
no_lost_update = Invariant("No update is lost", _no_lost_update)
only_the_owner_releases = Invariant("Only the owner releases", _owner_releases)
only_the_owner_renews = Invariant("Only the owner renews, and only what is there", _owner_renews)
freed_after_crash = Invariant(
    "A worker that is gone leaves no key without an expiry",
    _freed_after_crash,
    start=(frozenset(), frozenset()),
)
no_stale_write = Invariant("No stale write is accepted", _no_stale_write)
no_shared_number = Invariant("No two grants share a number", _own_number)
one_effect_per_key = Invariant("At most one effect per business key", _one_effect)
nothing_after_loss = Invariant(
    "No work and no compensation after the lease is known to be lost", _nothing_after_loss
)
nobody_waits_for_itself = Invariant("Nobody waits for itself", _not_behind_itself)
every_waiter_ends = Invariant("Every waiter ends in done, gave up or queued", at_end=_waiters_end)
