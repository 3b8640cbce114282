from labkit import explore, replay
from labkit.cases.account import account, balance_left, money_is_right, what_can_be_left


def two_lines(me):
    b = int(me.redis.get("balance"))
    me.redis.set("balance", b - 30)
    return True


def one_command(me):
    me.redis.decrby("balance", 30)
    return True


def test_four_of_six_schedules_of_two_lines_lose_money():
    found = explore(two_lines, check=money_is_right, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (6, 4)
    assert found.counterexample.reason == "2 took 30 each, and 70 is left instead of 40"


def test_one_command_loses_none():
    found = explore(one_command, check=money_is_right, setup=account, pauses=0)
    assert (found.schedules, found.violating) == (2, 0)


def test_what_can_be_left_is_collected_from_every_schedule():
    assert what_can_be_left(two_lines) == "40 or 70"
    assert what_can_be_left(one_command) == "40"


def test_balance_left_reports_the_balance_of_one_run():
    assert replay(two_lines, "A B A B", setup=account, check=balance_left).broken == "70 is left"
