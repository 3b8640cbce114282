"""Whatever is wrong with a resource gets a sentence that says what, and what to do."""

import re

import pytest

from labkit import LabkitError, NotModelled, explore, replay
from labkit.resources import sqlite
from labkit.sim.errors import CheckError

TABLE = "CREATE TABLE t (x INTEGER PRIMARY KEY)"


def refused(pattern, setup, worker=lambda me: me.redis.incr("n"), kind=LabkitError, check=None):
    with pytest.raises(kind) as caught:
        explore(worker, check=check or (lambda lab: None), setup=setup, pauses=0)
    assert re.search(pattern, str(caught.value), re.DOTALL), str(caught.value)


def table(lab):
    lab.shared.db = sqlite(TABLE)


def declared(*statements):
    def setup(lab):
        lab.shared.db = sqlite(*statements)

    return setup


@pytest.mark.parametrize(
    ("statements", "pattern"),
    [
        ((TABLE, "INSRT INTO t VALUES (1)"), 'statement 2, "INSRT .*syntax error'),
        ((TABLE + "; " + TABLE,), "statement 1, .*one statement at a time"),
        ((TABLE, "INSERT INTO t VALUES (1), (1)"), "statement 2.*UNIQUE constraint failed"),
        ((), "needs tables"),
        ((TABLE, 5), "statement 2 is 5, and not text"),
        ((TABLE, "PRAGMA foreign_keys = OFF"), "statement 2.*PRAGMA .* not modelled"),
        ((TABLE, "CREATE TEMP TABLE u (x)"), "temporary table belongs to one connection"),
        ((TABLE, "INSERT INTO t VALUES (random())"), r"random\(\) answers differently each time"),
        ((TABLE, "BEGIN"), "leave a transaction open"),
    ],
)
def test_a_database_that_cannot_be_made_names_the_statement(statements, pattern):
    refused(pattern, declared(*statements))


@pytest.mark.parametrize("name", ["two words", "redis", "_hidden", "1st", ""])
def test_a_name_that_workers_could_not_write_is_refused(name):
    declare = lambda lab: setattr(lab.shared, name, sqlite(TABLE))  # noqa: E731
    refused(f'"{name}" cannot name a resource', declare)


@pytest.mark.parametrize("thing", [{}, [1], "bank", sqlite, None])
def test_what_is_no_resource_is_refused(thing):
    refused("is no resource", lambda lab: setattr(lab.shared, "bank", thing))


def test_a_resource_that_was_not_declared_is_named_with_those_that_were():
    refused(r'no resource "bank" here \(declared: db\).*lab\.shared\.bank = ',
            table, lambda me: me.shared.bank.execute("SELECT 1"))  # fmt: skip
    refused(r"declared: none", None, lambda me: me.shared.bank)


def test_only_a_setup_declares():
    refused("only a setup declares", table, lambda me: setattr(me.shared, "more", sqlite(TABLE)))
    refused("only a setup declares", table,
            check=lambda lab: setattr(lab.shared, "more", sqlite(TABLE)))  # fmt: skip


def test_a_setup_that_leaves_a_transaction_open_is_refused():
    def setup(lab):
        table(lab)
        lab.shared.db.execute("BEGIN")

    refused("setup leaves a transaction open", setup)


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t VALUES (1)", "DELETE FROM t WHERE 1", "BEGIN", "DROP TABLE t"]
)
def test_a_check_that_changes_the_database_is_refused(sql):
    def setup(lab):
        lab.shared.db = sqlite(TABLE, "INSERT INTO t VALUES (7)")

    refused("The check ran .*which changes the store", setup, kind=CheckError,
            check=lambda lab: lab.shared.db.execute(sql))  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "pattern"),
    [
        ("PRAGMA journal_mode = WAL", "PRAGMA changes how"),
        ("VACUUM", "VACUUM changes how"),
        ("ATTACH 'x' AS y", "ATTACH changes how"),
        ("SELECT datetime('now')", r"datetime\(\) answers differently"),
        ("SELECT CURRENT_TIMESTAMP", r"current_timestamp\(\) answers differently"),
        ("SELECT last_insert_rowid()", r"last_insert_rowid\(\) answers differently"),
        ("CREATE TEMP TABLE u (x)", "cannot change tables. Make them in setup"),
        ("ALTER TABLE t ADD y", "cannot change tables"),
    ],
)
def test_what_could_not_be_put_back_is_not_modelled(sql, pattern):
    refused(pattern, table, lambda me: me.shared.db.execute(sql), NotModelled)


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("SELECT ?", [1]), r"Parameter 1 is \[1\], of type list.*execute\(sql, 1, 2\)"),
        (("SELECT ?, ?", 1, {"x": 1}), "Parameter 2 is .*of type dict"),
        (("SELECT ?", 1j), "of type complex, which a database cannot take"),
        ((5,), r"execute\(5\): a statement is text"),
        (("SELECT ?", 2**63), "too large"),
        (("",), "returned"),
    ],
)
def test_what_cannot_be_sent_is_said_by_the_driver(arguments, pattern):
    worker = lambda me: me.shared.db.execute(*arguments) and "returned"  # noqa: E731
    trace = replay(worker, "", setup=table, workers="A", partial=True)
    if trace.about_to:
        trace = replay(worker, "A", setup=table, workers="A", partial=True)
    assert re.search(pattern, str(trace.pending["A"])), str(trace.pending["A"])
