"""Replay is strict, and what each move does is exactly what the specification says."""

import pytest
import redis

from labkit import LabkitError, Schedule, ScheduleError, explore, mutual_exclusion, replay
from labkit.cases.account import account, money_is_right
from labkit.sim.schedule import Move
from tests.sim.programs import anything, lease, look_then_take, without_lock


def steps(trace):
    return [(str(s.move), s.at_ms, s.command, s.reply) for s in trace.steps]


def notes(trace):
    return [note for step in trace.steps for note in step.notes]


# -- strictness ------------------------------------------------------------------------------------


def test_a_partial_schedule_shows_what_everybody_is_about_to_do():
    trace = replay(without_lock, "A B", setup=account, partial=True)
    assert trace.about_to == "A is about to: SET balance 70 · B is about to: SET balance 70"
    assert str(trace).splitlines() == [
        "#  move  at    command      reply",
        '1  A     0 ms  GET balance  "100"',
        '2  B     0 ms  GET balance  "100"',
        "A is about to: SET balance 70 · B is about to: SET balance 70",
    ]
    assert not trace.complete


def test_a_schedule_that_stops_early_is_an_error_unless_partial():
    with pytest.raises(ScheduleError) as caught:
        replay(without_lock, "A B", setup=account)
    assert str(caught.value) == (
        'The schedule "A B" stops before everybody has ended. A is about to: SET balance 70 · '
        "B is about to: SET balance 70. Possible: A B (and the faults A- A? A~ A! B- B? B~ B! d). "
        "Or say partial=True."
    )
    assert caught.value.move_number == 3


def test_a_complete_schedule_may_also_be_called_partial():
    assert replay(without_lock, "A A B B", setup=account, partial=True).complete


def test_the_schedule_may_be_text_or_moves():
    text = "A B A B"
    assert replay(without_lock, text, setup=account) == replay(
        without_lock, Schedule.parse(text), setup=account
    )
    made = [Move("", letter) for letter in "ABAB"]
    assert replay(without_lock, made, setup=account).schedule == Schedule.parse(text)


@pytest.mark.parametrize(
    "schedule, number, reason, enabled",
    [
        ("A A A", 3, "A has ended (returned True)", ("B", "B-", "B?", "B~", "B!", "f", "d")),
        ("A t", 2, "no key expires and nobody sleeps, so there is nothing that time could change",
         ("A", "A-", "A?", "A~", "A!", "B", "B-", "B?", "B~", "B!", "d")),
        ("A C", 2, "there is no worker C, only A, B",
         ("A", "A-", "A?", "A~", "A!", "B", "B-", "B?", "B~", "B!", "d")),
        ("A A! A", 3, "A has ended (crashed)", ("B", "B-", "B?", "B~", "B!", "d")),
        ("A A B B A", 5, "A has ended (returned True)", ()),
    ],
)  # fmt: skip
def test_a_move_that_is_not_enabled_says_why_and_what_is(schedule, number, reason, enabled):
    with pytest.raises(ScheduleError) as caught:
        replay(without_lock, schedule, setup=account)
    error = caught.value
    assert (error.move_number, error.enabled) == (number, enabled)
    assert f'Move {number}, "{Schedule.parse(schedule)[-1]}", is not possible' in str(error)
    assert reason in str(error)
    plain = " ".join(move for move in enabled if move in "AB")
    faults = " ".join(move for move in enabled if move not in "AB")
    possible = f"Possible: {plain} (and the faults {faults})."
    assert str(error).endswith(possible if enabled else "Nothing is possible: all have ended.")


def test_a_sleeper_cannot_move_and_the_error_says_until_when():
    def sleeper(me):
        me.redis.incr("n")
        me.sleep(0.25)
        me.redis.incr("n")

    for move in ("A", "A?", "A~"):
        with pytest.raises(ScheduleError, match=r"A sleeps for 250 ms, until 250 ms\. Possible: B"):
            replay(sleeper, f"A {move}")


def test_replay_stops_being_strict_about_the_end_once_the_rule_is_broken():
    """A counterexample ends where the rule breaks, usually before everybody has ended."""
    trace = replay(look_then_take, "A B A B", check=mutual_exclusion)
    assert trace.broken == "A and B are both inside"
    assert not trace.complete


def test_moves_after_the_end_are_refused():
    with pytest.raises(ScheduleError, match='Move 3, "t".* all workers have ended. Nothing is'):
        replay(lease, "A A! t", workers="A")


# -- lost replies, lost requests, crashes ----------------------------------------------------------


