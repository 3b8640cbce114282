"""Data: from answers to a design, and what to warn of. Conditions are read by `conditions`.

Four blocks divide all answers among them; inside a block the first rule whose condition holds
fires. A condition uses the thirteen normalised answers and the derived facts below; the conditions
of warnings, modes and controls may also use the design that was found.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Older: 1 was the draft that counted in seconds.
MODEL_VERSION = 2

DERIVED = {
    # An effect that cannot be undone is never "only time or money" (N1 of the model).
    "correct": "goal=correct or not effect=undoable",
    "one_db": "scope=one_db",
    "has_db": "scope in (one_db, db_ext) or coord in (db, both)",
    "has_cons": "coord in (cons, both)",
    "has_redis": "not redis=none",
    "can_queue": "busy in (queue, queue_key)",
    "single_res": "scope in (one_store, ext_only)",
    "ver": "reject in (version, both)",
    "ded": "reject in (dedup, both)",
    "none": "reject=none",
    "final": "not effect=undoable",
    "high": "cont=high",
    "fifo": "fair=fifo",
    "short": "dur=short",
    "section": "shape=section",
    "dups": "shape in (unique, claim)",
    "long_in_request": "dur=long and runtime=request",
}

BLOCKS = {
    "A": "one_db and (correct or not section)",
    "B": "correct and not one_db and dups",
    "C": "correct and not one_db and not dups",
    "E": "not correct and (section or not one_db)",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """If the condition holds (and no earlier one of its block), this is the design."""

    id: str
    design: str
    when: str

    @property
    def block(self) -> str:
        return self.id[0]


RULES = (
    Rule("A01", "D01", "shape=unique"),
    Rule("A02", "D02", "shape=guard"),
    Rule("A03", "D12", "shape=claim and fifo and can_queue"),
    Rule("A04", "D05", "shape=claim and short"),
    Rule("A05", "D12", "shape=claim and can_queue"),
    Rule("A06", "D06", "shape=claim"),
    Rule("A07", "D05", "shape=think and short and high"),
    Rule("A08", "D04", "shape=think"),
    Rule("A09", "D12", "shape in (multi, setrule) and not short and can_queue"),
    Rule("A10", "D04", "shape in (multi, setrule) and not short"),
    Rule("A11", "D05", "shape in (multi, setrule) and high"),
    Rule("A12", "D03", "shape=multi"),
    Rule("A13", "D07", "shape=setrule"),
    Rule("A14", "D12", "section and correct and can_queue and (high or fifo)"),
    Rule("A15", "D12", "section and correct and long_in_request and can_queue"),
    Rule("A16", "D06", "section and correct"),
    Rule("B01", "D14", "none and lookup=no and effect=final_must"),
    Rule("B02", "D08", "none and has_db"),
    Rule("B03", "D13", "none and lookup=yes and has_cons"),
    Rule("B04", "D12", "none and lookup=yes and can_queue and effect=undoable"),
    Rule("B05", "D14", "none"),
    Rule(
        "B06", "D01", "shape=unique and ver and (scope=one_store or (scope=ext_only and not ded))"
    ),
    Rule("B07", "D12", "shape=claim and can_queue"),
    Rule("B08", "D04", "shape=claim and ver and single_res"),
    Rule("B09", "D12", "not has_db and can_queue"),
    Rule("B10", "D08", "otherwise"),
    Rule("C01", "D14", "none and final"),
    Rule("C02", "D08", "none and has_db"),
    Rule("C03", "D12", "none and can_queue"),
    Rule("C04", "D13", "none and has_cons"),
    Rule("C05", "D14", "none"),
    Rule("C06", "D08", "not ver and has_db"),
    Rule("C07", "D12", "not ver and can_queue"),
    Rule("C08", "D13", "not ver and has_cons and not final"),
    Rule("C09", "D14", "not ver"),
    Rule("C10", "D02", "shape=guard and single_res"),
    Rule("C11", "D12", "can_queue and (high or fifo)"),
    Rule("C12", "D04", "single_res and short"),
    Rule("C13", "D12", "section and long_in_request and can_queue"),
    Rule("C14", "D13", "section and not short and has_cons"),
    Rule("C15", "D11", "section and not short and has_redis"),
    Rule("C16", "D06", "section and not short and has_db"),
    Rule("C17", "D13", "single_res and high and has_cons"),
    Rule("C18", "D11", "single_res and high and has_redis"),
    Rule("C19", "D06", "single_res and high and has_db"),
    Rule("C20", "D04", "single_res"),
    Rule("C21", "D08", "has_db"),
    Rule("C22", "D12", "can_queue"),
    Rule("C23", "D13", "has_cons"),
    Rule("C24", "D04", "section"),
    Rule("C25", "D14", "otherwise"),
    Rule("E01", "D01", "shape=unique and (has_db or (ver and single_res))"),
    Rule("E02", "D02", "shape=guard and ver and single_res"),
    Rule(
        "E03",
        "D04",
        "(shape in (multi, think, setrule) or (shape=claim and not can_queue)) and "
        "ver and (short or not high)",
    ),
    Rule("E04", "D12", "shape=claim and can_queue"),
    Rule("E05", "D12", "fifo and can_queue"),
    Rule("E06", "D12", "high and can_queue"),
    Rule("E07", "D06", "one_db and short"),
    Rule("E08", "D12", "long_in_request and can_queue"),
    Rule("E09", "D10", "has_redis and dur=long and runtime=worker"),
    Rule("E10", "D09", "has_redis"),
    Rule("E11", "D06", "has_db"),
    Rule("E12", "D13", "has_cons"),
    Rule("E13", "D12", "can_queue"),
    Rule("E14", "D00", "otherwise"),
)
RULE_BY_ID = {rule.id: rule for rule in RULES}

#: A design in its variants: the first condition that holds names the mode.
MODES = (
    ("D06", "ADVISORY", "short"),
    ("D06", "LEASE_ROW", "otherwise"),
    ("D08", "LOOKUP", "none and dups and lookup=yes"),
    ("D08", "AT_MOST_ONCE", "none and dups"),
    ("D08", "REASSERT", "none"),
    ("D08", "VERSION", "ver and not (dups and ded)"),
    ("D08", "KEY", "otherwise"),
    ("D12", "TABLE", "has_db"),
    ("D12", "BROKER", "otherwise"),
    ("D13", "CLAIM", "correct and none and dups"),
    ("D13", "SEQUENCER", "otherwise"),
)

INFO, MEDIUM, HIGH, BLOCK = "info", "medium", "high", "block"


@dataclass(frozen=True, slots=True)
class Warn:
    """Something to know about the result; it never changes the design.

    Attributes:
        about: the keys of the answers it comes from.
    """

    id: str
    level: str
    when: str
    about: tuple[str, ...]


WARNINGS = (
    Warn("W01_FINAL_EFFECT", HIGH, "goal=effic and final", ("goal", "effect")),
    Warn("W02_NO_LEASE_IS_ENOUGH", BLOCK, "design=D14 and none", ("reject",)),
    Warn("W02_NO_LEASE_IS_ENOUGH", HIGH, "correct and not one_db and none and not design=D14",
         ("reject",)),
    Warn("W03_FAILOVER_GRANTS_TWICE", HIGH, "redis_design and redis=failover", ("redis",)),
    Warn("W04_RESTART_FORGETS", MEDIUM,
         "redis_design and redis=single and not persistence=aof_always", ("redis", "persistence")),
    Warn("W05_EVICTING_CACHE", MEDIUM, "redis_design and not evicting_cache=no",
         ("redis", "evicting_cache")),
    Warn("W06_REQUEST_KILL_LIMIT", MEDIUM, "redis_design and runtime=request", ("runtime",)),
    Warn("W07_KEEP_TRANSACTION_SHORT", MEDIUM, "design in (D03, D05, D06, D07) and not short",
         ("dur",)),
    Warn("W08_NO_ARRIVAL_ORDER", MEDIUM, "fifo and not design in (D12, D13)", ("fair", "busy")),
    Warn("W09_SATURATED_KEY", HIGH, "saturated", ("cont",)),
    Warn("W10_LOOKUP_IS_A_RACE", HIGH,
         "correct and none and dups and lookup=yes and not one_db and design in (D08, D12, D13)",
         ("lookup", "reject")),
    Warn("W11_MAY_SKIP", HIGH, "mode=AT_MOST_ONCE", ("lookup", "reject")),
    Warn("W12_RETRY_HORIZON", HIGH, "ded and not one_db and design in (D08, D12)", ("reject",)),
    Warn("W13_ONE_VERSION_FOR_THE_GROUP", HIGH,
         "shape in (multi, setrule) and not one_db and design in (D04, D06, D11, D13)",
         ("shape", "reject")),
    Warn("W14_RESIDUAL_RISK", HIGH,
         "correct and not one_db and not ver and (none or not dups) and design in (D12, D13)",
         ("reject",)),
    Warn("W15_DATABASE_CAN_REFUSE", INFO, "one_db and none and said_reject", ("reject",)),
    Warn("W16_CALLER_KEEPS_THE_INTENT", HIGH, "design=D08 and not has_db", ("coord",)),
    Warn("W17_MISSING_CONTROL", BLOCK, "missing_control", ("controls",)),
    Warn("W19_ONE_GLOBAL_CONSUMER", MEDIUM, "design=D12 and busy=queue", ("busy",)),
    Warn("W20_NEEDS_DRIFT_DETECTION", HIGH, "mode=REASSERT and lookup=no", ("lookup",)),
    Warn("W21_DOES_NOT_FIT_THE_REQUEST", BLOCK,
         "long_in_request and busy=wait and not shape=think", ("dur", "runtime", "busy")),
    Warn("W22_WORK_FOLLOWS_THE_ROW", MEDIUM, "design in (D01, D02) and not short", ("dur",)),
    Warn("W23_ALL_SYSTEMS_CHECK", HIGH,
         "design in (D06, D11, D13) and correct and scope in (db_ext, many)", ("scope", "reject")),
    Warn("W24_GUARD_SPANS_SYSTEMS", INFO, "shape=guard and scope in (db_ext, many)",
         ("scope", "shape")),
)  # fmt: skip

#: Sentences that are added to a warning, and when: (warning, name of the text, condition).
ADDED = (
    ("W02_NO_LEASE_IS_ENOUGH", "no_lock", "design in (D08, D12)"),
    ("W08_NO_ARRIVAL_ORDER", "in_line", "can_queue"),
)

#: A fact and what it cannot be turned into: never shown as an answer that would change the result.
FIXED = {
    ("scope", "db_ext"): ("one_db", "one_store", "many"),
    ("scope", "ext_only"): ("one_db", "one_store", "many"),
}

#: Answers that do not fit together: asked again, never routed silently. "said_x" = x was answered.
CONTRADICTIONS = (
    ("final_but_efficiency", ("goal", "effect"), "said_goal and said_effect and goal=effic "
                                                 "and final"),
    ("database_denied", ("scope", "coord"), "said_scope and said_coord and database_denied"),
    ("database_refuses", ("scope", "reject"), "said_scope and said_reject and one_db and none"),
    ("order_without_queue", ("fair", "busy"), "said_fair and said_busy and fifo "
                                              "and busy in (skip, wait)"),
    ("long_wait_in_request", ("dur", "runtime", "busy"),
     "said_dur and said_runtime and said_busy and long_in_request and busy=wait "
     "and not shape=think"),
    ("partial_version", ("reject", "version_by_all"), "said_reject and partial_version"),
)  # fmt: skip

#: What must exist before the design may be called accepted.
_LEASE = "redis_design or mode=LEASE_ROW"
REQUIRED_CONTROLS = {
    "atomic_acquire": _LEASE,
    "unique_token": _LEASE,
    "owner_release": _LEASE,
    "owner_renewal": "design=D10",
    "unknown_reply": "redis_design or design in (D08, D13)",
    "stop_deadline": "design in (D10, D11, D13)",
    "resource_check": "design in (D04, D11) or mode in (LEASE_ROW, SEQUENCER, VERSION) "
                      "or (design=D12 and ver)",
    "operation_key": "design in (D02, D03, D08) or (design=D12 and correct)",
    "bounded_wait": "busy=wait and not design in (D00, D14)",
    "metrics": "not design in (D00, D14)",
    "interleaving_tests": "not design in (D00, D14)",
}  # fmt: skip

#: Choices that experienced people make differently (section 3.3 of the model).
JUDGEMENT_CALLS = {
    "consensus_first": ("C14", "C17"),
    "redis_for_long_sections": ("E09", "E10"),
    "refuse_residual_risk": ("C05", "C09", "B05"),
}
