"""Data: the questions, their possible answers, and what "I don't know" counts as.

Identifiers are stable: exported records use them. Texts live in `labkit.decision.texts`.
"""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Question:
    """One of the thirteen questions that choose the design.

    Attributes:
        id: "Q1" ... "Q13".
        key: its name in the answers.
        values: the possible answers; "unknown" is possible everywhere as well.
        unknown: the careful answer that "unknown" counts as.
        heading: under which of the six headings it is asked.
    """

    id: str
    key: str
    values: tuple[str, ...]
    unknown: str
    heading: int


@dataclass(frozen=True, slots=True)
class Detail:
    """A further answer that belongs to a question, asked after some of its answers only."""

    key: str
    values: tuple[str, ...]
    belongs_to: str
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A number that can be given beside the answers.

    Attributes:
        unit: "ms", "per second" or "" (a count: a whole number from 1).
        highest: more than this is taken for a mistake.
        zero: whether 0 makes sense.
    """

    key: str
    unit: str
    belongs_to: str
    highest: float
    zero: bool = False


QUESTIONS = (
    Question("Q1", "goal", ("correct", "effic"), "correct", 1),
    Question("Q2", "scope", ("one_db", "one_store", "db_ext", "many", "ext_only"), "db_ext", 1),
    Question("Q3", "shape", ("unique", "guard", "multi", "think", "setrule", "claim", "section"),
             "section", 1),
    Question("Q4", "redis", ("none", "single", "failover"), "failover", 2),
    Question("Q5", "coord", ("none", "db", "cons", "both"), "none", 2),
    Question("Q6", "runtime", ("request", "worker"), "request", 3),
    Question("Q7", "dur", ("short", "bounded", "long"), "long", 4),
    Question("Q8", "effect", ("undoable", "final_skip_ok", "final_must"), "final_must", 4),
    Question("Q9", "lookup", ("yes", "no"), "no", 4),
    Question("Q10", "reject", ("none", "dedup", "version", "both"), "none", 5),
    Question("Q11", "busy", ("skip", "wait", "queue", "queue_key"), "wait", 6),
    Question("Q12", "cont", ("low", "high"), "low", 6),
    Question("Q13", "fair", ("no", "fifo"), "no", 6),
)  # fmt: skip
BY_KEY = {question.key: question for question in QUESTIONS}

#: What decides most is asked first.
ORDER = ("goal", "scope", "shape", "effect", "reject", "lookup", "busy", "dur", "redis", "coord",
         "runtime", "cont", "fair")  # fmt: skip

DETAILS = (
    Detail("persistence", ("none", "rdb", "aof_everysec", "aof_always"), "redis",
           ("single", "failover")),
    Detail("evicting_cache", ("yes", "no"), "redis", ("single", "failover")),
    Detail("lookup_final", ("yes", "no"), "lookup", ("yes",)),
    Detail("version_covers", ("item", "set"), "reject", ("version", "both")),
    Detail("version_by_all", ("yes", "no"), "reject", ("version", "both")),
    Detail("payload_compared", ("yes", "no"), "reject", ("dedup", "both")),
    Detail("failures_replayed", ("yes", "no"), "reject", ("dedup", "both")),
)  # fmt: skip

_YEAR_MS = 366 * 24 * 3_600_000
NUMBERS = (
    Number("work_p50_ms", "ms", "dur", _YEAR_MS),
    Number("work_p99_ms", "ms", "dur", _YEAR_MS),
    Number("work_max_ms", "ms", "dur", _YEAR_MS),
    Number("hard_cap_ms", "ms", "dur", _YEAR_MS),
    Number("pause_ms", "ms", "dur", _YEAR_MS, zero=True),
    Number("recover_ms", "ms", "dur", _YEAR_MS),
    Number("final_write_p99_ms", "ms", "dur", _YEAR_MS, zero=True),
    Number("redis_p999_ms", "ms", "redis", _YEAR_MS),
    Number("caller_deadline_ms", "ms", "busy", _YEAR_MS),
    Number("arrivals_per_s", "per second", "cont", 1e7, zero=True),
    Number("workers", "", "cont", 1e7),
    Number("pool", "", "cont", 1e7),
    Number("key_retention_ms", "ms", "reject", 100 * _YEAR_MS),
)

#: What can be ticked as existing (`controls`) or planned (`controls_planned`).
CONTROLS = ("atomic_acquire", "unique_token", "owner_release", "owner_renewal", "unknown_reply",
            "stop_deadline", "resource_check", "operation_key", "bounded_wait", "metrics",
            "interleaving_tests")  # fmt: skip

#: How an answer came about (`confidence`: a mapping from a key to one of these).
CONFIDENCE = ("measured", "looked_up", "assumed")

CHOICES = {q.key: (*q.values, UNKNOWN) for q in QUESTIONS} | {
    d.key: (*d.values, UNKNOWN) for d in DETAILS
}
NUMBER_BY_KEY = {number.key: number for number in NUMBERS}
LISTS = ("controls", "controls_planned")
KEYS = (*CHOICES, *NUMBER_BY_KEY, *LISTS, "confidence")
