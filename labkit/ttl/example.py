"""Where `data/durations.csv` comes from: a seeded generator, so that anybody can make it again.

A report job, 2,000 runs: most take what a log-normal distribution says, one in fifty waits for
something slow (a Pareto tail), and a few processes are stopped for seconds, as a garbage collector
or a busy host would do. Real measurements look like this; real ones are always better.
"""

from __future__ import annotations

import random

RUNS, SEED = 2_000, 4
HEADER = f"""\
# Durations of a report job. Not measured: made by labkit/ttl/example.py with seed {SEED}.
# Body: log-normal, median 180 ms, sigma 0.35. One run in 50: a Pareto tail from 500 ms on.
# Five runs: stopped for 1 to 6 s on top, as by a garbage collector.
started,duration_ms
"""


def example_csv() -> str:
    """The text of the file."""
    chance = random.Random(SEED)
    stopped = set(chance.sample(range(RUNS), 5))
    lines = []
    for run in range(RUNS):
        duration = chance.lognormvariate(5.193, 0.35)  # e^5.193 is 180
        if chance.random() < 0.02:
            duration = 500 * chance.paretovariate(1.8)
        if run in stopped:
            duration += chance.uniform(1_000, 6_000)
        minute, second = divmod(run * 43 // 10, 60)
        lines.append(f"{8 + minute // 60:02}:{minute % 60:02}:{second:02},{duration:.1f}\n")
    return HEADER + "".join(lines)