def test_a_lost_reply_and_a_lost_request_differ_in_the_store_only():
    def worker(me):
        try:
            me.redis.incr("n")
        except Exception as error:
            return type(error), str(error)

    lost_reply, lost_request = (
        replay(worker, schedule, workers="A", check=reads("n")) for schedule in ("A?", "A~")
    )
    assert lost_reply.pending == lost_request.pending
    assert lost_reply.pending["A"].value[0] is redis.TimeoutError
    assert lost_reply.broken == "n is 1"
    assert lost_request.broken == "n is None"
    assert steps(lost_reply) == [("A?", 0, "INCRBY n 1", "(reply lost)")]
    assert steps(lost_request) == [("A~", 0, "INCRBY n 1", "(request lost)")]
    assert lost_reply.spoken == "A runs INCRBY n 1, and the reply is lost."
    assert lost_request.spoken == "A's INCRBY n 1 does not arrive."


def reads(key):
    return lambda lab: f"{key} is {lab.redis.get(key)}"


def test_a_time_out_is_felt_at_once_by_me_redis():
    trace = replay(without_lock, "A? B B", setup=account)
    assert [step.at_ms for step in trace.steps] == [0, 0, 0]
    assert trace.pending["A"].how == "raised"


def test_a_worker_can_go_on_after_a_time_out():
    def stubborn(me):
        try:
            me.redis.incr("n")
        except redis.TimeoutError:
            me.note("no answer")
        return me.redis.incr("n")

    assert replay(stubborn, "A? A", workers="A").pending["A"].value == 2
    assert replay(stubborn, "A~ A", workers="A").pending["A"].value == 1
    assert "no answer" in notes(replay(stubborn, "A~ A", workers="A"))


def test_nothing_of_a_crashed_worker_reaches_a_server():
    def worker(me):
        try:
            me.redis.set("lock", me.name)
            me.redis.incr("n")
        finally:
            me.redis.delete("lock")
            me.redis.set("cleaned", "up")

    trace = replay(worker, "A A! B B B B", check=lambda lab: str(lab.redis.keys()))
    assert trace.broken == "['cleaned', 'n']"  # B's; A's lock was deleted by B
    alone = replay(worker, "A A!", workers="A", check=lambda lab: str(lab.redis.keys()))
    assert alone.broken == "['lock']"
    assert alone.spoken == "A runs SET lock A; A dies before INCRBY n 1, which never reaches Redis."


def test_a_worker_can_crash_while_it_sleeps():
    def worker(me):
        me.redis.set("lock", me.name, px=100)
        try:
            me.sleep(0.05)
        finally:
            me.redis.delete("lock")

    trace = replay(worker, "A A!", workers="A", check=reads("lock"))
    assert trace.broken == "lock is A"
    assert trace.pending["A"].how == "crashed"
    assert trace.spoken.endswith("A dies while it waits.")


def test_a_worker_can_crash_before_its_first_command_and_after_a_pause():
    assert replay(lease, "A! B!").complete
    trace = replay(lease, "A t A!", workers="A")
    assert notes(trace) == ["A enters the critical section", "lock expires", "A has crashed"]


def test_a_crashed_process_is_gone_with_the_section_it_was_in():
    trace = replay(lease, "A A! t B B B", check=mutual_exclusion)
    assert trace.broken is None


# -- time ------------------------------------------------------------------------------------------


def test_a_key_with_px_100_exists_at_100_and_is_gone_at_101():
    def setter(me):
        me.redis.set("lock", "x", px=100)

    def at(ms):
        def reader(me):
            me.sleep(ms / 1000)
            return me.redis.get("lock"), me.redis.pttl("lock")

        return replay({"A": setter, "B": reader}, "A t B B").pending["B"].value

    def late(me):
        me.sleep(0.05)
        me.sleep(0.051)
        return me.redis.get("lock")

    assert at(99) == ("x", 1)
    assert at(100) == ("x", 0)
    assert replay({"A": setter, "B": late}, "A t t B").pending["B"].value is None


def test_t_goes_to_the_deadline_of_a_lease_which_is_its_expiry_and_one_millisecond():
    trace = replay(lease, "A t", workers="A", partial=True)
    assert steps(trace)[1] == ("t", 101, "(time passes to 101 ms)", "")
    assert trace.steps[1].notes == ("lock expires",)
    assert trace.steps[1].spoken == "time passes to 101 ms (lock expires)"


