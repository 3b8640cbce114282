"""Each invariant has a toy that breaks it and one that keeps it.

The breaker gives the sentence and the shortest schedule; the keeper is run under the same bounds,
and does its work in every schedule, so that nothing is kept by doing nothing.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis

import labkit
from labkit import explore, replay
from labkit.sim import invariants
from labkit.sim.invariants import Invariant
from tests.sim.programs import COMPARE_AND_DELETE, lease


@dataclass
class Case:
    rule: Invariant
    breaker: Any
    keeper: Any
    schedule: str
    sentence: str
    bounds: dict = field(default_factory=dict)


def without_expiry(me):
    if me.redis.set("lock", me.name, nx=True):
        with me.critical_section():
            me.redis.incr("work")
        me.redis.delete("lock")


def read_and_write(me):
    me.redis.set("n", int(me.redis.get("n") or 0) + 1)


def increment(me):
    me.redis.incr("n")


def plain_delete(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        me.redis.incr("work")
        me.redis.delete("lock")


def take_then_expire(me):
    if me.redis.setnx("lock", me.name):
        me.redis.pexpire("lock", 100)
        me.redis.delete("lock")


def take_with_expiry(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        me.redis.delete("lock")


def number_in_the_lock_only(me):
    number = me.redis.incr("fence")
    me.redis.get("account")
    me.event("accepted", resource="account", number=number)


def number_checked_by_the_resource(me):
    number = me.redis.incr("fence")
    if me.redis.eval(RAISE, 1, "account", number):
        me.event("accepted", resource="account", number=number)


RAISE = """\
-- raise
if tonumber(redis.call("GET", KEYS[1]) or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call("SET", KEYS[1], ARGV[1])
return 1
"""


def number_by_reading(me):
    number = int(me.redis.get("fence") or 0) + 1
    me.redis.set("fence", number)
    me.event("granted", number=number)


def number_by_incr(me):
    me.event("granted", number=me.redis.incr("fence"))


def look_then_do(me):
    if me.redis.get("done:7") is None:
        me.event("effect", key="order 7")
        me.redis.set("done:7", "yes")


def claim_then_do(me):
    if me.redis.set("done:7", "yes", nx=True):
        me.event("effect", key="order 7")


def compensates_after_loss(me):
    me.redis.set("lock", me.name, px=100)
    if me.redis.get("lock") != me.name:
        me.event("lost")
        me.event("compensated")


def stops_after_loss(me):
    me.redis.set("lock", me.name, px=100)
    if me.redis.get("lock") != me.name:
        me.event("lost")
        return
    me.event("effect", key=me.name)


def asks_again(me):
    for _ in range(2):
        try:
            return bool(me.redis.set("lock", me.name, nx=True, px=100))
        except redis.TimeoutError:
            pass


def asks_again_and_knows_its_token(me):
    token = me.token()
    for _ in range(2):
        try:
            return me.redis.set("lock", token, nx=True, px=100, get=True) in (None, token)
        except redis.TimeoutError:
            pass


def forgets_to_say(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        return "done"


def says_how_it_ended(me):
    return "done" if me.redis.set("lock", me.name, nx=True, px=100) else "gave up"


def renews_blindly(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        me.redis.set("lock", me.name, px=100)
        me.event("renewed")


def renews_what_is_its_own(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        renew = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], 9)"
        if me.redis.eval(renew, 1, "lock", me.name):
            me.event("renewed")


CASES = {
    "mutual_exclusion": Case(
        labkit.mutual_exclusion, lease, without_expiry, "A t B", "A and B are both inside"
    ),
    "no_lost_update": Case(
        labkit.no_lost_update, read_and_write, increment, "A B B A",
        "A wrote n from an old value: B's update is lost",
    ),
    "only_the_owner_releases": Case(
        labkit.only_the_owner_releases, plain_delete, lease, "A A t B A",
        "A's DEL lock removed what B had set",
    ),
    "only_the_owner_renews": Case(
        labkit.only_the_owner_renews, renews_blindly, renews_what_is_its_own, "A t A",
        "A's SET lock A PX 100 brought back a lease that had ended",
    ),
    "freed_after_crash": Case(
        labkit.freed_after_crash, take_then_expire, take_with_expiry, "A A!",
        "lock has no expiry, and A, who set it, has crashed", {"faults": "!"},
    ),
    "no_stale_write": Case(
        labkit.no_stale_write, number_in_the_lock_only, number_checked_by_the_resource, "A B B A",
        "A's write with number 1 was accepted after 2",
    ),
    "no_shared_number": Case(
        labkit.no_shared_number, number_by_reading, number_by_incr, "A B B A",
        "A and B were both granted number 1",
    ),
    "one_effect_per_key": Case(
        labkit.one_effect_per_key, look_then_do, claim_then_do, "A B",
        "B did order 7, which A had done",
    ),
    "nothing_after_loss": Case(
        labkit.nothing_after_loss, compensates_after_loss, stops_after_loss, "A B A",
        "A knew that its lease was lost, and undid what was done",
    ),
    "nobody_waits_for_itself": Case(
        labkit.nobody_waits_for_itself, asks_again, asks_again_and_knows_its_token, "A? A",
        "A is told that lock is taken, and the one who took it is A", {"faults": "?"},
    ),
    "every_waiter_ends": Case(
        labkit.every_waiter_ends, forgets_to_say, says_how_it_ended, "A B",
        "B returned None: neither done, nor gave up, nor queued",
    ),
}  # fmt: skip


def test_no_invariant_is_left_out():
    known = {name for name, value in vars(invariants).items() if isinstance(value, Invariant)}
    assert set(CASES) == known
    assert all(getattr(labkit, name) == CASES[name].rule for name in known)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_breaker_is_caught_by_its_shortest_schedule(case):
    found = explore(case.breaker, check=case.rule, **case.bounds)
    assert found.verdict == "violated"
    assert str(found.counterexample.schedule) == case.schedule
    assert found.counterexample.reason == case.sentence
    assert 0 < found.violating < found.schedules


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_keeper_holds_and_does_its_work(case):
    found = explore(case.keeper, check=case.rule, **case.bounds)
    assert found.verdict == "holds within bounds"
    assert found.schedules > 1
    if not case.bounds:
        assert found.worked == found.schedules


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_invariant_is_named_by_a_sentence_and_by_its_identifier(case):
    assert re.fullmatch(r"[A-Z][^.]+", str(case.rule))
    found = explore(case.breaker, check=case.rule, **case.bounds)
    name = next(name for name, other in CASES.items() if other is case)
    assert found.counterexample.trace.call.endswith(f"check={name})")


# -- what each of them must not overlook, or must not blame ----------------------------------------


def both(one, other, rule, **bounds):
    return explore({"A": one, "B": other}, check=rule, **bounds)


def overwrite_in_a_transaction(me):
    before = int(me.redis.get("n") or 0)
    me.redis.pipeline().set("n", before + 1).execute()


def increment_in_a_script(me):
    me.redis.eval("-- add\nreturn redis.call('INCR', KEYS[1])", 1, "n")


def watched(me):
    with me.redis.pipeline() as pipe:
        pipe.watch("n")
        before = int(pipe.get("n") or 0)
        pipe.multi()
        pipe.set("n", before + 1)
        try:
            pipe.execute()
        except redis.WatchError:
            return "conflict"


@pytest.mark.parametrize("writer", [read_and_write, increment, overwrite_in_a_transaction,
                                    increment_in_a_script])  # fmt: skip
def test_an_update_is_lost_whichever_way_it_was_made(writer):
    assert both(read_and_write, writer, labkit.no_lost_update).violating
    assert both(overwrite_in_a_transaction, writer, labkit.no_lost_update).violating


def test_a_watched_transaction_loses_no_update():
    found = explore(watched, check=labkit.no_lost_update)
    assert (found.schedules, found.violating) == (20, 0)


def test_a_refused_set_writes_nothing():
    def look_and_take(me):
        me.redis.get("lock")
        me.redis.set("lock", me.name, nx=True)

    assert explore(look_and_take, check=labkit.no_lost_update).violating == 0


def test_a_rule_can_be_restricted_to_some_keys():
    assert explore(read_and_write, check=labkit.no_lost_update.on("m*")).violating == 0
    assert explore(read_and_write, check=labkit.no_lost_update.on("n*")).violating == 4
    found = explore(lease, check=labkit.freed_after_crash, pauses=0)
    assert found.counterexample.reason.startswith("work has no expiry")
    assert explore(lease, check=labkit.freed_after_crash.on("lock"), faults="!").violating == 0


def test_a_restricted_rule_prints_with_its_restriction():
    found = explore(lease, check=labkit.freed_after_crash.on("work"), pauses=0)
    assert 'check=freed_after_crash.on("work")' in str(found)


def test_expiry_is_not_a_release_by_somebody_else():
    def let_it_expire(me):
        me.redis.set("lock", me.name, nx=True, px=100)
        me.redis.get("lock")

    assert explore(let_it_expire, check=labkit.only_the_owner_releases).violating == 0


def test_who_crashed_is_no_longer_inside():
    trace = replay(lease, "A A! t B B B", check=labkit.mutual_exclusion)
    assert trace.broken is None
    trace = replay(lease, "A t B", check=labkit.mutual_exclusion, partial=True)
    assert trace.broken


def test_the_start_itself_may_break_a_rule():
    def at_once(me):
        with me.critical_section():
            me.redis.incr("n")

    found = explore(at_once, check=labkit.mutual_exclusion)
    assert str(found.counterexample.schedule) == ""
    assert found.violating == found.schedules == 2


def test_several_rules_are_checked_together_and_the_first_broken_one_is_told():
    found = explore(plain_delete, check=[labkit.only_the_owner_releases, labkit.no_lost_update])
    assert found.rule == "Only the owner releases; No update is lost"
    assert found.counterexample.reason == "A's DEL lock removed what B had set"
    assert found.violating == explore(plain_delete, check=labkit.only_the_owner_releases).violating


def test_a_release_by_script_is_a_release_too():
    def steals(me):
        me.redis.eval(COMPARE_AND_DELETE, 1, "lock", "A")

    def holds(me):
        me.redis.set("lock", me.name)

    found = both(holds, steals, labkit.only_the_owner_releases)
    assert found.counterexample.reason.endswith("removed what A had set")


def test_a_counter_is_no_lease_and_everybody_may_change_it():
    def counts(me):
        me.redis.incr("n")

    assert explore(counts, check=labkit.only_the_owner_renews).violating == 0
