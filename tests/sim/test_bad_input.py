"""Whatever is wrong gets an answer: what, where, what was possible, and what to do.

It is an error or a verdict. Nothing here may hang: a test that does is stopped by the watchdog or
a bound, never by patience.
"""

import asyncio
import datetime
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
import redis

from labkit import (
    LabkitError,
    NotModelled,
    assert_holds,
    explore,
    mutual_exclusion,
    replay,
    simulate,
)
from labkit.sim import watchdog
from labkit.sim.errors import CheckError, NondeterminismError, WorkerStuckInPython
from tests.project.source import ROOT
from tests.sim.programs import anything, counting, lease


def one(me):
    me.redis.incr("n")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(watchdog, "LIMIT_S", 0.1)


def refused(kind, pattern, worker=one, **arguments):
    """Exploring raises this kind of error, and its message fits."""
    arguments.setdefault("check", anything)
    with pytest.raises(kind) as caught:
        explore(worker, **arguments)
    assert re.search(pattern, str(caught.value)), str(caught.value)
    return caught.value


# -- workers that never end ------------------------------------------------------------------------


def test_a_worker_that_spins_in_python_is_stopped_and_named(impatient):
    def spins(me):
        while True:
            pass

    refused(
        WorkerStuckInPython, r"Worker A ran for 0\.1 s without sending a command.*me\.sleep", spins
    )
    with pytest.raises(WorkerStuckInPython):
        replay(spins, "A")


def test_a_worker_that_spins_and_catches_everything_is_stopped_too(impatient):
    def spins(me):
        me.redis.get("k")
        while True:
            try:
                sum(range(1_000))
            except Exception:
                pass

    refused(WorkerStuckInPython, "Worker A ran for", spins)


def test_a_worker_that_spins_in_its_finally_block_after_a_crash_is_stopped(impatient):
    def spins(me):
        try:
            me.redis.get("k")
        finally:
            while True:
                pass

    refused(WorkerStuckInPython, "Worker A ran for", spins, workers="A", faults="!")


def test_a_worker_that_waits_for_the_clock_is_told_to_sleep():
    def waits(me):
        while time.monotonic() < 5:
            pass

    refused(
        WorkerStuckInPython, r"Worker A read the clock 10,000 times.*me\.sleep\(seconds\)", waits
    )


def test_a_worker_that_naps_for_zero_seconds_for_ever_is_told_to_sleep():
    def naps(me):
        while not me.now():
            time.sleep(0)

    refused(WorkerStuckInPython, "read the clock", naps)


def test_a_busy_machine_is_not_mistaken_for_a_spinning_worker(monkeypatch):
    """Only computing counts: a worker that the machine keeps waiting is not stuck."""
    monkeypatch.setattr(watchdog, "LIMIT_S", 0.01)

    def waits(me):
        ready = threading.Event.__new__(threading.Event)  # a wait that labkit does not replace
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        del ready
        return me.redis.incr("n")

    assert replay(waits, "A", workers="A").pending["A"].value == 1


@pytest.mark.parametrize("pause_s", [0, 0.1])
def test_a_worker_that_polls_for_ever_ends_the_search_at_moves_max(pause_s):
    def polls(me):
        while me.redis.get("never") is None:
            me.sleep(pause_s)

    found = explore(polls, check=anything, pauses=0, moves_max=12)
    assert (found.verdict, found.schedules, found.exact) == ("gave up", 0, False)
    assert found.stopped == "moves_max=12"
    assert found.cut == {0: 2**12, 0.1: 2**4}[pause_s]  # two orders in each round of A, B, t
    assert "The search is not complete: moves_max=12" in str(found)
    assert "The work was done in 0 of them" in str(found)


def test_a_simulation_that_does_not_end_stops_at_moves_max():
    def polls(me):
        while me.redis.get("never") is None:
            me.sleep(0.1)

    trace = simulate(polls, moves_max=9)
    assert len(trace.steps) == 9
    assert not trace.complete


