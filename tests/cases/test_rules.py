"""Each rule that cases share about numbers has a toy that breaks it and one that keeps it."""

import pytest

from labkit import explore
from labkit.cases.losing import loss_is_reported
from labkit.cases.rules import (
    counts_on_its_own,
    holder_is_not_refused,
    in_order_of_grants,
    never_falls,
    one_writer_per_number,
)
from labkit.locks import COMPARE_AND_DELETE
from labkit.resources import fenced_row, service


def stores(lab):
    lab.shared.row = fenced_row(0)
    lab.shared.plain = fenced_row(0, compare="nothing")
    lab.shared.mail = service(refuses=False)


def numbered(write):
    def worker(me):
        write(me, me.redis.incr("fence"))

    return worker


def reports(me, row, number):
    accepted = getattr(me.shared, row).write(me.name, number)
    me.event("accepted" if accepted else "refused", number=number)


def granted_and(row):
    def worker(me):
        number = me.redis.incr("fence")
        me.event("granted", number=number)
        reports(me, row, number)

    return worker


def takes(me, and_then):
    if me.redis.set("lock", f"{me.name}-1", nx=True, px=100):
        return and_then(me)


def ends(me):
    held = me.redis.eval(COMPARE_AND_DELETE, 1, "lock", f"{me.name}-1")
    return "done" if held else "lost"


def says_done(me):
    me.redis.eval(COMPARE_AND_DELETE, 1, "lock", f"{me.name}-1")
    return "done"


def works_and_is_sure(me):
    me.redis.incr("work")
    me.event("valid")


def is_sure_and_works(me):
    me.event("valid")
    me.redis.incr("work")


TOYS = [
    (never_falls, numbered(lambda me, n: me.shared.plain.write(me.name, n)),
     numbered(lambda me, n: me.shared.row.write(me.name, n)), "A B B A",
     "A's UPDATE data SET value = 'A', fence = 1 WHERE id = 1 was accepted after 2"),
    (never_falls, numbered(lambda me, n: me.shared.mail.send(me.name, n)),
     numbered(lambda me, n: me.shared.row.raise_to(n)), "A B B A",
     'A\'s SEND "A" with number 1 was accepted after 2'),
    (holder_is_not_refused, lambda me: takes(me, lambda me: reports(me, "row", 0)),
     lambda me: takes(me, lambda me: reports(me, "plain", 0)), "A A",
     "A holds the lock, and its write is refused"),
    (counts_on_its_own, lambda me: takes(me, works_and_is_sure),
     lambda me: takes(me, is_sure_and_works), "A t A",
     "A counts on its lease, and does not hold the lock any more"),
    (one_writer_per_number, lambda me: reports(me, "plain", 7), lambda me: reports(me, "row", 7),
     "A B", "B's write is accepted with A's number, 7"),
    (in_order_of_grants, granted_and("plain"), granted_and("row"), "A B B A",
     "A's write is accepted after one of B, a later holder"),
    (loss_is_reported, lambda me: takes(me, says_done), lambda me: takes(me, ends), "A t A",
     "A reports success, and had lost its lease before the end"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "breaker", "keeper", "schedule", "sentence"), TOYS)
def test_a_rule_is_broken_by_one_toy_and_kept_by_another(rule, breaker, keeper, schedule, sentence):
    broken = explore(breaker, check=rule, setup=stores).counterexample
    assert (str(broken.schedule), broken.reason) == (schedule, sentence)
    kept = explore(keeper, check=rule, setup=stores)
    assert kept.verdict == "holds within bounds"
    assert kept.schedules > 1