@pytest.mark.parametrize("command", ["psetex", "pexpire", "set", "setex", "expire", "pexpireat"])
def test_every_way_to_give_a_ttl_ends_in_the_same_millisecond(command):
    def worker(me):
        if command == "psetex":
            me.redis.execute_command("PSETEX", "k", 2000, "v")
        elif command == "setex":
            me.redis.execute_command("SETEX", "k", 2, "v")
        elif command == "set":
            me.redis.set("k", "v", px=2000)
        else:
            me.redis.set("k", "v")
            when = (
                1_767_225_602_000 if command == "pexpireat" else 2 if command == "expire" else 2000
            )
            getattr(me.redis, command)("k", when)
        me.redis.get("k")

    before = "A" if command in ("psetex", "setex", "set") else "A A"
    trace = replay(worker, f"{before} t", workers="A", partial=True)
    assert trace.steps[-1].at_ms == 2001


def test_everything_due_at_one_instant_happens_at_once_and_wakes_in_name_order():
    def sleeper(me):
        me.redis.set(f"lease of {me.name}", 1, px=99)
        me.sleep(0.1)
        me.note(f"{me.name} is awake")
        me.redis.incr("n")

    trace = replay(sleeper, "C A B t B C A", workers="ABC")
    assert trace.steps[3].at_ms == 100
    assert trace.steps[3].notes == (
        "lease of A expires", "lease of B expires", "lease of C expires",
        "A wakes", "B wakes", "C wakes",
        "A is awake", "B is awake", "C is awake",
    )  # fmt: skip


def test_each_t_stops_at_the_next_deadline_only():
    def worker(me):
        me.redis.set("a", 1, px=50)
        me.redis.set("b", 1, px=80)
        me.sleep(0.1)

    trace = replay(worker, "A A t t t", workers="A")
    assert [step.at_ms for step in trace.steps] == [0, 0, 51, 81, 100]


def test_who_wakes_runs_on_to_its_next_command_without_a_move():
    def worker(me):
        me.sleep(0.1)
        me.note("between")
        me.redis.incr("n")

    trace = replay(worker, "t A", workers="A")
    assert trace.steps[0].notes == ("A wakes", "between")


def test_a_sleep_that_starts_at_waking_counts_from_then():
    def worker(me):
        me.sleep(0.1)
        me.work(0.1)
        return me.now()

    trace = replay(worker, "t t", workers="A")
    assert [step.at_ms for step in trace.steps] == [100, 200]
    assert trace.pending["A"].value == 0.2


def test_t_is_free_when_nobody_can_run_and_a_pause_otherwise():
    def worker(me):
        me.sleep(0.1)
        me.redis.incr("n")
        me.sleep(0.1)

    assert explore(worker, check=anything, workers="A", pauses=0).schedules == 1
    # t wakes both at 100; A, B in either order; t wakes both at 200. A pause changes the middle:
    # A moves, sleeps until 200, and time passes while B could run.
    assert explore(worker, check=anything, workers="AB", pauses=0).schedules == 2
    assert explore(worker, check=anything, workers="AB", pauses=1).schedules == 4


def test_a_pause_needs_a_deadline():
    assert explore(without_lock, check=anything, setup=account, pauses=0).schedules == 6
    assert explore(without_lock, check=anything, setup=account, pauses=5).schedules == 6


def test_no_time_passes_once_all_have_ended():
    def worker(me):
        me.redis.set("k", 1, px=100)

    found = explore(worker, check=lambda lab: None if lab.now_ms == 0 else "late", pauses=0)
    assert (found.schedules, found.violating) == (2, 0)


def test_a_check_at_the_end_is_not_asked_before_the_end():
    trace = replay(without_lock, "A A B", setup=account, check=money_is_right, partial=True)
    assert trace.broken is None
    assert replay(without_lock, "A B A B", setup=account, check=money_is_right).broken


def test_workers_by_letter_may_be_different_functions():
    trace = replay({"A": without_lock, "Z": lease}, "Z A Z A Z", setup=account)
    assert trace.letters == ("A", "Z")
    assert trace.pending["Z"].value == "done"


def test_a_trace_is_text_without_addresses_and_compares_by_value():
    first, second = (replay(lease, "A A t B A B B") for _ in range(2))
    assert first == second
    assert str(first) == str(second) == repr(first)
    assert "0x" not in str(first)
    assert str(first).splitlines()[1:2] == [
        "1  A     0 ms    SET lock A-1 NX PX 100              OK     A enters the critical section"
    ]


def test_a_trace_cannot_be_saved_in_a_format_that_is_not_known(tmp_path):
    with pytest.raises(LabkitError, match="saved as"):
        replay(lease, "A A A", workers="A").save(tmp_path / "trace.gif")
