"""Exploring with SQLite agrees with trying every schedule in databases that are never put back."""

import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labkit import explore, mutual_exclusion
from labkit.resources import sqlite
from tests.sim.brute import TABLES, TooMany, as_worker, check, enumerate_all

WITHDRAW = "UPDATE account SET balance = balance - 30 WHERE id = 1"


def bank(lab):
    lab.shared.bank = sqlite(*TABLES)


statements = st.sampled_from([
    "BEGIN", "BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "COMMIT", "COMMIT", "ROLLBACK",
    "SELECT balance FROM account WHERE id = 1", WITHDRAW, WITHDRAW,
    "INSERT INTO account VALUES (2, 50)", "DELETE FROM account WHERE id = 2",
    "UPDATE account SET balance = balance - 80 WHERE id = 1 RETURNING balance",
])  # fmt: skip
instructions = st.one_of(
    *[st.tuples(st.just("sql"), statements, st.sampled_from(["raise", "stop", "go on"]))] * 5,
    st.tuples(st.just("do"), st.tuples(st.just("INCR"), st.just("n")), st.just(""), st.just(False)),
    st.tuples(st.just("sleep"), st.just(50)),
)
transactions = st.tuples(
    st.sampled_from(["BEGIN", "BEGIN IMMEDIATE"]),
    st.sampled_from([WITHDRAW, "SELECT balance FROM account WHERE id = 1"]),
    st.sampled_from([WITHDRAW, "COMMIT"]), st.just("COMMIT"),
)  # fmt: skip
programs = st.one_of(
    st.lists(instructions, min_size=1, max_size=4).map(tuple),
    st.tuples(transactions, st.sampled_from(["raise", "stop", "go on"])).map(
        lambda drawn: tuple(("sql", statement, drawn[1]) for statement in drawn[0])
    ),
)
cases = st.fixed_dictionaries({
    "programs": st.lists(programs, min_size=2, max_size=2),
    "same": st.booleans(),
    "pauses": st.integers(0, 1),
    "faults": st.sampled_from([{}, {"?": 1}, {"~": 1}, {"!": 1}]),
    "salt": st.integers(0, 9),
})  # fmt: skip
seen: Counter[str] = Counter()


@settings(derandomize=True, max_examples=50, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(cases)
def agrees(case):
    programs = [case["programs"][0]] * 2 if case["same"] else case["programs"]
    by_letter = dict(zip("AB", programs, strict=False))
    bounds = {"pauses": case["pauses"], "faults": case["faults"], "moves_max": 30}
    try:
        wanted = enumerate_all(by_letter, salt=case["salt"], nodes_max=250, sql=True, **bounds)
    except TooMany:
        return
    workers = {letter: as_worker(program) for letter, program in by_letter.items()}
    rules = [mutual_exclusion, check(case["salt"], sql=True)]
    found = explore(workers, check=rules, setup=bank, **bounds)
    assert (found.schedules, found.violating) == (wanted.schedules, wanted.violating)
    shortest = found.counterexample and str(found.counterexample.schedule)
    assert shortest == (wanted.best and " ".join(map(str, wanted.best[1])))
    seen["compared"] += 1
    seen["schedules"] += found.schedules
    seen["busy"] += any("locked" in reason for reason in found.raised)
    for kind in case["faults"]:
        seen[f"programs with {kind}"] += 1


def test_counts_with_sqlite_agree_with_brute_force():
    seen.clear()
    agrees()
    assert seen["compared"] >= 30
    assert seen["schedules"] >= 300
    for what in ("busy", *(f"programs with {kind}" for kind in "?~!")):
        assert seen[what] >= 1, f"too few of {what!r}: {seen}"


def in_a_transaction(me):
    bank = me.shared.bank
    bank.execute("BEGIN IMMEDIATE")
    balance = bank.execute("SELECT balance FROM account WHERE id = ?", 1).value
    bank.execute("UPDATE account SET balance = ? WHERE id = ?", balance - 30, 1)
    bank.execute("INSERT INTO account VALUES (?, 30)", 2 + (me.name == "B"))
    bank.execute("COMMIT")
    return True


def test_a_transaction_of_five_statements_loses_nothing_and_is_explored_fast():
    def money(lab):
        taken = len(lab.returned)
        left = lab.shared.bank.execute("SELECT balance FROM account WHERE id = 1").value
        return None if left == 100 - 30 * taken else f"{left} left"

    start = time.process_time()
    found = explore(in_a_transaction, check=money, setup=bank)
    assert time.process_time() - start < 0.5
    assert (found.schedules, found.violating) == (10, 0)
    assert found.raised == {"OperationalError: database is locked": 8}
