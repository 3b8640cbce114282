"""What a worker sees of SQLite is what SQLite does; faults are those of a network."""

import gc
import sqlite3
import tempfile

import pytest

import labkit.draw.saving  # noqa: F401  how traces are saved
from labkit import explore, replay
from labkit.draw.story import Story
from labkit.resources import ConnectionLost, sqlite
from labkit.resources.statements import shown

BALANCE = "SELECT balance FROM account WHERE id = 1"


def bank(lab):
    lab.shared.bank = sqlite(
        "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)",
        "INSERT INTO account VALUES (1, 100)",
    )


def balance(lab):
    return f"{lab.shared.bank.execute(BALANCE).value} is left"


def told(function, schedule="A", **more):
    """What a single worker returns when it makes these moves."""
    trace = replay(function, schedule, workers="A", setup=bank, **more)
    return trace.pending["A"].value


def transfer(me):
    me.shared.bank.execute("BEGIN IMMEDIATE")
    me.shared.bank.execute("UPDATE account SET balance = balance - ? WHERE id = ?", 30, 1)
    me.shared.bank.execute("COMMIT")


def test_each_statement_is_one_step_and_reads_as_a_person_would_write_it():
    trace = replay(transfer, "A A A", workers="A", setup=bank, check=balance)
    assert [step.command for step in trace.steps] == [
        "BEGIN IMMEDIATE", "UPDATE account SET balance = balance - 30 WHERE id = 1", "COMMIT",
    ]  # fmt: skip
    assert [step.reply for step in trace.steps] == ["OK", "1", "OK"]
    assert trace.broken == "70 is left"


def test_the_trace_holds_the_committed_rows():
    trace = replay(transfer, "A A A", workers="A", setup=bank)
    assert trace.start["bank.account 1"].text == "100"
    values = [step.transition.after["bank.account 1"].text for step in trace.steps]
    assert values == ["100", "100", "70"]


VALUES = [0, -7, 2**63 - 1, 0.1, 1e300, "", "it's\n☃", b"", b"\x00\xff", None]


@pytest.mark.parametrize("value", VALUES)
def test_every_type_comes_back_as_it_was_sent(value):
    found = told(lambda me: me.shared.bank.execute("SELECT ?, typeof(?)", value, value).rows[0])
    names = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}
    assert found == (value, names[type(value)])


def test_rows_and_counts_are_those_of_the_database():
    def worker(me):
        execute = me.shared.bank.execute
        inserted = execute("INSERT INTO account VALUES (2, 5), (3, 5) RETURNING id")
        nothing = execute("UPDATE account SET balance = 0 WHERE id = 9")
        ignored = execute("INSERT OR IGNORE INTO account VALUES (2, 5)")
        begun = execute("BEGIN")
        return inserted.rows, inserted.rowcount, nothing.rowcount, ignored.rowcount, begun.rowcount

    assert told(worker, "A A A A") == ([(2,), (3,)], 2, 0, 0, -1)
    assert told(lambda me: me.shared.bank.execute(BALANCE + " AND 0").value) is None


@pytest.mark.parametrize(
    ("sql", "kind", "code", "message"),
    [
        ("INSERT INTO account VALUES (1, 0)", sqlite3.IntegrityError,
         "SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: account.id"),
        ("SELEC 1", sqlite3.OperationalError, "SQLITE_ERROR", 'near "SELEC": syntax error'),
        ("SELECT * FROM nowhere", sqlite3.OperationalError, "SQLITE_ERROR", "no such table"),
        ("COMMIT", sqlite3.OperationalError, "SQLITE_ERROR", "no transaction is active"),
        ("SELECT 1; SELECT 2", sqlite3.ProgrammingError, "SQLITE_MISUSE", "one statement at a"),
        ("SELECT ?", sqlite3.ProgrammingError, "SQLITE_MISUSE", "number of bindings"),
    ],
)  # fmt: skip
def test_errors_are_the_ones_that_sqlite_raises(sql, kind, code, message):
    def worker(me):
        try:
            me.shared.bank.execute(sql)
        except sqlite3.Error as error:
            return type(error), error.sqlite_errorname, str(error)

    found = told(worker)
    assert found[:2] == (kind, code)
    assert message in found[2]


def test_busy_is_answered_at_once_and_the_worker_decides():
    def patient(me):
        for _ in range(3):
            try:
                me.shared.bank.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                assert error.sqlite_errorname == "SQLITE_BUSY"
                continue
            me.shared.bank.execute("UPDATE account SET balance = balance - 30")
            me.shared.bank.execute("COMMIT")
            return True

    trace = replay(patient, "A B A B A B B B", setup=bank, check=balance)
    assert trace.steps[1].reply == "(error) OperationalError SQLITE_BUSY database is locked"
    assert trace.broken == "40 is left"


