"""Late replies and requests, failover, eviction, a server that is down: one schedule each."""

import pytest
import redis

from labkit import (
    ScheduleError,
    explore,
    locks,
    mutual_exclusion,
    no_shared_number,
    replay,
)
from tests.sim.programs import anything, counting, lease


def take(me):
    """SET NX PX, one command in the section; the key stays."""
    if me.redis.set("lock", me.name, nx=True, px=100):
        with me.critical_section():
            me.redis.incr("work")
        return "done"
    return "busy"


def number(me):
    """A fencing number from INCR."""
    me.event("granted", number=me.redis.incr("fence"))


# -- late replies ----------------------------------------------------------------------------------


def test_a_late_reply_is_executed_at_once_and_told_by_the_next_move():
    trace = replay(take, "A- B A A")
    assert [step.reply for step in trace.steps] == ["(reply on its way)", "(nil)", "", "1"]
    assert trace.steps[2].command == "(the reply arrives)"
    assert trace.steps[2].notes[0] == "A's SET lock A NX PX 100 is answered: OK"
    assert [trace.pending[letter].value for letter in "AB"] == ["done", "busy"]
    assert trace.spoken.startswith(
        "A runs SET lock A NX PX 100, and the reply is on its way; B runs SET lock B NX PX 100; "
        "the reply reaches A; "
    )


def test_nothing_else_can_happen_to_a_reply_that_is_on_its_way():
    for move in ("A?", "A~", "A-"):
        with pytest.raises(ScheduleError, match="A waits for the reply to SET lock A NX PX 100. "):
            replay(take, f"A- {move}")
    assert str(replay(take, "A- A! B").pending["A"]) == "crashed"


def test_a_client_with_a_time_out_does_not_wait_for_ever():
    def worker(me):
        client = me.client(socket_timeout=0.2, retry=None)
        try:
            return client.set("lock", "A")
        except redis.TimeoutError:
            return "time-out"

    late = replay(worker, "A- t", workers="A")
    assert (late.steps[1].at_ms, late.pending["A"].value) == (200, "time-out")
    assert late.steps[1].notes[0] == "A's client gives up waiting for SET lock A"
    assert replay(worker, "A- A", workers="A").pending["A"].value is True


def test_the_validity_of_a_lease_counts_from_when_it_was_asked_for():
    """The server starts the clock before the reply arrives; counted from there, two are inside."""

    def worker(me, from_the_reply=False):
        lock = locks.OwnerCheckedRenewal(me.redis, "lock", ttl_ms=100, token=me.token)
        got = lock.acquire()
        if not isinstance(got, locks.Acquired):
            return "busy"
        remaining_ms = got.grant.ttl_ms if from_the_reply else got.grant.remaining_ms()
        if remaining_ms > 0:
            with me.critical_section():
                me.sleep(remaining_ms / 1000)
        return "done"

    def naive(me):
        return worker(me, from_the_reply=True)

    bounds = {"check": mutual_exclusion, "faults": "-", "pauses": 2}
    wrong = explore(naive, **bounds)
    assert (wrong.verdict, str(wrong.counterexample.schedule)) == ("violated", "A- t A B")
    right = explore(worker, **bounds)
    assert right.verdict == "holds within bounds"
    assert right.worked and not right.raised
    assert explore(naive, check=mutual_exclusion, pauses=0).verdict == "holds within bounds"


# -- late requests ---------------------------------------------------------------------------------


def test_a_delayed_request_arrives_after_all_and_nobody_is_told():
    trace = replay(counting(1), "A~ A^ B", partial=True)
    assert [step.command for step in trace.steps[:2]] == ['INCRBY "counter of A" 1'] * 2
    assert [step.reply for step in trace.steps[:2]] == ["(request lost)", "1"]
    assert trace.pending["A"].how == "raised"


def test_the_oldest_delayed_request_comes_first():
    def worker(me):
        for value in ("one", "two"):
            try:
                me.redis.set("key", value)
            except redis.TimeoutError:
                pass
        me.redis.get("key")
        me.redis.get("key")

    trace = replay(worker, "A~ A~ A^ A A^ A", workers="A")
    assert [trace.steps[n].reply for n in (3, 5)] == ['"one"', '"two"']


