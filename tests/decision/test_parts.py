"""Conditions, texts and evidence."""

import re

import pytest

from labkit.decision import decide
from labkit.decision.conditions import EVERYTHING, condition
from labkit.decision.designs import COMPONENTS, DESIGNS, FAILURES, WHY_NOT
from labkit.decision.evidence import CASES, gather
from labkit.decision.parameters import FORMULAS
from labkit.decision.questions import CHOICES, CONTROLS, NUMBERS, QUESTIONS, UNKNOWN
from labkit.decision.rules import CONTRADICTIONS, MODES, RULES, WARNINGS
from labkit.decision.scenarios import SCENARIOS
from labkit.decision.texts import Texts, texts
from labkit.sim.errors import LabkitError

# -- conditions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("a", 0b1100),
        ("not a", 0b0011),
        ("a and b", 0b1000),
        ("a or b", 0b1110),
        ("a or b and not a", 0b1110),
        ("(a or b) and not a", 0b0010),
        ("not (a or b)", 0b0001),
        ("k=x", 0b0110),
        ("k in (x, y)", 0b0111),
        ("otherwise", 0b1111),
        ("not not a", 0b1100),
    ],
)
def test_conditions_on_four_combinations(text, mask):
    facts = {EVERYTHING: 0b1111, "a": 0b1100, "b": 0b1010, "k=x": 0b0110, "k=y": 0b0001}
    assert condition(text)(facts) == mask


@pytest.mark.parametrize(
    "text", ["", "a and", "a b", "(a", "k in x", "k=", "a & b", "a)", "k in ("]
)
def test_what_is_no_condition(text):
    with pytest.raises(ValueError, match="condition|missing"):
        condition(text)


# -- texts -----------------------------------------------------------------------------------------

T = texts()


def test_every_identifier_has_its_text():
    wanted = [f"{q.key}.{part}" for q in QUESTIONS for part in ("ask", "help", "label")]
    wanted += [f"{key}.{v}" for key, values in CHOICES.items() for v in values if v != UNKNOWN]
    wanted += [f"{key}.ask" for key in CHOICES] + [number.key for number in NUMBERS]
    wanted += [f"control.{name}" for name in CONTROLS] + [rule.id for rule in RULES]
    wanted += [warning.id for warning in WARNINGS] + [f"level.{w.level}" for w in WARNINGS]
    wanted += [f"contradiction.{name}" for name, _, _ in CONTRADICTIONS]
    wanted += [f"why_not.{why}" for _, _, why in WHY_NOT] + ["why_not.earlier_rule"]
    wanted += [f"component.{name}" for name in COMPONENTS]
    wanted += [f"parameter.{formula.id}" for formula in FORMULAS]
    wanted += [id for design in DESIGNS for id in (*design.tests, *design.metrics)]
    wanted += [f"{id}.{part}" for id in SCENARIOS for part in ("name", "trap")]
    assert [key for key in wanted if key not in T.table] == []


FIELDS = ("name", "ensures", "not", "with", "trips", "atomic", "token", *FAILURES)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.short)
def test_every_design_says_everything_in_every_mode(design):
    modes = [mode for of, mode, _ in MODES if of == design.short] or [""]
    for mode in modes:
        for field in FIELDS:
            assert T.sentences(f"{design.short}.{mode}.{field}", f"{design.short}.{field}"), field
    assert f"{design.short}.name" in T.table


def test_the_words_are_plain():
    """No unexplained jargon, no formatting, no double spaces, no shouting."""
    for key, text in T.table.items():
        assert not re.search(r"fenc|mutex|quorum|linearizab|fail-?open|fail-?closed", text, re.I), (
            key
        )
        for wanted in ("->", "until < now", "`python -m labkit decide --check FILE`"):
            text = text.replace(wanted, "x")
        assert not re.search(r"[*`|<>\t]|  ", text), key
        assert "exactly once" not in text.lower(), key


