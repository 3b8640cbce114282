"""Saved records: read again, whatever they look like by now, and compare with today's rules.

A record that cannot be used wholly is used as far as it goes: every answer that was left out is
named with what is possible, and stays in `unused`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.decision.answers import check
from labkit.decision.engine import Decision, decide
from labkit.decision.questions import ORDER
from labkit.decision.records import FORMAT, TYPED
from labkit.decision.rules import MODEL_VERSION
from labkit.decision.texts import Texts, texts

UNCHANGED, CHANGED, UNREADABLE = 0, 1, 2


@dataclass(slots=True)
class Saved:
    """A saved record, as far as it could be read.

    Attributes:
        source: the text as it was.
        answers: the answers that can be used.
        unused: those that cannot, as they were typed.
        typed: the free texts: name, because, decided_by, ...
        problems: what is wrong, one sentence each.
        result: what the record says the result was.
        decision: today's decision; None if the record could not be read at all.
    """

    source: str
    answers: dict[str, Any] = field(default_factory=dict)
    unused: dict[str, Any] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    result: Mapping[str, Any] = field(default_factory=dict)
    decision: Decision | None = None


def load(source: str, *, lang: str = "en") -> Saved:
    """Read a saved record. Never raises: what is wrong is in `problems`."""
    saved, t = Saved(source), texts(lang)
    data = _data(source, saved, t)
    if data is None:
        return saved
    answers = _migrated(dict(data["answers"]), data["model"], saved, t)
    unused = data.get("unused")
    if isinstance(unused, Mapping):
        answers = {**unused, **answers}
    saved.answers, problems = check(answers)
    saved.unused = {key: value for key, value in answers.items() if key not in saved.answers}
    saved.problems += [t("saved.dropped", sentence=problem) for problem in problems]
    for key in TYPED:
        if isinstance(data.get(key, ""), str):
            saved.typed |= {key: data[key]} if data.get(key) else {}
        else:
            saved.problems.append(t("saved.text", key=key))
            saved.unused[key] = data[key]
    saved.result = data["result"] if isinstance(data.get("result"), Mapping) else {}
    saved.decision = decide(saved.answers, lang=lang)
    return saved


def _data(source: str, saved: Saved, t: Texts) -> dict[str, Any] | None:
    """The record's content, or None with a problem that says why not."""
    try:
        data = json.loads(source)
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        reason = getattr(error, "msg", type(error).__name__)
        saved.problems.append(t("saved.not_json", line=line, column=column, reason=reason))
        return None
    found = data.get("format") if isinstance(data, dict) else type(data).__name__
    if not isinstance(data, dict) or found != FORMAT:
        saved.problems.append(t("saved.foreign", found=repr(found)[:60], format=FORMAT))
        return None
    version = data.get("model")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        saved.problems.append(t("saved.version", found=repr(version)[:60], model=MODEL_VERSION))
        return None
    if version > MODEL_VERSION:
        saved.problems.append(t("saved.newer", found=version, model=MODEL_VERSION))
        return None
    if not isinstance(data.get("answers"), Mapping):
        saved.problems.append(t("saved.no_answers"))
        return None
    return data


def _migrated(answers: dict[str, Any], version: int, saved: Saved, t: Texts) -> dict[str, Any]:
    """Answers of an older model as the present one writes them."""
    if version == MODEL_VERSION:
        return answers
    found = {}
    for key, value in answers.items():  # model 1 counted in seconds
        if key.endswith("_s") and key != "arrivals_per_s":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            found[f"{key[:-2]}_ms"] = value * 1_000 if number else value
        else:
            found[key] = value
    what = t("saved.migrated")
    saved.problems.append(t("saved.older", found=version, model=MODEL_VERSION, what=what))
    return found


def changes(saved: Saved, *, lang: str = "en") -> tuple[int, list[str]]:
    """What is different today: an exit code (0 same, 1 changed, 2 unreadable) and sentences."""
    if saved.decision is None:
        return UNREADABLE, saved.problems
    t, now, was = texts(lang), saved.decision, saved.result
    if not isinstance(was.get("design"), str):
        return CHANGED, [*saved.problems, t("saved.no_result")]
    found = []
    if was["design"] != now.design:
        found.append(t("saved.design", old=_short(was["design"]), new=now.design, rule=now.rule))
    elif was.get("mode", now.mode) != now.mode:
        name = now.explanation.name
        found.append(t("saved.mode", old=_short(was["mode"]), new=now.mode, name=name))
    blockers, before = [*now.blockers, *now.to_build], _strings(was, "blockers", "to_build")
    if sorted(blockers) != sorted(before):
        old, new = (", ".join(names) or t("saved.nothing") for names in (before, blockers))
        found.append(t("saved.blockers", old=_short(old), new=new))
    if not found:
        same = t("saved.same", design=now.design, rule=now.rule)
        return UNCHANGED, [*saved.problems, same]
    return CHANGED, [*saved.problems, *found, *_reasons(now, was, t)]


def _reasons(now: Decision, was: Mapping[str, Any], t: Texts) -> list[str]:
    """Which answers are different, or that the rules are."""
    used = was.get("answers_used")
    before = used if isinstance(used, Mapping) else {}
    found = [t("saved.answer", key=key, old=_short(before[key]), new=now.used.values[key])
             for key in ORDER if key in before and before[key] != now.used.values[key]]  # fmt: skip
    if not found and was.get("rule") != now.rule:
        found.append(t("saved.rule", old=_short(was.get("rule")), new=now.rule))
    return found


def _strings(was: Mapping[str, Any], *keys: str) -> list[str]:
    lists = [was[key] for key in keys if isinstance(was.get(key), list)]
    return [str(entry) for entries in lists for entry in entries]


def _short(value: object) -> str:
    return str(value)[:300]


def check_file(path: str | Path) -> tuple[int, list[str]]:
    """Evaluate a saved record again: for `python -m labkit decide --check FILE`."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return UNREADABLE, [f"{path} cannot be read: {reason}. Give the saved JSON file."]
    return changes(load(source))
