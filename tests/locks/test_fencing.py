"""The top of the ladder: grants that are counted, and work that renews its own lease.

Whatever holds here has mutants that do not, and the danger is met in some of the schedules.
"""

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit import (
    explore,
    freed_after_crash,
    mutual_exclusion,
    no_shared_number,
    no_stale_write,
    nobody_waits_for_itself,
    nothing_after_loss,
    only_the_owner_releases,
    only_the_owner_renews,
    replay,
)
from labkit.cases.rules import counts_on_its_own, happened, holds, told_lost
from labkit.cases.workers import asleep_until
from labkit.locks import (
    Acquired,
    Busy,
    Failed,
    FencedLease,
    Grant,
    Held,
    LeaseLost,
    OwnerCheckedRenewal,
    Renewed,
    Unknown,
)
from labkit.resources import fenced_row
from labkit.sim.invariants import Danger

HOLDS = "holds within bounds"


def lock_of(me, kind=FencedLease):
    return kind(me.redis, "lock", counter="fence", ttl_ms=100, token=me.token)


def asked(worker, moves, **more):
    return replay(worker, moves, workers="A", **more).pending["A"].value


def a_row(lab):
    lab.shared.row = fenced_row("nobody")


def writer(kind=FencedLease, *, checked=True):
    def hold(me):
        lock = lock_of(me, kind)
        got = lock.acquire()
        if isinstance(got, Unknown):
            got = lock.acquire(again=got)
        if not isinstance(got, Acquired):
            return type(got).__name__
        fence = got.grant.fence
        me.event("granted", number=fence)
        condition = "AND fence < ?" if checked else "AND ? > 0"
        sql = f"UPDATE data SET value = ?, fence = ? WHERE id = 1 {condition}"
        if me.shared.row.execute(sql, me.name, fence, fence).rowcount:
            me.event("accepted", resource="row", number=fence)
        return type(lock.release(got.grant)).__name__

    return hold


# -- the lock and its number -----------------------------------------------------------------------


def test_every_grant_has_a_larger_number_than_the_one_before():
    def three(me):
        lock, numbers = lock_of(me), []
        for _ in range(3):
            grant = lock.acquire().grant
            numbers.append(grant.fence)
            lock.release(grant)
        return numbers

    assert asked(three, "A A A A A A") == [1, 2, 3]


def test_the_lock_and_the_number_are_one_command_and_the_counter_has_no_expiry():
    def look(lab):
        return f"{lab.redis.pttl('lock')} {lab.redis.pttl('fence')}"

    trace = replay(lambda me: lock_of(me).acquire(), "A", workers="A", check=look)
    assert trace.broken == "100 -1"
    assert trace.steps[0].command == "EVAL <take and count> lock fence A-1 100"


def test_who_is_refused_gets_no_number_and_counts_nothing():
    def set_up(lab):
        lab.redis.set("lock", "somebody")
        lab.redis.set("fence", 7)

    trace = replay(lambda me: lock_of(me).acquire(), "A", workers="A", setup=set_up,
                   check=lambda lab: lab.redis.get("fence"))  # fmt: skip
    assert trace.pending["A"].value == Busy()
    assert trace.broken == "7"


@pytest.mark.parametrize(("first", "number"), [("A?", 2), ("A~", 1)])
def test_asked_again_a_number_may_be_left_out_and_none_comes_twice(first, number):
    def twice(me):
        lock = lock_of(me)
        return lock.acquire(again=lock.acquire())

    grant = asked(twice, f"{first} A").grant
    assert (grant.token, grant.fence) == ("A-1", number)


def test_asked_again_the_lease_begins_anew_and_counts_from_there():
    def late(me):
        lock = lock_of(me)
        unknown = lock.acquire()
        me.sleep(0.06)
        return lock.acquire(again=unknown).grant

    trace = replay(late, "A? t A", workers="A",
                   check=lambda lab: str(lab.redis.pttl("lock")))  # fmt: skip
    assert trace.pending["A"].value.sent_at == pytest.approx(0.06)
    assert trace.broken == "100"


def test_the_clients_own_resends_count_once_more_and_get_the_lock():
    def plain(me):
        client = me.client(socket_timeout=0.06, retry=Retry(NoBackoff(), 1))
        grant = FencedLease(client, "lock", counter="fence", ttl_ms=100).acquire().grant
        return grant.fence, grant.remaining_ms()

    assert asked(plain, "A? t A") == (2, pytest.approx(40))  # counted from the first sending


