"""Other people's locks, unmodified, as workers: what they do, counted, and what they leave behind.

The counts are exact within the bounds that stand beside them.
"""

import logging
import os
import re
import threading
import time
import uuid

import fakeredis._commands
import pytest
import redis
import redis.lock
import redis_lock

from labkit import (
    LabkitError,
    NotModelled,
    every_waiter_ends,
    explore,
    freed_after_crash,
    mutual_exclusion,
    only_the_owner_releases,
    replay,
)
from tests.sim.programs import anything

LOCK, OWNER_LOST = "lock", "LockNotOwnedError: Cannot release a lock that's no longer owned"


def working(make, acquire):
    """A worker of: acquire, one command in the section, release."""

    def worker(me):
        lock = make(me)
        if not acquire(lock):
            return "gave up"
        with me.critical_section():
            me.redis.incr("work")
        lock.release()
        return "done"

    return worker


redis_py = working(
    lambda me: me.redis.lock(LOCK, timeout=10, blocking=False), lambda lock: lock.acquire()
)
redis_py_waiting = working(
    lambda me: me.redis.lock(LOCK, timeout=10, blocking_timeout=0.25, sleep=0.1),
    lambda lock: lock.acquire(),
)
python_redis_lock = working(
    lambda me: redis_lock.Lock(me.redis, LOCK, expire=2), lambda lock: lock.acquire(timeout=1)
)
python_redis_lock_for_ever = working(
    lambda me: redis_lock.Lock(me.redis, LOCK), lambda lock: lock.acquire()
)

# -- counts ----------------------------------------------------------------------------------------

# library, workers, pauses, faults -> schedules, those with two inside, those with the work done
COUNTS = [
    (redis_py, "AB", 0, "", 6, 0, 6),
    (redis_py, "ABC", 0, "", 48, 0, 48),
    (redis_py, "AB", 1, "", 44, 12, 44),
    (redis_py, "AB", 1, "?!", 560, 140, 494),
    (redis_py_waiting, "AB", 0, "", 6, 0, 6),
    (redis_py_waiting, "ABC", 0, "", 138, 0, 138),
    (redis_py_waiting, "AB", 1, "", 60, 12, 60),
    (redis_py_waiting, "AB", 1, "?!", 1_124, 140, 952),
    (python_redis_lock, "AB", 0, "", 44, 0, 44),
    (python_redis_lock, "ABC", 0, "", 27_066, 0, 27_066),
    (python_redis_lock, "AB", 1, "", 394, 48, 394),
    (python_redis_lock, "AB", 1, "?!", 6_520, 560, 5_754),
    (python_redis_lock_for_ever, "AB", 1, "", 90, 0, 90),
    (python_redis_lock_for_ever, "AB", 0, "!", 330, 0, 266),
]


@pytest.mark.parametrize(
    ("worker", "workers", "pauses", "faults", "schedules", "violating", "worked"), COUNTS
)
def test_a_library_has_exactly_so_many_schedules(
    worker, workers, pauses, faults, schedules, violating, worked
):
    found = explore(worker, check=mutual_exclusion, workers=workers, pauses=pauses, faults=faults)
    assert (found.schedules, found.violating, found.worked) == (schedules, violating, worked)
    assert found.exact


def test_without_faults_everybody_gets_the_lock_or_gives_up():
    for worker in (redis_py, redis_py_waiting, python_redis_lock, python_redis_lock_for_ever):
        assert explore(worker, check=every_waiter_ends, pauses=0).violating == 0


def test_only_the_owner_releases_any_of_them():
    for worker, key in ((redis_py, LOCK), (python_redis_lock, f"lock:{LOCK}")):
        rule = only_the_owner_releases.on(key)
        assert explore(worker, check=rule, pauses=2, faults="?~!").violating == 0


def test_no_library_survives_a_pause_of_its_holder():
    shortest = {
        worker: str(explore(worker, check=mutual_exclusion).counterexample.schedule)
        for worker in (redis_py, redis_py_waiting, python_redis_lock)
    }
    assert list(shortest.values()) == ["A t B", "A t B", "A A B t B"]


# -- a wait at the server --------------------------------------------------------------------------


def test_python_redis_lock_waits_for_the_signal_of_the_release():
    trace = replay(python_redis_lock, "A A B B B A A B B B")
    assert trace.steps[4].reply == "(waits)"
    assert trace.steps[6].notes[-1].startswith(f"B's BLPOP lock-signal:{LOCK} 1 is answered")
    assert [trace.pending[letter].value for letter in "AB"] == ["done", "done"]


def test_it_gives_up_when_its_time_is_up():
    trace = replay(python_redis_lock, "A A B B B t B", partial=True)
    assert trace.steps[5].at_ms == 1_000
    assert trace.pending["B"].value == "gave up"


def test_without_an_expiry_a_crash_leaves_the_others_waiting_for_ever():
    found = explore(python_redis_lock_for_ever, check=every_waiter_ends, faults="!", pauses=0)
    trace = found.counterexample.trace
    assert trace.about_to == f"B waits in BLPOP lock-signal:{LOCK} 0 for ever"
    assert trace.complete
    assert found.counterexample.reason.startswith("B is stuck: it waits in BLPOP")


