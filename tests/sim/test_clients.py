"""redis-py, unmodified: what is a move, what is none, and what a time-out feels like."""

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit import LabkitError, NotModelled, ScheduleError, explore, mutual_exclusion, replay
from tests.sim.programs import anything


def alone(worker, schedule, **settings):
    return replay(worker, schedule, workers="A", **settings)


def commands(trace):
    return [step.command for step in trace.steps]


# -- retries and time-outs -------------------------------------------------------------------------


def test_me_redis_never_resends():
    def worker(me):
        return me.redis.set("lock", me.name, nx=True)

    assert alone(worker, "A?").pending["A"].how == "raised"


def test_with_redis_pys_defaults_each_resend_is_a_move():
    """The client waits for its reply, backs off, and is then told that its own lock is taken."""

    def worker(me):
        return me.client().set("lock", me.name, nx=True)

    trace = alone(worker, "A? t t A")
    assert commands(trace)[::3] == ["SET lock A NX", "SET lock A NX"]
    assert (
        trace.steps[1].at_ms
        == 1000 * redis.Redis().connection_pool.connection_kwargs["socket_timeout"]
    )
    assert trace.pending["A"].value is None
    assert alone(worker, "A~ t t A").pending["A"].value is True


def test_a_client_with_a_socket_timeout_feels_it_after_that_time():
    def worker(me):
        client = me.client(socket_timeout=0.2, retry=Retry(NoBackoff(), 0))
        try:
            client.incr("n")
        except redis.TimeoutError:
            return me.now()

    trace = alone(worker, "A~", partial=True)
    assert trace.about_to == "A waits for a reply for 200 ms"
    assert alone(worker, "A~ t").pending["A"].value == 0.2
    with pytest.raises(ScheduleError, match="A waits for a reply for 200 ms, until 200 ms"):
        alone(worker, "A~ A")


def test_while_one_waits_for_its_reply_the_others_go_on():
    def patient(me):
        try:
            me.client(socket_timeout=1, retry=None).set("k", "A")
        except redis.TimeoutError:
            return me.redis.get("k")

    def other(me):
        me.redis.set("k", "B")

    trace = replay({"A": patient, "B": other}, "A? B t A")
    assert trace.pending["A"].value == "B"


def test_a_retrying_client_ends_when_its_retries_are_used_up():
    def worker(me):
        client = me.client(socket_timeout=0.1, retry=Retry(NoBackoff(), 2))
        client.incr("n")

    trace = alone(worker, "A? t A~ t A? t")
    assert trace.pending["A"].reason.startswith("TimeoutError")
    found = explore(worker, check=anything, workers="A", faults={"?": 3})
    # 0, 1 or 2 lost replies and a success, or three lost replies and an error
    assert (found.schedules, sum(found.raised.values())) == (4, 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"decode_responses": True},
        {"decode_responses": True, "db": 3},
        {"decode_responses": True, "host": "redis.invalid", "port": 1},
        {"decode_responses": True, "client_name": "me", "username": "u", "password": "p"},
        {"decode_responses": True, "single_connection_client": True},
        {"decode_responses": True, "max_connections": 1},
        {"decode_responses": True, "retry_on_error": [redis.ConnectionError]},
        {"decode_responses": True, "socket_timeout": None, "socket_connect_timeout": 1},
    ],
)
def test_any_setting_of_redis_py_is_accepted_and_connecting_is_no_move(settings):
    def worker(me):
        client = me.client(**settings)
        client.set("k", "v")
        return client.get("k")

    assert alone(worker, "A A").pending["A"].value == "v"


def test_a_client_answers_in_bytes_unless_asked_for_text():
    def worker(me):
        me.redis.set("k", "v")
        return me.redis.get("k"), me.client().get("k")

    assert alone(worker, "A A A").pending["A"].value == ("v", b"v")


def test_databases_are_apart():
    def worker(me):
        me.client(db=1).set("k", "v")
        return me.redis.get("k")

    assert alone(worker, "A A").pending["A"].value is None


@pytest.mark.parametrize("settings", [{"protocol": 3}, {"health_check_interval": 10}])
def test_settings_that_are_not_modelled_are_refused(settings):
    def worker(me):
        me.client(**settings).get("k")

    with pytest.raises(NotModelled):
        alone(worker, "A")