def test_a_renewal_keeps_the_number():
    def renews(me):
        lock = lock_of(me)
        return lock.renew(lock.acquire().grant)

    renewed = asked(renews, "A A")
    assert isinstance(renewed, Renewed)
    assert renewed.grant.fence == 1


@pytest.mark.parametrize("move", ["?", "~"])
def test_without_an_answer_the_outcome_is_unknown_and_the_token_is_kept(move):
    answer = asked(lambda me: lock_of(me).acquire(), f"A{move}")
    assert isinstance(answer, Unknown)
    assert answer.request.token == "A-1"
    assert isinstance(answer.error, redis.TimeoutError)


@pytest.mark.parametrize("wrong", ["lock", "fence"])
def test_a_key_of_another_type_is_an_error_and_takes_no_lock(wrong):
    def set_up(lab):
        lab.redis.rpush(wrong, "not a string")

    def left(lab):
        return ", ".join(lab.redis.keys())

    trace = replay(lambda me: lock_of(me).acquire(), "A", workers="A", setup=set_up, check=left)
    assert isinstance(trace.pending["A"].value, Failed)
    assert trace.broken == wrong


def test_it_works_with_a_client_that_answers_in_bytes():
    def hold(me):
        lock = FencedLease(me.client(retry=None), "lock", counter="fence", ttl_ms=100)
        return lock.acquire().grant.fence

    assert asked(hold, "A") == 1


def test_the_lock_cannot_be_its_own_counter():
    with pytest.raises(ValueError, match="the numbers need a key of their own"):
        FencedLease(redis.Redis(), "lock", counter="lock", ttl_ms=100)


# -- what holds, and the mutants -------------------------------------------------------------------


class NumberApart(FencedLease):
    def acquire(self, again=None):
        got = OwnerCheckedRenewal.acquire(self, again)
        if not isinstance(got, Acquired):
            return got
        number = self._redis.incr(self._counter)
        return Acquired(Grant(got.grant.key, got.grant.token, got.grant.sent_at, 100, number))


class NumberReadBack(FencedLease):
    def acquire(self, again=None):
        got = super().acquire(again)
        if not isinstance(got, Acquired):
            return got
        number = int(self._redis.get(self._counter))
        return Acquired(Grant(got.grant.key, got.grant.token, got.grant.sent_at, 100, number))


class WithoutOwner(FencedLease):
    """Takes the lock from whoever has it."""

    def acquire(self, again=None):
        self._redis.delete(self._key)
        return super().acquire(again)


RULES = [
    no_stale_write, no_shared_number, only_the_owner_releases.on("lock"), nobody_waits_for_itself,
    freed_after_crash.on("lock"),
]  # fmt: skip


def test_with_a_row_that_checks_it_no_stale_write_is_accepted():
    found = explore(writer(), check=RULES, setup=a_row, pauses=2, faults="?~!")
    assert (found.verdict, found.exact) == (HOLDS, True)
    refused = explore(writer(), setup=a_row, pauses=2, check=lambda lab: "NotOwner" in
                      lab.returned.values() and "late" or None)  # fmt: skip
    assert refused.violating > 0


@pytest.mark.parametrize(
    ("worker", "rule", "caught_by"),
    [
        (writer(checked=False), no_stale_write, "A t B B A"),
        (writer(NumberReadBack), no_shared_number, "A t B B A"),
        (writer(WithoutOwner), only_the_owner_releases.on("lock"), "A A B"),
    ],
)
def test_every_part_of_it_is_needed(worker, rule, caught_by):
    found = explore(worker, check=rule, setup=a_row)
    assert str(found.counterexample.schedule) == caught_by


def test_no_number_makes_a_lease_exclusive():
    """The number does not keep the late holder from writing. It lets the row refuse the write."""

    def inside(me):
        got = lock_of(me).acquire()
        if isinstance(got, Acquired):
            with me.critical_section():
                me.redis.incr("work")

    assert str(explore(inside, check=mutual_exclusion).counterexample.schedule) == "A t B"