def test_a_client_with_less_patience_than_the_wait_asks_again():
    """redis-py 8 waits 5 s for any reply, BLPOP included, and then sends it once more."""

    def worker(me):
        lock = redis_lock.Lock(me.client(), LOCK, expire=10)
        return lock.acquire()

    def held(lab):
        lab.redis.set(f"lock:{LOCK}", "somebody", px=60_000)

    trace = replay(worker, "A A A t t A", workers="A", setup=held, partial=True)
    assert trace.steps[3].notes == (f"A's client gives up waiting for BLPOP lock-signal:{LOCK} 10",)
    assert [trace.steps[n].command for n in (2, 5)] == [f"BLPOP lock-signal:{LOCK} 10"] * 2


# -- redis-py's Lock, method by method -------------------------------------------------------------


def test_extend_adds_and_reacquire_begins_anew_while_it_is_owned():
    def worker(me):
        lock = me.redis.lock(LOCK, timeout=10)
        lock.acquire()
        lock.extend(5)
        added = me.redis.pttl(LOCK)
        lock.reacquire()
        return added, me.redis.pttl(LOCK), lock.owned()

    assert replay(worker, "A" * 6, workers="A").pending["A"].value == (15_000, 10_000, True)


@pytest.mark.parametrize("method", ["extend", "reacquire", "release"])
def test_after_its_expiry_it_says_that_it_is_not_owned(method):
    def worker(me):
        lock = me.redis.lock(LOCK, timeout=10)
        lock.acquire()
        owned = lock.owned()
        try:
            getattr(lock, method)(*([5] if method == "extend" else []))
        except redis.exceptions.LockNotOwnedError:
            return owned, "not owned"

    assert replay(worker, "A t A A", workers="A").pending["A"].value == (False, "not owned")


# -- the client's hidden resends -------------------------------------------------------------------


def by_default_client(me):
    lock = me.client().lock(LOCK, timeout=10, blocking=False)
    if lock.acquire():
        lock.release()
        return "done"
    return "told that it is taken"


def test_a_lost_reply_to_acquire_looks_like_a_lock_that_somebody_else_has():
    trace = replay(by_default_client, "A? t t A", workers="A")
    assert trace.pending["A"].value == "told that it is taken"
    first, *_, again = trace.steps
    assert first.command == again.command
    assert again.transition.after[LOCK].value == first.transition.command.words[-1][2]  # its own


def test_a_lost_reply_to_release_looks_like_a_lock_that_was_stolen():
    trace = replay(by_default_client, "A A? t t A", workers="A")
    assert trace.pending["A"].reason == OWNER_LOST
    assert LOCK not in trace.steps[1].transition.after  # it was released


def test_each_resend_is_a_move_and_ten_are_made():
    found = explore(by_default_client, check=anything, workers="A", faults={"?": 1}, pauses=0)
    assert (found.schedules, dict(found.raised)) == (3, {OWNER_LOST: 1})


# -- nothing is left behind ------------------------------------------------------------------------


def what_others_see():
    watched = [redis.lock, redis.lock.Lock, redis_lock, redis_lock.Lock, redis.client.Redis,
               redis.connection.AbstractConnection, time, uuid, os, threading.Condition,
               threading.Thread, logging.Logger]  # fmt: skip
    seen = [dict(vars(one)) for one in watched]
    return [*seen, dict(fakeredis._commands.SUPPORTED_COMMANDS)]


def test_no_patching_is_left_behind():
    def run():
        def understands_more(lab):
            lab.server = "valkey 9"

        explore(redis_py_waiting, check=mutual_exclusion, faults="?!", setup=understands_more)
        explore(python_redis_lock, check=mutual_exclusion, faults="!")

    run()  # both libraries keep their scripts on their classes, from the first use on
    before = what_others_see()
    run()
    assert what_others_see() == before


def test_what_a_library_logs_is_a_note_of_the_step(capsys):
    def worker(me):
        return redis_lock.Lock(me.redis, LOCK, expire=2).acquire(blocking=False)

    trace = replay(worker, "A A B B")
    assert f"Failed to acquire Lock('lock:{LOCK}')." in trace.steps[3].notes
    assert capsys.readouterr().err == ""


# -- bad input -------------------------------------------------------------------------------------


def test_timeout_0_means_no_expiry_at_all():
    def worker(me):
        lock = me.redis.lock(LOCK, timeout=0)
        lock.acquire()
        me.redis.incr("work")
        lock.release()

    found = explore(worker, check=freed_after_crash.on(LOCK), faults="!", pauses=0, moves_max=9)
    assert str(found.counterexample.schedule) == "A A!"
    assert found.counterexample.reason == "lock has no expiry, and A, who set it, has crashed"


