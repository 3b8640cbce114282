"""The TTLs compared, the recommendation and its reasons."""

import math
import time

import numpy as np
import pytest

from labkit.decision.parameters import ttl
from labkit.sim.errors import LabkitError
from labkit.ttl import choose_ttl, example_durations
from labkit.ttl.chooser import Chooser

DAY = {"runs_per_day": 1_000, "recover_ms": 5_000}
HUNDRED = list(range(101, 201))  # 101 to 200 ms


def row_of(choice, ttl_ms):
    return next(row for row in choice.rows if row.ttl_ms == ttl_ms)


def test_the_ttl_is_the_decision_s():
    extras = {"pause_ms": 40, "final_write_p99_ms": 10, "redis_p999_ms": 5}
    choice = choose_ttl(HUNDRED, **DAY, **extras)
    # the work bound is twice p99 (199): more than the longest run
    assert choice.ttl_ms == ttl({"work_bound_ms": 2 * 199, **extras}) == math.ceil(453 / 0.99)
    capped = choose_ttl(HUNDRED, **DAY, **extras, hard_cap_ms=150)
    assert capped.ttl_ms == ttl({"work_bound_ms": 150, **extras})
    assert "would have ended 50 of the 100 runs" in str(capped)


@pytest.mark.parametrize("work_ms", [101, 150, 199])
def test_a_run_outlasts_a_ttl_that_is_shorter_than_the_decision_asks_for(work_ms):
    extras = {"pause_ms": 40, "redis_p999_ms": 5}
    enough = ttl({"work_bound_ms": work_ms, **extras})
    choice = choose_ttl(HUNDRED, **DAY, **extras, ttls_ms=[enough, enough - 1])
    assert row_of(choice, enough).outlasting == 200 - work_ms
    assert row_of(choice, enough - 1).outlasting == 200 - work_ms + 1


def test_expiries_a_day_and_their_limits():
    choice = choose_ttl(HUNDRED * 20, **DAY, ttls_ms=[190])
    row = row_of(choice, 190)  # room for 188.1 ms: 12 of 100 outlast it
    assert (row.outlasting, row.a_day) == (240, 120)
    assert row.a_day_low < 120 < row.a_day_high
    none_seen = row_of(choice, 5_000)
    assert none_seen.outlasting == none_seen.a_day == none_seen.a_day_low == 0
    assert none_seen.a_day_high == pytest.approx(1_000 * 3 / 2_000, rel=0.003)


def test_a_crash_blocks_for_the_ttl_and_callers_come_meanwhile():
    row = row_of(choose_ttl(HUNDRED, **DAY, arrivals_per_s=4), 5_000)
    assert (row.blocked_ms, row.waiting) == (5_000, 20)
    spread = choose_ttl(HUNDRED, runs_per_day=86_400, recover_ms=5_000)
    assert row_of(spread, 5_000).waiting == 5 and "1 a second" in str(spread)


def test_a_ttl_long_enough_that_costs_too_much_means_another_design():
    choice = choose_ttl(HUNDRED, runs_per_day=1_000, recover_ms=300, harm=False)
    assert (choice.ttl_ms, choice.renew_every_ms, choice.change_design) == (300, 100, True)
    assert "renewed every 100 ms" in choice.recommendation
    assert "Change the design, not the TTL" in str(choice) and "queue" in str(choice)
    assert "No TTL makes" not in str(choice), "nothing is harmed here"


def test_a_long_tail_means_another_design():
    choice = choose_ttl([*HUNDRED, 4_000], **DAY, harm=False)
    assert choice.change_design and "times as long as the median" in choice.changes[0]
    assert not choose_ttl([*HUNDRED, 4_000], **DAY, harm=False, hard_cap_ms=500).change_design


def test_harm_means_another_design_whatever_the_ttl():
    choice = choose_ttl(HUNDRED, **DAY)
    assert "refuses late writes" in choice.recommendation
    (change,) = choice.changes
    assert change.startswith("No TTL makes a late write safe.") and "0 of 100 runs" in change
    assert "by up to 2.95% of all runs, 30 a day" in change
    assert not choose_ttl(HUNDRED, **DAY, harm=False).change_design


