"""What to know about redis-py's own `Lock` before you use it. The lock itself is unmodified.

Each trap is a worker that uses the lock in a way that looks right, and a shortest schedule that
shows what happens then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.exceptions import LockError

from labkit.cases.errors import failing, redis_lock
from labkit.cases.rules import body_error_survives
from labkit.cases.scope import each_its_own, two_tasks
from labkit.cases.workers import KEY, Worker
from labkit.sim.checks import Check
from labkit.sim.invariants import (
    freed_after_crash,
    mutual_exclusion,
    nobody_waits_for_itself,
)
from labkit.sim.replaying import replay
from labkit.sim.trace import Trace

Workers = Worker | Mapping[str, Worker]


@dataclass(frozen=True)
class Trap:
    """One trap: run it with `.trace`.

    Attributes:
        call: what is written in the code.
        expected: what one may think that it means.
        instead: what to do instead.
        worker, schedule, check: what is run, and the rule that it breaks; None if it breaks none.
    """

    call: str
    expected: str
    instead: str
    worker: Workers
    schedule: str
    check: Check | None = None
    workers: str = "AB"

    @property
    def trace(self) -> Trace:
        return replay(
            self.worker, self.schedule, workers=self.workers, check=self.check, partial=True
        )

    @property
    def seen(self) -> str:
        """What the schedule shows: the broken rule, or who still asks."""
        trace = self.trace
        if trace.broken:
            return trace.broken
        asked = sum(step.command.startswith("SET") for step in trace.steps
                    if str(step.move) == "B")  # fmt: skip
        return f"B has asked {asked} times, and {trace.about_to}"


def locked(*, client: bool = False, **options: Any) -> Worker:
    """Take redis-py's lock, work, release it."""

    def hold(me: Any) -> str:
        lock = (me.client() if client else me.redis).lock(KEY, **options)
        if not lock.acquire():
            return "busy"
        with me.critical_section():
            me.redis.incr("work")
        lock.release()
        return "done"

    return hold


def parent(me: Any) -> str:
    """Acquires, and then forks: the child has a copy of the lock, with its token."""
    lock = me.redis.lock(KEY, timeout=10, blocking=False)
    if not lock.acquire(token="before the fork"):
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    return "done"


def child(me: Any) -> str:
    """Leaves the `with` block that it was forked in, and so releases its copy."""
    copy = me.redis.lock(KEY, timeout=10)
    copy.local.token = b"before the fork"
    try:
        copy.release()
    except LockError:
        return "not owner"
    return "released"


TRAPS = (
    Trap('lock("x")', "it will end some day", "give the lease: timeout=10",
         locked(blocking=False), "A A!", freed_after_crash.on(KEY)),
    Trap('lock("x", timeout=0)', "it ends at once, or 0 is refused",
         "a lease above 0; 0 means no end, as None does",
         locked(blocking=False, timeout=0), "A A!", freed_after_crash.on(KEY)),
    Trap('lock("x").acquire()', "it gives up after a while", "give the wait: blocking_timeout=5",
         locked(), "A A! B t B t B t B"),
    Trap('lock("x", timeout=0.1)', "timeout is how long it waits",
         "timeout is the lease, blocking_timeout the wait",
         locked(timeout=0.1), "A t B", mutual_exclusion),
    Trap('with lock("x", timeout=0.1):', "I see the error of my own code",
         "release by hand, and keep the first error", failing(redis_lock), "A A B t A",
         body_error_survives),
    Trap("one Lock object in two asyncio tasks", "each task has its own token",
         "a Lock object for each attempt", two_tasks(one_object=True), "A t t A A", each_its_own,
         workers="A"),
    Trap("thread_local=False, two threads", "my threads may share the object",
         "a Lock object for each attempt",
         two_tasks(one_object=True, thread_local=False), "A t t A A", each_its_own, workers="A"),
    Trap("os.fork() inside the section", "the child (B) has nothing to do with it",
         "fork first, then acquire",
         {"A": parent, "B": child, "C": parent}, "A B C", mutual_exclusion, workers="ABC"),
    Trap("the reply to acquire is lost", "False means that somebody else has it",
         "retry=Retry(NoBackoff(), 0), and see the error yourself",
         locked(client=True, timeout=20, blocking=False), "A? t t A", nobody_waits_for_itself),
)  # fmt: skip
