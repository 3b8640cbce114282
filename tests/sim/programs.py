"""Workers that several tests use."""

from contextlib import ExitStack

from labkit.cases.account import WITHDRAWAL


def withdrawal(*, ttl_ms=100, section_from="expire"):
    """GET lock, SET lock, PEXPIRE, GET balance, SET balance, DEL lock: the worker of the issue.

    Args:
        ttl_ms: None leaves PEXPIRE out.
        section_from: the command after which the worker believes that it is alone.
    """

    def withdraw(me):
        if me.redis.get("lock") is not None:
            return False
        me.redis.set("lock", me.name)
        with ExitStack() as section:
            if section_from == "set":
                section.enter_context(me.critical_section())
            if ttl_ms is not None:
                me.redis.pexpire("lock", ttl_ms)
            if section_from == "expire":
                section.enter_context(me.critical_section())
            balance = int(me.redis.get("balance"))
            me.redis.set("balance", balance - WITHDRAWAL)
        me.redis.delete("lock")
        return True

    return withdraw


def without_lock(me):
    me.redis.set("balance", int(me.redis.get("balance")) - WITHDRAWAL)
    return True


def look_then_take(me):
    """The plain GET/SET lock."""
    if me.redis.get("lock") is None:
        me.redis.set("lock", me.name)
        with me.critical_section():
            me.redis.incr("work")


def counting(commands):
    """A worker of so many commands that nobody else's commands change."""

    def count(me):
        for _ in range(commands):
            me.redis.incr(f"counter of {me.name}")

    return count


def lease(me, *, ttl_ms=100):
    """SET NX PX with a token, one command inside, compare and delete."""
    token = me.token()
    if me.redis.set("lock", token, nx=True, px=ttl_ms):
        with me.critical_section():
            me.redis.incr("work")
        me.redis.eval(COMPARE_AND_DELETE, 1, "lock", token)
        return "done"
    return "gave up"


COMPARE_AND_DELETE = """\
-- compare and delete
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0
"""


def anything(lab):
    """A check that always holds."""
