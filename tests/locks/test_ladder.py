"""The ladder of locks: each rung does its job, and fails exactly where the next one repairs it."""

import ast
import time
from pathlib import Path

import pytest
import redis

import labkit.locks
from labkit import (
    explore,
    freed_after_crash,
    mutual_exclusion,
    nobody_waits_for_itself,
    only_the_owner_releases,
    replay,
)
from labkit.locks import (
    Acquired,
    Busy,
    CheckThenDelete,
    CompareAndDelete,
    ConstantValue,
    Failed,
    Grant,
    LookThenTake,
    NotOwner,
    Released,
    TakeThenExpire,
    Unknown,
)

TTL_MS = 100
RUNGS = {
    "look then take": lambda client: LookThenTake(client, "lock"),
    "take then expire": lambda client: TakeThenExpire(client, "lock", ttl_ms=TTL_MS),
    "constant value": lambda client: ConstantValue(client, "lock", ttl_ms=TTL_MS),
    "check then delete": lambda client: CheckThenDelete(client, "lock", ttl_ms=TTL_MS),
    "compare and delete": lambda client: CompareAndDelete(client, "lock", ttl_ms=TTL_MS),
}
LEASES = ["constant value", "check then delete", "compare and delete"]
every_rung = pytest.mark.parametrize("rung", RUNGS)


def holder(rung):
    """Acquire, one command in the section, release."""

    def hold(me):
        lock = RUNGS[rung](me.redis)
        acquired = lock.acquire()
        if not isinstance(acquired, Acquired):
            return type(acquired).__name__
        with me.critical_section():
            me.redis.incr("work")
        return type(lock.release(acquired.grant)).__name__

    return hold


def acquired(rung, schedule, **settings):
    return replay(lambda me: RUNGS[rung](me.redis).acquire(), schedule, workers="A", **settings)


# -- what every rung does --------------------------------------------------------------------------


@every_rung
def test_one_after_the_other_acquires_and_releases(rung):
    found = explore(
        holder(rung), check=lambda lab: lab.redis.get("lock") and "not free", workers="A"
    )
    assert found.verdict == "holds within bounds"
    ends = set()
    explore(
        holder(rung), check=lambda lab: ends.update(lab.returned.values()), workers="A", pauses=0
    )
    assert ends == {"Released"}


@every_rung
def test_while_it_is_held_others_are_told_that_it_is_busy(rung):
    def asks(me):
        return RUNGS[rung](me.redis).acquire()

    def set_up(lab):
        lab.redis.set("lock", "somebody")

    first = replay(asks, "A", workers="A", setup=set_up, partial=True)
    assert first.pending["A"].value == Busy()


@every_rung
def test_a_grant_says_what_was_granted(rung):
    def asks(me):
        me.sleep(0.5)
        return RUNGS[rung](me.redis).acquire()

    moves = {"look then take": "t A A", "take then expire": "t A A"}.get(rung, "t A")
    grant = replay(asks, moves, workers="A").pending["A"].value.grant
    assert (grant.key, grant.sent_at, grant.fence) == ("lock", 0.5, None)
    assert grant.ttl_ms == (None if rung == "look then take" else TTL_MS)
    assert grant.token


@every_rung
@pytest.mark.parametrize("move", ["?", "~"])
def test_without_an_answer_to_acquire_the_outcome_is_unknown(rung, move):
    answer = acquired(rung, f"A{move}").pending["A"].value
    assert isinstance(answer, Unknown)
    assert isinstance(answer.error, redis.TimeoutError)


@every_rung
@pytest.mark.parametrize("move", ["?", "~"])
def test_without_an_answer_to_release_the_outcome_is_unknown(rung, move):
    def releases(me):
        return RUNGS[rung](me.redis).release(Grant("lock", "taken", 0.0, TTL_MS))

    assert isinstance(replay(releases, f"A{move}", workers="A").pending["A"].value, Unknown)


@every_rung
def test_an_error_of_the_server_is_told_as_such(rung):
    """A key of another type: GET and the script answer WRONGTYPE, SET NX would answer busy."""

    def set_up(lab):
        lab.redis.rpush("lock", "not a string")

    if rung == "look then take":
        answer = acquired(rung, "A", setup=set_up).pending["A"].value
        assert isinstance(answer, Failed)
        assert "WRONGTYPE" in str(answer.error)
    elif rung in ("check then delete", "compare and delete"):

        def releases(me):
            return RUNGS[rung](me.redis).release(Grant("lock", "token", 0.0, TTL_MS))

        answer = replay(releases, "A", workers="A", setup=set_up).pending["A"].value
        assert isinstance(answer, Failed)
    else:
        assert acquired(rung, "A", setup=set_up).pending["A"].value == Busy()


@every_rung
def test_releasing_what_is_gone_says_not_owner(rung):
    def releases(me):
        return RUNGS[rung](me.redis).release(Grant("lock", "taken", 0.0, TTL_MS))

    assert replay(releases, "A", workers="A").pending["A"].value == NotOwner()


