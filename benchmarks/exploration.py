"""How fast is `explore`, compared with a model of the same program written by hand?

    python benchmarks/exploration.py

The program is a lock made of GET and SET in front of a bank account. labkit runs the worker below,
through redis-py and a simulated Redis. The model beside it is what one would write without labkit:
the store is a tuple, a worker is the tuple of replies it has received, and counting is memoised.
Both must give the same counts and the same number of states. labkit also finds the shortest
counterexample and replays it; the model only counts.

Every run is a process of its own, and the two take turns, so that neither gains from the other.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TTL_MS, START, WITHDRAWAL = 100, 100, 30
RUNS = 5
#: (workers, pauses) -> schedules, as proved by hand or by both programs below.
KNOWN = {
    ("AB", 1): 3_380,
    ("ABC", 1): 42_491_574,
    ("ABCD", 1): 3_422_351_591_712,
}
LIMIT_S = 60  # for each run of labkit


# -- the program, for labkit -----------------------------------------------------------------------


def withdraw(me):
    """Look, take, and then a withdrawal of 30: six commands, or one for who finds it taken."""
    if me.redis.get("lock") is not None:
        return False
    me.redis.set("lock", me.name)
    me.redis.pexpire("lock", TTL_MS)
    balance = int(me.redis.get("balance"))
    me.redis.set("balance", balance - WITHDRAWAL)
    me.redis.delete("lock")
    return True


def account(lab):
    lab.redis.set("balance", START)


def money_is_right(lab):
    right = START - WITHDRAWAL * sum(lab.returned.values())
    left = int(lab.redis.get("balance"))
    return None if left == right else f"{left} is left instead of {right}"


def explore_with_labkit(workers: str, pauses: int) -> dict[str, int]:
    from labkit import explore

    found = explore(
        withdraw, check=money_is_right, workers=workers, pauses=pauses, setup=account,
        seconds_max=LIMIT_S,
    )  # fmt: skip
    return {
        "schedules": found.schedules,
        "violating": found.violating,
        "states": found.states,
        "stopped": found.stopped,
    }


# -- the program, as a model written by hand -------------------------------------------------------

Replies = tuple  # what a worker has been told so far; how many says where it stands
Key = tuple  # value, last instant of its life (None: for ever)


def command(name: str, replies: Replies) -> tuple | None:
    """What a worker does next; None when it has ended."""
    if replies and replies[0] is not None:
        return None  # it found the lock taken
    match len(replies):
        case 0:
            return "GET", "lock"
        case 1:
            return "SET", "lock", name
        case 2:
            return "PEXPIRE", "lock", TTL_MS
        case 3:
            return "GET", "balance"
        case 4:
            return "SET", "balance", replies[3] - WITHDRAWAL
        case 5:
            return "DEL", "lock"
    return None


def execute(store: dict[str, Key], now_ms: int, words: tuple) -> object:
    """Run a command; the reply."""
    verb, key = words[:2]
    match verb:
        case "GET":
            return store[key][0] if key in store else None
        case "SET":
            store[key] = (words[2], None)
            return "OK"
        case "PEXPIRE":
            if key not in store:
                return 0
            store[key] = (store[key][0], now_ms + words[2])
            return 1
        case "DEL":
            return 0 if store.pop(key, None) is None else 1


class Model:
    """Counts schedules: `count(state)` is (all, violating) from that state on.

    A state is the clock, the store, the pauses left, and what each worker has been told.
    """

    def __init__(self, names: str, pauses: int) -> None:
        self.names = names
        store = {"balance": (START, None)}
        self.start = (0, frozenset(store.items()), pauses, ((),) * len(names))
        self.counts: dict[tuple, tuple[int, int]] = {}

    def count(self, state: tuple) -> tuple[int, int]:
        known = self.counts.get(state)
        if known is None:
            schedules = violating = 0
            for after in self.successors(state):
                more, bad = self.count(after)
                schedules += more
                violating += bad
            known = (schedules, violating) if schedules else (1, self.is_wrong(state))
            self.counts[state] = known
        return known

    def successors(self, state: tuple) -> Iterator[tuple]:
        now_ms, contents, pauses, workers = state
        can_run = False
        for place, replies in enumerate(workers):
            words = command(self.names[place], replies)
            if words is not None:
                can_run = True
                store = dict(contents)
                told = (*replies, execute(store, now_ms, words))
                after = (*workers[:place], told, *workers[place + 1 :])
                yield now_ms, frozenset(store.items()), pauses, after
        ends = [last for _, (_, last) in contents if last is not None]
        if can_run and pauses and ends:
            now_ms = min(ends) + 1
            left = frozenset(
                item for item in contents if item[1][1] is None or item[1][1] >= now_ms
            )
            yield now_ms, left, pauses - 1, workers

    def is_wrong(self, state: tuple) -> bool:
        _, contents, _, workers = state
        through = sum(len(replies) == 6 for replies in workers)
        return dict(contents)["balance"][0] != START - WITHDRAWAL * through


def explore_by_hand(workers: str, pauses: int) -> dict[str, int]:
    model = Model(workers, pauses)
    schedules, violating = model.count(model.start)
    return {
        "schedules": schedules,
        "violating": violating,
        "states": len(model.counts),
        "stopped": "",
    }


# -- measuring -------------------------------------------------------------------------------------

PROGRAMS = {"labkit": explore_with_labkit, "model": explore_by_hand}


def measure(program: str, workers: str, pauses: int) -> dict:
    """One run in a process of its own: its counts, seconds of CPU time, peak memory in MB."""
    command = [sys.executable, __file__, program, workers, str(pauses)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def measured_here(program: str, workers: str, pauses: int) -> dict:
    if program == "labkit":
        explore_with_labkit("A", 0)  # loads redis-py and fakeredis; a notebook does so once
    started = time.process_time()
    found = PROGRAMS[program](workers, pauses)
    seconds = time.process_time() - started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"seconds": seconds, "peak_mb": peak_mb}


def compare(workers: str, pauses: int) -> None:
    """labkit and the model in turns; the medians, and their ratio."""
    pairs = [[measure(p, workers, pauses) for p in PROGRAMS] for _ in range(RUNS)]
    for pair in pairs:
        for what in ("schedules", "violating", "states"):
            assert pair[0][what] == pair[1][what], f"{what}: {pair[0]} but {pair[1]}"
        assert pair[0]["schedules"] == KNOWN[workers, pauses]
    ratios = [labkit["seconds"] / model["seconds"] for labkit, model in pairs]
    print(
        f"{workers}, {pauses} pause: {pairs[0][0]['schedules']:,} schedules, {RUNS} runs in turns"
    )
    for place, program in enumerate(PROGRAMS):
        runs = [pair[place] for pair in pairs]
        print(f"  {program:6}  {runs[0]['states']:>7,} states"
              f"  {statistics.median(r['seconds'] for r in runs):6.2f} s"
              f"  {statistics.median(r['peak_mb'] for r in runs):5.0f} MB")  # fmt: skip
    print(f"  ratio   {statistics.median(ratios):.2f}"
          f"  (from {min(ratios):.2f} to {max(ratios):.2f})")  # fmt: skip


def grow(largest: int) -> None:
    """labkit alone, from two workers on."""
    print("growth with one pause\n  workers         schedules     states  seconds  peak MB")
    for workers in ("ABCDEFGH"[:count] for count in range(2, largest + 1)):
        run = measure("labkit", workers, 1)
        if not run["stopped"]:
            assert run["schedules"] == KNOWN[workers, 1]
        print(f"  {workers:7} {run['schedules']:17,} {run['states']:10,}"
              f" {run['seconds']:8.2f} {run['peak_mb']:8.0f}"
              f"{'  cut: ' + run['stopped'] if run['stopped'] else ''}")  # fmt: skip


def main() -> None:
    compare("ABC", 1)
    grow(largest=5)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.path.insert(0, str(ROOT))
        print(json.dumps(measured_here(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        main()
