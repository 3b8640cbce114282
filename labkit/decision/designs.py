"""Data: the designs, what each needs, costs and is tested by, and when it would hold as well."""

from __future__ import annotations

from dataclasses import dataclass

FAILURES = ("crash", "pause", "redis_down", "reply_lost", "failover", "stale_release", "duplicate")


@dataclass(frozen=True, slots=True)
class Design:
    """One way to protect an effect.

    Attributes:
        id: the full identifier, as in records.
        worst: the failure that hurts most.
        tests, metrics: what to write, by identifier.
        rank: order of cost among designs with equally many parts: round trips, then what to build.
        also_holds: under which answers it protects as well (also where another one is better).
            "Protects" means for a wasted-work lock that it saves the work, so it never names D00.
    """

    id: str
    worst: str
    tests: tuple[str, ...]
    metrics: tuple[str, ...]
    rank: int
    also_holds: str

    @property
    def short(self) -> str:
        """The first three characters: "D09"."""
        return self.id[:3]


def _design(id: str, worst: str, tests: str, metrics: str, rank: int, also_holds: str) -> Design:
    return Design(id, worst, tuple(f"T{n}" for n in tests.split()),
                  tuple(f"M{n}" for n in metrics.split()), rank, also_holds)  # fmt: skip


DESIGNS = (
    _design("D00_NO_COORDINATION", "duplicate", "1", "12", 0, "design=D00"),
    _design("D01_UNIQUE_INSERT", "crash", "1 2 7 8", "7 8 10", 2,
            "shape=unique and (one_db or (ver and single_res) or (has_db and not correct))"),
    _design("D02_ATOMIC_STATEMENT", "reply_lost", "1 7 8", "7 8", 1,
            "shape=guard and (one_db or (ver and single_res))"),
    _design("D03_TRANSACTION", "reply_lost", "1 2 7 8 12", "7", 4,
            "one_db and short and shape in (guard, multi)"),
    _design("D04_OPTIMISTIC_VERSION", "failover", "1 3 7 14", "6 7", 3,
            "not shape=unique and (correct or (not section and (short or not high))) and "
            "((one_db and not section and not (short and shape in (multi, setrule)) "
            "and not (shape=claim and not short)) or (not one_db and ver and single_res "
            "and not (version_covers=item and shape in (multi, setrule))))"),
    _design("D05_ROW_LOCK", "pause", "1 2 7 12 13", "2 3 7", 5,
            "one_db and short and shape in (guard, multi, think, setrule, claim)"),
    _design("D06_DB_LOCK", "failover", "1 2 3 5 9 11", "1 2 3 4 6", 9,
            "not shape=unique and (one_db or (has_db and (not correct or (ver and single_res))))"),
    _design("D07_SERIALIZABLE_RETRY", "pause", "1 2 7 12 13 14", "2 7", 6,
            "one_db and short and shape in (guard, multi, think, setrule)"),
    _design("D08_IDEMPOTENCY_OUTBOX", "reply_lost", "2 3 6 7 8 15 16", "8 9 10 12", 11,
            "correct and has_db and not one_db and (ver or ded)"),
    _design("D09_REDIS_LEASE_EFFIC", "pause", "1 2 3 4 5 6 9 13", "1 2 3 4 5 11", 7,
            "has_redis and not correct and (section or not one_db) and not shape=unique "
            "and not dur=long and not can_queue"),
    _design("D10_REDIS_LEASE_RENEWED", "pause", "1 2 3 4 5 6 9 18", "1 2 3 4 5 11", 8,
            "has_redis and not correct and (section or not one_db) and not shape=unique "
            "and runtime=worker and not can_queue"),
    _design("D11_REDIS_LEASE_FENCED", "failover", "1 2 3 4 5 6 7 9 10 11 14 17",
            "1 2 3 4 5 6 11 12", 10,
            "has_redis and correct and ver and single_res and not shape=unique "
            "and not long_in_request"),
    _design("D12_QUEUE_SINGLE_WRITER", "pause", "2 3 7 8 13 15 16", "8 9 10 12", 12,
            "can_queue and (one_db or ver or ded or not correct)"),
    _design("D13_CONSENSUS_LEASE", "pause", "2 3 6 10 11", "1 2 3 4 5 6", 13,
            "has_cons and not one_db and not shape=unique and not long_in_request "
            "and (not correct or (ver and not dups))"),
    _design("D14_REDESIGN", "duplicate", "", "", 14, "design=D14"),
)  # fmt: skip
DESIGN = {design.short: design for design in DESIGNS}
#: They serve attempts in the order in which they came.
IN_ORDER = ("D12", "D13")