@every_rung
def test_a_rung_works_with_a_client_that_answers_in_bytes(rung):
    def hold(me):
        lock = RUNGS[rung](me.client(retry=None))
        return lock.release(lock.acquire().grant)

    found = explore(hold, check=lambda lab: None if lab.returned == {"A": Released()} else "no",
                    workers="A", pauses=0)  # fmt: skip
    assert found.verdict == "holds within bounds"


@pytest.mark.parametrize("rung", LEASES)
def test_a_lease_is_taken_with_its_expiry_in_one_command(rung):
    trace = acquired(rung, "A", check=lambda lab: f"{lab.redis.pttl('lock')} ms left")
    assert trace.broken == "100 ms left"
    assert trace.steps[0].command.endswith("NX PX 100")


@pytest.mark.parametrize("rung", ["check then delete", "compare and delete"])
def test_every_attempt_has_a_token_of_its_own(rung):
    def two_attempts(me):
        lock = RUNGS[rung](me.redis)
        first = lock.acquire().grant
        lock.release(first)
        return first.token, lock.acquire().grant.token

    moves = "A" * (4 if rung == "check then delete" else 3)
    trace = replay(two_attempts, moves, workers="A")
    first, second = trace.pending["A"].value
    assert first != second
    assert len(first) == len(second) == 32
    assert replay(two_attempts, moves, workers="A") == trace


@pytest.mark.parametrize("ttl_ms", [0, -1, 1.5, "100", None])
def test_a_lease_lasts_a_whole_number_of_milliseconds(ttl_ms):
    for rung in (TakeThenExpire, ConstantValue, CheckThenDelete, CompareAndDelete):
        with pytest.raises(ValueError, match="a whole number of milliseconds"):
            rung(redis.Redis(), "lock", ttl_ms=ttl_ms)


def test_what_remains_of_a_lease_counts_from_sending_and_minus_a_margin():
    def worker(me):
        grant = CompareAndDelete(me.redis, "lock", ttl_ms=100).acquire().grant
        me.sleep(0.03)
        return grant.remaining_ms(), grant.remaining_ms(margin_ms=20)

    assert replay(worker, "A t", workers="A").pending["A"].value == pytest.approx((70, 50))
    assert Grant("lock", "token", time.monotonic(), None).remaining_ms() == float("inf")


# -- each rung repairs one fault of the one before -------------------------------------------------


def shortest(rung, rule, **bounds):
    found = explore(holder(rung), check=rule, **bounds)
    return str(found.counterexample.schedule) if found.counterexample else found.verdict


HOLDS = "holds within bounds"


def test_looking_first_lets_both_in_and_taking_with_nx_does_not():
    assert shortest("look then take", mutual_exclusion, pauses=0) == "A B B A"
    trace = replay(holder("look then take"), "A B A B", check=mutual_exclusion)
    assert trace.broken == "A and B are both inside"
    assert shortest("take then expire", mutual_exclusion, pauses=0) == HOLDS


def test_a_crash_before_the_expiry_leaves_the_lock_for_ever_and_one_command_does_not():
    rule = freed_after_crash.on("lock")
    assert shortest("take then expire", rule, faults="!") == "A A!"
    for rung in LEASES:
        assert shortest(rung, rule, faults="!") == HOLDS


def test_a_late_delete_frees_the_successors_lock_and_comparing_first_takes_one_letter_more():
    assert shortest("constant value", only_the_owner_releases) == "A A t B A"
    assert shortest("check then delete", only_the_owner_releases) == "A A A t B A"
    assert shortest("compare and delete", only_the_owner_releases) == HOLDS
    assert shortest("compare and delete", only_the_owner_releases, pauses=2, faults="?~!") == HOLDS


def test_no_lease_survives_a_pause_of_its_holder():
    assert shortest("take then expire", mutual_exclusion) == "A A t B B"
    for rung in LEASES:
        assert shortest(rung, mutual_exclusion) == "A t B"


def test_an_acquire_that_is_simply_repeated_waits_for_itself():
    def repeats(me):
        lock = RUNGS["compare and delete"](me.redis)
        for _ in range(2):
            answer = lock.acquire()
            if not isinstance(answer, Unknown):
                return type(answer).__name__

    found = explore(repeats, check=nobody_waits_for_itself, faults="?")
    assert str(found.counterexample.schedule) == "A? A"


@pytest.mark.parametrize("rung", LEASES)
def test_in_every_schedule_without_pauses_somebody_does_the_work(rung):
    found = explore(holder(rung), check=mutual_exclusion, pauses=0)
    assert found.worked == found.schedules > 1


# -- it can be copied ------------------------------------------------------------------------------


def test_redis_py_is_all_it_needs():
    tree = ast.parse(Path(labkit.locks.__file__).read_text("utf-8"))
    modules = {
        node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    modules |= {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}  # fmt: skip
    assert modules == {
        "__future__",
        "secrets",
        "time",
        "collections",
        "dataclasses",
        "typing",
        "redis",
    }


@pytest.mark.parametrize("answer", [Busy(), NotOwner(), Released()])
def test_an_answer_in_a_plain_if_is_an_error_that_says_how_to_ask(answer):
    with pytest.raises(TypeError, match=r"is neither true nor false: .* isinstance"):
        bool(answer)
