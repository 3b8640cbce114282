"""The shortest schedule of every case does the same on a real server."""

import threading

import pytest

from labkit import cases, replay
from labkit.resources import sqlite
from labkit.servers import race, replay_on

CASES = {case.name: case for case in cases.every()}


@pytest.mark.parametrize("name", CASES)
def test_the_shortest_schedule_of_a_case_does_the_same_on_a_server(server, name):
    case = CASES[name]
    program = {"workers": case.workers, "setup": case.setup, "check": case.check, "partial": True}
    simulated = replay(case.wrong, case.shortest, **program)
    real = replay_on(server, case.wrong, case.shortest, **program)
    assert simulated.broken
    assert (real, str(real)) == (simulated, str(simulated))


def bank(lab):
    lab.shared.bank = sqlite(
        "CREATE TABLE account (balance INTEGER)", "INSERT INTO account VALUES (100)"
    )


def transfer(me):
    if not me.redis.set("lock", me.name, nx=True, px=100):
        return "busy"
    me.shared.bank.execute("BEGIN IMMEDIATE")
    me.shared.bank.execute("UPDATE account SET balance = balance - 30")
    me.shared.bank.execute("COMMIT")
    return me.shared.bank.execute("SELECT balance FROM account").value


@pytest.mark.parametrize("schedule", ["A A A A A B", "A A A! B", "A A A? t B B B B B", "A A A~ B"])
def test_a_resource_stands_beside_the_server_and_faults_reach_it(server, schedule):
    def left(lab):
        return str(lab.shared.bank.execute("SELECT balance FROM account").rows)

    simulated = replay(transfer, schedule, setup=bank, check=left)
    real = replay_on(server, transfer, schedule, setup=bank, check=left)
    assert (real, str(real)) == (simulated, str(simulated))


def test_threads_in_real_time_share_one_database(server):
    together = threading.Barrier(2)

    def withdraw(me):
        together.wait()
        sql = "UPDATE account SET balance = balance - 30 RETURNING balance"
        return me.shared.bank.execute(sql).value

    ended = race(server, withdraw, setup=bank).ended
    assert sorted(one.value for one in ended.values()) == [40, 70]
