"""Whether a question still matters: for the design, for details only, or for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.decision.engine import Decision, decide
from labkit.decision.questions import BY_KEY, ORDER
from labkit.decision.rules import INFO, WARNINGS
from labkit.decision.space import matters

DESIGN, MINOR, NOTHING = "design", "details", "nothing"
_ALWAYS_USED = ("busy", "cont", "dur")  # they set the policy and the numbers of every design


def still_possible(decision: Decision) -> tuple[Mapping[str, bool], tuple[str, ...]]:
    """Which questions can change the design, and the designs that open ones leave possible."""
    used = decision.used
    return matters({k: v for k, v in used.values.items() if k not in used.unknown})


def relevance(decision: Decision, live: Mapping[str, bool] | None = None) -> dict[str, str]:
    """Key -> whether the answer can change the "design", only "details", or "nothing"."""
    live = still_possible(decision)[0] if live is None else live
    doubted = {key for keys in decision.contradictions.values() for key in keys}
    doubted |= set(decision.used.computed)
    return {key: DESIGN if live[key] else MINOR if key in doubted else _minor(key, decision)
            for key in ORDER}  # fmt: skip


def _minor(key: str, decision: Decision) -> str:
    """Whether another answer would at least change warnings, settings or what must be built."""
    if key in _ALWAYS_USED:
        return MINOR
    now = _consequences(decision)
    good: Mapping[str, Any] = decision.answers
    others = (value for value in BY_KEY[key].values if value != decision.used.values[key])
    changed = any(_consequences(decide({**good, key: value})) != now for value in others)
    return MINOR if changed else NOTHING


def _consequences(decision: Decision) -> tuple[object, ...]:
    known = {warning.id for warning in WARNINGS if warning.level == INFO}
    warnings = tuple(id for id in decision.warnings if id not in known)
    return decision.mode, warnings, tuple(decision.controls)