def test_a_number_taken_apart_from_the_lock_can_be_higher_for_the_late_holder():
    """A took the lock first and its number last, so its late write is accepted, and B's is not."""
    trace = replay(writer(NumberApart), "A t B B A A B", setup=a_row, partial=True)
    assert [step.reply for step in trace.steps][-3:] == ["2", "1", "0"]


# -- renewed by the work ---------------------------------------------------------------------------


def working(pieces=3, piece_s=0.04, margin_ms=0, stops=True):
    """Reports `valid` where it goes on, and `lost` where it is told to stop."""

    def work(me):
        lock = OwnerCheckedRenewal(me.redis, "lock", ttl_ms=100, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        held = Held(lock, got.grant, margin_ms=margin_ms)
        try:
            for _ in range(pieces):
                held.go_on()
                me.event("valid")
                me.redis.incr("work")
                me.event("effect", key=f"{me.name} {me.now()}")
                me.work(piece_s)
        except LeaseLost:
            me.event("lost")
            if stops:
                return "lost"
            me.redis.incr("work")
            me.event("compensated")
        return type(lock.release(held.grant)).__name__

    return work


def test_as_long_as_it_works_it_renews_and_the_lease_outlasts_its_own_length():
    trace = replay(working(pieces=5), "A A t A A t A A t A A t A A t A", workers="A")
    assert trace.pending["A"].value == "Released"
    assert trace.steps[-1].at_ms == 200


def test_nothing_renews_after_the_work_has_ended():
    found = explore(working(), check=lambda lab: None if lab.redis.get("lock") is None else "left",
                    pauses=1)  # fmt: skip
    assert found.verdict == HOLDS


RENEWAL_RULES = [
    nothing_after_loss, counts_on_its_own, only_the_owner_renews.on("lock"),
    only_the_owner_releases.on("lock"), freed_after_crash.on("lock"),
]  # fmt: skip


def test_who_goes_on_holds_the_lock_and_who_is_told_to_stop_does_nothing_more():
    found = explore(working(2), check=[*RENEWAL_RULES, told_lost], pauses=2, faults="?~!")
    assert (found.verdict, found.exact) == (HOLDS, True)
    assert all(found.dangers.values())


def test_a_holder_that_compensates_after_the_loss_is_caught():
    found = explore(working(2, stops=False), check=nothing_after_loss, pauses=2)
    assert found.counterexample.reason == "A knew that its lease was lost, and undid what was done"


def test_a_renewal_without_an_answer_is_asked_again_while_something_remains():
    held = working(pieces=4)
    trace = replay(held, "A A t A~ A t A A t A A t A", workers="A")
    assert trace.pending["A"].value == "Released"
    assert [step.command.split(" lock")[0] for step in trace.steps if "renew" in step.command] == [
        "EVAL <compare and renew>"
    ] * 3


def test_when_nothing_remains_it_stops_although_nobody_has_told_it_to():
    trace = replay(working(pieces=4), "A A t A~ A t A~ A t t A~", workers="A")
    assert trace.pending["A"].value == "lost"
    assert trace.steps[-1].at_ms == 120


def test_with_a_margin_it_stops_earlier():
    moves = "A A t A~ A t A~"
    assert replay(working(4), moves, workers="A", partial=True).pending["A"] != "lost"
    assert replay(working(4, margin_ms=30), moves, workers="A").pending["A"].value == "lost"


def test_the_instant_at_which_it_must_stop_is_explored_although_no_key_ends_then():
    """Exploration lets time pass to deadlines only. C makes one of that instant."""

    def stops_early(transition):
        lost = any(event.name == "lost" and holds(w, transition) for w, event in
                   happened(transition))  # fmt: skip
        return lost and transition.at_ms == 70

    early = Danger("a holder stopped while its lock was there for 30 ms more", stops_early)
    worker = working(2, piece_s=0, margin_ms=30)
    found = explore({"A": worker, "B": worker, "C": asleep_until(0.07)}, pauses=2, faults="~",
                    check=[*RENEWAL_RULES, early])  # fmt: skip
    assert found.verdict == HOLDS
    assert found.dangers[early.name] > 0


def test_a_lease_that_never_ends_needs_no_renewal():
    def work(me):
        held = Held(lock_of(me), Grant("lock", "token", 0.0, None))
        held.go_on()
        return "went on"

    assert asked(work, "") == "went on"
