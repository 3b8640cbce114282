"""A lock, tried in several cases: what is said about it."""

import pytest

from labkit import LabkitError, cases
from labkit.cases.releasing import watching
from labkit.cases.scorecard import SO_FAR, compare, score
from labkit.cases.workers import by_hand, right
from labkit.locks import COMPARE_AND_DELETE


def taking(take, release):
    def worker(me):
        token = me.token()
        if not take(me.redis, token):
            return False
        with me.critical_section():
            me.redis.incr("work")
        release(me.redis, token)
        return True

    return worker


def take(redis, token):
    return redis.set("lock", token, nx=True, px=100)


def asking_for_ever(redis, token):
    while not take(redis, token):
        pass
    return True


plain_delete = taking(take, lambda redis, token: redis.delete("lock"))


def test_a_plain_delete_holds_in_three_of_the_four_first_cases():
    card = score(plain_delete)
    assert [line.case.name for line in card.lines] == list(SO_FAR)
    assert [line.short for line in card.lines] == ["holds", "holds", "holds", "A A t B A"]
    assert str(card).splitlines()[-2:] == [
        "late-delete       breaks in 14 of 44 schedules: A A t B A",
        "3 of 4 cases hold. Without a fault, the work is always done, and the lock is free "
        "afterwards.",
    ]


def test_each_line_says_in_how_many_schedules_there_was_danger():
    lines = [line.long for line in score(right).lines]
    assert lines[0].endswith("in 4 of them a second worker was refused the lock")
    assert lines[-1].endswith("in 38 of them a late owner's release was refused")


@pytest.mark.parametrize("take_it", [
    lambda redis, token: redis.set("lock", token, nx=True, px=100),
    lambda redis, token: redis.set("lock", token, nx=True, get=True, px=100) is None,
    lambda redis, token: redis.setnx("lock", token),
])  # fmt: skip
def test_a_refusal_counts_as_danger_in_any_form_of_the_command(take_it):
    card = score(taking(take_it, lambda redis, token: redis.delete("lock")), ["look-then-take"])
    assert "in 4 of them a second worker was refused the lock" in card.lines[0].long


@pytest.mark.parametrize(
    ("worker", "sentence"),
    [
        (lambda me: False, "Nobody gets in, in 1 of 1 schedules without a fault."),
        (lambda me: me.redis.sett("lock"), "Your worker raised AttributeError: 'Redis' object"),
        (lambda me: me.redis.execute_command("MONITOR"), "MONITOR"),
        (taking(lambda redis, token: redis.set("mylock", "taken", nx=True, px=100),
                lambda redis, token: redis.delete("mylock")), 'Your lock is not the key "lock"'),
        (taking(asking_for_ever, lambda redis, token: redis.delete("lock")),
         "There are schedules with more than 60 moves. Does your worker ask again and again?"),
    ],
)  # fmt: skip
def test_what_is_no_lock_is_not_scored_and_told_why(worker, sentence):
    card = score(worker)
    assert card.lines == ()
    assert str(card).startswith("Not scored. ")
    assert sentence in str(card)
    assert ".." not in str(card)


@pytest.mark.parametrize(
    ("release", "remark"),
    [
        (lambda redis, token: None, "But a lock is left behind, without any fault"),
        (lambda redis, token: redis.get("lock") == 7, "But a lock is left behind"),
        (lambda redis, token: redis.eval(COMPARE_AND_DELETE, ["lock", token], 1),
         "it is not released. Your worker raised DataError"),
        (lambda redis, token: redis.delete("lock", tokne), "raised NameError"),  # noqa: F821
        (lambda redis, token: redis.delete("lock") and 1 / 0,
         "But look at this, without any fault: Your worker raised ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_release_that_does_not_work_is_remarked(release, remark):
    assert remark in score(taking(take, release)).remark


def test_a_watched_release_is_in_danger_as_well():
    card = score(watching(), ["late-delete"])
    assert "in 22 of them a late owner's release was refused" in card.lines[0].long


def test_a_crash_counts_whatever_the_token_looks_like():
    for token in "taken", "2cdd0fa547b417f29b79fa2e34e292d2":
        card = score(by_hand(token=lambda me, token=token: token), ["take-then-expire"])
        assert "in 14 of them a worker crashed while it held the lock" in card.lines[0].long


def test_a_case_that_does_not_exist_is_an_error_that_lists_them():
    with pytest.raises(LabkitError, match='There is no case "late-delet". There are: look-then-'):
        score(right, ["late-delet"])


def test_locks_side_by_side():
    table = str(compare({"DEL": plain_delete, "compare": right}, ["look-then-take", "late-delete"]))
    assert table.splitlines() == [
        "         look-then-take  late-delete",
        "DEL      holds           A A t B A",
        "compare  holds           holds",
    ]


def test_a_mutant_scores_worse_than_the_right_worker():
    """In the cases so far, each part that is left out shows."""
    for part in {"nx": False}, {"ttl_ms": None}, {"script": "return redis.call('DEL', KEYS[1])"}:
        assert score(by_hand(**part)).holding < score(by_hand()).holding == 4


def test_the_cases_so_far_are_cases():
    assert {cases.named(name).fault for name in SO_FAR} == {"F01", "F02", "F04"}
