"""The reader's own repair and each exercise: several right answers, and wrong ones told apart."""

import pytest
import redis

from labkit import explore
from labkit.cases.fencing import ONLY_IF_COUNTED
from labkit.exercises import nb04
from labkit.locks import COMPARE_AND_DELETE, TAKE_AND_COUNT, Acquired, FencedLease

# -- the reader's own repair ----------------------------------------------------------------------


def taking(take):
    """The worker of the first cell, with another way to take the money."""

    def worker(me):
        lock = FencedLease(me.redis, "lock", counter="fence", ttl_ms=100, token=me.token)
        got = lock.acquire()
        if not isinstance(got, Acquired):
            return "busy"
        taken = take(me.shared.bank.execute, got.grant.fence)
        lock.release(got.grant)
        return "done" if taken else "too late"

    return worker


def balance(execute):
    return execute("SELECT balance FROM account").value


def compare_and_set(execute, number):
    before = balance(execute)
    return execute("UPDATE account SET balance = ? WHERE balance = ?", before - 30, before).rowcount


def raise_first(execute, number):
    if not execute("UPDATE account SET fence = ? WHERE fence < ?", number, number).rowcount:
        return False
    left = balance(execute) - 30
    return execute("UPDATE account SET balance = ? WHERE fence = ?", left, number).rowcount


def one_statement(execute, number):
    return execute("UPDATE account SET balance = balance - 30").rowcount


@pytest.mark.parametrize("take", [compare_and_set, raise_first, one_statement])
def test_several_repairs_are_right(take):
    mark = nb04.my_repair(taking(take))
    assert mark.solved, mark


def unchecked(execute, number):
    return execute("UPDATE account SET balance = ?", balance(execute) - 30).rowcount


def checked_on_write(execute, number):
    left = balance(execute) - 30
    return execute("UPDATE account SET balance = ?, fence = ? WHERE fence < ?", left, number,
                   number).rowcount  # fmt: skip


def in_a_transaction_of_sqlite(execute, number):
    execute("BEGIN")
    changed = unchecked(execute, number)
    execute("COMMIT")
    return changed


def number_set_back(execute, number):
    execute("UPDATE account SET fence = ?", number)
    left = balance(execute) - 30
    return execute("UPDATE account SET balance = ? WHERE fence = ?", left, number).rowcount


def rowcount_ignored(execute, number):
    compare_and_set(execute, number)
    return True


@pytest.mark.parametrize(
    ("take", "sentence"),
    [
        (unchecked, 'Look at "A A t B B B B A A"'),
        (checked_on_write, 'Look at "A A t B B A A B B"'),
        (rowcount_ignored, "2 took 30 each, and 70 is left instead of 40"),
        (in_a_transaction_of_sqlite, "one worker ends with an error. SQLite locks the whole file"),
        (number_set_back, "a late holder sets the number back"),
        (lambda execute, number: False, "Without any pause, nobody takes money."),
        (lambda execute, number: True, "Without any pause, money is lost."),
        (lambda execute, number: execute("UPDATE acount SET balance = 0"), "no such table: acount"),
    ],
)
def test_wrong_repairs_get_their_own_sentence(take, sentence):
    mark = nb04.my_repair(taking(take))
    assert not mark.solved
    assert sentence in mark.sentence


# -- exercise 1 -----------------------------------------------------------------------------------


def test_the_shortest_schedule_is_the_one_that_the_search_finds():
    found = explore(nb04.asks_first, setup=nb04.bank, check=nb04.no_late_write).counterexample
    assert str(found.schedule) == nb04.SHORTEST_ASKS_FIRST


@pytest.mark.parametrize("schedule", [nb04.SHORTEST_ASKS_FIRST, "B B t A A A B"])
def test_any_breaking_schedule_solves_the_first_exercise(schedule):
    assert nb04.break_it(schedule).solved


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ("A A A", "the rule still holds"),
        ("A t B B B A", "the rule still holds"),
        ("A A t B B A B", "the rule still holds"),
        ("A A A A", 'Move 4, "A", is not possible'),
    ],
)
def test_schedules_that_break_nothing_get_a_sentence_that_helps(schedule, sentence):
    mark = nb04.break_it(schedule)
    assert not mark.solved
    assert sentence in str(mark)


