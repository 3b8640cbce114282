"""Each exercise takes several right answers, and tells wrong ones apart."""

import pytest

from labkit import explore
from labkit.cases.helpers import Helper
from labkit.exercises import nb03
from labkit.locks import Acquired, FencedLease, Held, LeaseLost, OwnerCheckedRenewal

# -- exercise 1 -----------------------------------------------------------------------------------


def test_the_shortest_schedule_is_the_one_that_the_search_finds():
    found = explore(nb03.renews_first, setup=nb03.row, check=nb03.never_falls).counterexample
    assert str(found.schedule) == nb03.SHORTEST_RENEWS_FIRST


@pytest.mark.parametrize("schedule", [nb03.SHORTEST_RENEWS_FIRST, "BBtAAAB"])
def test_any_breaking_schedule_solves_the_first_exercise(schedule):
    assert nb03.break_it(schedule).solved


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [("A A A", "the rule still holds"), ("A t B B B A", "the rule still holds"),
     ("A A t B A", "the rule still holds"), ("A A A A", 'Move 4, "A", is not possible')],
)  # fmt: skip
def test_schedules_that_break_nothing_get_a_sentence_that_helps(schedule, sentence):
    mark = nb03.break_it(schedule)
    assert not mark.solved
    assert sentence in str(mark)


# -- exercise 2 -----------------------------------------------------------------------------------


def failing(after):
    """The worker of the exercise; `after` runs when the work has failed."""

    def worker(me):
        lock = OwnerCheckedRenewal(me.redis, "lock", ttl_ms=100, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        helper = Helper(lock, got.grant, daemon=False)
        try:
            with me.critical_section():
                me.work(0.04)
                raise ValueError("no such account")
        finally:
            after(me, lock, got.grant, helper)

    return worker


def stop_and_release(me, lock, grant, helper):
    helper.stop()
    lock.release(grant)


def only_stop(me, lock, grant, helper):
    helper.stop()


@pytest.mark.parametrize("after", [stop_and_release, only_stop])
def test_a_helper_that_is_stopped_lets_the_next_one_in(after):
    mark = nb03.let_b_in(failing(after))
    assert mark.solved, mark


def stop_and_delete(me, lock, grant, helper):
    helper.stop()
    me.redis.delete("lock")


def free_and_take_again(me, lock, grant, helper):
    helper.stop()
    me.redis.set("lock", grant.token, px=100)


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (lambda me, lock, grant, helper: None, "B gives up waiting, and nobody is working"),
        (lambda me, lock, grant, helper: helper.stopp(), "your worker raised AttributeError"),
        (stop_and_delete, "A lease that is not yours is changed."),
        (free_and_take_again, "A lease that is not yours is changed."),
    ],
)
def test_wrong_ends_get_their_own_sentence(after, sentence):
    mark = nb03.let_b_in(failing(after))
    assert not mark.solved
    assert sentence in mark.sentence


def swallowing(me):
    try:
        return failing(stop_and_release)(me)
    except ValueError:
        return "done"


def with_a_daemon(me):
    lock = OwnerCheckedRenewal(me.redis, "lock", ttl_ms=100, token=me.token)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    Helper(lock, got.grant, daemon=True)  # and the process lives on
    with me.critical_section():
        me.work(0.04)
        raise ValueError("no such account")


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (swallowing, "The error of the work does not get out."),
        (with_a_daemon, "B gives up waiting, and nobody is working any more."),
        (lambda me: "busy", "A's work never begins."),
    ],
)
def test_short_cuts_are_no_solution(worker, sentence):
    mark = nb03.let_b_in(worker)
    assert not mark.solved
    assert sentence in mark.sentence


# -- exercise 3 -----------------------------------------------------------------------------------


def stepping(write, on_loss):
    """The worker of the exercise."""

    def worker(me):
        lock = FencedLease(me.redis, "lock", counter="fence", ttl_ms=100, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        held, number, row = Held(lock, got.grant), got.grant.fence, me.shared.steps
        try:
            for step in range(row.read() + 1, 3):
                held.go_on()
                if not write(row, step, number):
                    return "lost"
        except LeaseLost:
            on_loss(row, number)
            return "lost"
        lock.release(held.grant)
        return "done"

    return worker


def looked_at(row, step, number):
    return row.write(step, number)


def ignored(row, step, number):
    row.write(step, number)
    return True


def nothing(row, number):
    pass


def undo(row, number):
    row.write(0, number)


def undo_one(row, number):
    row.write(max(row.read() - 1, 0), number)


def undo_by_force(row, number):
    row.execute("UPDATE data SET value = 0")


@pytest.mark.parametrize("write", [looked_at, ignored])
def test_whoever_stops_solves_the_third_exercise(write):
    mark = nb03.tidy_up(stepping(write, nothing))
    assert mark.solved, mark


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (stepping(ignored, undo), "After a pause, a step is missing."),
        (stepping(looked_at, undo_one), "After a pause, a step is missing."),
        (stepping(looked_at, undo_by_force), "After a pause, a step is missing."),
        (stepping(lambda row, step, number: False, nothing), "Without any pause, nobody is done."),
        (lambda me: "done", "Without any pause, a step is missing."),
    ],
)
def test_wrong_ways_to_tidy_up_get_their_own_sentence(worker, sentence):
    mark = nb03.tidy_up(worker)
    assert not mark.solved
    assert sentence in mark.sentence
