"""Conditions, texts and evidence."""

import re

import pytest

from labkit.decision import decide, evidence
from labkit.decision.conditions import EVERYTHING, condition
from labkit.decision.designs import COMPONENTS, DESIGN, DESIGNS, FAILURES, WHY_NOT
from labkit.decision.evidence import CASES, LIMITS, explored, gather
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
    dynamic = ("ui.unit_", "ui.form_", "evidence.")
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


@pytest.mark.parametrize("design", [key for key in CASES if key.partition(" ")[0] != "D14"])
def test_evidence_is_run_now_and_says_its_bounds(design):
    decision = next(d for d in map(decide, SCENARIOS.values())
                    if design in (d.card.short, f"{d.card.short} {d.mode}"))  # fmt: skip
    shown = decision.evidence
    assert [s.case for s in shown if s.about == "danger"] == list(CASES[design])
    assert [s.case for s in shown if s.about == "holds"] == list(CASES[design])
    assert all(s.as_expected for s in shown)
    assert all(s.sentence.origin.startswith("ran now: ") for s in shown)
    assert all("worker" in s.sentence.origin for s in shown)


def test_evidence_of_a_unique_key_is_not_about_charges(answers):
    shown = decide(answers("S08")).evidence
    assert "the lock is right; the second one does it again" in str(shown[1])
    assert not any("charges" in str(s) for s in shown)


def test_evidence_in_words(answers):
    danger, _, holds, _ = map(str, decide(answers("S03")).evidence)
    assert danger == ("The danger: is one left? then take it: both look before either takes "
                      "(look-then-sell). This happens in 4 of 6 schedules; the shortest is "
                      "A B B A")  # fmt: skip
    assert holds == ('That it holds: in none of the 2 schedules of "look-then-sell" was the rule '
                     "broken; a sale was refused, because nothing was left (in 2 of "
                     "them)")  # fmt: skip


@pytest.mark.parametrize("id", ["S01", "S16"])
def test_a_lock_alone_says_what_it_does_not_prevent(answers, id):
    *_, limit = decide(answers(id)).evidence
    assert (limit.about, limit.as_expected) == ("limit", True)
    assert str(limit).startswith("What it does not prevent: two workers inside at once: ")
    assert str(limit).endswith("the shortest is A t B")


def test_a_refusal_shows_only_dangers(answers):
    assert {s.about for s in decide(answers("X3")).evidence} == {"danger"}


def test_a_design_without_cases_says_so(answers):
    (shown,) = decide(answers("S05")).evidence
    assert str(shown) == "That it holds: not yet shown here"
    assert not shown.as_expected
    assert {key[:3] for key in CASES} | {key[:3] for key in LIMITS} <= set(DESIGN)


def test_progress_is_told_before_each_run(answers):
    lines = []
    gather(decide(answers("S02")), lines.append)
    assert lines == [f"Running {n} of 2: retry-charges-again ..." for n in (1, 2)]


def test_an_unexpected_verdict_is_said_loudly(answers, monkeypatch):
    wrong_way_round = {"danger": "holds", "holds": "danger"}
    monkeypatch.setattr(
        evidence, "explored", lambda about, name: explored(wrong_way_round[about], name)
    )
    for shown in gather(decide(answers("S02"))):
        assert not shown.as_expected
        assert "That was not expected: do not rely on this design" in str(shown)


@pytest.mark.parametrize("error", [LabkitError("no such case"), ImportError("no redis")])
def test_a_case_that_cannot_run(answers, monkeypatch, error):
    def broken(about, name):
        raise error

    monkeypatch.setattr(evidence, "explored", broken)
    shown = gather(decide(answers("S02")))[0]
    assert str(shown) == f"The danger: retry-charges-again could not be run: {error}"
    assert not shown.as_expected
