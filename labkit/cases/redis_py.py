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
        worker, schedule, check: what is run, and the rule that it breaks; None if it breaks none.
    """

    call: str
    expected: str
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

    def __str__(self) -> str:
        return (
            f"{self.call}\n    You may think: {self.expected}.\n    {self.schedule}: {self.seen}."
        )

    __repr__ = __str__


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
    Trap('lock("x")', "it will end some day", locked(blocking=False), "A A!",
         freed_after_crash.on(KEY)),
    Trap('lock("x", timeout=0)', "it ends at once, or I am told that 0 is no time",
         locked(blocking=False, timeout=0), "A A!", freed_after_crash.on(KEY)),
    Trap('lock("x").acquire()', "it gives up after a while", locked(), "A A! B t B t B t B"),
    Trap('lock("x", timeout=0.1)', "timeout is how long it waits", locked(timeout=0.1), "A t B",
         mutual_exclusion),
    Trap('with lock("x", ...)', "I see the error of my own code", failing(redis_lock), "A A B t A",
         body_error_survives),
    Trap("one Lock object, two tasks", "the token is kept for each task",
         two_tasks(one_object=True), "A t t A A", each_its_own, workers="A"),
    Trap("thread_local=False", "my threads may share it",
         two_tasks(one_object=True, thread_local=False), "A t t A A", each_its_own, workers="A"),
    Trap("os.fork() inside the section", "the child has nothing to do with it",
         {"A": parent, "B": child, "C": parent}, "A B C", mutual_exclusion, workers="ABC"),
    Trap("a lost reply to acquire", "False means that somebody else has it",
         locked(client=True, timeout=20, blocking=False), "A? t t A", nobody_waits_for_itself),
)  # fmt: skip