#: Tests and metrics of a design that a variant of it has no use for.
NOT_IN_MODE = {
    "ADVISORY": ("T3", "T5", "M3", "M4"),
    "VERSION": ("T15", "M8"),
    "LOOKUP": ("T3", "T15", "T16", "M8"),
    "AT_MOST_ONCE": ("T3", "T15", "T16", "M8"),
    "REASSERT": ("T3", "T6", "T8", "T15", "M8"),
    "CLAIM": ("T3", "T10", "T11", "M3", "M5"),
}

#: Which parts have to be operated for it.
COMPONENTS = {
    "database": "design in (D03, D05, D06, D07) or (design in (D01, D02, D04) and one_db) "
                "or (design=D01 and not correct and has_db) or (design=D08 and has_db) "
                "or mode=TABLE",
    "receiver": "(design in (D02, D04, D11) and not one_db) "
                "or (design=D01 and not one_db and (correct or not has_db)) "
                "or (design in (D08, D12, D13) and correct and (ver or ded) and not one_db)",
    "redis": "redis_design",
    "queue": "mode=BROKER",
    "worker": "design in (D08, D12)",
    "consensus": "design=D13",
    "people": "mode in (LOOKUP, AT_MOST_ONCE, CLAIM)",
}  # fmt: skip

#: How much there is to operate for a part; the others count 1.
EFFORT = {"receiver": 0, "consensus": 3, "people": 2}

#: Why not this one? The first condition that holds names the sentence.
WHY_NOT = (
    ("D00", "correct", "needs_repair"),
    ("D00", "otherwise", "wasted_work"),
    ("D01", "not shape=unique", "no_key"),
    ("D01", "not one_db and not ver", "no_version"),
    ("D01", "not one_db and not single_res", "spans"),
    ("D02", "not shape=guard", "no_guard"),
    ("D02", "not one_db and not single_res", "spans"),
    ("D02", "not one_db and not ver", "no_version"),
    ("D03", "not one_db", "not_one_db"),
    ("D03", "not short", "not_short"),
    ("D03", "not shape in (guard, multi)", "not_several_rows"),
    ("D04", "shape=unique", "nothing_to_compare"),
    ("D04", "not one_db and not ver", "no_version"),
    ("D04", "not one_db and not single_res", "spans"),
    ("D04", "high", "many_conflicts"),
    ("D04", "design in (D06, D11, D13)", "work_twice"),
    ("D05", "not one_db", "not_one_db"),
    ("D05", "not short", "not_short"),
    ("D05", "shape=unique", "no_row_yet"),
    ("D06", "not has_db", "no_database"),
    ("D06", "shape=unique", "constraint_is_enough"),
    ("D06", "correct and not one_db", "lease_row_elsewhere"),
    ("D06", "one_db and not design in (D09, D10, D12)", "simpler_in_database"),
    ("D07", "not one_db", "not_one_db"),
    ("D07", "not short", "not_short"),
    ("D07", "not shape=setrule", "simpler_in_database"),
    ("D08", "not correct", "only_wasted"),
    ("D08", "one_db", "same_transaction"),
    ("D08", "none", "no_refusal"),
    ("D08", "not has_db", "no_database"),
    ("D09", "correct", "lease_ends_early"),
    ("D09", "not has_redis", "no_redis"),
    ("D09", "dur=long", "no_bound"),
    ("D10", "correct", "lease_ends_early"),
    ("D10", "not has_redis", "no_redis"),
    ("D10", "runtime=request", "request_cannot_renew"),
    ("D10", "not dur=long", "bound_is_enough"),
    ("D11", "not has_redis", "no_redis"),
    ("D11", "one_db", "database_refuses"),
    ("D11", "not ver", "no_version"),
    ("D11", "short", "retry_is_cheaper"),
    ("D12", "not can_queue", "must_not_queue"),
    ("D12", "one_db", "simpler_in_database"),
    ("D13", "not has_cons", "no_consensus"),
    ("D13", "one_db", "database_refuses"),
    ("D13", "correct and not ver", "no_version"),
    ("D14", "otherwise", "not_needed"),
)
