"""Small programs whose schedules must run alike in the simulation and on servers."""

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import redis

from labkit import locks, mutual_exclusion, nobody_waits_for_itself, only_the_owner_releases
from labkit.sim.invariants import freed_after_crash
from labkit.sim.program import Program
from labkit.sim.replaying import Execution
from labkit.sim.schedule import FAULTS, RUN, TIME
from labkit.sim.trace import Trace


@dataclass(frozen=True)
class Case:
    """A program, the bounds within which its schedules are enumerated, and schedules worth naming.

    Attributes:
        at_most: how many of the enumerated schedules are taken, evenly spread.
    """

    worker: Any
    setup: Any = None
    check: Any = None
    pauses: int = 1
    faults: str = ""
    at_most: int = 16
    named: tuple[str, ...] = field(default=())

    @property
    def program(self) -> Program:
        return Program(self.worker, None, self.setup, self.check)


def account(lab):
    lab.redis.set("balance", 100)


def money_is_right(lab):
    want = 100 - 30 * sum(lab.returned.values())
    got = int(lab.redis.get("balance"))
    return None if want == got else f"the balance is {got}, not {want}"


def naive(me):
    if me.redis.get("lock") is None:
        me.redis.set("lock", me.name)
        me.redis.pexpire("lock", 100)
        with me.critical_section():
            balance = int(me.redis.get("balance"))
            me.redis.set("balance", balance - 30)
        me.redis.delete("lock")
        return 1
    return 0


def no_lock(me):
    balance = int(me.redis.get("balance"))
    me.redis.set("balance", balance - 30)
    return 1


def takes_then_expires(me):
    if me.redis.setnx("lock", me.name):
        me.redis.expire("lock", 10)
        me.redis.delete("lock")


def asks_again(me):
    for _ in range(2):
        try:
            return "got" if me.redis.set("lock", me.name, nx=True, px=100) else "busy"
        except redis.TimeoutError:
            me.note("no answer")


def holding(make):
    """A worker that counts inside the section of the lock that `make` gives."""

    def worker(me):
        lock = make(me)
        got = lock.acquire()
        if not isinstance(got, locks.Acquired):
            return type(got).__name__
        with me.critical_section():
            me.redis.incr("done")
        return type(lock.release(got.grant)).__name__

    return worker


