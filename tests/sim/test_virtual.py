"""Time and randomness are virtual inside workers and only there, and are put back afterwards."""

import builtins
import gc
import os
import random
import runpy
import secrets
import signal
import threading
import time
import uuid
from time import sleep as imported_sleep

import pytest

from labkit import LabkitError, explore, replay
from labkit.sim.virtual import EPOCH_S
from tests.sim.programs import anything

REPLACED = [
    (time, "time"), (time, "monotonic"), (time, "perf_counter"), (time, "sleep"),
    (time, "time_ns"), (time, "monotonic_ns"), (time, "perf_counter_ns"),
    (os, "urandom"), (uuid, "uuid1"), (random, "random"), (random, "randint"),
    (builtins, "print"), (threading.Condition, "wait"), (threading.Thread, "start"),
]  # fmt: skip


def originals():
    return [getattr(owner, name) for owner, name in REPLACED] + [signal.getsignal(signal.SIGINT)]


@pytest.fixture(autouse=True)
def nothing_stays_patched():
    before, alias = originals(), imported_sleep
    yield
    assert all(now is then for now, then in zip(originals(), before, strict=True))
    assert imported_sleep is alias


def returned(worker, schedule, letter="A", workers="A"):
    return replay(worker, schedule, workers=workers).pending[letter].value


def test_clocks_stand_still_but_for_t():
    def worker(me):
        readings = []
        for _ in range(2):
            readings.append(
                (time.time() - EPOCH_S, time.monotonic(), time.perf_counter(), me.now(),
                 time.time_ns() - EPOCH_S * 10**9, time.monotonic_ns(), time.perf_counter_ns())
            )  # fmt: skip
            time.sleep(0.25)
        return readings

    assert returned(worker, "t t") == [(0, 0, 0, 0, 0, 0, 0), (0.25,) * 4 + (250_000_000,) * 3]


def test_names_imported_from_time_are_virtual_too():
    def worker(me):
        imported_sleep(3600)
        return me.now()

    assert returned(worker, "t") == 3600


def test_a_notebook_like_main_module_is_covered(tmp_path):
    """A notebook's functions live in `__main__`, which is never imported."""
    script = tmp_path / "notebook.py"
    script.write_text(
        "from time import sleep, monotonic\n"
        "from random import random\n"
        "from labkit import replay\n"
        "def worker(me):\n"
        "    sleep(60)\n"
        "    return monotonic(), random()\n"
        "results = [replay(worker, 't', workers='A').pending['A'].value for _ in range(2)]\n"
        "after = sleep.__module__, monotonic()\n"
    )
    ran = runpy.run_path(str(script), run_name="__main__")
    assert ran["results"][0] == ran["results"][1]
    assert ran["results"][0][0] == 60
    assert ran["sleep"] is time.sleep
    assert ran["monotonic"] is time.monotonic


def test_functions_of_a_namespace_that_is_no_module_are_covered():
    namespace = {"sleep": time.sleep}
    exec("def worker(me):\n    sleep(5)\n    return me.now()", namespace)
    assert returned(namespace["worker"], "t") == 5
    assert namespace["sleep"] is time.sleep


def chance(me):
    me.redis.incr("n")
    return (
        str(uuid.uuid1()), str(uuid.uuid4()), os.urandom(4).hex(), secrets.token_hex(4),
        random.random(), random.randint(1, 10**9), random.choice(range(10**9)),
        random.SystemRandom().random(), me.token(),
    )  # fmt: skip


def test_randomness_is_the_same_in_every_run_and_its_own_for_each_worker():
    first, second = (replay(chance, "A B") for _ in range(2))
    assert first == second
    for ours, theirs in zip(first.pending["A"].value, first.pending["B"].value, strict=True):
        assert ours != theirs


def test_randomness_does_not_depend_on_what_others_do():
    assert returned(chance, "A B", workers="AB") == returned(chance, "A")
    assert returned(chance, "B A", workers="AB") == returned(chance, "A")


def test_workers_do_not_disturb_the_random_numbers_of_the_caller():
    random.seed(5)
    expected = random.random()
    random.seed(5)
    returned(chance, "A")
    assert random.random() == expected


def test_seeding_inside_a_worker_stays_inside():
    def worker(me):
        random.seed(1)
        return random.random()

    assert returned(worker, "") == returned(worker, "") == random.Random(1).random()


def test_tokens_count_attempts():
    def worker(me):
        return me.token(), me.token()

    assert returned(worker, "") == ("A-1", "A-2")