def test_a_delete_that_is_sent_again_may_arrive_twice():
    """The second time it frees the lock of somebody else: DEL does not ask whose it is."""

    def worker(me):
        if me.redis.set("lock", me.name, nx=True):
            with me.critical_section():
                me.redis.incr("work")
            try:
                me.redis.delete("lock")
            except redis.TimeoutError:
                me.redis.delete("lock")

    bounds = {"check": mutual_exclusion, "workers": "ABC", "pauses": 0}
    found = explore(worker, faults="~^", **bounds)
    assert str(found.counterexample.schedule) == "A A A~ A B A^ C"
    assert explore(worker, faults="~", **bounds).violating == 0


def test_a_crashed_workers_request_may_still_arrive():
    def worker(me):
        try:
            me.redis.incr("n")
        except redis.TimeoutError:
            me.redis.get("n")

    trace = replay(worker, "A~ A! A^ B")
    assert trace.steps[2].reply == "1"
    assert trace.steps[3].reply == "2"


def test_a_transaction_that_arrives_late_still_watches():
    def watched(me):
        with me.redis.pipeline() as pipe:
            pipe.watch("n")
            pipe.multi()
            pipe.set("n", me.name)
            try:
                pipe.execute()
            except redis.RedisError as error:
                return type(error).__name__

    def writes(me):
        me.redis.set("n", "B")
        return me.redis.get("n")

    trace = replay({"A": watched, "B": writes}, "A A~ B A^ A B")
    assert trace.pending["B"].value == "B"


# -- failover and eviction -------------------------------------------------------------------------


def test_a_failover_loses_the_last_change_and_no_more():
    trace = replay(take, "A f B A", check=mutual_exclusion, partial=True)
    assert trace.steps[1].command == "(failover: the last change is lost)"
    assert trace.steps[1].notes == ("lock is gone",)
    assert trace.broken == "A and B are both inside"
    found = explore(take, check=mutual_exclusion, faults="f", pauses=0)
    assert str(found.counterexample.schedule) == "A f B"
    assert "1 failover" in found.summary
    assert "failover" not in str(explore(take, check=anything, faults="f")).split("Not tried:")[1]


def test_a_failover_may_lose_more_than_one_change():
    trace = replay(counting(4), "A A A f A", workers="A", lag=2)
    assert trace.steps[3].command == "(failover: the last 2 changes are lost)"
    assert trace.steps[3].notes == ("counter of A is 1 again",)
    assert trace.call.endswith("lag=2)")
    found = explore(take, check=mutual_exclusion, faults="f", pauses=0, lag=3)
    assert "(a failover loses up to 3 changes)" in str(found)


def test_two_grants_share_a_number_after_a_failover():
    found = explore(number, check=no_shared_number, faults="f", pauses=0)
    assert str(found.counterexample.schedule) == "A f B"
    assert found.counterexample.reason == "B and A were both granted number 1"


def test_time_keeps_running_for_the_replica():
    """What it has seen ends when it would have ended: B's PEXPIRE is lost, A's lease is not."""

    def longer(me):
        me.redis.pexpire("lock", 500)

    trace = replay({"A": take, "B": longer}, "A B f t A")
    assert trace.steps[2].notes == ("lock expires as before",)
    assert trace.steps[3].at_ms == 101


def test_reading_and_refused_commands_change_nothing_that_could_be_lost():
    trace = replay(take, "A B f", partial=True)
    assert trace.steps[2].notes == ("lock is gone",)
    with pytest.raises(ScheduleError, match="nothing has changed in Redis since the start, or the"):
        replay(take, "A f f")


def test_an_eviction_takes_what_has_a_ttl_or_what_matches():
    assert replay(take, "A e B", partial=True).steps[1].notes == ("lock is gone",)
    by_pattern = replay(take, "A A e", evict="wo*", partial=True)
    assert by_pattern.steps[2].notes == ("work is gone",)
    assert 'evict="wo*"' in by_pattern.call
    with pytest.raises(ScheduleError, match="Redis holds no key that has a TTL"):
        replay(counting(2), "A e")
    with pytest.raises(ScheduleError, match=r'Redis holds no key that matches "x\*"'):
        replay(counting(2), "A e", evict="x*")


