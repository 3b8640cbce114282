"""The same workers in real time."""

import inspect
import threading
import time

import pytest
import redis

from labkit import locks
from labkit.resources import sqlite
from labkit.servers import ServerGone, race
from labkit.servers.racing import RealMe
from labkit.sim.me import Me
from tests.servers.programs import LADDER, account, asks_again, holding, naive, watches


def test_workers_run_unchanged(server):
    result = race(server, asks_again, workers="ABC")
    assert sorted(str(ended) for ended in result.ended.values()) == [
        "returned 'busy'", "returned 'busy'", "returned 'got'"]  # fmt: skip
    assert list(result.ended) == ["A", "B", "C"]
    assert str(result).startswith("A returned ")


def test_setup_and_what_the_workers_leave(server):
    result = race(server, {"A": naive}, setup=account)
    assert str(result) == "A returned 1"
    assert [(letter, event.name) for _, letter, event in result.events] == [
        ("A", "enter"), ("A", "leave")]  # fmt: skip
    with server.client() as client:
        assert client.get("balance") == "70"


def test_a_real_lock_keeps_real_threads_apart(server):
    """Sixteen workers, each with a lock that waits; nobody's update is lost."""

    def careful(me):
        lock = locks.CompareAndDelete(me.redis, "lock", ttl_ms=10_000)
        while not isinstance(got := lock.acquire(), locks.Acquired):
            me.sleep(0.001)
        with me.critical_section():
            seen = int(me.redis.get("n") or 0)
            me.work(0.002)
            me.redis.set("n", seen + 1)
        return type(lock.release(got.grant)).__name__

    result = race(server, careful, workers="ABCDEFGHIJKLMNOP")
    assert {ended.value for ended in result.ended.values()} == {"Released"}
    names = [event.name for _, _, event in result.events]
    assert names == ["enter", "leave"] * 16
    with server.client() as client:
        assert client.get("n") == "16"


@pytest.mark.parametrize("rung", LADDER)
def test_every_rung_runs(server, rung):
    ended = race(server, holding(LADDER[rung]), workers="A").ended["A"]
    assert str(ended) == "returned 'Released'"


def test_me_has_the_same_attributes_and_real_time():
    public = {name for name in dir(Me) if not name.startswith("_")}
    assert {name for name in dir(RealMe) if not name.startswith("_")} == public
    for name in public - {"redis"}:
        ours, theirs = (inspect.signature(getattr(one, name)) for one in (RealMe, Me))
        assert ours.parameters.keys() == theirs.parameters.keys()


def test_what_me_gives(server):
    def asks(me):
        before = me.now()
        me.sleep(0.02)
        time.sleep(0.01)
        me.note("rested")
        me.event("granted", number=1)
        raw = me.client().set("k", "v"), me.client().get("k"), me.redis.get("k")
        coins = me.shared.till.execute("SELECT coins FROM till").value
        return me.name, me.token(), me.token(), raw, coins, me.now() - before >= 0.03

    def fill(lab):
        lab.shared.till = sqlite("CREATE TABLE till (coins)", "INSERT INTO till VALUES (7)")

    result = race(server, asks, workers="Q", setup=fill)
    assert result.ended["Q"].value == ("Q", "Q-1", "Q-2", (True, b"v", "v"), 7, True)
    assert [event.name for _, _, event in result.events] == ["note", "granted"]


def test_what_a_worker_raises_is_reported(server):
    def fails(me):
        me.redis.set("k", "text")
        me.redis.incr("k")

    ended = race(server, fails, workers="A").ended["A"]
    assert ended.how == "raised"
    assert isinstance(ended.error, redis.ResponseError)
    assert str(race(server, watches, workers="A")).startswith("A raised TypeError")


def never_ends(me):
    while True:
        me.redis.get("k")


def spins(me):
    while True:
        pass


@pytest.mark.parametrize("worker", [never_ends, spins])
def test_a_worker_that_never_ends_is_reported_and_stopped(server, worker):
    before = time.monotonic()
    result = race(server, {"A": worker, "B": asks_again}, seconds_max=0.3)
    assert time.monotonic() - before < 5
    assert str(result.ended["A"]) == "stuck (it was still running when time was up)"
    assert str(result.ended["B"]) == "returned 'got'"
    deadline = time.monotonic() + 10
    while any(thread.name == "A" for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "it goes on and on"
        time.sleep(0.01)


def test_a_server_that_stops_during_the_race(own_server):
    def kills(me):
        own_server.process.kill()
        own_server.process.wait()
        me.redis.get("k")

    with pytest.raises(ServerGone, match="has stopped"):
        race(own_server, kills, workers="A")
