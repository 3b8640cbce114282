"""Cases of entering, F50: into the section without a grant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import second_comer
from labkit.cases.workers import KEY, TTL_MS, leased, right, without_nx
from labkit.locks import Acquired
from labkit.resources import sqlite
from labkit.sim.invariants import mutual_exclusion
from labkit.sim.lab import Lab

START, WITHDRAWAL = 100, 30


def bank(lab: Lab) -> None:
    """An account in a table, which holds 100."""
    lab.shared.bank = sqlite(
        "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)",
        f"INSERT INTO account VALUES (1, {START})",
    )


def money_is_right(lab: Lab) -> str | None:
    """What is left is 100 minus 30 for everybody who took money."""
    taken = sum(answer == "done" for answer in lab.returned.values())
    left = lab.shared.bank.execute("SELECT balance FROM account WHERE id = 1").value
    right_balance = START - WITHDRAWAL * taken
    if left == right_balance:
        return None
    return f"{taken} took {WITHDRAWAL} each, and {left} is left instead of {right_balance}"


def withdraw(me: Any) -> None:
    balance = me.shared.bank.execute("SELECT balance FROM account WHERE id = ?", 1).value
    me.shared.bank.execute("UPDATE account SET balance = ? WHERE id = ?", balance - WITHDRAWAL, 1)


def ignoring(me: Any) -> str:
    """Acquires, and does not look at the answer."""
    lock = leased(me)
    got = lock.acquire()
    with me.critical_section():
        withdraw(me)
    if isinstance(got, Acquired):
        lock.release(got.grant)
    return "done"


def granted(me: Any) -> str:
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        withdraw(me)
    lock.release(got.grant)
    return "done"


def granted_without_nx(me: Any) -> str:
    me.redis.set(KEY, me.token(), px=100)
    with me.critical_section():
        withdraw(me)
    return "done"


@dataclass(frozen=True)
class Answer:
    """What another lock might answer. Python takes an object for true unless it says otherwise."""

    how: str


def truthy(me: Any) -> str:
    """`if acquire():`, and the answer "busy" is an object, which counts as true."""
    token = me.token()
    answer: Any = Answer("acquired" if me.redis.set(KEY, token, nx=True, px=TTL_MS) else "busy")
    if answer:
        with me.critical_section():
            me.redis.incr("work")
        return "done"
    return "busy"


def created(me: Any) -> str:
    """A lock object is not a lock that is held."""
    job = me.redis.get("job")
    lock = leased(me)
    with me.critical_section():
        me.redis.set("done", f"{job} under {type(lock).__name__}")
    return "done"


def looked(me: Any) -> str:
    """`locked()` asks whether somebody holds it; it takes nothing."""
    if me.redis.lock(KEY).locked():
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    return "done"


CASES = (
    Case(
        "result-ignored", "F50",
        "acquire says busy, and the code goes on: the money is taken twice",
        wrong=ignoring, right=granted, setup=bank,
        check=money_is_right, danger=second_comer, pauses=0,
        shortest="A A B B B A A", broken=(18, 40), met=(6, 8),
        mutants={"without NX": granted_without_nx},
    ),
    Case(
        "busy-counts-as-true", "F50", "an answer in a plain `if`: an object that says busy is true",
        wrong=truthy, right=right, check=mutual_exclusion, danger=second_comer, pauses=0,
        shortest="A B", broken=(4, 6), met=(4, 6), mutants={"without NX": without_nx},
    ),
    Case(
        "created-not-acquired", "F50", "the lock object is made, and nobody calls acquire",
        wrong=created, right=right, check=mutual_exclusion, danger=second_comer, pauses=0,
        shortest="A B", broken=(4, 6), met=(4, 6), mutants={"without NX": without_nx},
    ),
    Case(
        "looked-not-taken", "F50", "locked() is asked, and the lock is never taken",
        wrong=looked, right=right, check=mutual_exclusion, danger=second_comer, pauses=0,
        shortest="A B", broken=(4, 6), met=(4, 6), mutants={"without NX": without_nx},
    ),
)  # fmt: skip
