"""Each exercise takes several right answers, and tells wrong ones apart."""

import pytest

from labkit import explore, mutual_exclusion
from labkit.exercises import nb01

# -- exercise 1 -----------------------------------------------------------------------------------


def test_the_shortest_schedule_is_as_long_as_the_search_says():
    found = explore(nb01.looks_twice, check=mutual_exclusion, pauses=0).counterexample
    assert str(found.schedule) == nb01.SHORTEST_LOOKS_TWICE


@pytest.mark.parametrize("schedule", ["AABBBA", "A B A B A B", "B B A A A B"])
def test_any_breaking_schedule_solves_the_first_exercise(schedule):
    mark = nb01.break_it(schedule)
    assert mark.solved
    assert "after 6 letters. There is no shorter one." in mark.sentence


def test_a_longer_breaking_schedule_is_told_the_shortest_length(monkeypatch):
    monkeypatch.setattr(nb01, "SHORTEST_LOOKS_TWICE", "A B A B")
    assert "after 6 letters. The shortest has 4." in nb01.break_it("A B A B A B").sentence


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ("A B", 'After "A B" the rule still holds (At most one'),
        ("A A A A A B B B B B", "Everybody has ended"),
        ("A A A B B", 'Move 5, "B", is not possible'),
        ("A x", '"x" is not a move'),
    ],
)
def test_schedules_that_break_nothing_get_a_sentence_that_helps(schedule, sentence):
    mark = nb01.break_it(schedule)
    assert not mark.solved
    assert sentence in str(mark)


# -- exercise 2 -----------------------------------------------------------------------------------


def take_then_expire(me):
    if me.redis.setnx("lock", me.name):
        me.redis.expire("lock", 10)
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


def one_command(me):
    if me.redis.set("lock", me.name, nx=True, ex=10):
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


def one_transaction(me):
    pipe = me.redis.pipeline()
    pipe.set("lock", me.name, nx=True)
    pipe.expire("lock", 10, nx=True)
    if pipe.execute()[0]:
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


def one_script(me):
    script = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then " \
             "redis.call('EXPIRE', KEYS[1], 10) return 1 end return 0"
    if me.redis.eval(script, 1, "lock", me.name):
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


@pytest.mark.parametrize("worker", [one_command, one_transaction, one_script])
def test_every_right_repair_solves_the_second_exercise(worker):
    mark = nb01.repair_it(worker)
    assert mark.solved, mark
    assert "It holds in all" in mark.sentence


def expire_first(me):
    me.redis.expire("lock", 10)
    if me.redis.setnx("lock", me.name):
        with me.critical_section():
            me.redis.incr("done")
        me.redis.delete("lock")


def without_nx(me):
    me.redis.set("lock", me.name, ex=10)
    with me.critical_section():
        me.redis.incr("done")
    me.redis.delete("lock")


def never(me):
    return None


def slip_of_the_pen(me):
    if me.redis.set("lock", me.nmae, nx=True, ex=10):
        me.redis.delete("lock")


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (take_then_expire, 'A crash still leaves the lock for ever.\nLook at "A A!"'),
        (expire_first, "A crash still leaves the lock for ever.\nLook at \"A A A!\""),
        (without_nx, "Both can get in.\nLook at"),
        (never, "Your lock never lets anybody in."),
        (slip_of_the_pen, "your worker raised AttributeError"),
    ],
)
def test_each_typical_wrong_repair_gets_its_own_sentence(worker, sentence):
    mark = nb01.repair_it(worker)
    assert not mark.solved
    assert sentence in mark.sentence


# -- exercise 3 -----------------------------------------------------------------------------------


def patient(take, ttl_ms=100):
    def worker(me):
        for _ in range(3):
            if take(me, ttl_ms):
                with me.critical_section():
                    me.redis.incr("done")
                me.redis.delete("lock")
                return "done"
            me.sleep(0.06)
        return "gave up"

    return worker


def refreshed_by_losers(me, ttl_ms):
    won = me.redis.set("lock", me.name, nx=True)
    me.redis.pexpire("lock", ttl_ms)
    return won


def refreshed_at_every_try(me, ttl_ms):
    won = me.redis.set("lock", me.name, nx=True, px=ttl_ms)
    me.redis.pexpire("lock", ttl_ms)
    return won


def in_one_command(me, ttl_ms):
    return me.redis.set("lock", me.name, nx=True, px=ttl_ms)


def by_a_transaction(me, ttl_ms):
    pipe = me.redis.pipeline()
    pipe.set("lock", me.name, nx=True)
    pipe.pexpire("lock", ttl_ms, nx=True)
    return pipe.execute()[0]


def expired_by_the_winner(me, ttl_ms):
    won = me.redis.set("lock", me.name, nx=True)
    if won:
        me.redis.pexpire("lock", ttl_ms)
    return won


def without_an_end(me, ttl_ms):
    return me.redis.set("lock", me.name, nx=True)


@pytest.mark.parametrize("take", [in_one_command, by_a_transaction])
def test_every_right_repair_solves_the_third_exercise(take):
    mark = nb01.be_patient(patient(take))
    assert mark.solved, mark


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (patient(refreshed_at_every_try), "B tried for 120 ms after a crash and gave up"),
        (patient(refreshed_by_losers), 'A crash can leave the lock for ever.\nLook at "A A!"'),
        (patient(expired_by_the_winner), 'A crash can leave the lock for ever.\nLook at "A A!"'),
        (patient(without_an_end), "A crash can leave the lock for ever."),
        (patient(in_one_command, ttl_ms=200), "After a crash the lock outlives"),
        (patient(lambda me, ttl_ms: False), "Your lock never lets anybody in."),
        (patient(lambda me, ttl_ms: me.redis.set("lock", "x", px=ttl_ms)), "Both can get in."),
    ],
)
def test_each_typical_wrong_answer_to_the_third_gets_its_own_sentence(worker, sentence):
    mark = nb01.be_patient(worker)
    assert not mark.solved
    assert sentence in mark.sentence
