"""Exact counts. Each could be off by one only if a schedule were missed or seen twice."""

from math import factorial

import pytest

from labkit import explore, mutual_exclusion, replay
from labkit.cases.account import account, money_is_right
from tests.sim.programs import anything, counting, look_then_take, withdrawal, without_lock

# workers, pauses -> schedules, violating; from the specification of the machine
TABLE = [
    ("AB", 0, 514, 240),
    ("AB", 1, 3_380, 1_648),
    ("ABC", 0, 4_601_694, 3_729_720),
    ("ABC", 1, 42_491_574, 34_808_448),
]


@pytest.mark.parametrize("workers, pauses, schedules, violating", TABLE)
@pytest.mark.parametrize("symmetry", [False, True], ids=["each worker", "symmetry"])
def test_a_naive_lock_breaks_in_exactly_so_many_schedules(
    workers, pauses, schedules, violating, symmetry
):
    found = explore(withdrawal(), check=money_is_right, workers=workers, setup=account,
                    pauses=pauses, symmetry=symmetry)  # fmt: skip
    assert (found.schedules, found.violating) == (schedules, violating)
    assert found.exact


def test_symmetry_visits_fewer_states():
    each, together = (
        explore(withdrawal(), check=money_is_right, workers="ABC", setup=account, symmetry=symmetry)
        for symmetry in (False, True)
    )
    assert (each.states, each.runs) == (12_162, 42)  # one run for each end a worker can come to
    assert together.states < each.states
    assert together.counterexample.schedule == each.counterexample.schedule


def test_symmetry_only_treats_the_same_function_alike():
    one, other = counting(2), counting(2)
    for mapping in ({"A": one, "B": one, "C": other}, {"A": one, "B": other, "C": other}):
        found = explore(mapping, check=anything, pauses=0, symmetry=True)
        assert found.schedules == factorial(6) // 2**3


def test_without_pexpire_148_schedules_and_72_lose_money():
    found = explore(withdrawal(ttl_ms=None), check=money_is_right, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (148, 72)


def test_without_a_lock_four_of_six_lose_money():
    found = explore(without_lock, check=money_is_right, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (6, 4)


def test_of_514_schedules_400_let_both_in():
    """The section starts once the lock is complete, with its expiry: after PEXPIRE."""
    found = explore(withdrawal(), check=mutual_exclusion, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (514, 400)
    assert str(found.counterexample.schedule) == "A B B B A A"


def test_every_schedule_that_loses_money_let_both_in():
    """240 lose money, 400 let both in: the other 160 come out right by luck, never the reverse."""
    both = explore(withdrawal(), check=[mutual_exclusion, money_is_right], setup=account, pauses=0)
    assert both.violating == 400


def test_a_section_from_set_on_counts_80_more():
    found = explore(withdrawal(section_from="set"), check=mutual_exclusion, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (514, 480)
    assert str(found.counterexample.schedule) == "A B B A"


def test_the_plain_get_set_lock_breaks_in_two_rounds():
    """`A B A B` and `A B B A` both break it; the counterexample is the one with fewer switches."""
    found = explore(look_then_take, check=mutual_exclusion, pauses=0)
    assert str(found.counterexample.schedule) == "A B B A"
    reason = "A and B are both inside"
    for schedule in ("A B A B", "A B B A", "B A A B", "B A B A"):
        trace = replay(look_then_take, schedule, check=mutual_exclusion, partial=True)
        assert set(trace.broken.split()) == set(reason.split())


@pytest.mark.parametrize(
    "workers, commands, schedules",
    [("AB", 5, 252), ("ABC", 4, 34_650), ("ABC", 6, 17_153_136), ("ABCDE", 2, 113_400)],
)
@pytest.mark.parametrize("symmetry", [False, True], ids=["each worker", "symmetry"])
def test_independent_commands_interleave_in_multinomially_many_ways(
    workers, commands, schedules, symmetry
):
    assert schedules == factorial(commands * len(workers)) // factorial(commands) ** len(workers)
    found = explore(
        counting(commands), check=anything, workers=workers, pauses=0, symmetry=symmetry
    )
    assert (found.schedules, found.violating) == (schedules, 0)
    assert found.verdict == "holds within bounds"


@pytest.mark.slow
def test_four_workers_have_three_trillion_schedules():
    found = explore(withdrawal(), check=money_is_right, workers="ABCD", setup=account)
    assert (found.schedules, found.states) == (3_422_351_591_712, 660_408)
