import pytest

from labkit import explore, mutual_exclusion
from labkit.cases.gap import WINDOW_MS, collisions, look_then_take, schedule_of


def test_the_share_of_schedules_does_not_depend_on_the_gap():
    found = explore(look_then_take, check=mutual_exclusion, pauses=0)
    assert (found.schedules, found.violating) == (6, 4)


def test_the_hits_grow_with_the_gap_as_arithmetic_says():
    """Two arrivals are less than g apart with probability 1 - (1 - g/window)^2."""
    hits = collisions([0, 1, 50, 200], runs=10_000, seed=1)
    assert hits[0] == 0
    for gap in (1, 50, 200):
        expected = 10_000 * (1 - (1 - gap / WINDOW_MS) ** 2)
        assert abs(hits[gap] - expected) < 4 * expected**0.5


def test_the_same_seed_gives_the_same_hits():
    assert collisions([10], runs=500, seed=7) == collisions([10], runs=500, seed=7)
    assert collisions([100], runs=500, seed=7) != collisions([100], runs=500, seed=8)


@pytest.mark.parametrize(
    ("a", "b", "gap", "schedule"),
    [(0, 10, 5, "AAB"), (10, 0, 5, "BBA"), (0, 3, 5, "ABAB"), (3, 0, 5, "BABA")],
)
def test_arrivals_become_a_schedule(a, b, gap, schedule):
    assert schedule_of(a, b, gap) == schedule