def test_a_violation_before_the_bound_is_still_a_violation():
    def polls(me):
        me.redis.set("lock", me.name)
        with me.critical_section():
            while me.redis.get("never") is None:
                pass

    found = explore(polls, check=mutual_exclusion, moves_max=5)
    assert (found.verdict, found.exact) == ("violated", False)
    assert str(found.counterexample.schedule) == "A B"
    assert "violated, before any schedule was complete" in str(found)


# -- workers that cannot be replayed ---------------------------------------------------------------


def test_a_real_clock_shows_as_non_determinism():
    def decides(me):
        me.redis.set("at", str(datetime.datetime.now()))
        me.redis.get("at")
        me.redis.get("other")

    error = refused(
        NondeterminismError, r"Worker A is not deterministic[\s\S]*datetime\.now\(\)", decides
    )
    assert str(error).count("SET at") == 2


def test_hidden_state_shows_as_non_determinism():
    runs = []

    def counts(me):
        runs.append(1)
        me.redis.set("runs", len(runs))
        me.redis.get("runs")
        me.redis.get("other")

    refused(NondeterminismError, r"after 0 of them[\s\S]*SET runs 1", counts)


def test_hidden_state_that_only_a_second_run_shows_is_found_at_the_counterexample():
    runs = []

    def counts(me):
        runs.append(1)
        me.redis.get("k")
        return len(runs)

    refused(NondeterminismError, 'Two runs of "A" differ at step 1', counts,
            workers="A", check=lambda lab: "wrong")  # fmt: skip


def test_a_counterexample_that_cannot_be_made_again_is_reported():
    runs = []

    def gives_up_later(me):
        runs.append(1)
        me.redis.get("k")
        if len(runs) == 1:
            me.redis.get("k")

    refused(NondeterminismError, r'The second time: Move 2, "A", is not possible .* A has ended',
            gives_up_later, workers="A", check=lambda lab: "wrong")  # fmt: skip


def test_a_check_that_changes_its_mind_is_reported():
    asked = []

    def changes(lab):
        asked.append(1)
        return f"asked {len(asked)} times"

    refused(NondeterminismError, "was judged twice. First: asked .* times. Then: asked .* times",
            check=changes)  # fmt: skip


# -- checks ----------------------------------------------------------------------------------------


def test_a_check_that_raises_is_named_with_what_it_was_asked_about():
    def broken_check(lab):
        return lab.nothing

    error = refused(CheckError, "The check broken_check raised AttributeError", check=broken_check)
    assert "{'A': 'returned', 'B': 'returned'}" in str(error)
    assert isinstance(error.__cause__, AttributeError)


@pytest.mark.parametrize("answer", [True, False, 0, [], "".join])
def test_a_check_that_answers_oddly_is_told_what_a_check_answers(answer):
    refused(CheckError, "answers None when the rule holds, or a sentence", check=lambda lab: answer)


def test_a_check_that_writes_is_refused():
    refused(CheckError, 'The check ran "SET n 0", which changes the store. A check only reads',
            check=lambda lab: lab.redis.set("n", 0) and None)  # fmt: skip


@pytest.mark.parametrize("check", [5, "mutual_exclusion", [anything, 5], object()])
def test_what_is_no_check_is_refused(check):
    refused(
        CheckError, "is neither an invariant .* nor a function of the finished lab", check=check
    )


@pytest.mark.parametrize("check", [None, []])
def test_exploring_needs_a_check(check):
    refused(LabkitError, "explore needs a check", check=check)


def test_an_exploration_inside_a_check_is_another_exploration():
    def inner(lab):
        found = explore(one, check=anything, workers="ABC")
        return None if found.schedules == 6 else f"{found.schedules} schedules"

    assert explore(one, check=inner).verdict == "holds within bounds"


# -- bounds ----------------------------------------------------------------------------------------


many = counting(40)


