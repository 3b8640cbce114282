"""Exploration agrees with trying every schedule, on programs that nobody chose."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labkit import explore, mutual_exclusion, replay
from tests.sim.brute import KEYS, QUEUE, TooMany, as_worker, as_workers, check, enumerate_all, met

pytestmark = pytest.mark.slow

keys = st.sampled_from(KEYS)
ttls = st.sampled_from([50, 100])
commands = st.one_of(
    st.tuples(st.just("GET"), keys),
    st.tuples(st.just("SET"), keys, st.sampled_from(["me", "7"])),
    st.tuples(st.just("SET NX"), keys, st.just("me"), ttls),
    st.tuples(st.just("INCR"), keys),
    st.tuples(st.just("DEL"), keys),
    st.tuples(st.just("PEXPIRE"), keys, ttls),
    st.tuples(st.just("EVAL"), keys, st.just("me")),
    st.tuples(st.just("EXEC"), st.tuples(st.just("INCR"), keys), st.tuples(st.just("GET"), keys)),
    st.tuples(st.just("pipe"), st.tuples(st.just("SET"), keys, st.just("1")),
              st.tuples(st.just("INCR"), keys)),
)  # fmt: skip
instructions = st.one_of(
    st.tuples(
        st.just("do"), commands, st.sampled_from(["", "nothing", "something"]), st.booleans()
    ),
    st.tuples(st.just("do"), commands, st.just(""), st.booleans()),
    st.tuples(
        st.just("acquire"), keys, ttls, st.sampled_from([1, 2]), st.sampled_from([0, 50, 60])
    ),
    st.tuples(st.just("watched"), st.just("a")),
    st.tuples(st.just("sleep"), st.sampled_from([50, 51, 101])),
    st.tuples(st.just("late"), st.sampled_from([1, 60, 101])),
    st.just(("raise",)),
)


@st.composite
def programs(draw, kinds=instructions):
    """One to four instructions, some of them in a critical section."""
    body = draw(st.lists(kinds, min_size=1, max_size=4))
    if draw(st.booleans()):
        enter = draw(st.integers(0, len(body) - 1))
        leave = draw(st.integers(enter + 1, len(body)))
        body = [*body[:enter], ("enter",), *body[enter:leave], ("leave",), *body[leave:]]
    return tuple(body)


cases = st.fixed_dictionaries({
    "programs": st.lists(programs(), min_size=1, max_size=3),
    "same": st.booleans(),
    "pauses": st.integers(0, 2),
    "faults": st.dictionaries(st.sampled_from("?~!"), st.integers(1, 2), max_size=2),
    "moves_max": st.sampled_from([3, 5, 7, 9, 30]),
    "salt": st.integers(0, 9),
})  # fmt: skip
seen: Counter[str] = Counter()


@settings(derandomize=True, max_examples=120, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(cases)
def agrees_with_brute_force(case):
    programs = case["programs"]
    if case["same"]:
        programs = [programs[0]] * max(2, len(programs))
    by_letter = dict(zip("ABC", programs, strict=False))
    agrees(by_letter, case)


def agrees(by_letter, case):
    """Explore and enumerate; the same counts, the same counterexample, and the same again."""
    bounds = {name: case[name] for name in ("pauses", "faults", "moves_max", "lag") if name in case}
    try:
        wanted = enumerate_all(by_letter, salt=case["salt"], **bounds)
    except TooMany:
        seen["too many"] += 1
        return
    workers = as_workers(by_letter)
    rules = [mutual_exclusion, check(case["salt"])]
    found = explore(workers, check=rules, **bounds)
    assert (found.schedules, found.violating, found.cut) == (
        wanted.schedules, wanted.violating, wanted.cut,
    )  # fmt: skip
    shortest = found.counterexample and str(found.counterexample.schedule)
    assert shortest == (wanted.best and " ".join(map(str, wanted.best[1])))
    if found.counterexample:
        lag = {"lag": case["lag"]} if "lag" in case else {}
        assert replay(workers, shortest, check=rules, **lag) == found.counterexample.trace
    _note(case, found)


def _note(case, found):
    seen["compared"] += 1
    seen["schedules"] += found.schedules
    seen[found.verdict] += 1
    seen["cut"] += bool(found.cut)
    for move in found.counterexample.schedule if found.counterexample else ():
        seen[f"counterexample with {move.kind or 'run'}"] += 1
    seen["both inside"] += bool(found.counterexample) and "inside" in found.counterexample.reason


def test_exploration_agrees_with_brute_force_on_generated_programs():
    """Schedules, violating, cut, and the counterexample to the letter."""
    seen.clear()
    agrees_with_brute_force()
    assert seen["compared"] >= 90
    assert seen["schedules"] >= 3_000
    kinds = [f"counterexample with {kind}" for kind in ("run", "t", "?", "~", "!")]
    for what in ("violated", "holds within bounds", "gave up", "cut", "both inside", *kinds):
        assert seen[what], f"no case of {what!r}: {seen}"


# -- late replies and requests, failover, eviction, a server that is down --------------------------

far = ["-", "~^", "f", "e", "d", "du", "-?", "~^!", "f!", "fe", "duf", "-~^", "e?", "dufe~^"]
far_cases = st.fixed_dictionaries({
    "programs": st.lists(programs(), min_size=1, max_size=3),
    "same": st.booleans(),
    "pauses": st.integers(0, 1),
    "faults": st.builds(lambda kinds, n: dict.fromkeys(kinds, n), st.sampled_from(far),
                        st.sampled_from([1, 1, 2])),
    "moves_max": st.sampled_from([4, 6, 30]),
    "salt": st.integers(0, 9),
    "lag": st.integers(1, 2),
})  # fmt: skip


@settings(derandomize=True, max_examples=160, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(far_cases)
def agrees_on_late_and_lost(case):
    agrees_with_brute_force.hypothesis.inner_test(case)


def test_what_arrives_late_and_what_a_server_loses_agree_with_brute_force():
    seen.clear()
    agrees_on_late_and_lost()
    assert seen["compared"] >= 100
    assert seen["schedules"] >= 3_000


def do(*command):
    return "do", command, "", True


LEASE = (
    ("acquire", "a", 50, 2, 60),
    ("enter",),
    do("INCR", "n"),
    ("leave",),
    do("EVAL", "a", "me"),
)
WATCHED = (("watched", "a"), do("PEXPIRE", "a", 50))
WRITES = (do("SET NX", "a", "me", 50), do("INCR", "n"), do("GET", "a"))
PIPES = (("do", ("pipe", ("SET", "a", "1"), ("INCR", "n")), "", True), do("DEL", "a"))
WAITS = (do("BLPOP", QUEUE, 50), do("INCR", "n"))
PUSHES = (do("RPUSH", QUEUE, "x"), do("SET NX", "a", "me", 50), do("RPUSH", QUEUE, "y"))


@pytest.mark.parametrize(
    "faults", ["-", "~^", "f", "e", "du", "~^d", "-f", "e~^", "--", "~~^^", "ff"]
)
@pytest.mark.parametrize(
    "programs",
    [(LEASE, LEASE), (WATCHED, WRITES), (PIPES, WRITES), (WAITS, PUSHES)],
    ids=["lease", "watched", "pipes", "waits"],
)
def test_chosen_programs_agree_on_late_and_lost(programs, faults):
    """Every kind of fault, against programs that it does something to."""
    by_letter = dict(zip("AB", programs, strict=True))
    bounds = {"pauses": 0, "faults": Counter(faults), "moves_max": 30, "lag": 2}
    wanted = enumerate_all(by_letter, salt=1, nodes_max=60_000, **bounds)
    found = explore(as_workers(by_letter), check=[mutual_exclusion, check(1)], **bounds)
    assert (found.schedules, found.violating) == (wanted.schedules, wanted.violating)
    shortest = found.counterexample and str(found.counterexample.schedule)
    assert shortest == (wanted.best and " ".join(map(str, wanted.best[1])))
    without = explore(as_workers(by_letter), check=check(1), pauses=0)
    assert found.schedules > without.schedules


@settings(derandomize=True, max_examples=80, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(st.fixed_dictionaries({
    "programs": st.lists(st.deferred(lambda: programs(queueing)), min_size=2, max_size=2),
    "same": st.booleans(),
    "pauses": st.integers(0, 1),
    "faults": st.builds(lambda kinds: dict.fromkeys(kinds, 1), st.sampled_from(far)),
    "moves_max": st.sampled_from([6, 30]),
    "salt": st.integers(0, 9),
    "lag": st.integers(1, 2),
}))  # fmt: skip
def waits_while_a_server_goes(case):
    agrees_with_brute_force.hypothesis.inner_test(case)


def test_commands_that_wait_at_a_server_that_goes_agree_with_brute_force():
    """Who waits is told at once when the connection breaks, and never sees what came too late."""
    seen.clear()
    waits_while_a_server_goes()
    assert seen["compared"] >= 50
    assert seen["schedules"] >= 2_000


# -- threads ---------------------------------------------------------------------------------------

threading_too = st.one_of(
    instructions,
    st.just(("set",)),
    st.tuples(st.just("wait"), st.sampled_from([None, 50, 60])),
    st.just(("locked",)),
)


@st.composite
def threads(draw):
    """A program in which "locked" is a command that only one thread of its process is in."""
    inside = [("take",), ("do", ("INCR", "n"), "", True), ("free",)]
    body = draw(programs(threading_too))
    return tuple(one for kind in body for one in (inside if kind == ("locked",) else [kind]))


@settings(derandomize=True, max_examples=160, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(st.fixed_dictionaries({
    "programs": st.lists(threads(), min_size=2, max_size=3),
    "names": st.sampled_from([("A", "A2"), ("A", "A2", "B"), ("A", "A2", "A3"), ("A", "B", "B2")]),
    "pauses": st.integers(0, 2),
    "faults": st.builds(lambda kinds: dict.fromkeys(kinds, 1),
                        st.sampled_from(["", "", "", "?", "!", "~^", "-", "?!", "f", "d"])),
    "moves_max": st.sampled_from([4, 6, 30]),
    "salt": st.integers(0, 9),
}))  # fmt: skip
def threads_agree(case):
    names = case["names"][: len(case["programs"])]
    agrees(dict(zip(names, case["programs"], strict=False)), case)


def test_threads_agree_with_brute_force():
    """Threads wait for each other, for a lock and for time, and a crash ends them together."""
    seen.clear()
    met.clear()
    threads_agree()
    assert seen["compared"] >= 100
    assert seen["schedules"] >= 2_500
    assert met["stuck"]
    for what in ("violated", "holds within bounds", "cut", "both inside"):
        assert seen[what] >= 5, f"too few cases of {what!r}: {seen}"


LOCKED = (("take",), do("SET NX", "a", "me", 50), do("INCR", "n"), ("free",), ("set",))
WAITS_FIRST = (("wait", None), do("GET", "a"), do("INCR", "n"))
FREE = WRITES[:2]
WAITS_50 = (("wait", 50), ("take",), do("INCR", "n"), ("free",))


@pytest.mark.parametrize("faults", ["", "!", "?", "~^", "-", "f", "e", "d"])
@pytest.mark.parametrize(
    "threads",
    [(LOCKED, LOCKED), (LOCKED, WAITS_FIRST), (LOCKED, WAITS_50), (FREE, FREE), (WAITS, PUSHES),
     (PUSHES, WAITS), (WAITS, WAITS)],
    ids=["lock", "event", "50 ms", "commands", "pushes", "pops", "both wait"],
)  # fmt: skip
def test_chosen_threads_agree_with_brute_force(threads, faults):
    """Also while one thread waits for a reply, or at the server, and the other one goes on."""
    beside = PUSHES[:1] if threads == (WAITS, WAITS) else WRITES[:2]
    by_name = {"A": threads[0], "A2": threads[1], "B": beside}
    bounds = {"pauses": int(LOCKED in threads), "faults": Counter(faults), "moves_max": 30}
    wanted = enumerate_all(by_name, salt=1, nodes_max=60_000, **bounds)
    found = explore(as_workers(by_name), check=check(1), **bounds)
    assert (found.schedules, found.violating) == (wanted.schedules, wanted.violating)
    shortest = found.counterexample and str(found.counterexample.schedule)
    assert shortest == (wanted.best and " ".join(map(str, wanted.best[1])))


# -- commands that wait ----------------------------------------------------------------------------

pushes = st.sampled_from([("RPUSH", QUEUE, "x"), ("RPUSH", QUEUE, "x", "y")])
queueing = st.one_of(
    st.tuples(st.just("do"),
              st.tuples(st.just("BLPOP"), st.just(QUEUE), st.sampled_from([0, 50, 60])),
              st.sampled_from(["", "nothing", "something"]), st.booleans()),
    st.tuples(st.just("do"), pushes, st.just(""), st.booleans()),
    st.tuples(st.just("do"), st.one_of(
        st.just(("DEL", QUEUE)),
        st.tuples(st.just("EXEC"), pushes, pushes),
        st.tuples(st.just("EXEC"), pushes, st.just(("DEL", QUEUE))),
        st.tuples(st.just("pipe"), pushes, pushes),
        st.just(("SET NX", "a", "me", 50)),
    ), st.just(""), st.booleans()),
    st.tuples(st.just("sleep"), st.sampled_from([50, 51])),
)  # fmt: skip
waiting_cases = st.fixed_dictionaries({
    "programs": st.lists(programs(queueing), min_size=2, max_size=3),
    "same": st.booleans(),
    "pauses": st.integers(0, 2),
    "faults": st.dictionaries(st.sampled_from("?~!"), st.integers(1, 2), max_size=2),
    "moves_max": st.sampled_from([5, 9, 30]),
    "salt": st.integers(0, 9),
})  # fmt: skip


@settings(derandomize=True, max_examples=80, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(waiting_cases)
def waits_as_brute_force_does(case):
    agrees_with_brute_force.hypothesis.inner_test(case)


def test_commands_that_wait_agree_with_brute_force():
    """Who waits is served in the order of coming, by pushes of every kind, or by its time-out."""
    seen.clear()
    met.clear()
    waits_as_brute_force_does()
    assert seen["compared"] >= 50
    assert seen["schedules"] >= 2_000
    assert met["answered late"] and met["stuck"]
    for what in ("violated", "holds within bounds", "cut", "both inside"):
        assert seen[what] >= 5, f"too few cases of {what!r}: {seen}"


def waits(ms):
    return (("do", ("BLPOP", QUEUE, ms), "", True), ("enter",), ("do", ("INCR", "n"), "", True),
            ("leave",))  # fmt: skip


@pytest.mark.parametrize(
    "pushes",
    [
        (("RPUSH", QUEUE, "x"), ("RPUSH", QUEUE, "y")),
        (("RPUSH", QUEUE, "x", "y"),),
        (("EXEC", ("RPUSH", QUEUE, "x"), ("RPUSH", QUEUE, "y")),),
        (("EXEC", ("RPUSH", QUEUE, "x"), ("DEL", QUEUE)), ("RPUSH", QUEUE, "z")),
        (("pipe", ("RPUSH", QUEUE, "x"), ("RPUSH", QUEUE, "y")),),
    ],
)
@pytest.mark.parametrize("faults", [{}, {"!": 1}, {"?": 1, "~": 1}])
def test_who_waits_is_served_as_in_brute_force(pushes, faults):
    """One waits for ever, one for 50 ms, and a third pushes, in every order."""
    met.clear()
    pushing = tuple(("do", push, "", True) for push in pushes)
    by_letter = {"A": waits(0), "B": waits(50), "C": pushing}
    bounds = {"pauses": 0, "faults": faults, "moves_max": 30}
    wanted = enumerate_all(by_letter, salt=1, nodes_max=100_000, **bounds)
    workers = {letter: as_worker(program) for letter, program in by_letter.items()}
    found = explore(workers, check=[mutual_exclusion, check(1)], **bounds)
    assert (found.schedules, found.violating) == (wanted.schedules, wanted.violating)
    shortest = found.counterexample and str(found.counterexample.schedule)
    assert shortest == (wanted.best and " ".join(map(str, wanted.best[1])))
    assert met["answered late"] >= 10
