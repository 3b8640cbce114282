"""Every rung of the ladder on every server that has its commands, and commands that wait.

No server with DELEX (Redis 8.4) can be had as a package. Its rung runs where LABKIT_REDIS_URL names
one, and is listed by name everywhere else.
"""

import contextlib

import pytest
import redis_lock

from conftest import only_elsewhere
from labkit import LabkitError, mutual_exclusion, only_the_owner_renews, replay
from labkit.cases.ladder import RUNGS, on
from labkit.locks import detect_release
from labkit.servers import available, replay_on, running, verified_on
from labkit.servers.agreement import follow
from labkit.servers.server import NotUnderstood, Wire
from tests.servers.conftest import KINDS
from tests.servers.programs import Case, enumerated_traces, random_traces

ELSEWHERE = {"release by DELEX": "DELEX against a real server (Redis 8.4, LABKIT_REDIS_URL)"}


@pytest.fixture(scope="module")
def servers():
    """All of them, the reader's own included."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(running(kind)) for kind in dict.fromkeys([*available(), *KINDS])]


def understands(server, name):
    with contextlib.closing(Wire(server)) as wire:
        try:
            wire.must_understand(name)
        except NotUnderstood:
            return False
    return True


# -- the ladder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_does_on_servers_what_it_does_in_the_simulation(servers, name):
    worker, setup, named = RUNGS[name]
    case = Case(worker, setup, [mutual_exclusion, only_the_owner_renews.on("lock")], faults="?")
    traces = [*(replay(worker, s, setup=setup, check=case.check, partial=True) for s in named),
              *enumerated_traces(case), *random_traces(case, 8, seed=3)]  # fmt: skip
    able = [server for server in servers if verified_on({name: RUNGS[name]}, [server]).rows[name]
            [server.name]]  # fmt: skip
    if not able and name in ELSEWHERE:
        only_elsewhere(ELSEWHERE[name])
    assert able, f"no server here has what {name} needs"
    for server in able:
        for simulated in traces:
            assert follow(server, case.program, simulated) == simulated


def test_the_table_says_where_each_rung_was_verified(servers):
    table = verified_on(RUNGS, servers)
    assert set(table.nowhere) <= set(ELSEWHERE)
    lines = str(table).splitlines()
    assert lines[0].split("  ")[0] == "verified on"
    assert all(server.name in lines[0] for server in servers)
    for server in servers:
        for name in ("release by script", "acquire with GET", "renewal by script"):
            assert table.rows[name][server.name] == len(RUNGS[name][2])
        has_it = understands(server, "valkey 9")
        assert bool(table.rows["release by DELIFEQ"][server.name]) == has_it


def test_detection_finds_what_each_server_has(servers):
    for server in servers:
        with server.client() as client:
            before = client.keys()
            found = detect_release(client)
            assert client.keys() == before
        expected = {"delex": "redis 8.4", "delifeq": "valkey 9", "lua": "redis 7"}[found]
        assert understands(server, expected)
        assert (found == "lua") == (not understands(server, "valkey 9")
                                    and not understands(server, "redis 8.4"))  # fmt: skip


def test_a_server_that_lacks_what_the_setup_asks_for_is_named(servers):
    worker, _, _ = RUNGS["release by DELIFEQ"]
    for server in servers:
        if not understands(server, "valkey 9"):
            with pytest.raises(NotUnderstood, match="for Valkey 9, and .* does not understand"):
                replay_on(server, worker, "A", setup=on("valkey 9"), partial=True)


def set_if(me):
    """All that SET with IFEQ and DELIFEQ can be asked, right and wrong."""
    said = []
    for words in (
        ("SET", "text", "1", "IFEQ", "no", "PX", 100), ("SET", "text", "2", "IFEQ", "abc"),
        ("SET", "text", "3", "IFEQ", "2", "PX", 100, "GET"),
        ("SET", "text", "4", "GET", "IFEQ", "x"),
        ("SET", "none", "1", "IFEQ", ""), ("SET", "none", "1", "IFEQ", "1", "GET"),
        ("SET", "text", "1", "IFEQ"), ("SET", "text", "1", "IFEQ", "3", "NX"),
        ("SET", "text", "1", "IFEQ", "3", "PX", 0), ("SET", "text", "5", "IFEQ", "3", "KEEPTTL"),
        ("SET", "list", "1", "IFEQ", "x"), ("SET", "list", "1", "IFEQ", "x", "GET"),
        ("SET", "text", "6", "IFEQ", "no", "BOGUS"),
    ):  # fmt: skip
        said.append(answer(me, words))
    return said


def delete_if(me):
    return [answer(me, words) for words in (
        ("DELIFEQ", "text", "no"), ("DELIFEQ", "none", "x"), ("DELIFEQ", "list", "x"),
        ("DELIFEQ", "text"), ("DELIFEQ", "text", "abc"), ("DELIFEQ", "text", "abc"),
    )]  # fmt: skip


def answer(me, words):
    try:
        return str(me.redis.execute_command(*words))
    except Exception as error:
        return type(error).__name__


def filled(server):
    def setup(lab):
        lab.server = server
        lab.redis.set("text", "abc")
        lab.redis.rpush("list", "x")

    return setup


@pytest.mark.parametrize(
    ("worker", "moves", "dialect"), [(set_if, 13, "valkey 8.1"), (delete_if, 6, "valkey 9")]
)
def test_what_fakeredis_lacks_is_imitated_as_servers_do_it(servers, worker, moves, dialect):
    able = [server for server in servers if understands(server, dialect)]
    assert able
    for server in able:
        replay_on(server, worker, "A" * moves, workers="A", setup=filled(dialect))


# -- commands that wait ----------------------------------------------------------------------------


def consumer(me):
    first = me.redis.blpop("q", 0.05)
    return first, me.redis.brpop(["q", "other"], 0)


def producer(me):
    me.redis.rpush("q", me.name)
    with me.redis.pipeline() as pipe:
        pipe.rpush("q", "x", "y").lpop("q").rpush("q", "z").execute()
    me.redis.eval("redis.call('RPUSH', KEYS[1], 's') redis.call('PEXPIRE', KEYS[1], 50)", 1, "q")


def mover(me):
    return me.redis.blmove("q", "other", 0.06), me.redis.lrange("other", 0, -1)


def library(me):
    lock = redis_lock.Lock(me.redis, "lock", expire=2)
    if not lock.acquire(timeout=1):
        return "gave up"
    with me.critical_section():
        me.redis.incr("work")
    lock.release()
    return "done"


WAITS = {
    "consumers and a producer": Case({"A": consumer, "B": consumer, "C": producer}, faults="?!"),
    "moving on": Case({"A": mover, "B": consumer, "C": producer}, faults="?!"),
    "python-redis-lock": Case(library, check=mutual_exclusion, faults="?!"),
}


@pytest.mark.parametrize("name", WAITS)
def test_waiting_is_the_same_on_a_server(server, name):
    case = WAITS[name]
    traces = [*enumerated_traces(case), *random_traces(case, 25, seed=5)]
    for simulated in traces:
        assert follow(server, case.program, simulated) == simulated
    answered = [turn for trace in traces for step in trace.steps
                for turn in step.transition.turns if turn.answered]  # fmt: skip
    assert len(answered) >= 5


def test_who_waits_is_served_in_the_order_of_coming(server):
    workers = {"A": consumer, "B": consumer, "C": producer}
    trace = replay_on(server, workers, "B A C C", partial=True)
    assert trace.steps[2].notes[0].startswith("B's BLPOP")
    assert trace.steps[3].notes[0].startswith("A's BLPOP")


def test_a_waiter_that_crashes_is_not_served(server):
    workers = {"A": consumer, "B": consumer, "C": producer}
    trace = replay_on(server, workers, "A B A! C", partial=True)
    assert trace.steps[3].notes[0].startswith("B's BLPOP")


def test_a_client_that_gives_up_is_not_served_either(server):
    def impatient(me):
        return me.client(socket_timeout=0.02, retry=None).blpop("q", 1)

    trace = replay_on(server, {"A": impatient, "C": producer}, "A t C", partial=True)
    assert trace.pending["A"].reason.startswith("TimeoutError")
    assert trace.steps[2].transition.after["q"].text == "[C]"


def test_whoever_waits_for_ever_is_stuck_there_too(server):
    trace = replay_on(server, lambda me: me.redis.blpop("q", 0), "A B",
                      check=lambda lab: f"{lab.outcome}")  # fmt: skip
    assert trace.broken == "{'A': 'stuck', 'B': 'stuck'}"
    assert trace.about_to == "A waits in BLPOP q 0 for ever · B waits in BLPOP q 0 for ever"


def test_several_keys_at_once_are_not_modelled_because_servers_differ():
    def both(me):
        me.redis.pipeline().rpush("a", 1).rpush("b", 2).execute()

    with pytest.raises(LabkitError, match="Which of them it gets differs between servers"):
        replay({"A": lambda me: me.redis.blpop(["a", "b"]), "B": both}, "A B")
