"""Cases in which a database decides: F15, F22, F28, F31, F33, and a late write, F08.

The database is SQLite, one statement is one step, and nobody waits. What it shows is what every
database does: a unique key, a condition in the statement, a version that is compared.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from labkit.cases.case import Case
from labkit.cases.rules import answered
from labkit.cases.workers import Worker, leased
from labkit.locks import Acquired
from labkit.resources import sqlite
from labkit.sim.lab import Lab

# -- at most one row per order --------------------------------------------------------------------


def orders(lab: Lab) -> None:
    """Two tables for charges: one that takes every row, and one with a unique key."""
    lab.shared.db = sqlite(
        "CREATE TABLE every (id INTEGER PRIMARY KEY, operation TEXT)",
        "CREATE TABLE once (operation TEXT PRIMARY KEY) WITHOUT ROWID",
    )


def charged_once(lab: Lab) -> str | None:
    """An order is charged at most once."""
    count = "SELECT (SELECT count(*) FROM every) + (SELECT count(*) FROM once)"
    charges = lab.shared.db.execute(count).value
    return None if charges <= 1 else f"one order was charged {charges} times"


def insert_always(me: Any) -> bool:
    me.shared.db.execute("INSERT INTO every (operation) VALUES ('order 7')")
    return True


def insert_once(me: Any) -> bool:
    """Whether this was the first."""
    statement = "INSERT INTO once VALUES ('order 7') ON CONFLICT DO NOTHING"
    return bool(me.shared.db.execute(statement).rowcount)


def look_then_insert(me: Any) -> str:
    if me.shared.db.execute("SELECT count(*) FROM every WHERE operation = 'order 7'").value:
        return "charged before"
    insert_always(me)
    return "charged"


def insert_if_absent(me: Any) -> str:
    return "charged" if insert_once(me) else "charged before"


def always(me: Any) -> str:
    insert_always(me)
    return "charged"


def under_a_lock(me: Any) -> str:
    """The lock is without a fault. It keeps two from charging at once, not one after the other."""
    lock = leased(me)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    with me.critical_section():
        insert_always(me)
    lock.release(got.grant)
    return "charged"


def trying_twice(insert: Worker) -> Worker:
    """No answer came: the charge is sent again."""

    def charge(me: Any) -> str:
        for _ in range(2):
            try:
                insert(me)
            except sqlite3.OperationalError:
                me.note("no answer came, so it tries again")
            else:
                return "charged"
        return "unknown"

    return charge


# -- the last item in stock -----------------------------------------------------------------------


def stock(lab: Lab) -> None:
    """One item is left."""
    lab.shared.db = sqlite(
        "CREATE TABLE stock (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)",
        "INSERT INTO stock VALUES (1, 1)",
    )


def nothing_oversold(lab: Lab) -> str | None:
    """No more is sold than there was."""
    sold = sum(answer == "sold" for answer in lab.returned.values())
    return None if sold <= 1 else f"{sold} were sold, and there was 1"


def look_then_sell(me: Any) -> str:
    if me.shared.db.execute("SELECT n FROM stock WHERE id = 1").value < 1:
        return "sold out"
    me.shared.db.execute("UPDATE stock SET n = n - 1 WHERE id = 1")
    return "sold"


def selling(*, guard: str = " AND n >= 1", looks: bool = True) -> Worker:
    def sell(me: Any) -> str:
        changed = me.shared.db.execute(f"UPDATE stock SET n = n - 1 WHERE id = 1{guard}").rowcount
        return "sold" if changed or not looks else "sold out"

    return sell


# -- a text that two people edit ------------------------------------------------------------------


def text(lab: Lab) -> None:
    """An empty text, in its first version."""
    lab.shared.db = sqlite(
        "CREATE TABLE page (id INTEGER PRIMARY KEY, text TEXT, version INTEGER NOT NULL)",
        "INSERT INTO page VALUES (1, '', 1)",
    )


def no_edit_is_lost(lab: Lab) -> str | None:
    """Whoever was told "saved" finds the change in the text."""
    there = lab.shared.db.execute("SELECT text FROM page WHERE id = 1").value
    for letter, answer in lab.returned.items():
        if answer == "saved" and letter not in there:
            return f"{letter} was told that its change is saved, and the text is {there!r}"
    return None


def editing(*, compares: bool = True, looks: bool = True) -> Worker:
    """Read the text and its version, add your letter, write."""

    def edit(me: Any) -> str:
        db = me.shared.db
        before, version = db.execute("SELECT text, version FROM page WHERE id = 1").rows[0]
        guard = f" AND version = {version}" if compares else ""
        changed = db.execute(
            f"UPDATE page SET text = ?, version = version + 1 WHERE id = 1{guard}", before + me.name
        ).rowcount
        return "saved" if changed or not looks else "changed by somebody else"

    return edit


def under_a_lease(edit: Worker) -> Worker:
    def hold(me: Any) -> str:
        lock = leased(me)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        with me.critical_section():
            answer = edit(me)
        lock.release(got.grant)
        return str(answer)

    return hold


second_insert = answered("a second insert of the same key was refused", "INSERT", reply=0)
nothing_left = answered("a sale was refused, because nothing was left", "UPDATE", reply=0)
old_version = answered("a write over a newer version was refused", "UPDATE", reply=0)

CASES = (
    Case(
        "retry-charges-again", "F15", "the answer is lost, and the second try charges again",
        wrong=trying_twice(insert_always), right=trying_twice(insert_once), setup=orders,
        workers="A", faults="?", pauses=0, check=charged_once, danger=second_insert,
        shortest="A? A", broken=(1, 2), met=(1, 2),
        mutants={"without a key": trying_twice(insert_always)},
    ),
    Case(
        "locked-and-charged-twice", "F22",
        "the lock is right, and the second one charges when the first has gone",
        wrong=under_a_lock, right=insert_if_absent, setup=orders, pauses=0,
        check=charged_once, danger=second_insert,
        shortest="A A A B B B", broken=(2, 6), met=(2, 2), mutants={"without a key": always},
    ),
    Case(
        "look-then-sell", "F28", "is one left? then take it: both look before either takes",
        wrong=look_then_sell, right=selling(), setup=stock, pauses=0,
        check=nothing_oversold, danger=nothing_left,
        shortest="A B B A", broken=(4, 6), met=(2, 2),
        mutants={"without the condition": selling(guard="")},
    ),
    Case(
        "read-then-overwrite", "F28", "read, change, write: the second write wipes out the first",
        wrong=editing(compares=False), right=editing(), setup=text, pauses=0,
        check=no_edit_is_lost, danger=old_version,
        shortest="A B B A", broken=(4, 6), met=(4, 6),
        mutants={"without the version": editing(compares=False)},
    ),
    Case(
        "look-then-insert", "F31", "not there? insert it: both look before either inserts",
        wrong=look_then_insert, right=insert_if_absent, setup=orders, pauses=0,
        check=charged_once, danger=second_insert,
        shortest="A B B A", broken=(4, 6), met=(2, 2), mutants={"without a key": always},
    ),
    Case(
        "refused-and-sold", "F33", "the condition is there, and nobody looks at the row count",
        wrong=selling(looks=False), right=selling(), setup=stock, pauses=0,
        check=nothing_oversold, danger=nothing_left,
        shortest="A B", broken=(2, 2), met=(2, 2),
        mutants={"without the condition": selling(guard="")},
    ),
    Case(
        "refused-and-saved", "F33", "the version is compared, and nobody looks at the row count",
        wrong=editing(looks=False), right=editing(), setup=text, pauses=0,
        check=no_edit_is_lost, danger=old_version,
        shortest="A B B A", broken=(4, 6), met=(4, 6),
        mutants={"without the version": editing(compares=False)},
    ),
    Case(
        "late-write", "F08", "a pause outlives the lease, and the late write is accepted",
        wrong=under_a_lease(editing(compares=False)), right=under_a_lease(editing()), setup=text,
        check=no_edit_is_lost, danger=old_version,
        shortest="A A t B B B B A A", broken=(48, 136), met=(48, 136),
        mutants={"without the version": under_a_lease(editing(compares=False)),
                 "without looking at the row count": under_a_lease(editing(looks=False))},
    ),
)  # fmt: skip
