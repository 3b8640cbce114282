"""Answers: what a reader typed, checked, with unknowns and numbers turned into what routes.

A bad answer is never guessed at: `check` says which answer it is and what is possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from labkit.decision.parameters import classes
from labkit.decision.questions import (
    BY_KEY,
    CHOICES,
    CONFIDENCE,
    CONTROLS,
    KEYS,
    LISTS,
    NUMBER_BY_KEY,
    ORDER,
    UNKNOWN,
)
from labkit.sim.errors import LabkitError


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one answer, and what is possible."""

    key: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


class AnswerError(LabkitError, ValueError):
    """Some answers cannot be used. `problems` has one sentence for each; nothing was changed."""

    def __init__(self, problems: Iterable[Problem], answers: Any) -> None:
        self.problems = tuple(problems)
        self.answers = answers
        super().__init__("\n".join(map(str, self.problems)))


def check(answers: Any) -> tuple[dict[str, Any], list[Problem]]:
    """The answers that can be used, and the problems of those that cannot."""
    if not isinstance(answers, Mapping):
        what = type(answers).__name__
        return {}, [
            Problem("", f"Answers are a mapping such as {{'goal': 'correct'}}, not {what}.")
        ]
    good: dict[str, Any] = {}
    problems = []
    for key, value in answers.items():
        wrong = _wrong(key, value)
        if wrong:
            problems.append(Problem(str(key)[:40], wrong))
        else:
            good[key] = value
    for key, sentence in _senseless(good):
        good.pop(key)
        problems.append(Problem(key, sentence))
    return good, problems