# -- a server that is down -------------------------------------------------------------------------


def test_while_the_server_is_down_a_command_is_a_move_and_its_reply_an_error():
    trace = replay(take, "d A u B B")
    assert trace.steps[1].reply == "(no connection)"
    assert trace.spoken.split("; ")[1] == "A's SET lock A NX PX 100 meets no server"
    assert isinstance(trace.pending["A"].error, redis.ConnectionError)
    assert trace.pending["B"].value == "done"


def test_it_comes_back_with_its_contents_and_time_has_passed():
    trace = replay(lambda me: me.sleep(0.05) or me.redis.get("key"), "t d u A", workers="A",
                   setup=lambda lab: lab.redis.set("key", "kept"))  # fmt: skip
    assert trace.pending["A"].value == "kept"
    gone = replay(counting(2), "A d t u", setup=lambda lab: lab.redis.set("x", 1, px=100),
                  partial=True)  # fmt: skip
    assert gone.steps[2].notes == ("x expires",)


def test_a_client_that_retries_gets_through_when_the_server_is_back():
    def worker(me):
        return me.client(decode_responses=True).get("key")

    trace = replay(worker, "d A t u A", workers="A", setup=lambda lab: lab.redis.set("key", "v"))
    assert trace.pending["A"].value == "v"


def test_who_waits_at_the_server_is_told_at_once():
    def pops(me):
        try:
            return me.redis.blpop("queue", 0)
        except redis.ConnectionError:
            return "told"

    for move in ("d", "f"):
        trace = replay({"A": pops, "B": counting(2)}, f"A B {move} B")
        assert trace.pending["A"].value == "told"
        assert "A's BLPOP queue 0 is ended: the connection breaks" in trace.steps[2].notes


def test_a_replica_takes_over_from_a_server_that_is_down():
    assert replay(take, "A d f B B A").pending["B"].value == "done"


def test_a_check_reads_what_a_server_that_is_down_holds():
    seen = []

    def check(lab):
        seen.append(lab.redis.get("lock"))

    replay(take, "A d A B", check=check)
    assert seen == ["A"]


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("u", "the Redis server is up; only after d can it come back"),
        ("d d", "the Redis server is down already; u brings it back"),
        ("d e", "the Redis server is down"),
        ("d A?", "the Redis server is down, so SET lock A NX PX 100 gets no further; try A, "),
        ("d A~", "the Redis server is down, so SET"),
        ("d A-", "the Redis server is down, so SET"),
        ("f", "nothing has changed in Redis since the start"),
        ("A^", "no request of A is delayed: first, A~ must have lost one"),
        ("A~ d A^", "no request of A is delayed"),
    ],
)
def test_a_move_that_is_not_possible_says_why_and_what_is(schedule, said):
    with pytest.raises(ScheduleError) as caught:
        replay(take, schedule)
    assert said in str(caught.value)
    assert "Possible: " in str(caught.value)


def test_a_command_that_waits_has_no_reply_that_could_be_late():
    with pytest.raises(ScheduleError, match="would wait, so there is no reply yet that could be l"):
        replay(lambda me: me.redis.blpop("queue", 0), "A-", workers="A")


def test_no_move_is_left_once_nobody_can_go_on():
    def pops(me):
        me.redis.blpop("queue", 0)

    for move in ("d", "B^"):
        with pytest.raises(ScheduleError, match="nobody can go on any more"):
            replay({"A": pops, "B": counting(1)}, f"A B~ {move}")


def test_faults_that_are_not_allowed_add_no_states():
    plain = explore(lease, check=mutual_exclusion, faults="?~!")
    more = explore(lease, check=mutual_exclusion, faults={"?": 1, "~": 1, "!": 1, "-": 0})
    assert (plain.states, plain.schedules) == (more.states, more.schedules)
