"""What is printed and what fails in a test: always with the line that shows it again."""

import re

import pytest

import labkit
from labkit import assert_holds, explore, mutual_exclusion, no_lost_update, replay, simulate
from labkit.cases.account import account, money_is_right
from tests.sim.programs import anything, lease, look_then_take, without_lock


def line_that_shows_it_again(text):
    return re.search(r"^(replay|simulate)\(.*\)$", text, re.MULTILINE)[0]


def other_account(lab):
    lab.redis.set("balance", 50)


MAPPING = {"A": without_lock, "C": lease}

VIOLATED = [
    (look_then_take, {"check": mutual_exclusion}),
    (lease, {"check": mutual_exclusion, "workers": "ABC"}),
    (without_lock, {"check": money_is_right, "setup": account, "workers": "AC"}),
    (without_lock, {"check": [no_lost_update.on("bal*"), money_is_right], "setup": account}),
    (lease, {"check": labkit.freed_after_crash.on("work"), "faults": "!?~"}),
]


@pytest.mark.parametrize("worker, arguments", VIOLATED)
def test_a_failing_test_shows_schedule_trace_and_a_line_that_really_replays_it(worker, arguments):
    with pytest.raises(AssertionError) as caught:
        assert_holds(worker, **arguments)
    text = str(caught.value)
    found = explore(worker, **arguments)
    assert f"Broken by {found.counterexample.schedule}: {found.counterexample.reason}" in text
    assert str(found.counterexample.trace) in text
    again = eval(line_that_shows_it_again(text), {**vars(labkit), **globals(), "replay": replay})
    assert again == found.counterexample.trace


def test_a_mapping_of_workers_can_be_shown_again_too():
    found = explore({"A": without_lock, "C": look_then_take}, check=no_lost_update, setup=account)
    assert found.verdict == "holds within bounds"
    trace = replay(MAPPING, "C A", setup=account, partial=True)
    assert (
        trace.call == 'replay({"A": without_lock, "C": lease}, "C A", setup=account, partial=True)'
    )
    assert eval(trace.call) == trace


def test_what_holds_passes_and_returns_the_exploration():
    found = assert_holds(lease, check=mutual_exclusion, pauses=0)
    assert found.verdict == "holds within bounds"


@pytest.mark.parametrize("bound", [{"moves_max": 2}, {"states_max": 3}, {"seconds_max": 0}])
def test_giving_up_is_not_passing(bound):
    with pytest.raises(AssertionError, match="gave up"):
        assert_holds(lease, check=mutual_exclusion, pauses=0, **bound)


def test_doing_nothing_is_not_passing():
    def never(me):
        raise RuntimeError("no")

    with pytest.raises(AssertionError, match="The work was done in 0 of them"):
        assert_holds(never, check=mutual_exclusion)


def test_holding_says_what_was_tried_and_what_was_not():
    found = explore(lease, check=mutual_exclusion, workers="AB", pauses=0)
    assert str(found).splitlines() == [
        "Rule: At most one worker is in the critical section.",
        "Verdict: holds within bounds: no failing schedule among 6 "
        "(2 workers, no pauses, no faults).",
        "Not tried: pauses, lost replies, lost requests, crashes, failover, a third worker.",
        "The work was done in 6 of them.",
    ]
    tried = str(explore(lease, check=anything, workers="ABC", pauses=2, faults={"?": 2, "!": 1}))
    assert "(3 workers, 2 pauses, 2 lost replies, 1 crash)" in tried
    assert "Not tried: lost requests, failover, a fourth worker" in tried


def test_a_share_is_not_called_a_likelihood():
    found = explore(without_lock, check=money_is_right, setup=account, pauses=0)
    assert "violated in 4 of 6 schedules" in str(found)
    assert "A share of schedules is not a likelihood" in str(found)
    assert "%" not in str(found)


def test_the_work_counts_where_a_section_was_left():
    """A worker that only finds the lock taken returns, but has done no work."""

    def refused(me):
        if me.redis.set("lock", me.name, nx=True) and me.redis.get("never"):
            with me.critical_section():
                pass
        return "busy"

    found = explore(refused, check=anything, pauses=0)
    assert (found.schedules, found.worked) == (4, 4)  # no section was entered: who returned counts
    found = explore(lease, check=anything, pauses=0, faults="!")
    assert 0 < found.worked < found.schedules


def test_what_workers_raised_is_counted_by_schedules_and_listed_in_a_fixed_order():
    def raises(me):
        me.redis.get("k")
        raise ValueError("same")

    def raises_its_name(me):
        me.redis.get("k")
        raise ValueError(me.name)

    assert dict(explore(raises, check=anything).raised) == {"ValueError: same": 2}
    found = explore(raises_its_name, check=anything, workers="ABC")
    assert list(found.raised.items()) == [(f"ValueError: {letter}", 6) for letter in "ABC"]


# -- chosen moves ----------------------------------------------------------------------------------


def works(me):
    if not me.redis.set("lock", me.name, nx=True, px=100):
        return "busy"
    with me.critical_section():
        me.work(0.05)
        me.redis.incr("work")
    me.redis.delete("lock")
    return "done"


def moves_and_times(trace):
    return " ".join(f"{step.move}@{step.at_ms}" for step in trace.steps)


def test_earliest_runs_whoever_is_ready_in_name_order_and_lets_time_pass_only_then():
    trace = simulate(works, workers="CAB")
    assert moves_and_times(trace) == "C@0 A@0 B@0 t@50 C@50 C@50"
    assert moves_and_times(simulate(works, workers="ABC")) == "A@0 B@0 C@0 t@50 A@50 A@50"


def test_without_a_pause_a_simulation_is_a_schedule_like_any_other():
    trace = simulate(works)
    assert trace.complete
    assert replay(works, trace.schedule).steps == trace.steps


def test_a_pause_freezes_one_worker_after_so_many_steps_for_so_long():
    trace = simulate(works, pause=("A", 2, 0.2), check=mutual_exclusion)
    assert moves_and_times(trace) == "A@0 B@0 t@50 A@50 t@101 t@250 A@250"
    # Until then everybody else runs on, and so does the clock.
    assert simulate(works, pause=("A", 1, 0.06)).steps[-1].at_ms == 60


def test_a_pause_beyond_the_lease_lets_the_other_in():
    def retries(me):
        for _ in range(3):
            if lease(me) == "done":
                return "done"
            me.sleep(0.06)

    calm = simulate(retries, check=mutual_exclusion)
    assert calm.broken is None
    paused = simulate(retries, pause=("A", 1, 0.2), check=mutual_exclusion)
    assert paused.broken == "A and B are both inside"
    short = simulate(retries, pause=("A", 1, 0.05), check=mutual_exclusion)
    assert short.broken is None


def test_a_simulation_with_a_pause_is_shown_again_by_simulate():
    trace = simulate(works, pause=("A", 1, 0.06))
    assert trace.call == "simulate(works, pause=('A', 1, 0.06))"
    assert eval(trace.call) == trace


def test_a_pause_needs_a_worker_that_exists():
    with pytest.raises(labkit.LabkitError, match="there is no worker Q"):
        simulate(works, pause=("Q", 1, 1))


def test_any_function_of_the_execution_can_choose():
    def backwards(execution):
        ready = [move for move in execution.enabled() if move.kind in ("", "t")]
        return max(ready, key=str, default=None) if ready else None

    trace = simulate(without_lock, strategy=backwards, setup=account)
    assert str(trace.schedule) == "B B A A"
    assert trace.call == "simulate(without_lock, setup=account, strategy=backwards)"