@pytest.mark.parametrize(
    "bound, named",
    [
        ({"states_max": 100}, "states_max=100 was reached"),
        ({"states_max": 0}, "states_max=0 was reached"),
        ({"seconds_max": 0}, "seconds_max=0 was reached"),
        ({"moves_max": 79}, "moves_max=79"),
        ({"moves_max": 0}, "moves_max=0"),
    ],
)
def test_a_search_that_meets_a_bound_gives_up_and_names_it(bound, named):
    found = explore(many, check=anything, **bound)
    assert (found.verdict, found.schedules, found.exact) == ("gave up", 0, False)
    assert found.stopped == named
    assert f"The search is not complete: {named}" in str(found)


def test_exactly_as_many_states_as_allowed_are_examined():
    assert explore(many, check=anything, states_max=100).states == 100
    needed = explore(one, check=anything).states
    assert explore(one, check=anything, states_max=needed + 1).exact


def test_a_bound_that_is_just_enough_changes_nothing():
    assert explore(many, check=anything, moves_max=80).exact


def test_a_long_exploration_shows_progress(monkeypatch):
    monkeypatch.setattr("labkit.sim.exploration._REPORT_AFTER_S", 0)
    monkeypatch.setattr("labkit.sim.exploration._REPORT_EVERY_S", 0)
    lines = []
    explore(many, check=anything, progress=lines.append)
    assert re.fullmatch(r"exploring: [\d,]+ states, [\d,]+ schedules complete, \d+ s", lines[0])


@pytest.mark.parametrize("bound", [{"pauses": -1}, {"pauses": None}, {"moves_max": "9"},
                                   {"states_max": 1.5}, {"seconds_max": "1"}])  # fmt: skip
def test_a_bound_that_is_no_number_is_refused_by_name(bound):
    refused(LabkitError, f"{next(iter(bound))}=.* it must be a", **bound)


# -- commands and what lies beyond redis -----------------------------------------------------------


def sends(*words):
    return lambda me: me.redis.execute_command(*words)


@pytest.mark.parametrize("words", [("BOGUS",), ("INFO",), ("CONFIG", "GET", "*")])
def test_a_command_that_the_fake_server_lacks_is_named_with_the_way_out(words):
    refused(NotModelled, f'does not know "{words[0]}".*labkit.servers', sends(*words))


BLOCKING = [("WAIT", 1, 0), ("BRPOPLPUSH", "a", "b", 0), ("BLMPOP", 0, 1, "a", "LEFT"),
            ("BZPOPMIN", "z", 0), ("SUBSCRIBE", "c"), ("PSUBSCRIBE", "c"), ("MONITOR",),
            ("XREAD", "BLOCK", 0, "STREAMS", "s", "$"),
            ("XREADGROUP", "GROUP", "g", "c", "block", 0, "STREAMS", "s", ">")]  # fmt: skip


@pytest.mark.parametrize("words", BLOCKING, ids=[words[0] for words in BLOCKING])
def test_blocking_commands_are_refused_by_name(words):
    refused(NotModelled, f"{words[0]} blocks the connection", sends(*words))


@pytest.mark.parametrize("words", [("RANDOMKEY",), ("SPOP", "s"), ("SRANDMEMBER", "s"),
                                   ("HRANDFIELD", "h"), ("ZRANDMEMBER", "z")])  # fmt: skip
def test_commands_that_answer_at_random_are_refused_by_name(words):
    refused(NotModelled, f"{words[0]} answers at random", sends(*words))


@pytest.mark.parametrize("words", [("SCRIPT", "FLUSH"), ("CLIENT", "ID"), ("CLIENT", "PAUSE", 9)])
def test_other_commands_of_a_connection_are_refused_by_name(words):
    refused(NotModelled, f"{words[0]} {words[1]} is not modelled", sends(*words))


def test_multi_without_exec_is_told_to_use_a_pipeline():
    refused(NotModelled, "together with its EXEC: use a pipeline", sends("MULTI"))


def test_asyncio_in_a_worker_is_not_modelled():
    async def nothing():
        pass

    def runs(me):
        asyncio.run(nothing())

    refused(NotModelled, "Worker A runs an asyncio event loop, which labkit does not model", runs)