def test_what_one_worker_sets_on_its_client_nobody_else_sees():
    def odd(me):
        me.redis.set_response_callback("GET", lambda reply, **_: "odd")
        return me.redis.get("k")

    def even(me):
        return me.redis.get("k")

    trace = replay({"A": odd, "B": even}, "A B")
    assert (trace.pending["A"].value, trace.pending["B"].value) == ("odd", None)


# -- pipelines, transactions, scripts --------------------------------------------------------------


def test_a_plain_pipeline_is_one_move_per_command():
    def worker(me):
        return me.redis.pipeline(transaction=False).set("a", 1).incr("a").get("a").execute()

    trace = alone(worker, "A A A")
    assert commands(trace) == ["SET a 1", "INCRBY a 1", "GET a"]
    assert trace.pending["A"].value == [True, 2, "2"]


def test_others_move_between_the_commands_of_a_plain_pipeline():
    def worker(me):
        return me.redis.pipeline(transaction=False).incr("a").incr("a").execute()

    trace = replay(worker, "A B A B")
    assert (trace.pending["A"].value, trace.pending["B"].value) == ([1, 3], [2, 4])


def transaction(me):
    return me.redis.pipeline().incr("a").incr("a").execute()


def test_a_transaction_is_one_move():
    trace = replay(transaction, "B A")
    assert commands(trace) == ["MULTI; INCRBY a 1; INCRBY a 1; EXEC"] * 2
    assert trace.steps[0].reply == "[1, 2]"
    assert trace.pending["A"].value == [3, 4]


def test_a_lost_reply_to_a_transaction_means_all_was_executed_and_a_lost_request_nothing():
    for schedule, value in (("A?", "2"), ("A~", None)):
        trace = alone(transaction, schedule, check=lambda lab: f"a is {lab.redis.get('a')}")
        assert trace.broken == f"a is {value}"
        assert isinstance(trace.pending["A"].error, redis.TimeoutError)


def optimistic(me):
    with me.redis.pipeline() as pipe:
        pipe.watch("a")
        before = pipe.get("a") or ""
        pipe.multi()
        pipe.set("a", before + me.name)
        try:
            pipe.execute()
        except redis.WatchError:
            return "conflict"
        return "done"


def test_watch_is_a_move_and_a_change_in_between_aborts_the_transaction():
    trace = replay(optimistic, "A B A B A B")
    assert commands(trace)[::2] == ["WATCH a", "GET a", "MULTI; SET a A; EXEC"]
    assert [trace.pending[letter].value for letter in "AB"] == ["done", "conflict"]
    assert trace.steps[-1].reply == "(nil)"


def test_watch_notices_expiry_as_redis_does_since_6_0_9():
    def holder(me):
        me.redis.set("a", "x", px=100)

    trace = replay({"A": optimistic, "B": holder}, "B A A t A")
    assert trace.pending["A"].value == "conflict"


def test_in_no_schedule_does_a_watched_update_get_lost():
    def all_that_is_done_is_there(lab):
        done = sorted(w for w, answer in lab.returned.items() if answer == "done")
        there = sorted(lab.redis.get("a") or "")
        return None if done == there else f"done {done}, there {there}"

    found = explore(optimistic, check=all_that_is_done_is_there, workers="ABC", pauses=0)
    assert found.schedules == 1_680  # 9! / 3!**3
    assert found.verdict == "holds within bounds"


def test_a_watch_ends_with_its_transaction_and_with_its_connection():
    def twice(me):
        return optimistic(me), optimistic(me)

    trace = replay(twice, "A A A A A A", workers="A")
    assert trace.pending["A"].value == ("done", "done")


def test_a_script_is_one_move_and_loading_it_is_none():
    def worker(me):
        script = me.redis.register_script("-- twice\nreturn 2 * redis.call('INCR', KEYS[1])")
        return script(keys=["n"]), script(keys=["n"]), script.sha

    trace = alone(worker, "A A")
    assert commands(trace) == ["EVAL <twice> n"] * 2
    assert trace.pending["A"].value[:2] == (2, 4)


def test_a_script_that_is_not_loaded_is_answered_without_a_move():
    def worker(me):
        try:
            me.redis.evalsha("0" * 40, 0)
        except redis.exceptions.NoScriptError:
            return me.redis.incr("n")

    assert commands(alone(worker, "A")) == ["INCRBY n 1"]


