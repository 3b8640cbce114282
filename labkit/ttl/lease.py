"""What a TTL does to workers that take turns: arithmetic, so that a slider can follow the hand.

Every worker reads a count when it enters, works, and writes the count plus one. A is paused after
its work, just before it writes. Who waits gets in at the instant at which the lock is free: it was
released, or its lease is over. `as_worker` is the same as a program, and the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from labkit.locks import SHORTEST_TTL_MS, Acquired, CompareAndDelete, Released
from labkit.sim.errors import LabkitError

LETTERS, LONGEST_MS = "ABCD", 86_400_000
WAITERS = "lock:waiters"  #: a list to which a release pushes, and at which the others wait


@dataclass(frozen=True)
class Stay:
    """One worker in the critical section, in ms.

    Attributes:
        enter: it gets the lock, and reads the count.
        leave: it writes the count, and releases.
        over: the first instant at which its lease exists no more, unless it is released before.
        read, wrote: the count.
    """

    who: str
    enter: int
    leave: int
    over: int
    read: int
    wrote: int

    @property
    def late(self) -> bool:
        """Whether it wrote when its lease was over."""
        return self.leave >= self.over


@dataclass(frozen=True)
class Run:
    """All stays of a run; printed, what happened in plain sentences.

    Attributes:
        lost: whose work is not in the count at the end: a write that knew nothing of it came later.
    """

    ttl_ms: int
    pause_ms: int
    work_ms: int
    stays: tuple[Stay, ...]
    lost: str

    @property
    def together(self) -> list[tuple[str, int, int]]:
        """Who is inside at the same time, from and to which instant."""
        instants = sorted({t for stay in self.stays for t in (stay.enter, stay.leave)})
        spans: list[tuple[str, int, int]] = []
        for start, end in zip(instants, instants[1:], strict=False):
            who = "".join(s.who for s in self.stays if s.enter <= start and end <= s.leave)
            if len(who) > 1:
                spans.append((who, start, end))
        return spans

    @property
    def ends(self) -> int:
        return max(stay.leave for stay in self.stays)

    def __str__(self) -> str:
        first = self.stays[0]
        said = [f"{s.who}'s lease is over at {s.over:,} ms, and {s.who} writes at {s.leave:,} ms: "
                f"too late." for s in self.stays if s.late]  # fmt: skip
        if not said:
            said = [f"Every write is in time: A writes at {first.leave:,} ms, before its lease is "
                    f"over ({first.over:,} ms)."]  # fmt: skip
        spans = [f"{_and(who)} from {start:,} to {end:,} ms" for who, start, end in self.together]
        said += [f"Inside together: {', '.join(spans)}."] * bool(spans)
        crash = (f"If A dies while it has the lock, nobody gets in before {first.over:,} ms: "
                 f"a longer TTL is a longer wait after a crash.")  # fmt: skip
        return " ".join([*said, self._harm(), crash])

    __repr__ = __str__

    def _harm(self) -> str:
        n = len(self.stays)
        if n == 1:
            return "Nobody else wants the lock here, so nothing is lost."
        counted = f"{n} have counted, and the count is {n - len(self.lost)}."
        return f"The work of {_and(self.lost)} is lost: {counted}" if self.lost else (
            f"Nothing is lost: {counted}")  # fmt: skip

    def simulate(self) -> Any:
        """The trace of the same run on the simulator, command by command."""
        from labkit.sim.replaying import simulate

        frozen = ("A", 2, (self.work_ms + self.pause_ms) / 1000) if self.pause_ms else None
        return simulate(as_worker(self.ttl_ms, self.work_ms), pause=frozen,
                        workers="".join(stay.who for stay in self.stays))  # fmt: skip


def lease_run(*, ttl_ms: Any = 300, pause_ms: Any = 600, work_ms: Any = 200,
              workers: Any = 2) -> Run:  # fmt: skip
    """The run of `workers` workers that all want the lock at 0 ms.

    Raises:
        LabkitError: for a value that no run can have; the sentence says what is possible.
    """
    why = " ms. A shorter one can be over before the server's answer arrives"
    ttl = _whole("ttl_ms", ttl_ms, "a lease", SHORTEST_TTL_MS, unit=why)
    count = _whole("workers", workers, "the number of workers", 1, len(LETTERS), "")
    pause = _whole("pause_ms", pause_ms, "a pause", 0)
    return _run(ttl, pause, _whole("work_ms", work_ms, "work", 1), count)


@lru_cache(1_000)
def _run(ttl: int, pause: int, work: int, count: int) -> Run:
    times: list[tuple[str, int, int, int]] = []
    free = 0
    for letter in LETTERS[:count]:
        leave, over = free + work + pause * (letter == "A"), free + ttl + 1
        times.append((letter, free, leave, over))
        free = min(leave, over)
    stays, lost = _count(times)
    return Run(ttl, pause, work, stays, lost)


def _count(times: list[tuple[str, int, int, int]]) -> tuple[tuple[Stay, ...], str]:
    """What each one reads and writes: whose work is in the count, and whose is not at the end."""
    read: dict[str, set[str]] = {}
    wrote: dict[str, set[str]] = {}
    count: set[str] = set()
    moves = [(enter, who, False) for who, enter, _, _ in times]
    moves += [(leave, who, True) for who, _, leave, _ in times]
    for _, who, writes in sorted(moves):  # at one instant, in the order of their names
        if writes:
            count = wrote[who] = read[who] | {who}
        else:
            read[who] = count
    stays = tuple(Stay(who, enter, leave, over, len(read[who]), len(wrote[who]))
                  for who, enter, leave, over in times)  # fmt: skip
    return stays, "".join(sorted({who for who, *_ in times} - count))


def as_worker(ttl_ms: int, work_ms: int) -> Callable[[Any], None]:
    """The worker of these runs, as a program."""

    def worker(me: Any) -> None:
        lock = CompareAndDelete(me.redis, "lock", ttl_ms=ttl_ms, token=me.token)
        while not isinstance(got := lock.acquire(), Acquired):
            left_ms = me.redis.pttl("lock")
            me.redis.blpop(WAITERS, timeout=(left_ms + 1) / 1000)
        with me.critical_section():
            count = int(me.redis.get("count") or 0)
            me.work(work_ms / 1000)
            me.redis.set("count", count + 1)
        if isinstance(lock.release(got.grant), Released):
            me.redis.rpush(WAITERS, "free")

    return worker


def _and(letters: str) -> str:
    return " and ".join([", ".join(letters[:-1]), letters[-1]]) if letters[1:] else letters


def _whole(name: str, value: Any, what: str, least: int, most: int = LONGEST_MS,
           unit: str = " ms") -> int:  # fmt: skip
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or not (
        least <= value <= most
    ):  # fmt: skip
        raise LabkitError(
            f"{name}={value!r}: {what} is a whole number from {least} to {most:,}{unit}."
        )
    return int(value)