def test_a_wait_that_nobody_can_end_is_stuck_and_one_with_a_time_out_ends_by_itself():
    trace = replay(lambda me: threading.Event().wait(), "", workers="A")
    assert trace.about_to == "A waits for a thread for ever"
    assert trace.complete
    trace = replay(lambda me: (threading.Event().wait(2), me.now()), "t", workers="A")
    assert trace.pending["A"].value == (False, 2.0)


# -- workers, letters, faults ----------------------------------------------------------------------


@pytest.mark.parametrize("workers", ["", "Ab", "AA", "A B", "Ä", 3, ["A", "B"]])
def test_workers_are_named_by_different_capital_letters(workers):
    refused(
        LabkitError, "a letter for each worker|Use one capital letter, A to Z", workers=workers
    )


@pytest.mark.parametrize("mapping", [{}, {"AB": one}, {1: one}, {"a": one}])
def test_a_mapping_of_workers_needs_letters_too(mapping):
    refused(LabkitError, "name at least one worker|Use one capital letter", mapping)


def test_letters_that_do_not_fit_the_mapping_are_refused():
    refused(
        LabkitError, 'workers="AC" does not fit the mapping', {"A": one, "B": one}, workers="AC"
    )


@pytest.mark.parametrize("worker", [None, 5, {"A": None}])
def test_a_worker_is_a_function(worker):
    refused(LabkitError, "Worker A is .*, not a function of one argument", worker)


def test_generators_and_coroutines_are_refused_because_nothing_of_them_would_run():
    def generator(me):
        yield me.redis.get("k")

    async def coroutine(me):
        me.redis.get("k")

    for worker in (generator, coroutine):
        refused(LabkitError, rf"Worker A, {worker.__name__}, is a generator or a coroutine", worker)


def test_a_setup_is_a_function():
    refused(LabkitError, "setup=5 is not a function", setup=5)


@pytest.mark.parametrize(
    "faults, said",
    [
        ("x", r'"x" is not a kind of fault. Possible: - .*, \^ .*, \? .*, ~ .*, ! .*, f .*, u '),
        ("~^^", "for more than one of a kind"),
        ("^", r'"\^" .*can only follow "~".*Allow both: "~\^"'),
        ({"^": 1, "~": 0}, r'can only follow "~"'),
        ("u", 'can only follow "d".*Allow both: "du"'),
        ("t", '"t" is not a kind of fault'),
        ({"?": -1}, 'how many "\\?"'),
        ({"?": 1.5}, 'how many "\\?"'),
        ("??", "for more than one of a kind"),
        (3, 'write "\\?!" for one of each'),
    ],
)
def test_wrong_faults_are_told_what_is_possible(faults, said):
    refused(LabkitError, said, faults=faults)


@pytest.mark.parametrize("lag", [0, -1, 1.5, "2", True, None])
def test_a_failover_loses_a_whole_number_of_changes(lag):
    refused(LabkitError, "lag=.*: a failover loses a whole number of changes, 1 or more", lag=lag)


@pytest.mark.parametrize("evict", [1, True, b"lock", ["lock"]])
def test_an_eviction_takes_a_pattern(evict):
    refused(LabkitError, "evict=.*: write a pattern for keys", evict=evict)


# -- workers with mistakes -------------------------------------------------------------------------


def test_a_worker_with_a_bug_is_visible_and_no_empty_pass():
    def buggy(me):
        me.redis.get("k")
        no_such_name()  # noqa: F821

    found = explore(buggy, check=mutual_exclusion)
    assert (found.schedules, found.worked) == (2, 0)
    assert "The work was done in 0 of them" in str(found)
    assert "A worker raised NameError: name 'no_such_name' is not defined in 2 of them" in str(
        found
    )
    with pytest.raises(AssertionError, match="no_such_name"):
        assert_holds(buggy, check=mutual_exclusion)


def test_a_function_without_the_handle_argument_is_visible():
    def forgot():
        pass

    assert "takes 0 positional arguments but 1 was given in 1 of them" in str(
        explore(forgot, check=anything)
    )


