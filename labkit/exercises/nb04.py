"""The reader's own repair and the exercises of notebook 04."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from labkit.cases.entering import START, money_is_right
from labkit.cases.rules import holds, never_falls
from labkit.exercises.marking import (
    Criterion,
    Mark,
    mark_repair,
    mark_schedule,
    somebody_is_done,
)
from labkit.locks import TAKE_AND_COUNT
from labkit.resources import fenced_row, sqlite
from labkit.sim.invariants import Invariant
from labkit.sim.lab import Lab
from labkit.sim.machine import Transition


def bank(lab: Lab) -> None:
    """An account of 100 in a table, with a column for the number of the last writer."""
    lab.shared.bank = sqlite(
        "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, fence INTEGER)",
        f"INSERT INTO account VALUES (1, {START}, 0)",
    )


def nobody_fails(lab: Lab) -> str | None:
    """Being late is an answer, not an error."""
    for letter, outcome in lab.outcome.items():
        if outcome.error is not None:
            return f"{letter} ends with {type(outcome.error).__name__}: {outcome.error}"
    return None


def my_repair(worker: Any) -> Mark:
    """The reader's repair of the first cell: no withdrawal is lost, whatever the pause."""
    calm = {"setup": bank, "pauses": 0}
    criteria = [
        Criterion("Without any pause, nobody takes money.", {"check": somebody_is_done, **calm}),
        Criterion("Without any pause, money is lost.", {"check": money_is_right, **calm}),
        Criterion("After a pause, money is lost.",
                  {"check": money_is_right, "setup": bank, "pauses": 1}),
        Criterion("After a pause, one worker ends with an error. SQLite locks the whole file; "
                  "PostgreSQL at its default level, and MySQL, would let both write 70.",
                  {"check": nobody_fails, "setup": bank, "pauses": 1}),
        Criterion("After a pause, a late holder sets the number back.",
                  {"check": no_late_write, "setup": bank, "pauses": 1}),
    ]  # fmt: skip
    return mark_repair(worker, criteria, "No withdrawal is lost. (If one UPDATE can do the work, "
                       "or compare what was read, the lock only saves work.)")


# -- exercise 1 -----------------------------------------------------------------------------------

#: A shortest schedule that breaks `asks_first`; a test holds it against the search.
SHORTEST_ASKS_FIRST = "A A t B B B A"


def asks_first(me: Any) -> str:
    """Asks the table for the last number before it writes."""
    token = me.token()
    fence = me.redis.eval(TAKE_AND_COUNT, 2, "lock", "fence", token, 100)
    if fence is None:
        return "busy"
    balance, seen = me.shared.bank.execute("SELECT balance, fence FROM account").rows[0]
    if seen > fence:
        return "too late"
    me.shared.bank.execute("UPDATE account SET balance = ?, fence = ?", balance - 30, fence)
    return "done"


no_late_write = replace(never_falls, name="No write comes after one with a larger number")


def break_it(schedule: str) -> Mark:
    """Exercise 1: let a late write through, although the table was asked before."""
    return mark_schedule(schedule, worker=asks_first, shortest=SHORTEST_ASKS_FIRST, setup=bank,
                         check=no_late_write)  # fmt: skip


# -- exercise 2 -----------------------------------------------------------------------------------


def row(lab: Lab) -> None:
    """A row that accepts a write only with a larger number than before."""
    lab.shared.row = fenced_row("nobody")


def _holder_refused(rule: Invariant, memory: Any, transition: Transition) -> Any:
    worker, command = transition.move.worker or "", transition.command
    writes = command is not None and command.store == "row" and "UPDATE" in str(command)
    if writes and transition.before == transition.after and holds(worker, transition):
        return memory, f"{worker} holds the lock, and its write is refused"
    return memory, None


def somebody_has_written(lab: Lab) -> str | None:
    """The row holds what somebody has written who says so."""
    written = lab.shared.row.read()
    done = [letter for letter, answer in lab.returned.items() if answer == "done"]
    return None if written in done else f"the row holds what {written} wrote"


holder_writes = Invariant("Who holds the lock can write", _holder_refused)


def number_it(worker: Any) -> Mark:
    """Exercise 2: lock and number come together, so that who holds the lock can write."""
    criteria = [
        Criterion("Nobody writes.", {"check": somebody_has_written, "setup": row, "pauses": 0}),
        Criterion("Without any pause, the holder is refused.",
                  {"check": holder_writes, "setup": row, "pauses": 0}),
        Criterion("After a pause, who holds the lock is refused, and who is late is not.",
                  {"check": holder_writes, "setup": row, "pauses": 1}),
    ]  # fmt: skip
    return mark_repair(worker, criteria, "Whoever holds the lock can write.")


# -- exercise 3 -----------------------------------------------------------------------------------


class Write(NamedTuple):
    """One write, as the resource saw it."""

    worker: str
    number: int
    accepted: bool

    def __str__(self) -> str:
        return f"{self.worker} with {self.number}{'' if self.accepted else ' (refused)'}"


def _writes(text: str) -> tuple[Write, ...]:
    """`A1 B2 A1-`: A writes with 1, B with 2, and A with 1 again, which is refused."""
    return tuple(Write(word[0], int(word[1]), not word.endswith("-")) for word in text.split())


GOOD = [_writes(text) for text in ("", "A1", "A1 B2", "A1 B2 C3", "B2 A1-", "A1 A1", "A1 A1 B2 B2",
                                   "B3 A1- C4", "A1 B3 C5", "B2 A1- A1-")]  # fmt: skip
BROKEN = [_writes(text) for text in ("B2 A1", "A1 B1", "A1 B3 C2", "C3 C3 A1- B2", "B2 A1- A1",
                                     "A1 A1 B1")]  # fmt: skip

Rule = Callable[[Sequence[Write]], str | None]


def write_the_rule(rule: Rule) -> Mark:
    """Exercise 3: a rule that finds every history with a late or doubled number, and no other."""
    for histories, broken in ((BROKEN, True), (GOOD, False)):
        for history in histories:
            told = ", then ".join(map(str, history)) or "(nothing is written)"
            try:
                answer = rule(list(history))
            except Exception as error:
                return Mark(False, f"Your rule raised {type(error).__name__}: {error}\nAt: {told}")
            if broken and answer is None:
                return Mark(False, f"Your rule lets this through: {told}.")
            if not broken and answer is not None:
                return Mark(False, f"Your rule complains, but nothing is wrong here: {told}.")
    return Mark(True, f"It finds all {len(BROKEN)} bad histories, and no good one of {len(GOOD)}.")