def _wrong(key: Any, value: Any) -> str:
    if key not in KEYS:
        near = get_close_matches(str(key)[:60], KEYS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"There is no answer called {_shown(key)}.{hint} Possible: {', '.join(KEYS)}."
    if key in CHOICES:
        return "" if _is_in(value, CHOICES[key]) else _not_possible(key, value, CHOICES[key])
    if key in LISTS:
        return _wrong_list(key, value)
    if key == "confidence":
        return _wrong_confidence(value)
    return _wrong_number(key, value)


def _wrong_list(key: str, value: Any) -> str:
    if not isinstance(value, list | tuple | set | frozenset):
        return f"{key}: {_shown(value)} is not a list. Possible entries: {', '.join(CONTROLS)}."
    for entry in value:
        if not _is_in(entry, CONTROLS):
            return _not_possible(key, entry, CONTROLS)
    return ""


def _wrong_confidence(value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"confidence: {_shown(value)} is not a mapping such as {{'goal': 'measured'}}."
    for key, how in value.items():
        if key not in KEYS:
            return f"confidence: there is no answer called {_shown(key)}."
        if not _is_in(how, CONFIDENCE):
            return _not_possible(f"confidence of {key}", how, CONFIDENCE)
    return ""


def _wrong_number(key: str, value: Any) -> str:
    number = NUMBER_BY_KEY[key]
    low, unit = ("from 0" if number.zero else "above 0"), number.unit or "a count"
    possible = f"Possible: a number {low} up to {number.highest:,.0f} ({unit})."
    if not isinstance(value, int | float) or isinstance(value, bool):
        return (
            f"{key}: {_shown(value)} is not a number. {possible} Write digits only, such as 1500."
        )
    if not 0 <= value <= number.highest:  # also false for a number that is none (NaN)
        return f"{key}: {_shown(value)} makes no sense. {possible}"
    if value == 0 and not number.zero:
        return f"{key}: 0 makes no sense. {possible} Leave it out if you do not know it."
    if not number.unit and value != int(value):
        return f"{key}: {_shown(value)} is not a whole number. {possible}"
    return ""


#: The first is not above the second; otherwise the second is dropped, with this sentence.
_IN_ORDER = (
    ("work_p50_ms", "work_p99_ms", "Half of the runs take longer than 99 of 100 do"),
    ("work_p50_ms", "work_max_ms", "Half of the runs take longer than the longest run"),
    ("work_p99_ms", "work_max_ms", "One run in 100 takes longer than the longest run"),
    ("work_p50_ms", "hard_cap_ms", "Half of the runs would be cut off by the limit"),
    ("redis_p999_ms", "recover_ms", "A lock would have to end before Redis has answered once"),
    ("redis_p999_ms", "caller_deadline_ms", "The caller gives up before Redis has answered once"),
    ("final_write_p99_ms", "recover_ms", "A lock would have to end before the last write is done"),
)


def _senseless(good: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for first, second, sentence in _IN_ORDER:
        if first in good and second in good and good[first] > good[second]:
            found[second] = (f"{second}: {good[second]:g} is below {first}, which is "
                             f"{good[first]:g}. {sentence}: correct one of the two.")  # fmt: skip
    return list(found.items())


def _is_in(value: Any, possible: tuple[str, ...]) -> bool:
    return isinstance(value, str) and value in possible


def _not_possible(key: str, value: Any, possible: tuple[str, ...]) -> str:
    near = get_close_matches(value[:60], possible, 1) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{key}: {_shown(value)} is not possible.{hint} Possible: {', '.join(possible)}."


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number too long to be written
        return "a very long number"
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class Used:
    """The thirteen answers as the rules see them.

    Attributes:
        values: key -> value, never "unknown".
        unknown: the keys that were unknown or not answered.
        computed: classes that numbers gave, where they differ from what was ticked: key -> ticked.
        flags: what further facts follow ("saturated", "partial_version", ...).
    """

    values: Mapping[str, str]
    unknown: tuple[str, ...]
    computed: Mapping[str, str]
    flags: frozenset[str]


def normalise(good: Mapping[str, Any]) -> Used:
    """Unknown answers become the careful ones; numbers win over ticked classes."""
    said = {key: good.get(key, UNKNOWN) for key in ORDER}
    by_numbers = classes(good)
    values = {key: BY_KEY[key].unknown if value == UNKNOWN else value
              for key, value in (said | by_numbers).items() if key in BY_KEY}  # fmt: skip
    flags = {key for key in ("saturated",) if by_numbers.get(key)}
    if values["scope"] in ("one_db", "db_ext") and values["coord"] in ("none", "cons"):
        flags.add("database_denied")
        values["coord"] = {"none": "db", "cons": "both"}[values["coord"]]
    if good.get("version_by_all") == "no" and values["reject"] in ("version", "both"):
        flags.add("partial_version")
        values["reject"] = {"version": "none", "both": "dedup"}[values["reject"]]
    unknown = tuple(key for key in ORDER if said[key] == UNKNOWN and key not in by_numbers)
    computed = {key: said[key] for key, value in by_numbers.items()
                if key in BY_KEY and said[key] not in (UNKNOWN, value)}  # fmt: skip
    return Used(MappingProxyType(values), unknown, MappingProxyType(computed), frozenset(flags))


def number_from(text: str) -> Any:
    """A number as people type it ("12", "0,5"); the text itself if it is none, or not clearly one.

    "1.500" stays text: it is 1.5 for some readers and 1500 for others.
    """
    plain = text.strip()
    if not plain or re.fullmatch(r"[+-]?\d{1,3}([.,]\d{3})+", plain):
        return text
    try:
        value = float(plain.replace(",", ".") if plain.count(",") == 1 else plain)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


_MS = {"ms": 1, "s": 1_000, "sec": 1_000, "min": 60_000, "m": 60_000, "h": 3_600_000,
       "d": 86_400_000}  # fmt: skip


def duration_from(text: str, unit: str = "ms") -> Any:
    """Milliseconds from a time as people type it ("1.5 s", "2 min"); the text itself if it is none.

    Args:
        unit: what a number without a unit counts in.
    """
    found = re.fullmatch(r"\s*(.*?\d)\s*([a-zA-Z]+)\s*", text)
    number, named = (found[1], found[2].lower()) if found else (text, unit)
    value = number_from(number)
    if isinstance(value, str) or named not in _MS:
        return text
    ms = value * _MS[named]
    return int(ms) if abs(ms) < 1e15 and float(ms).is_integer() else ms