def test_what_a_small_sample_cannot_say_is_said():
    text = str(choose_ttl(HUNDRED, **DAY))
    assert "unknown: takes 299 runs" in text and "unknown: takes 2,995 runs" in text
    assert "100 runs are too few for an upper limit of p99 (takes 299), p99.9 (takes 2,995)" in text
    assert "this TTL is a guess" in text
    assert "a guess" not in str(choose_ttl(example_durations(), **DAY))


def test_the_text_of_the_example_has_every_part():
    text = str(choose_ttl(example_durations(), runs_per_day=20_000, recover_ms=5_000))
    for part in ("2,000 durations", "p99.9", "expiries a day (limits)", "<-", "Recommended: TTL",
                 "95 of 100 samples", "unknown: the next may be longer"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (dict(runs_per_day=0), "runs_per_day=0: it is a number, more than 0."),
        (dict(runs_per_day="many"), "runs_per_day='many'"),
        (dict(runs_per_day=True), "runs_per_day=True"),
        (dict(recover_ms=float("nan")), "recover_ms=nan"),
        (dict(recover_ms=-1), "recover_ms=-1"),
        (dict(recover_ms=5), "over before any work is done"),
        (dict(recover_ms=60, redis_p999_ms=80), "take 80 ms here"),
        (dict(ttls_ms=[20]), "ttls_ms=20"),
        (dict(pause_ms=-1), "0 or more"),
        (dict(hard_cap_ms=0), "hard_cap_ms=0"),
        (dict(arrivals_per_s=0), "arrivals_per_s=0"),
        (dict(harm="yes"), "harm='yes'"),
    ],
)
def test_numbers_that_cannot_be_are_named(given, part):
    with pytest.raises(LabkitError) as error:
        choose_ttl(HUNDRED, **{**DAY, **given})
    assert part in str(error.value)


def test_a_million_runs_are_no_trouble():
    values = np.random.default_rng(5).lognormal(5, 1, 1_000_000).tolist()
    began = time.process_time()
    text = str(choose_ttl(values, **DAY))
    assert time.process_time() - began < 3, "0.2 s on an idle machine"
    assert "unknown: takes" not in text and "1,000,000 durations" in text


# -- what the widget knows ------------------------------------------------------------------------


def test_nothing_typed_is_lost():
    chooser = Chooser()
    example = chooser.choice
    assert example is not None and "the example" in str(example)
    chooser.set("text", "300 280 soon")
    assert chooser.fields["text"] == "300 280 soon" and '"soon"' in chooser.error
    assert chooser.choice is example, "the last good choice stays"
    chooser.set("text", "300 280 310 290 305")
    assert chooser.error == "" and len(chooser.choice.durations) == 5
    chooser.set("recover_ms", "5 s")
    assert chooser.error == (
        'After a crash, others may wait (ms): "5 s" is no number, such as 5000.'
    )
    chooser.set("recover_ms", "5,000")
    assert chooser.error == ""


def test_a_file_counts_until_something_is_typed():
    chooser = Chooser(text="300 280 310 290 305")
    chooser.upload("runs.csv", b"id,ms\n1,10\n2,10\n3,10\n4,10\n5,10")
    assert "Several columns" in chooser.error
    chooser.set("column", "ms")
    assert "column ms of runs.csv" in str(chooser.choice)
    assert chooser.fields["text"] == "300 280 310 290 305"
    chooser.set("column", "")
    chooser.set("text", "300 280 310 290 390")
    assert chooser.error == "" and chooser.choice.max_ms == 390
    chooser.upload("x.xls", b"\x00")
    assert "x.xls is no text file" in chooser.error


def test_an_unknown_field_is_named():
    with pytest.raises(LabkitError, match="no 'ttl'. It has: text, unit"):
        Chooser(ttl=3)
