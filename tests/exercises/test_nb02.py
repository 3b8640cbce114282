"""Each exercise takes several right answers, and tells wrong ones apart."""

import pytest
import redis

from labkit import explore
from labkit.exercises import nb02
from labkit.locks import (
    COMPARE_AND_DELETE,
    COMPARE_AND_RENEW,
    Acquired,
    OwnerCheckedRenewal,
    Renewed,
    TokenAwareAcquire,
    Unknown,
)

# -- exercise 1 -----------------------------------------------------------------------------------


def test_the_shortest_schedule_is_the_one_that_the_search_finds():
    found = explore(nb02.watches, check=nb02.only_owner, pauses=1).counterexample
    assert str(found.schedule) == nb02.SHORTEST_WATCHES


@pytest.mark.parametrize("schedule", [nb02.SHORTEST_WATCHES, "B B B B t A B", "AAAAtBBA"])
def test_any_breaking_schedule_solves_the_first_exercise(schedule):
    mark = nb02.break_it(schedule)
    assert mark.solved
    assert "removed what" in mark.sentence


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ("A A A A A", "A is about to: UNWATCH"),
        ("A A A t B A", "A is about to: UNWATCH"),
        ("A t B A A", "A is about to: GET lock"),
        ("A A A A t B x", '"x" is not a move'),
    ],
)
def test_schedules_that_break_nothing_get_a_sentence_that_helps(schedule, sentence):
    mark = nb02.break_it(schedule)
    assert not mark.solved
    assert sentence in str(mark)


# -- exercise 2 -----------------------------------------------------------------------------------


def renewing(renew, *, ttl_ms=100):
    """The worker of the exercise, with another renewal."""

    def worker(me):
        token = me.token()
        if not me.redis.set("lock", token, nx=True, px=ttl_ms):
            return False
        with me.critical_section():
            me.work(0.08)
            if not renew(me.redis, token):
                return False
            me.work(0.08)
        me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
        return True

    return worker


def watch_and_renew(client, token):
    with client.pipeline() as pipe:
        pipe.watch("lock")
        if pipe.get("lock") != token:
            return False
        pipe.multi()
        pipe.pexpire("lock", 100)
        try:
            return pipe.execute()[0]
        except redis.WatchError:
            return False


def of_the_ladder(me):
    lock = OwnerCheckedRenewal(me.redis, "lock", ttl_ms=100, token=me.token)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return False
    with me.critical_section():
        me.work(0.08)
        renewed = lock.renew(got.grant)
        if not isinstance(renewed, Renewed):
            return False
        me.work(0.08)
    lock.release(renewed.grant)
    return True


by_script = renewing(lambda client, token: client.eval(COMPARE_AND_RENEW, 1, "lock", token, 100))


@pytest.mark.parametrize("worker", [by_script, renewing(watch_and_renew), of_the_ladder])
def test_any_careful_renewal_solves_the_second_exercise(worker):
    mark = nb02.renew_it(worker)
    assert mark.solved, mark
    assert "It holds in all" in mark.sentence


def entering_only(me):
    token = me.token()
    if not me.redis.set("lock", token, nx=True, px=100):
        return False
    with me.critical_section():
        me.note("nothing to do")
    me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
    return True


def asking_for_ever(me):
    while not me.redis.set("lock", "taken", nx=True, px=100):
        pass
    with me.critical_section():
        me.work(0.16)
    me.redis.delete("lock")


