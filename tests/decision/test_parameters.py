"""Every formula, with numbers computed by hand."""

import math

import pytest

from labkit.decision import decide


def values(answers, id, **numbers):
    return {p.id: p.value for p in decide(answers(id, **numbers)).parameters}


def parameter(answers, name, id, **numbers):
    return next(p for p in decide(answers(id, **numbers)).parameters if p.id == name)


REPORT = {"work_p99_ms": 40_000, "work_max_ms": 70_000, "pause_ms": 10_000,
          "final_write_p99_ms": 2_000}  # fmt: skip


def test_the_report_of_the_model(answers):
    """p99 40 s, longest 70 s, pause 10 s, last write 2 s: bound 80 s, TTL 92 / 0.99 = 92.93 s."""
    found = values(answers, "S01", **REPORT)
    assert found["work_bound_ms"] == 80_000
    assert found["ttl_ms"] == 92_930  # 92,929.29 rounded up
    assert found["holder_deadline_ms"] == 90_000  # 92,930 x 0.99 - 2,000 = 90,000.7
    capped = values(answers, "S01", **REPORT, hard_cap_ms=60_000)
    assert (capped["work_bound_ms"], capped["ttl_ms"]) == (60_000, 72_728)  # 72,000 / 0.99


def test_the_longest_run_seen_wins_over_twice_the_99_percent_mark(answers):
    assert values(answers, "S01", work_p99_ms=300, work_max_ms=700)["work_bound_ms"] == 700


def test_the_way_to_redis_is_part_of_the_ttl(answers):
    assert values(answers, "S01", hard_cap_ms=980, redis_p999_ms=10)["ttl_ms"] == 1_000


def test_what_was_not_given_is_named(answers):
    ttl = parameter(answers, "ttl_ms", "S01", hard_cap_ms=99)
    assert ttl.value == 100
    assert ttl.assumed == ("pause_ms", "final_write_p99_ms", "redis_p999_ms")
    open_ = parameter(answers, "ttl_ms", "S01")
    assert (open_.value, open_.missing, open_.shown) == (None, ("work_bound_ms",), "open")


RENEWED = {"recover_ms": 30_000, "redis_p999_ms": 500, "final_write_p99_ms": 1_000}


def test_renewal_of_the_model(answers):
    """TTL 30 s, time-out 0.5 s, last write 1 s: renew every 10, stop at 28.7, tolerate 18.2."""
    found = values(answers, "S16", **RENEWED)
    assert found["ttl_ms"] == 30_000
    assert found["renew_every_ms"] == 10_000
    assert found["stop_after_ms"] == 28_700
    assert found["client_timeout_ms"] == 500
    assert found["tolerated_pause_ms"] == 18_200


def test_the_number_of_renewals_is_bounded(answers):
    found = values(answers, "S16", **RENEWED, hard_cap_ms=95_000)
    assert found["max_renewals"] == 10  # 95 / 10, rounded up


def test_a_tolerated_pause_that_is_too_short_is_noted(answers):
    tolerated = parameter(answers, "tolerated_pause_ms", "S16", **RENEWED, pause_ms=20_000)
    assert tolerated.notes == ("pause_too_long",)


def test_the_client_times_out_long_before_the_ttl(answers):
    found = values(answers, "S01", hard_cap_ms=990, redis_p999_ms=200)
    assert found["ttl_ms"] == 1_203  # 1,190 / 0.99 = 1,202.02
    assert found["client_timeout_ms"] == 121  # 120.3 rounded up


def test_a_ttl_that_blocks_too_long_after_a_crash(answers):
    ttl = parameter(answers, "ttl_ms", "S06", hard_cap_ms=990, recover_ms=900)
    assert ttl.notes == ("blocks_too_long",)


def test_load_and_busy(answers):
    """0.5/s x 2 s: load 1, half of the attempts find it taken, and a line only grows."""
    found = values(answers, "S01", arrivals_per_s=0.5, work_p50_ms=2_000)
    assert (found["load"], found["busy_share"]) == (1, 0.5)
    assert values(answers, "S01", arrivals_per_s=0.3, work_p50_ms=1_000)[
        "busy_share"
    ] == pytest.approx(0.2308, abs=1e-4)
    wait = parameter(answers, "queue_wait_ms", "S12", arrivals_per_s=0.5, work_p50_ms=2_000)
    assert (wait.value, wait.notes) == (None, ("no_end",))


def test_waiting_in_line(answers):
    """Load 0.5, 100 ms each: 0.5 x 100 / 0.5 = 100 ms; five workers, 99 % in 300 ms: 4 x 300."""
    found = values(answers, "S12", arrivals_per_s=5, work_p50_ms=100, work_p99_ms=300, workers=5)
    assert found["queue_wait_ms"] == 100
    assert found["worst_wait_ms"] == 1_200