def test_every_text_is_used_somewhere():
    """Texts of the interface are looked up by name in the code; the others by identifier."""
    from pathlib import Path

    import labkit.decision

    code = "".join(
        path.read_text(encoding="utf-8") for path in Path(labkit.decision.__path__[0]).glob("*.py")
    )
    dynamic = ("ui.unit_", "ui.form_")
    for key in T.table:
        kind = key.partition(".")[0]
        if kind in ("ui", "record", "saved", "term", "evidence") and not key.startswith(dynamic):
            named = f'"{key}"' in code or f"'{key}'" in code
            assert named or f"{kind}.{{" in code, key


def test_sentences_know_their_origin():
    assert T.sentence("W04_RESTART_FORGETS").origin == (
        "documented: Redis documentation, distributed locks"
    )
    assert T.sentence("A01").origin == "judgement"
    table = Texts({"x": "one\ntwo [[Redis 7.0 documentation]]"})
    assert [s.origin for s in table.sentences("x")] == [
        "judgement", "documented: Redis 7.0 documentation"]  # fmt: skip


def test_a_language_that_does_not_exist():
    with pytest.raises(LabkitError, match="There are no texts in 'fr'. There are: en."):
        decide({}, lang="fr").explanation  # noqa: B018


# -- evidence --------------------------------------------------------------------------------------


class Result:
    def __init__(self, verdict, summary):
        self.verdict, self.summary = verdict, summary


WANTED = {"D02_ATOMIC_STATEMENT": {"danger": ("read then write",), "holds": ("one statement",)}}
BAD = Result("violated", "violated in 4 of 6 schedules (2 workers, no pause, no faults)")
GOOD = Result("holds within bounds", "holds within bounds: no failing schedule among 2 (2 workers)")


def test_evidence_is_run_and_says_its_bounds(answers):
    lines = []
    registry = {"read then write": lambda: BAD, "one statement": lambda: GOOD}
    shown = gather(decide(answers("S03")), registry, cases=WANTED, progress=lines.append)
    assert [(s.about, s.as_expected) for s in shown] == [("danger", True), ("holds", True)]
    assert str(shown[0].sentence) == f"read then write: {BAD.summary}"
    assert shown[0].sentence.origin == "ran now: read then write"
    assert lines == ["Running 1 of 2: read then write ...", "Running 2 of 2: one statement ..."]


def test_a_design_without_cases_says_so(answers):
    shown = gather(decide(answers("S01")), {}, cases=WANTED)
    assert [str(s.sentence) for s in shown] == ["not yet shown here"] * 2
    assert set(CASES) == {design.id for design in DESIGNS}


def test_a_case_that_is_named_but_missing(answers):
    shown = gather(decide(answers("S03")), {"one statement": lambda: GOOD}, cases=WANTED)
    assert str(shown[0].sentence) == "not yet shown here: there is no case read then write"
    assert not shown[0].as_expected


def test_an_unexpected_verdict_is_said_loudly(answers):
    registry = {"read then write": lambda: BAD, "one statement": lambda: BAD}
    shown = gather(decide(answers("S03")), registry, cases=WANTED)
    assert not shown[1].as_expected
    assert "That was not expected: do not rely on this design" in str(shown[1].sentence)


def test_a_case_that_cannot_run(answers):
    def broken():
        raise LabkitError("there is no server")

    registry = {"read then write": broken, "one statement": lambda: GOOD}
    shown = gather(decide(answers("S03")), registry, cases=WANTED)
    assert str(shown[0].sentence) == "read then write could not be run: there is no server"
    assert not shown[0].as_expected


@pytest.mark.slow
def test_a_real_exploration_fits_the_seam(answers):
    from labkit.sim.exploration import explore
    from labkit.sim.invariants import mutual_exclusion

    def look_then_take(me):
        if me.redis.get("lock") is None:
            me.redis.set("lock", me.name)
            with me.critical_section():
                me.redis.get("x")

    registry = {
        "read then write": lambda: explore(look_then_take, check=mutual_exclusion, pauses=0)
    }
    shown = gather(decide(answers("S03")), registry, cases=WANTED)
    assert shown[0].as_expected
    assert "schedules (2 workers, no pauses, no faults)" in str(shown[0].sentence)