def works_too_long(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        with me.critical_section():
            me.work(0.1)  # the key is still there at 100 ms, and gone at 101
            me.note(f"still mine: {me.redis.get('lock')}")
            me.work(0.05)
        return me.redis.delete("lock")


def transaction(me):
    with me.redis.pipeline() as pipe:
        pipe.incr("n").set("seen", me.name, px=50).pttl("seen").hincrby("seen", "x").ttl("n")
        return str(pipe.execute(raise_on_error=False)[:2])


def plain_pipeline(me):
    with me.redis.pipeline(transaction=False) as pipe:
        return pipe.set("p", me.name, nx=True, px=5).get("p").execute()


def watches(me):
    """Optimistic locking on a key that has a TTL, so that putting it off could be noticed."""
    with me.redis.pipeline() as pipe:
        try:
            pipe.watch("n")
            seen = int(pipe.get("n"))
            pipe.multi()
            pipe.set("n", seen + 1, px=200)
            return pipe.execute()
        except redis.WatchError:
            return "somebody else was faster"


def a_number_that_ends(lab):
    lab.redis.set("n", 1, px=100)


def script(me):
    take = me.redis.register_script(
        "-- count up to two\n"
        "local n = redis.call('INCR', KEYS[1])\n"
        "if n > 2 then return redis.error_reply('FULL no more') end\n"
        "redis.call('PEXPIRE', KEYS[1], ARGV[1])\n"
        "return {n, redis.call('SET', 'by', ARGV[2]), redis.call('GET', 'nobody')}"
    )
    try:
        first = take(keys=["n"], args=[100, me.name])
        return first, me.redis.eval("return redis.call('GET', KEYS[1])", 1, "by")
    except redis.ResponseError:
        return "full"


def many_types(me):
    r = me.redis
    r.hset("h", mapping={me.name: 1, "both": me.name})
    r.rpush("l", me.name, "x")
    r.sadd("s", me.name, "y", 3)
    r.zadd("z", {me.name: 1.5, "w": 2})
    r.expire("s", 2)
    return r.hgetall("h"), r.lpop("l"), r.zrange("z", 0, -1, withscores=True)


def errors(me):
    r, said = me.redis, []
    script = "return redis.call('INCR', 'text')"
    for ask in (("INCR", "text"), ("LPUSH", "text", 1), ("GET",), ("EVAL", script, 0)):
        try:
            r.execute_command(*ask)
        except redis.ResponseError as error:
            said.append(type(error).__name__)
    return said


def some_text(lab):
    lab.redis.set("text", "abc")


def reads_times(me):
    r = me.redis
    r.set("a", 1, px=1500, nx=True)
    me.sleep(0.2)
    return r.pttl("a"), r.ttl("a"), r.ttl("none"), r.persist("a"), r.pttl("a")


def changes_times(me):
    r = me.redis
    r.set("a", me.name, px=50)
    r.set("a", me.name, keepttl=True)
    r.expire("a", 3, nx=True)
    r.pexpire("a", 80, xx=True)
    return r.set("a", "z", xx=True, get=True)


def two_databases(me):
    other = me.client(db=1, decode_responses=True)
    other.set("lock", me.name, px=100, nx=True)
    return me.redis.get("lock"), other.get("lock")


def renewed_by_a_thread(me):
    """A lease of 100 ms, put off every 60 ms by a thread, and a piece of work of 150 ms."""
    stop = threading.Event()

    def renew():
        while not stop.wait(0.06):
            me.redis.pexpire("lock", 100)

    if not me.redis.set("lock", me.name, nx=True, px=100):
        return "busy"
    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    with me.critical_section():
        me.work(0.15)
    stop.set()
    thread.join()
    me.redis.delete("lock")
    return "done"


def library_lock(me):
    lock = me.redis.lock("lock", timeout=0.1, sleep=0.04, blocking_timeout=0.1)
    if lock.acquire():
        with me.critical_section():
            me.redis.incr("done")
        try:
            lock.release()
        except redis.exceptions.LockError:
            return "lost"
    return "done"


LADDER = {
    "LookThenTake": lambda me: locks.LookThenTake(me.redis, "lock"),
    "TakeThenExpire": lambda me: locks.TakeThenExpire(me.redis, "lock", ttl_ms=100),
    "ConstantValue": lambda me: locks.ConstantValue(me.redis, "lock", ttl_ms=100),
    "CheckThenDelete": lambda me: locks.CheckThenDelete(me.redis, "lock", ttl_ms=100),
    "CompareAndDelete": lambda me: locks.CompareAndDelete(me.redis, "lock", ttl_ms=100),
}
NAMED = {
    "LookThenTake": ("ABAB", "AA!"),
    "TakeThenExpire": ("AA!", "AAAtBAB"),
    "ConstantValue": ("AAtBA", "A?B", "A~B"),
    "CheckThenDelete": ("AAAtBA", "AAA?B"),
    "CompareAndDelete": ("AAtBA", "AA?B"),
}
_RULES = [mutual_exclusion, only_the_owner_releases.on("lock")]

CASES = {
    **{rung: Case(holding(make), check=_RULES, named=NAMED[rung])
       for rung, make in LADDER.items()},
    "naive": Case(naive, account, money_is_right, named=("ABAB", "ABAAAAABBBBB")),
    "no lock": Case(no_lock, account, money_is_right, faults="?~", at_most=70),
    "takes then expires": Case(takes_then_expires, check=freed_after_crash, faults="!",
                               at_most=82, named=("AA!",)),
    "asks again": Case(asks_again, check=nobody_waits_for_itself, faults="?~", at_most=110,
                       named=("A?A", "A~A")),
    "works too long": Case(works_too_long, check=_RULES),
    "transaction": Case(transaction, faults="?"),
    "plain pipeline": Case(plain_pipeline),
    "watches": Case(watches, a_number_that_ends, faults="~", named=("AABBBA", "AAtA", "AAtAB")),
    "script": Case(script, faults="?"),
    "many types": Case(many_types),
    "errors": Case(errors, some_text),
    "reads times": Case(reads_times),
    "changes times": Case(changes_times, pauses=2),
    "two databases": Case(two_databases),
    "library lock": Case(library_lock, check=mutual_exclusion, pauses=2),
    "renewal thread": Case(renewed_by_a_thread, check=mutual_exclusion, pauses=2, faults="?",
                           named=("A t A2- t A2 t A B", "A t A2~ B A2^", "A e B")),
    "late": Case(takes_then_expires, check=freed_after_crash, faults="-~^", at_most=60),
}  # fmt: skip


def enumerated_traces(case: Case) -> list[Trace]:
    """The complete schedules within the case's bounds, all of them or evenly spread ones."""
    program = case.program
    with program.virtual():
        budget = {TIME: case.pauses, **dict.fromkeys(case.faults, 1)}
        machine = program.machine(faults=list(case.faults), budget=budget)
        schedules = list(_schedules(machine, 1_000))
        stride = -(-len(schedules) // case.at_most)
        traces = [_trace(program, machine, schedule) for schedule in schedules[::stride]]
        machine.close()
    return traces


def _schedules(machine, at_most: int) -> Iterator[tuple]:
    stack = [(machine.start, ())]
    found = 0
    while stack and found < at_most:
        state, path = stack.pop()
        following = machine.successors(state)
        if not following:
            found += 1
            yield path
        stack += [(after, (*path, move)) for move, after in reversed(following)]


def random_traces(case: Case, count: int, seed: int, moves_max: int = 30) -> list[Trace]:
    """Random schedules in which everything may happen that one server can be led through."""
    program = case.program
    generator = random.Random(seed)
    with program.virtual():
        machine = program.machine(faults=[kind for kind in FAULTS if kind not in "fdu"])
        traces = [_trace(program, machine, None, generator, moves_max) for _ in range(count)]
        machine.close()
    return traces


def _trace(program, machine, schedule, generator=None, moves_max=0) -> Trace:
    execution = Execution(program, machine)
    if schedule is not None:
        for move in schedule:
            execution.make(move)
    while generator and len(execution.steps) < moves_max and (enabled := list(execution.enabled())):
        weights = [{RUN: 8, TIME: 3}.get(move.kind, 1) for move in enabled]
        execution.make(generator.choices(enabled, weights)[0])
    return execution.trace(partial=True)