def test_less_than_a_millisecond_is_an_error_of_the_server():
    for make in (lambda me: me.redis.lock(LOCK, timeout=0.0004),
                 lambda me: redis_lock.Lock(me.redis, LOCK, expire=0.5)):  # fmt: skip
        worker = working(make, lambda lock: lock.acquire())
        found = explore(worker, check=anything, workers="A", pauses=0)
        assert "ResponseError: invalid expire time" in str(found)


def test_milliseconds_given_as_seconds_show_in_the_trace():
    def worker(me):
        return me.redis.lock(LOCK, timeout=10_000).acquire()

    assert replay(worker, "A", workers="A").steps[0].command.endswith(" NX PX 10000000")


def test_a_wait_longer_than_the_lease_is_refused_by_the_library():
    worker = working(lambda me: redis_lock.Lock(me.redis, LOCK, expire=2),
                     lambda lock: lock.acquire(timeout=5))  # fmt: skip
    found = explore(worker, check=anything, workers="A", pauses=0)
    assert "TimeoutTooLarge" in str(found)


def test_a_lock_object_that_two_workers_share_is_refused_with_the_way_out():
    kept = []

    def shares(me):
        if not kept:
            kept.append(me.redis.lock(LOCK, timeout=10))
        return kept[0].acquire(blocking=False)

    with pytest.raises(NotModelled, match="Worker B uses a client .* belongs to worker A.*inside"):
        explore(shares, check=anything)


def test_a_lock_object_used_outside_of_the_workers_is_refused():
    kept = []

    def keeps(me):
        kept.append(me.redis.lock(LOCK, timeout=10))
        me.redis.get("k")

    def check(lab):
        kept[-1].acquire(blocking=False)

    with pytest.raises((LabkitError, ConnectionError, redis.ConnectionError)):
        explore(keeps, check=check, workers="A")


# -- a renewal thread ------------------------------------------------------------------------------


def renewing(me):
    """python-redis-lock renews by itself: a lease of 3 s, every 2 s, during 5 s of work."""
    lock = redis_lock.Lock(me.redis, LOCK, expire=3, auto_renewal=True)
    if not lock.acquire(blocking=False):
        return "gave up"
    with me.critical_section():
        me.work(5)
    lock.release()
    return "done"


@pytest.mark.parametrize(
    ("workers", "pauses", "faults", "schedules", "violating", "worked"),
    [
        ("A", 0, "", 1, 0, 1),
        ("A", 0, "!", 9, 0, 1),  # a crash in front of each of its eight moves, or none
        ("A", 1, "", 4, 0, 4),
        ("AB", 0, "", 6, 0, 6),
        ("AB", 1, "", 42, 0, 42),
        ("AB", 2, "", 152, 22, 152),
        ("AB", 2, "?", 850, 132, 844),
        ("AB", 2, "!", 1_126, 262, 742),
    ],
)
def test_a_renewal_thread_has_exactly_so_many_schedules(
    workers, pauses, faults, schedules, violating, worked
):
    before = threading.enumerate()
    found = explore(renewing, check=mutual_exclusion, workers=workers, pauses=pauses, faults=faults)
    assert (found.schedules, found.violating, found.worked) == (schedules, violating, worked)
    assert found.exact
    assert threading.enumerate() == before


def test_the_renewal_thread_moves_on_its_own_and_ends_with_the_release():
    trace = replay(renewing, "A A t A2 t A2 t A", workers="A")
    assert [step.at_ms for step in trace.steps] == [0, 0, 2000, 2000, 4000, 4000, 5000, 5000]
    assert trace.steps[1].notes[0] == "A2 starts"
    assert trace.steps[2].notes == ("A2 wakes",)
    assert "A2 has ended" in trace.steps[6].notes
    assert str(trace.pending["A2"]) == "returned"


def test_a_renewal_thread_that_does_not_get_to_run_renews_nothing():
    found = explore(renewing, check=mutual_exclusion, pauses=2)
    assert str(found.counterexample.schedule) == "A A B t t B"
    assert found.counterexample.reason == "A and B are both inside"


def test_a_crash_ends_the_renewal_thread_too():
    """So the lease runs out: nobody goes on renewing it."""
    trace = replay(renewing, "A A t A! t B B t B2 t B2 t B")
    assert trace.steps[4].notes == ("lock:lock expires",)
    assert [str(trace.pending[letter]) for letter in "AB"] == ["crashed", "returned 'done'"]


def test_a_library_that_needs_a_command_the_fake_server_lacks_is_refused_by_name():
    class Replicated:
        """As a lock that waits until its key has reached a replica."""

        def __init__(self, client):
            self.client = client

        def acquire(self):
            return self.client.set(LOCK, "1", nx=True) and self.client.wait(1, 100)

    with pytest.raises(NotModelled, match="WAIT"):
        replay(lambda me: Replicated(me.redis).acquire(), "A A", workers="A")


def test_a_random_token_is_shown_by_how_it_begins():
    """So that a trace with a library's lock still fits on a page; it is sent in full."""
    step = replay(redis_py, "A", partial=True).steps[0]
    assert re.fullmatch(r"SET lock [0-9a-f]{6}\.\.\. NX PX 10000", step.command)
    assert len(step.transition.command.words[-1][2]) == 32