# -- exercise 2 -----------------------------------------------------------------------------------


def numbered(number):
    """The worker of the exercise, with another way to get lock and number."""

    def worker(me):
        token = me.token()
        got = number(me.redis, token)
        if got is None:
            return "busy"
        accepted = me.shared.row.write(me.name, got)
        me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
        return "done" if accepted else "too late"

    return worker


def take(client, token):
    return client.set("lock", token, nx=True, px=100)


def lock_then_number(client, token):
    return client.incr("fence") if take(client, token) else None


def number_then_lock(client, token):
    number = client.incr("fence")
    return number if take(client, token) else None


def in_a_script(client, token):
    return client.eval(TAKE_AND_COUNT, 2, "lock", "fence", token, 100)


def in_a_transaction(client, token):
    pipe = client.pipeline()
    pipe.set("lock", token, nx=True, px=100)
    pipe.incr("fence")
    taken, number = pipe.execute()
    return number if taken else None


def of_the_ladder(me):
    lock = FencedLease(me.redis, "lock", counter="fence", ttl_ms=100, token=me.token)
    got = lock.acquire()
    if not isinstance(got, Acquired):
        return "busy"
    accepted = me.shared.row.write(me.name, got.grant.fence)
    lock.release(got.grant)
    return "done" if accepted else "too late"


@pytest.mark.parametrize(
    "worker", [numbered(in_a_script), numbered(in_a_transaction), of_the_ladder]
)
def test_lock_and_number_in_one_step_solve_the_second_exercise(worker):
    mark = nb04.number_it(worker)
    assert mark.solved, mark


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (lock_then_number, 'Look at "A t B B A A B": B holds the lock, and its write is refused'),
        (number_then_lock, "Without any pause, the holder is refused."),
        (lambda client, token: take(client, token) and 0, "Nobody writes."),
        (lambda client, token: client.eval(ONLY_IF_COUNTED, 2, "lock", "fence", token, 100) or None,
         "Nobody writes."),
        (lambda client, token: take(client, token) and redis.incr("fence"), "raised Attrib"),
    ],
)  # fmt: skip
def test_wrong_ways_to_number_get_their_own_sentence(number, sentence):
    mark = nb04.number_it(numbered(number))
    assert not mark.solved
    assert sentence in mark.sentence


# -- exercise 3 -----------------------------------------------------------------------------------


def right(writes):
    highest, owner = 0, {}
    for one in writes:
        if one.accepted:
            if one.number < highest:
                return f"{one.worker} wrote with {one.number} after {highest}"
            if owner.setdefault(one.number, one.worker) != one.worker:
                return f"{one.worker} wrote with another's number"
            highest = one.number
    return None


def also_right(writes):
    accepted = [(one.number, one.worker) for one in writes if one.accepted]
    numbers = [number for number, _ in accepted]
    doubled = len(set(accepted)) != len(set(numbers))
    return "late or doubled" if doubled or numbers != sorted(numbers) else None


@pytest.mark.parametrize("rule", [right, also_right])
def test_two_rules_are_right(rule):
    mark = nb04.write_the_rule(rule)
    assert mark.solved, mark


def only_the_neighbour(writes):
    for one, following in zip(writes, writes[1:], strict=False):
        if following.number < one.number:
            return "late"
    return None


def refused_ones_too(writes):
    numbers = [one.number for one in writes]
    same = {one.number: one.worker for one in writes}
    doubled = any(same[one.number] != one.worker for one in writes)
    return "late" if doubled or numbers != sorted(numbers) else None


def each_number_once(writes):
    numbers = [one.number for one in writes if one.accepted]
    return "late" if sorted(set(numbers)) != numbers else None


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (lambda writes: None, "Your rule lets this through: B with 2, then A with 1."),
        (only_the_neighbour, "Your rule lets this through: A with 1, then B with 1."),
        (refused_ones_too, "complains, but nothing is wrong here: B with 2, then A with 1 (refus"),
        (each_number_once, "complains, but nothing is wrong here: A with 1, then A with 1."),
        (lambda writes: writes[0].fence, "Your rule raised AttributeError"),
    ],
)
def test_wrong_rules_are_shown_a_history(rule, sentence):
    mark = nb04.write_the_rule(rule)
    assert not mark.solved
    assert sentence in mark.sentence
