"""The same everywhere: in the next run, in another process, whatever the order of sets there."""

import os
import subprocess
import sys

import pytest

from labkit import explore, mutual_exclusion, replay, simulate
from tests.project.source import ROOT
from tests.sim.programs import lease, withdrawal
from tests.sim.test_clients import optimistic, with_waiting

PRINTED = """
from labkit import *
from labkit.cases.account import account, money_is_right
from tests.sim.programs import *
from tests.sim.test_clients import optimistic, with_waiting

def sets(me):
    me.redis.sadd("s", *"lock lab".split(), me.name)
    me.redis.hset("h", mapping={"b": 1, "a": 2})
    me.note(sorted(me.redis.smembers("s")))
    me.note(me.redis.hgetall("h"))
    raise ValueError(me.name)

print(explore(withdrawal(), check=money_is_right, setup=account, pauses=0, faults="?"))
print(explore(lease, check=[mutual_exclusion, only_the_owner_releases], faults={"~": 2}))
print(explore(with_waiting, check=mutual_exclusion, faults="?"))
print(explore(optimistic, check=no_lost_update, faults="~!").schedules)
print(explore(sets, check=anything, workers="ABC"))
print(replay(sets, "A B A B A B A B"))
print(simulate(with_waiting, pause=("A", 2, 12)))
"""


def printed(seed):
    done = subprocess.run(
        [sys.executable, "-c", PRINTED], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_everything_printed_is_the_same_in_another_process_with_another_hash_seed():
    first, second = printed("1"), printed("2")
    assert first.splitlines() == second.splitlines()
    assert "0x" not in first


def test_repeated_runs_are_equal_in_every_part():
    for run in (
        lambda: replay(lease, "A A t B A B B"),
        lambda: replay(with_waiting, "A B? t A A", partial=True),
        lambda: simulate(optimistic, pause=("A", 2, 1)),
        lambda: explore(withdrawal(), check=mutual_exclusion, faults="?~!").counterexample.trace,
    ):
        first, second = run(), run()
        assert first == second
        assert (str(first), first.spoken) == (str(second), second.spoken)
        for one, other in zip(first.steps, second.steps, strict=True):
            assert one.transition == other.transition


def test_explorations_are_equal_and_do_not_disturb_each_other():
    first = explore(with_waiting, check=mutual_exclusion)
    explore(lease, check=mutual_exclusion, faults="!")
    assert explore(with_waiting, check=mutual_exclusion) == first
