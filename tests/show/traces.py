"""Traces that the tests of labkit.show draw, print and save."""

import redis

from labkit.sim.invariants import (
    freed_after_crash,
    mutual_exclusion,
    nobody_waits_for_itself,
    only_the_owner_releases,
)
from labkit.sim.replaying import replay, simulate

RELEASE = """-- compare and delete
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0
"""


def account(lab):
    lab.redis.set("balance", 100)


def withdraw(me):
    me.redis.set("balance", int(me.redis.get("balance")) - 30)


def money_is_right(lab):
    left = int(lab.redis.get("balance"))
    return None if left == 40 else f"{left} is left"


def look_then_take(me):
    if me.redis.get("lock") is None:
        me.redis.set("lock", me.name)
        with me.critical_section():
            withdraw(me)
        me.redis.delete("lock")


def take_then_expire(me):
    if me.redis.setnx("lock", me.name):
        me.redis.expire("lock", 10)
        me.redis.delete("lock")


def constant_value(me):
    if me.redis.set("lock", "1", nx=True, px=100):
        with me.critical_section():
            me.redis.incr("n")
        me.redis.delete("lock")


def ask_twice(me):
    for _ in range(2):
        try:
            return "got" if me.redis.set("lock", "1", nx=True, px=100) else "busy"
        except redis.TimeoutError:
            pass


def owner_token(me):
    """Long keys, work, a note, a script, and a fencing number."""
    token = me.token()
    if not me.redis.set("stock:42:lock", token, nx=True, px=100):
        return "busy"
    me.event("granted", number=33)
    with me.critical_section():
        level = int(me.redis.get("stock:42"))
        me.work(0.05)
        me.note("a sentence that is too long for one line")
        me.redis.set("stock:42", level - 1)
        me.event("accepted", resource="stock:42", number=33)
    return me.redis.eval(RELEASE, 1, "stock:42:lock", token)


def nasty(me):
    me.redis.set('<b>"&lock', f"{me.name}<i>]]>", nx=True, px=50)
    with me.critical_section():
        me.redis.incr("<n>&\x01")


def shop(lab):
    lab.redis.set("stock:42", 9)


TRACES = {
    "overlap": lambda: replay(look_then_take, "A B A B", setup=account, check=mutual_exclusion),
    "long": lambda: replay(
        look_then_take, "A B B B A A A A B B", setup=account, check=money_is_right
    ),
    "partial": lambda: replay(look_then_take, "A B", setup=account, partial=True),
    "nothing": lambda: replay(look_then_take, "", setup=account, partial=True),
    "crash": lambda: replay(take_then_expire, "A A!", check=freed_after_crash, partial=True),
    "expiry": lambda: replay(constant_value, "A A t B A", check=only_the_owner_releases),
    "lost reply": lambda: replay(ask_twice, "A? A", check=nobody_waits_for_itself),
    "lost request": lambda: replay(ask_twice, "A~ B A"),
    "token": lambda: replay(owner_token, "A A B t t A A", setup=shop),
    "pause": lambda: simulate(owner_token, setup=shop, pause=("A", 1, 0.2)),
    "nasty": lambda: replay(nasty, "A B A B"),
    "three": lambda: replay(look_then_take, "A B C A B C", workers="ABC", partial=True,
                            setup=account, check=mutual_exclusion),
}  # fmt: skip