def test_what_belongs_to_the_connection_is_no_move():
    def worker(me):
        me.redis.client_setname("me")
        me.redis.select(0)
        me.redis.script_load("return 1")
        assert me.redis.script_exists("0" * 40) == [False]
        return me.redis.incr("n")

    assert commands(alone(worker, "A")) == ["INCRBY n 1"]


def test_the_replies_of_sets_and_keys_are_in_order():
    def worker(me):
        me.redis.sadd("s", *"zxyabc")
        me.redis.sadd("t", "q")
        return me.redis.execute_command("SMEMBERS", "s"), me.redis.keys()

    trace = alone(worker, "AAAA")
    assert trace.steps[2].reply == '["a", "b", "c", "x", "y", "z"]'
    assert trace.steps[3].reply == '["s", "t"]'


# -- redis-py's Lock -------------------------------------------------------------------------------


def without_waiting(me):
    lock = me.redis.lock("lock", timeout=10, blocking=False)
    if not lock.acquire():
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    lock.release()
    return "done"


def with_waiting(me):
    lock = me.redis.lock("lock", timeout=10, blocking_timeout=0.25, sleep=0.1)
    if not lock.acquire():
        return "busy"
    with me.critical_section():
        me.redis.incr("work")
    lock.release()
    return "done"


def test_redis_pys_lock_excludes_while_nobody_pauses():
    found = explore(without_waiting, check=mutual_exclusion, workers="ABC", pauses=0)
    # A wins: 3! orders with both refused, 2 * 2 with one refused, 6 with none; and B or C may win
    assert (found.schedules, found.violating) == (3 * (6 + 4 + 6), 0)
    assert found.worked == found.schedules


def test_a_pause_beyond_its_timeout_lets_two_in_and_the_release_tells_the_first():
    found = explore(without_waiting, check=mutual_exclusion, pauses=1)
    assert str(found.counterexample.schedule) == "A t B"
    trace = replay(without_waiting, "A t B A A B B")
    assert trace.pending["A"].reason.startswith("LockNotOwnedError")
    assert trace.pending["B"].value == "done"


def test_its_release_leaves_nothing_behind():
    def nothing_left(lab):
        return None if lab.redis.get("lock") is None else "the lock is still there"

    found = explore(without_waiting, check=nothing_left, pauses=0)
    assert (found.schedules, found.violating) == (6, 0)


def test_a_waiting_lock_has_finitely_many_schedules_and_always_the_same():
    first, second = (
        explore(with_waiting, check=mutual_exclusion, workers="AB", pauses=0) for _ in range(2)
    )
    assert first == second
    assert (first.schedules, first.violating) == (6, 0)
    paused = explore(with_waiting, check=mutual_exclusion, workers="AB", pauses=1)
    assert paused.verdict == "violated"
    assert str(paused.counterexample.schedule) == "A t B"


def test_a_waiting_lock_polls_until_its_time_is_up():
    trace = replay(with_waiting, "A B t B t B", partial=True)
    assert [step.at_ms for step in trace.steps] == [0, 0, 100, 100, 200, 200]
    assert trace.pending["B"].value == "busy"


def test_its_tokens_are_the_same_in_every_run_and_differ_between_workers():
    (first, second), (again, _) = (
        [step.command.split()[2] for step in replay(without_waiting, "A B", partial=True).steps]
        for _ in range(2)
    )
    assert first == again != second


def test_a_transaction_in_two_sends_is_refused():
    def worker(me):
        me.redis.execute_command("MULTI")

    with pytest.raises(NotModelled, match="use a pipeline"):
        alone(worker, "A")


def test_errors_of_the_server_are_redis_pys_own():
    def worker(me):
        me.redis.set("k", "text")
        me.redis.incr("k")

    trace = alone(worker, "A A")
    assert isinstance(trace.pending["A"].error, redis.ResponseError)
    assert trace.steps[1].reply == "(error) ERR value is not an integer or out of range"


def test_labkit_errors_are_not_eaten_by_the_workers_own_handlers():
    def worker(me):
        try:
            me.redis.execute_command("WAIT", 1, 0)
        except Exception:
            return "survived"

    with pytest.raises(LabkitError, match="WAIT"):
        alone(worker, "A")
