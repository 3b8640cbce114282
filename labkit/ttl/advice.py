"""Why a TTL is recommended, and what a TTL cannot do: sentences, each with its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from labkit.ttl.comparing import Question, Row, count
from labkit.ttl.limits import Quantile

#: The longest run against the median, from which on the tail itself is the trouble.
LONG_TAIL = 20

Advice = tuple[str, tuple[str, ...], tuple[str, ...]]


def advise(asked: Question, quantiles: tuple[Quantile, ...], found: Mapping[str, float]) -> Advice:
    """The recommendation in one sentence, the reasons, and the changes of design."""
    ttl_ms = f"{found['ttl_ms']:,.0f} ms"
    if _renewed(found):
        said = (f"Recommended: TTL {ttl_ms}, renewed every {found['renew_every_ms']:,.0f} ms while "
                f"the work goes on")  # fmt: skip
    else:
        said = f"Recommended: TTL {ttl_ms}, without renewal"
    said += ", and a resource that refuses late writes." if asked.harm else "."
    reasons = (_formula(found), *_recovery(asked, found), *_data(asked, quantiles))
    return said, tuple(reasons), tuple(_changes(asked, found))


def _renewed(found: Mapping[str, float]) -> bool:
    return "renew_every_ms" in found


def _formula(found: Mapping[str, float]) -> str:
    bound = (f"the limit that ends a run ({found['hard_cap_ms']:,.0f} ms)" if "hard_cap_ms" in found
             else f"the larger of the longest run seen ({found['work_max_ms']:,.0f} ms) and twice "
                  f"p99 (2 x {found['work_p99_ms']:,.0f} ms)")  # fmt: skip
    return (f"A lease that outlives the work takes {found['whole_ms']:,.0f} ms: {bound}, plus "
            f"pause {found['pause_ms']:g}, last write {found['final_write_p99_ms']:g} and Redis "
            f"{found['redis_p999_ms']:g} ms, divided by 0.99 because clocks differ.")  # fmt: skip


def _recovery(asked: Question, found: Mapping[str, float]) -> Iterator[str]:
    blocked = f"{found['whole_ms']:,.0f} ms. You allow {asked.recover_ms:,.0f} ms."
    if _renewed(found):
        yield f"After a crash the others would wait up to {blocked}"
        yield (f"So the TTL is what you allow, and it is renewed. The holder stops "
               f"{found['stop_after_ms']:,.0f} ms after it sent the last renewal that was "
               f"confirmed.")  # fmt: skip
        return
    yield (f"After a crash the others wait up to {blocked} A longer TTL makes a late write rarer, "
           f"never impossible, and it makes every crash cost more.")  # fmt: skip
    yield (f"The holder stops {found['holder_deadline_ms']:,.0f} ms after it sent its request, "
           f"whatever it has done by then.")  # fmt: skip


def _data(asked: Question, quantiles: tuple[Quantile, ...]) -> Iterator[str]:
    """How far the numbers reach."""
    n, cap = len(asked.durations), asked.numbers.get("hard_cap_ms", math.inf)
    ended = int((asked.durations.ordered > cap).sum())
    if ended:
        yield f"The limit would have ended {ended:,} of the {n:,} runs: they must be repeated."
    small = [f"{q.name} (takes {q.needed:,})" for q in quantiles if q.high is None]
    if small:
        guess = " So this TTL is a guess: measure more runs." if len(small) > 1 else ""
        yield f"{n:,} runs are too few for an upper limit of {', '.join(small)}.{guess}"
    if asked.arrivals_per_s is None:
        yield (f"Callers are counted as {asked.per_s:.2g} a second: your runs, spread evenly over "
               f"the day. A busy hour has more.")  # fmt: skip


def _changes(asked: Question, found: Mapping[str, float]) -> Iterator[str]:
    if _renewed(found):
        yield (f"A TTL as long as the work ({found['whole_ms']:,.0f} ms) blocks for longer than "
               f"you allow: renew, or split the work into shorter pieces, or hand it out through a "
               f"queue.")  # fmt: skip
        yield ("Renewal does not help a process that is paused: it does not renew either. When a "
               "renewal fails, stop the work.")  # fmt: skip
    ratio = found["work_max_ms"] / found["work_p50_ms"]
    if ratio >= LONG_TAIL and "hard_cap_ms" not in found:
        yield (f"The longest run took {ratio:,.0f} times as long as the median. A TTL for that "
               f"one run is paid after every crash: put a limit on the work (hard_cap_ms), or find "
               f"out what the run waited for.")  # fmt: skip
    if asked.harm:
        yield _harm(asked.row(int(found["ttl_ms"])), asked, _renewed(found))


def _harm(row: Row, asked: Question, renewed: bool) -> str:
    n, once = len(asked.durations), "Without renewal this one" if renewed else "This one"
    return (f"No TTL makes a late write safe. {once} is outlasted by {row.outlasting:,} of {n:,} "
            f"runs seen, which means by up to {row.a_day_high / asked.runs_per_day:.2%} of all "
            f"runs, {count(row.a_day_high)} a day; and a pause can outlast any TTL. Let the "
            f"resource refuse the late write: a fencing number or a version in the write "
            f"itself.")  # fmt: skip