def test_an_event_that_cannot_be_compared_is_refused():
    def odd(me):
        me.event("granted", number=[1])

    refused(
        LabkitError, r"Worker A reports granted with \{'number': \[1\]\}.*Use numbers, text", odd
    )


def test_a_worker_that_catches_everything_and_goes_on_after_its_crash_reaches_no_server():
    def stubborn(me):
        while True:
            try:
                me.redis.incr("n")
                return
            except BaseException:
                me.note("still here")

    trace = replay(stubborn, "A! B", check=lambda lab: f"n is {lab.redis.get('n')}")
    assert trace.broken == "n is 1"
    assert explore(stubborn, check=anything, faults={"!": 2}).exact


def test_a_worker_that_exits_has_ended_with_an_exception():
    def leaves(me):
        me.redis.get("k")
        sys.exit(3)

    found = explore(leaves, check=anything, workers="A")
    assert dict(found.raised) == {"SystemExit: 3": 1}


def test_a_worker_that_recurses_without_end_has_ended_with_an_exception():
    def recurses(me):
        return recurses(me)

    found = explore(recurses, check=anything, workers="A")
    assert "RecursionError" in str(found)


def test_a_long_worker_does_not_exhaust_the_stack():
    def long(me):
        for _ in range(1_500):
            me.redis.incr("n")

    assert explore(long, check=anything, workers="A", moves_max=2_000).schedules == 1


def test_pipelines_of_a_crashed_worker_end_in_silence(capsys):
    def watches(me):
        with me.redis.pipeline() as pipe:
            pipe.watch("k")
            pipe.get("k")
            pipe.multi()
            pipe.set("k", 1)
            try:
                pipe.execute()
            except redis.WatchError:
                pass

    explore(watches, check=anything, faults="!")
    assert capsys.readouterr().err == ""


# -- Ctrl-C ----------------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, time
from labkit import explore
from labkit.sim.invariants import Invariant

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def worker(me):
    try:
        for number in range(6):
            me.redis.incr(me.name)
            if {where!r} == (me.name, number):
                interrupt()
    finally:
        me.redis.delete("cleaned up")

def at_the_end(lab):
    if {where!r} == "check":
        interrupt()

def below_three(rule, memory, transition):
    a = transition.after.get("A")
    return memory, "A is 3" if a and a.text == "3" else None

rules = [at_the_end] + {limited} * [Invariant("A stays below 3", below_three)]
before = time.time, signal.getsignal(signal.SIGINT)
print(explore(worker, check=rules, workers="ABC", pauses=0))
print("restored", before == (time.time, signal.getsignal(signal.SIGINT)))
"""


def interrupted(where, limited=0):
    """What is printed when Ctrl-C is pressed there: in a worker at a command, or in the check."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(where=where, limited=limited)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The search is not complete: it was interrupted" in done.stdout
    assert done.stdout.endswith("restored True\n")
    return done.stdout


@pytest.mark.slow
def test_ctrl_c_inside_worker_code_stops_the_search_whatever_the_worker_makes_of_it():
    """Its `finally` block sends a command, which must not become part of any schedule."""
    out = interrupted(("B", 4))
    assert "gave up, no failing schedule so far among 0" in out


@pytest.mark.slow
def test_ctrl_c_between_two_moves_prints_what_is_known():
    out = interrupted("check")
    assert "gave up, no failing schedule so far among" in out


@pytest.mark.slow
def test_ctrl_c_leaves_a_known_counterexample():
    out = interrupted(("B", 4), limited=1)
    assert "violated, before any schedule was complete" in out
    assert out.startswith("Broken by A A A: A is 3.\n")


def test_an_interrupted_replay_raises_keyboard_interrupt_and_restores_everything():
    def interrupts(me):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            me.redis.delete("cleaned up")

    before = time.time
    with pytest.raises(KeyboardInterrupt):
        replay(interrupts, "A")
    assert time.time is before
    assert replay(lease, "A A A", workers="A").complete
