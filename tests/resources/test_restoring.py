"""A database that is put back behaves as one that was never touched in between."""

from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labkit.resources.database import Database
from labkit.resources.statements import command
from tests.sim.brute import TABLES

MORE = (*TABLES, "CREATE TABLE more (word TEXT)")
STATEMENTS = [
    ("BEGIN",), ("BEGIN",), ("BEGIN IMMEDIATE",), ("BEGIN EXCLUSIVE",), ("COMMIT",), ("COMMIT",),
    ("COMMIT",), ("ROLLBACK",),
    ("SELECT * FROM account",), ("SAVEPOINT s",), ("RELEASE s",), ("ROLLBACK TO s",),
    ("SELECT * FROM account",), ("SELECT count(*), sum(balance) FROM account",),
    ("UPDATE account SET balance = balance - 30 WHERE id = ?", 1),
    ("UPDATE OR ROLLBACK account SET balance = -1",),
    ("INSERT INTO account VALUES (?, ?)", 2, 5), ("INSERT INTO account (balance) VALUES (?)", 7),
    ("INSERT OR IGNORE INTO account VALUES (1, 1)",), ("DELETE FROM account WHERE id > 1",),
    ("INSERT INTO more VALUES (?)", "x"), ("INSERT INTO nowhere VALUES (1)",), ("SELECT 1",),
]  # fmt: skip
#: B wants to commit while A reads.
WAITING = [("A", "BEGIN"), ("A", "SELECT * FROM account"), ("B", "BEGIN IMMEDIATE"),
           ("B", "UPDATE account SET balance = 9"), ("B", "COMMIT")]  # fmt: skip
single = st.tuples(
    st.sampled_from("ABC"), st.sampled_from([*STATEMENTS, None]), st.integers(0, 99)
).map(lambda step: [step])
scene = st.integers(0, 99).map(lambda detour: [(who, (said,), detour) for who, said in WAITING])
steps = st.lists(st.one_of(*[single] * 12, scene), min_size=5, max_size=25).map(
    lambda scenes: [step for one in scenes for step in one]
)
seen: Counter[str] = Counter()


def make(database, who, statement):
    if statement is None:
        database.end([f"{who}1"])
        return b""
    return database.execute(command(statement[0], statement[1:], f"{who}1", "bank"), 0)


@settings(derandomize=True, max_examples=80, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(steps)
def behaves_alike(steps):
    """One database goes straight on; the other is led astray and put back before every step.

    It is put back to the first snapshot that had this fingerprint, as the machine does it.
    """
    straight, moved = Database(MORE), Database(MORE)
    first = {moved.snapshot().fingerprint: moved.snapshot()}
    for who, statement, detour in steps:
        here = first[straight.snapshot().fingerprint]
        moved.restore(list(first.values())[detour % len(first)])
        moved.restore(here)
        assert moved.snapshot().fingerprint == here.fingerprint
        wanted, found = make(straight, who, statement), make(moved, who, statement)
        assert found == wanted
        assert moved.snapshot().fingerprint == straight.snapshot().fingerprint
        assert moved.snapshot().contents() == straight.snapshot().contents()
        first.setdefault(moved.snapshot().fingerprint, moved.snapshot())
        seen["steps"] += 1
        seen["busy"] += b"SQLITE_BUSY" in found
        seen["busy at commit"] += any(said.busy for said in moved.snapshot().said)
        seen["two open"] += len(moved.snapshot().sessions) > 1
    straight.close()
    moved.close()


def test_a_database_that_is_put_back_answers_as_if_nothing_had_happened_in_between():
    seen.clear()
    behaves_alike()
    assert seen["steps"] > 500
    for what in ("busy", "busy at commit", "two open"):
        assert seen[what] > 10, f"too few of {what!r}: {seen}"


def test_a_commit_that_waits_for_a_reader_keeps_others_out_also_when_it_is_put_back():
    database = Database(TABLES)
    said = [("A", "BEGIN"), ("A", "SELECT * FROM account"), ("B", "BEGIN IMMEDIATE"),
            ("B", "DELETE FROM account"), ("B", "COMMIT")]  # fmt: skip
    replies = [make(database, who, (statement,)) for who, statement in said]
    assert b"SQLITE_BUSY" in replies[-1]
    database.end(["A1"])  # the reader is gone; B has not tried again
    here = database.snapshot()
    make(database, "B", ("ROLLBACK",))
    database.restore(here)
    assert b"SQLITE_BUSY" in make(database, "C", ("SELECT * FROM account",))
    assert make(database, "B", ("COMMIT",)) == b"+OK\r\n"
    assert make(database, "C", ("SELECT * FROM account",)) == b"*0\r\n"
    database.close()


def test_one_and_one_point_zero_are_different_contents():
    prints = set()
    for value in (1, 1.0, "1", b"1", None):
        database = Database(["CREATE TABLE t (x)"])
        make(database, "A", ("INSERT INTO t VALUES (?)", value))
        prints.add(database.snapshot().fingerprint)
        database.close()
    assert len(prints) == 5
