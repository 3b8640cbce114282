"""The traps of redis-py's own lock: each is what its run shows, and none of its own making."""

import pytest

from labkit import explore
from labkit.cases.redis_py import TRAPS

BY_CALL = {trap.call: trap for trap in TRAPS}
#: Traps whose schedule is not the shortest complete one, with the reason.
STOPS_EARLIER = {
    'lock("x").acquire()': "no rule is broken: it asks for ever",
    "os.fork() inside the section": "three workers, two of them parents",
    "one Lock object in two asyncio tasks": "one worker plays both tasks",
    "thread_local=False, two threads": "one worker plays both threads",
    "the reply to acquire is lost": "the search lets B end first, since a `t` beside it is a pause",
}


@pytest.mark.parametrize("call", BY_CALL)
def test_each_trap_shows_what_it_says(call):
    trap = BY_CALL[call]
    assert trap.check is None or trap.trace.broken
    assert trap.seen
    assert trap.instead


@pytest.mark.parametrize("call", sorted(BY_CALL.keys() - STOPS_EARLIER.keys()))
def test_no_shorter_schedule_shows_it(call):
    trap = BY_CALL[call]
    faults = "!" if "!" in trap.schedule else ""
    pauses = trap.schedule.count("t")
    found = explore(trap.worker, check=trap.check, pauses=pauses, faults=faults)
    assert str(found.counterexample.schedule) == trap.schedule


def test_without_a_limit_it_asks_for_ever():
    trap = BY_CALL['lock("x").acquire()']
    assert trap.seen == "B has asked 4 times, and B sleeps for 100 ms"
    found = explore(trap.worker, check=lambda lab: None, faults="!", pauses=0, moves_max=200)
    assert found.cut > 0  # there are schedules without an end


def test_with_care_none_of_them_happens():
    """The lock itself is right: a lease, a limit to the wait, an object for each attempt."""
    from labkit.cases.redis_py import locked
    from labkit.sim.invariants import freed_after_crash, only_the_owner_releases

    careful = locked(timeout=10, blocking_timeout=0.25)
    for rule in freed_after_crash.on("lock"), only_the_owner_releases.on("lock"):
        found = explore(careful, check=rule, pauses=1, faults="!")
        assert found.verdict == "holds within bounds"
        assert found.worked