def test_the_limit_for_waiting(answers):
    """2,000 - 300 - 50 = 1,650; with a pool of 20 and 5 x (1/3) conflicts: 2 / 1.667 = 1.2 s."""
    numbers = {"caller_deadline_ms": 2_000, "work_p99_ms": 300, "final_write_p99_ms": 50}
    assert values(answers, "S03", **numbers)["wait_limit_ms"] == 1_650
    crowd = {"arrivals_per_s": 5, "work_p50_ms": 100, "pool": 20}
    assert values(answers, "S03", **numbers, **crowd)["wait_limit_ms"] == 1_200


def test_no_time_to_wait_is_noted(answers):
    limit = parameter(answers, "wait_limit_ms", "S03", caller_deadline_ms=200, work_p99_ms=300)
    assert (limit.value, limit.notes) == (0, ("no_time_to_wait",))


def test_retries_with_full_jitter(answers):
    """50 ms doubling up to 1 s, half of each on average: six sleeps take 1,275 ms."""
    six = {"caller_deadline_ms": 1_285, "work_p99_ms": 10}
    found = values(answers, "S03", **six)
    assert found["wait_limit_ms"] == 1_275
    assert (found["retry_base_ms"], found["retry_cap_ms"], found["retry_attempts"]) == (
        50,
        1_000,
        6,
    )
    five = values(answers, "S03", caller_deadline_ms=1_284, work_p99_ms=10)
    assert five["retry_attempts"] == 5


@pytest.mark.parametrize(("rate", "tries"), [(0.5, 1.6487), (2, 7.3891)])
def test_optimistic_attempts(answers, rate, tries):
    found = parameter(answers, "optimistic_attempts", "S19", arrivals_per_s=rate, work_p50_ms=1_000)
    assert found.value == pytest.approx(tries, abs=1e-4) == pytest.approx(math.exp(rate), abs=1e-4)
    assert found.notes == ("too_many_tries",)


def test_retries_end_before_the_receiver_forgets(answers):
    """A quarter of an hour: 13.5 minutes."""
    found = values(answers, "S02", key_retention_ms=900_000)
    assert found["retry_horizon_ms"] == 810_000
    assert found["own_key_retention_ms"] == 72 * 3_600_000
    month = values(answers, "S02", key_retention_ms=30 * 86_400_000, pause_ms=5_000)
    assert month["own_key_retention_ms"] == 27 * 86_400_000 + 5_000


def test_a_message_comes_back_after_the_work(answers):
    assert values(answers, "S12", hard_cap_ms=960, pause_ms=30)["visibility_ms"] == 1_000


def test_transactions_are_short(answers):
    assert values(answers, "S13")["transaction_limit_ms"] == 1_000


@pytest.mark.parametrize(
    ("numbers", "dur"),
    [
        ({"hard_cap_ms": 1_000}, "short"),
        ({"hard_cap_ms": 1_001}, "bounded"),
        ({"work_p99_ms": 500}, "short"),
        ({"work_p99_ms": 501}, "bounded"),
        ({"hard_cap_ms": 9_900, "recover_ms": 10_000}, "bounded"),
        ({"hard_cap_ms": 9_901, "recover_ms": 10_000}, "long"),
    ],
)
def test_the_class_of_the_duration(numbers, dur):
    assert decide(numbers).used.values["dur"] == dur


@pytest.mark.parametrize(("rate", "cont"), [(0.29, "low"), (0.3, "high")])
def test_the_class_of_contention(rate, cont):
    used = decide({"arrivals_per_s": rate, "work_p50_ms": 1_000}).used
    assert used.values["cont"] == cont


@pytest.mark.parametrize(("rate", "saturated"), [(0.79, False), (0.8, True)])
def test_a_saturated_key_is_warned_of(rate, saturated):
    warnings = decide({"arrivals_per_s": rate, "work_p50_ms": 1_000}).warnings
    assert ("W09_SATURATED_KEY" in warnings) == saturated


def test_a_parameter_as_a_line(answers):
    decision = decide(answers("S01", hard_cap_ms=99, pause_ms=0, redis_p999_ms=1))
    line = decision.explanation.parameter(decision.parameters[1])
    assert line == (
        "TTL of the lock: 102 ms = (work_bound_ms + pause_ms + final_write_p99_ms + redis_p999_ms) "
        "/ (1 - 0.01) (not given, taken as 0: final_write_p99_ms)"
    )
