"""Threads of a process: started by worker code or by a case, moved by the schedule."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from math import comb, factorial

import pytest

from labkit import LabkitError, NotModelled, ScheduleError, explore, mutual_exclusion, replay
from labkit.sim.schedule import Schedule
from tests.sim.programs import anything, counting


def in_a_thread(me, work, daemon=None):
    thread = threading.Thread(target=work, daemon=daemon)
    thread.start()
    return thread


def beside(me):
    """One command in a thread, one beside it."""
    thread = in_a_thread(me, lambda: me.redis.incr("thread"))
    me.redis.incr("main")
    thread.join()
    return "done"


# -- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("commands", [1, 2, 3, 5])
def test_two_threads_interleave_like_two_workers(commands):
    """2n choose n, whether they are two workers or two threads of one."""
    threads = explore({"A": (counting(commands),) * 2}, check=anything, pauses=0)
    workers = explore(counting(commands), check=anything, pauses=0)
    assert threads.schedules == workers.schedules == comb(2 * commands, commands)


def test_three_threads_and_a_worker_interleave_in_multinomially_many_ways():
    found = explore({"A": [counting(2)] * 3, "B": counting(2)}, check=anything, pauses=0)
    assert found.schedules == factorial(8) // 2**4


def test_a_crash_ends_all_threads_at_once():
    """Before each of the moves of both, or never: 1 + 2 + 2·2 beginnings, and 6 without a crash."""
    found = explore({"A": (counting(2),) * 2}, check=anything, pauses=0, faults="!")
    beginnings = sum(comb(a + b, a) for a in range(3) for b in range(3) if (a, b) != (2, 2))
    assert found.schedules == beginnings + comb(4, 2)


@pytest.mark.parametrize("commands", [1, 2, 3])
def test_a_late_reply_is_one_more_move_of_its_worker(commands):
    """One of the n commands of either worker takes two moves, or none does."""
    found = explore(counting(commands), check=anything, pauses=0, faults="-")
    n = commands
    assert found.schedules == comb(2 * n, n) + 2 * n * comb(2 * n + 1, n)


# -- what worker code may use ----------------------------------------------------------------------


def test_a_thread_moves_on_its_own_and_can_be_joined():
    assert explore(beside, check=anything, workers="A", pauses=0).schedules == 2
    trace = replay(beside, "A A2", workers="A")
    assert trace.steps[1].notes == ("A2 has ended", "A returned 'done'")
    assert replay(beside, "A", workers="A", partial=True).about_to == (
        "A waits for a thread for ever · A2 is about to: INCRBY thread 1"
    )


def test_events_conditions_locks_and_queues_are_pythons_own():
    def worker(me):
        ready, condition, lock = threading.Event(), threading.Condition(), threading.RLock()
        inbox, gate = queue.Queue(), threading.Semaphore(0)
        seen = []

        def helper():
            ready.wait()
            seen.append(me.redis.incr("n"))
            with condition:
                condition.notify_all()
            seen.append(inbox.get())
            with lock, lock:
                me.redis.incr("n")
            gate.release()

        in_a_thread(me, helper)
        with condition:
            ready.set()
            condition.wait()
        with lock:
            inbox.put("letter")
            seen.append(me.redis.incr("n"))
        gate.acquire()
        return seen

    trace = replay(worker, "A2 A A2", workers="A")
    assert trace.pending["A"].value == [1, "letter", 2]
    assert explore(worker, check=anything, workers="A", pauses=0).schedules == 1


def test_a_timer_runs_when_its_time_has_come_and_can_be_cancelled():
    def worker(me, cancel=False):
        timer = threading.Timer(0.05, me.redis.incr, ["late"])
        timer.start()
        if cancel:
            timer.cancel()
        me.sleep(0.1)
        return me.redis.get("late")

    assert replay(worker, "t A2 t A", workers="A").pending["A"].value == "1"
    trace = replay(lambda me: worker(me, cancel=True), "t A", workers="A")
    assert [step.at_ms for step in trace.steps] == [100, 100]


def test_an_executor_runs_its_work_in_threads():
    def worker(me):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(me.redis.incr, ["a", "a"]))

    assert replay(worker, "A2 A3", workers="A").pending["A"].value == [1, 2]
    assert replay(worker, "A3 A2", workers="A").pending["A"].value == [2, 1]


def test_a_lock_lets_one_thread_in_at_a_time():
    def worker(me, lock=True):
        guard = threading.Lock()

        def withdraw():
            with guard if lock else threading.Lock():
                me.redis.set("balance", int(me.redis.get("balance")) - 30)

        other = in_a_thread(me, withdraw)
        withdraw()
        other.join()

    def right(lab):
        return None if lab.redis.get("balance") == "40" else "money is lost"

    def setup(lab):
        lab.redis.set("balance", 100)

    bounds = {"check": right, "workers": "A", "setup": setup, "pauses": 0}
    assert explore(worker, **bounds).violating == 0
    assert explore(lambda me: worker(me, lock=False), **bounds).violating == 4


def test_a_wait_for_a_thread_may_have_an_end():
    def worker(me):
        lock = threading.Lock()
        lock.acquire()
        return lock.acquire(timeout=0.05), lock.acquire(blocking=False), me.now()

    assert replay(worker, "t", workers="A").pending["A"].value == (False, False, 0.05)


def test_who_wakes_at_one_instant_runs_on_in_name_order():
    def worker(me):
        in_a_thread(me, lambda: (me.sleep(0.05), me.note("second")))
        me.sleep(0.05)
        me.note("first")

    trace = replay({"A": worker, "B": worker}, "t")
    woken = [note for note in trace.steps[0].notes if note.endswith("wakes")]
    assert woken == ["A wakes", "A2 wakes", "B wakes", "B2 wakes"]


def test_redis_pys_lock_keeps_its_token_for_the_thread_that_acquired_it():
    def worker(me):
        lock = me.redis.lock("lock", timeout=10)
        lock.acquire()
        in_a_thread(me, lambda: me.note(f"token {lock.local.__dict__.get('token')}")).join()
        lock.release()

    trace = replay(worker, "A A", workers="A")
    assert "token None" in trace.steps[0].notes


def test_a_thread_knows_its_name_and_who_it_is():
    def worker(me):
        seen = []
        for _ in range(2):
            in_a_thread(me, lambda: seen.append(
                (threading.current_thread().name, threading.get_ident())
            )).join()  # fmt: skip
        return seen, threading.current_thread() is threading.main_thread()

    names = [("Thread-1 (<lambda>)", 2), ("Thread-2 (<lambda>)", 3)]
    for _ in range(2):
        assert replay(worker, "", workers="A").pending["A"].value == (names, True)


# -- how threads end -------------------------------------------------------------------------------


def test_an_exception_ends_its_thread_and_not_the_process():
    def worker(me):
        in_a_thread(me, lambda: me.redis.get("n") + 1)
        me.redis.incr("n")
        return "done"

    trace = replay(worker, "A2 A", workers="A")
    assert trace.steps[0].notes[0].startswith("A2 raised TypeError")
    assert (str(trace.pending["A"]), trace.pending["A2"].how) == ("returned 'done'", "raised")


def test_a_process_ends_with_its_last_thread_that_is_no_daemon():
    def worker(me, daemon):
        in_a_thread(me, lambda: (me.redis.incr("n"), me.redis.incr("n")), daemon=daemon)
        me.redis.incr("main")

    assert [explore(lambda me, d=d: worker(me, d), check=anything, workers="A", pauses=0).schedules
            for d in (False, True)] == [3, 3]  # fmt: skip
    assert replay(lambda me: worker(me, True), "A", workers="A").complete
    assert not replay(lambda me: worker(me, False), "A", workers="A", partial=True).complete


def test_threads_that_wait_for_each_other_are_stuck():
    def worker(me):
        one, two = threading.Lock(), threading.Lock()

        def other():
            with two:
                me.redis.incr("n")
                with one:
                    pass

        in_a_thread(me, other)
        with one:
            me.redis.incr("n")
            with two:
                pass

    def nobody_is_stuck(lab):
        return lab.outcome["A"].reason if lab.outcome["A"] == "stuck" else None

    found = explore(worker, check=nobody_is_stuck, workers="A", pauses=0)
    assert (found.schedules, found.violating) == (2, 2)
    assert found.counterexample.reason == "waits for a thread for ever"


def test_two_threads_of_one_process_in_the_section_are_two():
    def inside(me):
        with me.critical_section():
            me.redis.incr("n")

    found = explore({"A": (inside, inside)}, check=mutual_exclusion, pauses=0)
    assert found.counterexample.reason == "A and A2 are both inside"


# -- faults, errors, and what is left behind -------------------------------------------------------


def test_faults_of_a_command_may_follow_a_thread():
    def worker(me):
        in_a_thread(me, lambda: me.redis.incr("n"))
        me.redis.incr("main")
        return me.redis.get("n")

    for schedule, value in [("A2? A A", "1"), ("A2~ A A", None), ("A2~ A2^ A A", "1"),
                            ("A2- A A A2", "1")]:  # fmt: skip
        assert replay(worker, schedule, workers="A").pending["A"].value == value, schedule


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("A3", r'"A3", is not possible after the start: A has not started so many threads, only '
               r"A, A2\. Possible: A A2 "),
        ("A2 A2", r"A2 has ended \(returned\)"),
        ("A A", "A waits for a thread for ever"),
        ("A2^", "no request of A2 is delayed: first, A2~ must have lost one"),
        ("C2", "there is no worker C, only A"),
    ],
)  # fmt: skip
def test_a_thread_that_cannot_move_says_why(schedule, said):
    with pytest.raises(ScheduleError, match=said):
        replay(beside, schedule, workers="A")


def test_a_crash_is_the_whole_process():
    assert str(replay(beside, "A!", workers="A").pending["A"]) == "crashed"
    with pytest.raises(ScheduleError, match="all its threads. Write A!"):
        Schedule.parse("A2!")


@pytest.mark.parametrize("threads", [(), (beside, 3), (beside, None)])
def test_threads_of_a_case_are_functions(threads):
    with pytest.raises(LabkitError, match="Worker A is"):
        explore({"A": threads}, check=anything)


def test_a_thread_of_somebody_else_is_refused():
    foreign = threading.Thread(target=time.sleep, args=(0,))
    foreign.start()
    foreign.join()
    with pytest.raises(NotModelled, match="no thread that it has started"):
        replay(lambda me: foreign.join(), "", workers="A")


def test_threading_is_as_it_was_afterwards():
    names = ("Lock", "RLock", "local", "get_ident", "current_thread", "_allocate_lock", "_counter")
    before = [getattr(threading, name) for name in names] + [queue.SimpleQueue]
    methods = [vars(threading.Thread)[name] for name in ("start", "join", "is_alive")]
    running = threading.enumerate()
    explore(beside, check=anything, faults="?!")
    with pytest.raises(ScheduleError):
        replay(beside, "A9")
    assert [getattr(threading, name) for name in names] + [queue.SimpleQueue] == before
    assert [vars(threading.Thread)[name] for name in ("start", "join", "is_alive")] == methods
    assert [thread for thread in threading.enumerate() if thread not in running] == []