RELOCK = """\
if redis.call("GET", KEYS[1]) == ARGV[1] or redis.call("EXISTS", KEYS[1]) == 0 then
    redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
    return 1
end
return 0
"""
NOT_YOURS = "Your renewal, or your release, changes a lock that is not yours."


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (renewing(lambda client, token: client.pexpire("lock", 100)), NOT_YOURS),  # the stub
        (renewing(lambda client, token: client.get("lock") == token
                  and client.pexpire("lock", 100)), NOT_YOURS),
        (renewing(lambda client, token: True), "Without any pause, your lease is over"),
        (renewing(lambda client, token: True, ttl_ms=200), "your lease is long, instead of"),
        (renewing(lambda client, token: client.eval(RELOCK, 1, "lock", token, 100)),
         "Your renewal brings back a lease that had ended."),
        (lambda me: False, "Your lock never lets anybody in."),
        (renewing(lambda client, token: tokne), "Without any fault, your worker raised NameError"),  # noqa: F821
        (renewing(lambda client, token: client.eval(COMPARE_AND_RENEW, ["lock", token], 1)),
         "Without any fault, your worker raised"),
        (renewing(lambda client, token: client.pexpire("lock", 0.1)), "Without any fault, your"),
        (renewing(lambda client, token:
                  client.eval(COMPARE_AND_RENEW, 1, "lock", token, 100) or "never mind"),
         "Your renewal is refused, and you go on working."),
        (renewing(lambda client, token: client.execute_command(
            "SET", "lock", token, "IFEQ", token, "PX", 100)), "your worker raised ResponseError"),
        (entering_only, "The work is not done: it takes 160 ms."),
        (asking_for_ever, "Does your worker ask again and again? Give it a limit."),
    ],
)  # fmt: skip
def test_wrong_renewals_are_told_apart(worker, sentence):
    mark = nb02.renew_it(worker)
    assert not mark.solved
    assert sentence in mark.sentence


# -- exercise 3 -----------------------------------------------------------------------------------


def asking(attempt, *, tries=2):
    """The worker of the exercise; `attempt` says True, False, or raises when no answer comes."""

    def worker(me):
        token = me.token()
        for number in range(tries):
            try:
                if not attempt(me, token, number):
                    return False
                break
            except redis.TimeoutError:
                me.note("no answer")
        else:
            return "unknown"
        with me.critical_section():
            me.redis.incr("done")
        me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
        return True

    return worker


def before(me, token):
    return me.redis.set("lock", token, nx=True, get=True, px=100)


def read_back(me, token, number):
    taken = me.redis.set("lock", token, nx=True, px=100)
    return taken or (number > 0 and me.redis.get("lock") == token)


def aware(me):
    lock = TokenAwareAcquire(me.redis, "lock", ttl_ms=100, token=me.token)
    got = lock.acquire()
    if isinstance(got, Unknown):
        got = lock.acquire(again=got)
    if not isinstance(got, Acquired):
        return False
    with me.critical_section():
        me.redis.incr("done")
    lock.release(got.grant)
    return True


with_get = asking(lambda me, token, number: before(me, token) in (None, token))


@pytest.mark.parametrize("worker", [with_get, asking(read_back), aware])
def test_whoever_knows_its_own_token_solves_the_third_exercise(worker):
    mark = nb02.ask_again(worker)
    assert mark.solved, mark


def deleting(me):
    token = me.token()
    try:
        taken = me.redis.set("lock", token, nx=True, px=100)
    except redis.TimeoutError:
        me.redis.delete("lock")  # to be on the safe side
        taken = me.redis.set("lock", token, nx=True, px=100)
    if not taken:
        return False
    with me.critical_section():
        me.redis.incr("done")
    me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
    return True


def presuming(me):
    token = me.token()
    try:
        if not me.redis.set("lock", token, nx=True, px=100):
            return False
    except redis.TimeoutError:
        me.note("it will have worked")
    with me.critical_section():
        me.redis.incr("done")
    me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
    return True


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (asking(lambda me, token, number: me.redis.set("lock", token, nx=True, px=100)),
         "After a lost reply you go away, and the lock that is there is your own."),  # the stub
        (deleting, "You delete a lock that is not yours."),
        (presuming, "The request never arrives, and you go in without a lock."),
        (asking(lambda me, token, number: before(me, token) == token),
         "Your lock never lets anybody in."),
        (asking(lambda me, token, number: before(me, token)), "You take the lock, and turn away"),
        (asking(lambda me, token, number: number or before(me, token) is None),
         "The request never arrives, and you go in without a lock."),
        (asking(lambda me, token, number: before(me, token) in (None, token), tries=1),
         "After a lost reply the lock is taken, and nobody uses it."),
        (asking(lambda me, token, number: True), "Both can get in."),
    ],
)  # fmt: skip
def test_wrong_ways_to_ask_again_are_told_apart(worker, sentence):
    mark = nb02.ask_again(worker)
    assert not mark.solved
    assert sentence in mark.sentence
