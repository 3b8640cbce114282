"""Cases of scope, F40: a token belongs to one attempt, not to an object, a thread or a process.

Two letters stand for two threads, tasks or forks. What they share is the token, which is what the
fault consists of; memory that they share otherwise is not simulated. In the last case one worker
plays two tasks of one event loop, with redis-py's own lock.
"""

from __future__ import annotations

import random
from typing import Any

from redis.exceptions import LockError

from labkit.cases.case import Case
from labkit.cases.rules import late_release, overrun
from labkit.cases.workers import KEY, TTL_MS, Worker, by_hand, right, using, without_owner_check
from labkit.locks import CompareAndDelete
from labkit.sim.invariants import only_the_owner_releases
from labkit.sim.lab import Lab

only_owner = only_the_owner_releases.on(KEY)


def forked(me: Any) -> str:
    """Randomness that was seeded before the fork is the same in both children."""
    return f"{random.Random('before the fork').getrandbits(32):08x}"


def two_tasks(*, one_object: bool, thread_local: bool = True) -> Worker:
    """Two tasks in one thread, or threads, with redis-py's lock; the first overruns its lease."""

    def tasks(me: Any) -> str:
        def lock() -> Any:
            return me.redis.lock(
                KEY, timeout=TTL_MS / 1000, blocking=False, thread_local=thread_local
            )

        first = lock()
        second = first if one_object else lock()
        if not first.acquire():
            return "busy"
        me.work(0.15)
        if not second.acquire():
            return "lost"
        try:
            first.release()
        except LockError:
            second.release()
            return "done"
        return "the first one released the second one's lock"

    return tasks


def each_its_own(lab: Lab) -> str | None:
    """No task releases another task's lock."""
    for letter, answer in lab.returned.items():
        if answer.startswith("the first one"):
            return f"{letter}: {answer}"
    return None


CASES = (
    Case(
        "one-object-two-threads", "F40",
        "the token belongs to the lock object, and two threads share it",
        wrong=using(lambda me: CompareAndDelete(
            me.redis, KEY, ttl_ms=TTL_MS, token=lambda: "lock object 1")),
        right=right, check=only_owner, danger=late_release,
        shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"a token for each object": by_hand(token=lambda me: "lock object 1"),
                 "without the owner check": without_owner_check},
    ),
    Case(
        "token-from-before-the-fork", "F40",
        "a random token, seeded before the fork, is the same in both",
        wrong=by_hand(token=forked), right=right, check=only_owner, danger=late_release,
        shortest="A A t B A", broken=(14, 44), met=(38, 44),
        mutants={"a token for each process": by_hand(token=forked)},
    ),
    Case(
        "one-object-two-tasks", "F40",
        "redis-py keeps a token for each thread, and tasks share theirs",
        wrong=two_tasks(one_object=True), right=two_tasks(one_object=False),
        check=each_its_own, danger=overrun, pauses=0,
        shortest="A B t t A A", broken=(2, 2), met=(2, 2),
        mutants={"without an object for each task": two_tasks(one_object=True)},
    ),
)  # fmt: skip