def test_the_check_and_the_setup_see_real_time():
    readings = []

    def look(_):
        readings.append(time.time())

    explore(chance, check=look, setup=look, workers="A")
    assert all(abs(reading - time.time()) < 3600 for reading in readings)
    assert len(readings) >= 2


def test_other_threads_see_real_time_and_real_randomness():
    inside, done = threading.Event(), threading.Event()
    seen = []

    def outsider():
        inside.wait(10)
        seen.append((time.monotonic(), uuid.uuid4()))
        time.sleep(0)
        seen.append((time.monotonic(), uuid.uuid4()))
        done.set()

    thread = threading.Thread(target=outsider)
    thread.start()

    def look(_):
        inside.set()
        done.wait(10)

    explore(chance, check=look, workers="A")
    thread.join(10)
    assert len(seen) == 2
    assert seen[0][1] != seen[1][1]
    assert abs(seen[1][0] - time.monotonic()) < 3600


def test_two_threads_may_explore_at_once():
    counts = []

    def run():
        counts.append(explore(chance, check=anything, workers="AB").schedules)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert counts == [2, 2, 2]


class Odd(BaseException):
    """Neither an Exception nor one of labkit's."""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, LabkitError, Odd])
@pytest.mark.parametrize("where", ["setup", "check"])
def test_nothing_stays_patched_after_an_exception(error, where):
    def fails(_):
        raise error("on purpose")

    def worker(me):
        me.redis.incr("n")

    arguments = {"check": anything, where: fails}
    expected = LabkitError if where == "check" and error is ValueError else error
    if where == "check" and error is KeyboardInterrupt:
        assert explore(worker, **arguments).stopped == "it was interrupted"
        return
    with pytest.raises(expected):
        explore(worker, **arguments)


def test_nothing_stays_patched_after_a_worker_raises():
    def worker(me):
        me.redis.incr("n")
        raise Odd

    with pytest.raises(Odd):
        explore(worker, check=anything)


def test_what_a_worker_prints_becomes_a_note(capsys):
    def worker(me):
        print("I have", 3, sep=": ")

    trace = replay(lambda me: (me.redis.get("k"), worker(me)), "A", workers="A")
    assert trace.steps[0].notes[0] == "I have: 3"
    assert capsys.readouterr().out == ""


def test_each_worker_knows_the_time_at_which_it_runs_on():
    """The same replies at two instants are two local states once the clock has been read."""

    def reader(me):
        me.redis.get("k")
        return me.now()

    def holder(me):
        me.redis.set("lease", 1, px=99)

    found = set()
    explore({"A": reader, "B": holder}, check=lambda lab: found.add(lab.returned["A"]), pauses=1)
    assert found == {0.0, 0.1}


def test_a_clock_that_is_not_read_does_not_multiply_states():
    def silent(me):
        me.redis.get("k")
        me.redis.get("k")

    def holder(me):
        me.redis.set("lease", 1, px=99)
        me.redis.get("k")

    found = explore({"A": silent, "B": holder}, check=anything, pauses=1)
    assert found.runs == 2  # one for each worker, although A also runs at 0 and at 100 ms


def test_what_a_collection_of_garbage_runs_is_not_the_workers_doing():
    """Destructors and callbacks of others would read the worker's clock and use its randomness."""

    def callback(*_):
        random.random()
        time.monotonic()

    calm = explore(chance, check=anything, pauses=1), replay(chance, "A B")
    gc.callbacks.append(callback)
    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        busy = explore(chance, check=anything, pauses=1), replay(chance, "A B")
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)
    assert busy == calm
    assert gc.isenabled()


def test_sleeping_zero_is_no_wait_and_negative_is_an_error():
    def worker(me):
        time.sleep(0)
        me.sleep(0.0)
        with pytest.raises(ValueError, match="non-negative"):
            time.sleep(-1)
        return me.now()

    assert returned(worker, "") == 0


def test_a_fraction_of_a_millisecond_is_rounded_up():
    def worker(me):
        me.sleep(0.0001)
        me.sleep(0.1)
        return me.now()

    assert returned(worker, "t t") == 0.101


def test_a_module_imported_between_two_runs_is_covered(tmp_path, monkeypatch):
    assert returned(lambda me: me.now(), "") == 0
    (tmp_path / "late_module.py").write_text(
        "from time import sleep\ndef nap(me):\n    sleep(7)\n    return me.now()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import late_module

    assert returned(lambda me: late_module.nap(me), "t") == 7
