"""The arithmetic of the sliders against the simulator, and what it refuses."""

import random

import pytest

from labkit.sim.errors import LabkitError
from labkit.sim.replaying import replay
from labkit.ttl.lease import as_worker, lease_run


def seen(trace):
    """What the simulator shows: who got in and out when, and the count at the end."""
    enter, leave, count = {}, {}, None
    for step in trace.steps:
        text = " ".join(step.notes)
        if "enters" in text:
            enter[step.move.worker] = step.at_ms
        if step.command.startswith("SET count"):
            leave[step.move.worker], count = step.at_ms, int(step.command.split()[-1])
    return enter, leave, count


def settings(n):
    chance = random.Random(7)
    yield dict(ttl_ms=300, pause_ms=301, work_ms=100, workers=4)  # all things at one instant
    yield dict(ttl_ms=100, pause_ms=0, work_ms=101, workers=3)
    yield dict(ttl_ms=100, pause_ms=0, work_ms=100, workers=3)
    for _ in range(n):
        yield dict(
            ttl_ms=chance.choice([50, 100, 350, 1000]),
            pause_ms=chance.choice([0, 1, 70, 900]),
            work_ms=chance.choice([1, 50, 51, 200, 400]),
            workers=chance.randint(1, 3),
        )


@pytest.mark.parametrize("given", list(settings(7)), ids=str)
def test_the_simulator_says_the_same(given):
    run = lease_run(**given)
    enter, leave, count = seen(run.simulate())
    assert enter == {stay.who: stay.enter for stay in run.stays}
    assert leave == {stay.who: stay.leave for stay in run.stays}
    assert count == len(run.stays) - len(run.lost)


def test_a_crash_keeps_the_others_out_for_as_long_as_the_sentence_says():
    trace = replay(as_worker(300, 200), "A B B B A! t B", partial=True)
    assert seen(trace)[0]["B"] == lease_run(ttl_ms=300).stays[0].over == 301


def test_the_sentence_says_who_was_late_who_was_inside_together_and_what_was_lost():
    said = str(lease_run(ttl_ms=300, pause_ms=600, work_ms=200, workers=2))
    assert "A's lease is over at 301 ms, and A writes at 800 ms: too late." in said
    assert "Inside together: A and B from 301 to 501 ms." in said
    assert "The work of B is lost: 2 have counted, and the count is 1." in said
    assert "nobody gets in before 301 ms" in said


def test_a_longer_ttl_only_moves_the_pause_that_is_too_long():
    for ttl in (100, 10_000, 3_600_000):
        assert not lease_run(ttl_ms=ttl, pause_ms=ttl - 50, work_ms=50).stays[0].late
        assert lease_run(ttl_ms=ttl, pause_ms=ttl, work_ms=50).together


def test_in_time_and_alone():
    assert "Every write is in time" in str(lease_run(pause_ms=0))
    assert "Nothing is lost: 2 have counted, and the count is 2." in str(lease_run(pause_ms=0))
    assert "Nobody else wants the lock here" in str(lease_run(workers=1))


def test_who_counted_on_what_a_late_write_undid_is_not_lost():
    run = lease_run(ttl_ms=300, pause_ms=600, work_ms=200, workers=4)
    assert run.lost == "A", "D read what B and C wrote, and writes last"


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (dict(ttl_ms=20), "before the server's answer arrives"),
        (dict(ttl_ms=0), "from 50 to"),
        (dict(ttl_ms=-300), "from 50 to"),
        (dict(ttl_ms="soon"), "ttl_ms='soon': a lease is a whole number"),
        (dict(ttl_ms=300.5), "whole number"),
        (dict(ttl_ms=True), "whole number"),
        (dict(ttl_ms=float("nan")), "whole number"),
        (dict(ttl_ms=float("inf")), "whole number"),
        (dict(pause_ms=-1), "a pause is a whole number from 0"),
        (dict(work_ms=0), "work is a whole number from 1"),
        (dict(workers=5), "the number of workers is a whole number from 1 to 4."),
        (dict(pause_ms=None), "pause_ms=None"),
    ],
)
def test_what_no_run_can_have_gets_a_sentence(given, part):
    with pytest.raises(LabkitError) as error:
        lease_run(**given)
    assert part in str(error.value)