def test_an_upgrade_from_reading_to_writing_is_refused_while_another_writes():
    def upgrades(me):
        me.shared.bank.execute("BEGIN")
        found = me.shared.bank.execute(BALANCE).value
        me.shared.bank.execute("UPDATE account SET balance = ?", found - 30)
        me.shared.bank.execute("COMMIT")

    trace = replay(upgrades, "A A B B A B A", setup=bank, check=balance)
    assert str(trace.pending["B"]) == "raised OperationalError: database is locked"
    assert trace.broken == "70 is left"


def test_a_crash_ends_the_connection_and_its_transaction():
    trace = replay(transfer, "A A A! B B B", setup=bank, check=balance)
    assert trace.broken == "70 is left"
    assert trace.steps[2].spoken == "A dies before COMMIT, which never reaches the database bank"


def test_a_worker_that_returns_or_raises_without_commit_has_its_transaction_rolled_back():
    def forgets(me):
        me.shared.bank.execute("BEGIN IMMEDIATE")
        me.shared.bank.execute("DELETE FROM account")
        if me.name == "B":
            raise ValueError

    assert replay(forgets, "A A B B", setup=bank, check=balance).broken == "100 is left"


def test_a_worker_that_ends_when_it_wakes_loses_its_transaction_then():
    def sleeps(me):
        me.shared.bank.execute("BEGIN IMMEDIATE")
        me.sleep(0.1)

    trace = replay(sleeps, "A t B t", setup=bank)
    assert [step.reply for step in trace.steps] == ["OK", "", "OK", ""]


@pytest.mark.parametrize(
    ("schedule", "left"),
    [("A A? A A A", 70), ("A A A? A", 40), ("A~ A A A", 70), ("A A A~ A A A", 70)],
)
def test_a_lost_reply_or_request_ends_the_session_and_rolls_back_what_was_open(schedule, left):
    """After COMMIT the reply is lost as well: the money is gone, and the worker cannot know."""

    def insists(me):
        for _ in range(2):
            try:
                transfer(me)
            except ConnectionLost as error:
                assert isinstance(error, sqlite3.OperationalError)
                continue
            return

    trace = replay(insists, schedule, workers="A", setup=bank, check=balance, partial=True)
    if trace.complete:
        assert trace.broken == f"{left} is left"
    else:
        rest = replay(insists, schedule + " A A", workers="A", setup=bank, check=balance)
        assert rest.broken == f"{left} is left"


def test_the_next_statement_after_a_lost_one_is_outside_of_the_transaction():
    def worker(me):
        said = []
        for statement in ("BEGIN", BALANCE, "COMMIT"):
            try:
                me.shared.bank.execute(statement)
            except sqlite3.OperationalError as error:
                said.append((type(error), str(error)))
        return said

    for schedule in ("A A? A", "A A~ A"):
        (lost, why), (refused, because) = told(worker, schedule)
        assert (lost, refused) == (ConnectionLost, sqlite3.OperationalError)
        assert because == "cannot commit - no transaction is active"
        assert "no answer from bank" in why and "may have been executed" in why


def test_two_databases_and_redis_live_side_by_side():
    def both(lab):
        bank(lab)
        lab.shared.log = sqlite("CREATE TABLE line (text TEXT)")
        lab.shared.log.execute("INSERT INTO line VALUES (?)", "opened")
        lab.redis.set("n", 1)

    def worker(me):
        me.redis.incr("n")
        me.shared.log.execute("INSERT INTO line VALUES (?)", me.name)
        return me.shared.bank.execute(BALANCE).value

    trace = replay(worker, "A A A B B B", setup=both)
    contents = trace.steps[-1].transition.after
    assert {key: one.text for key, one in contents.items()} == {
        "n": "3", "bank.account 1": "100", "log.line 1": "opened", "log.line 2": "A",
        "log.line 3": "B",
    }  # fmt: skip


def test_an_exploration_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other tests run beside this one
    explore(transfer, check=lambda lab: None, setup=bank, faults="!")
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_timeline_has_a_lane_for_a_row_and_none_for_a_statement(tmp_path):
    trace = replay(transfer, "A A A", workers="A", setup=bank)
    page = trace.save(tmp_path / "t.svg").read_text()
    lanes = [lane for lane in Story(trace, "lock").writes]
    assert lanes == ["bank.account 1"]
    assert "100 → 70" in page


@pytest.mark.parametrize(
    ("sql", "parameters", "text"),
    [
        ("SELECT '?', ? FROM t -- ?\n WHERE x = ?", (1, "it's"),
         "SELECT '?', 1 FROM t WHERE x = 'it''s'"),
        ("SELECT\n    ?,   ?", (b"\x01", None), "SELECT x'01', NULL"),
        ('SELECT "a  b" ,\' c  d\', ?', (), 'SELECT "a  b" ,\' c  d\', ?'),
        ("SELECT ?, ?", (True, "?"), "SELECT 1, '?'"),
    ],
)  # fmt: skip
def test_parameters_are_filled_in_for_people(sql, parameters, text):
    assert shown(sql, parameters) == text
