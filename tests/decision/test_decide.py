"""`decide`: the scenarios, and everything that can be said about a result."""

import random

import pytest

from labkit.decision import decide
from labkit.decision.designs import COMPONENTS, WHY_NOT
from labkit.decision.parameters import FORMULAS
from labkit.decision.questions import BY_KEY, CHOICES, CONTROLS, ORDER
from labkit.decision.rules import (
    CONTRADICTIONS,
    JUDGEMENT_CALLS,
    MODES,
    REQUIRED_CONTROLS,
    RULES,
    WARNINGS,
)
from labkit.decision.scenarios import SCENARIOS
from tests.decision.conftest import scenarios


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario["id"])
def test_the_scenarios_of_the_model(scenario):
    assert decide(scenario["answers"]).design == scenario["expect"]


def test_the_page_has_the_same_scenarios():
    assert {s["id"]: s["answers"] for s in scenarios()} == SCENARIOS


def test_with_nothing_answered_the_model_refuses():
    decision = decide({})
    assert (decision.design, decision.rule) == ("D14_REDESIGN", "C01")
    assert "W02_NO_LEASE_IS_ENOUGH" in decision.blockers
    assert decision.contradictions == {}


def many_decisions(count=2_500):
    chance = random.Random(4)
    for _ in range(count):
        answers = {key: chance.choice(values) for key, values in CHOICES.items()
                   if chance.random() < 0.9}  # fmt: skip
        if chance.random() < 0.2:
            answers |= {"arrivals_per_s": chance.choice((0.1, 5)), "work_p50_ms": 200}
        yield decide(answers)


@pytest.mark.slow
def test_everything_in_the_tables_is_used_by_some_answers():
    """An identifier that nothing uses has no place in a table."""
    warnings, modes, contradictions, reasons = set(), set(), set(), set()
    controls, components, formulas = set(), set(), set()
    for decision in many_decisions():
        warnings |= {(id, id in decision.blockers) for id in decision.warnings}
        modes.add((decision.design[:3], decision.mode))
        contradictions |= set(decision.contradictions)
        reasons |= {(id[:3], reason) for id, reason in decision.why_not.items()}
        controls |= set(decision.controls)
        components |= set(decision.components)
        formulas |= {(p.id, p.formula) for p in decision.parameters}
    assert warnings == {(warning.id, warning.level == "block") for warning in WARNINGS}
    assert {pair for pair in modes if pair[1]} == {(of, mode) for of, mode, _ in MODES}
    assert contradictions == {name for name, _, _ in CONTRADICTIONS}
    assert {(of, reason) for of, _, reason in WHY_NOT} <= reasons
    assert controls == set(CONTROLS) == set(REQUIRED_CONTROLS)
    assert components == set(COMPONENTS)
    assert formulas == {(formula.id, formula.text) for formula in FORMULAS}


def test_judgement_calls_name_rules_that_exist():
    ids = {rule.id for rule in RULES}
    assert all(ids >= set(rules) for rules in JUDGEMENT_CALLS.values())
    assert decide(SCENARIOS["S11"]).explanation.people_differ


def test_an_alternative_is_never_blocked_by_the_answers():
    """More than for the recommended design, that is; controls that do not exist yet apart."""
    for decision in many_decisions(1_000):
        for id in decision.alternatives:
            other = decision.instead(id)
            assert id != decision.design
            assert set(other.blockers) - {"W17_MISSING_CONTROL"} <= set(decision.blockers)
            assert "W08_NO_ARRIVAL_ORDER" not in set(other.warnings) - set(decision.warnings)


def test_an_alternative_that_is_called_cheaper_has_no_more_to_operate():
    said = set()
    for decision in many_decisions(1_000):
        costs = [decision.cost(id) for id in decision.alternatives]
        assert costs == sorted(costs)
        cheapest = decision.explanation.cheapest
        said.add(cheapest.partition(":")[0])
        if cheapest.startswith("Cheaper"):
            ours, theirs = decision.cost(), costs[0]
            assert theirs < ours and theirs[0] <= ours[0]
            assert decision.alternatives[0][:3] in cheapest
            assert cheapest.partition("Why not first: ")[2]
        elif costs:
            assert costs[0] > decision.cost()
    assert said == {"Cheaper, and it would hold too", "Nothing cheaper holds. The next one that "
                    "holds", "Nothing else holds with these answers.",
                    "No design holds with these answers."}  # fmt: skip


def test_the_warnings_of_the_escalated_scenario(answers):
    decision = decide(answers("X5"))
    assert decision.warnings[:2] == ("W01_FINAL_EFFECT", "W02_NO_LEASE_IS_ENOUGH")
    assert decision.contradictions == {"final_but_efficiency": ("goal", "effect")}
    assert decision.ways_out


@pytest.mark.parametrize(
    ("id", "change", "name"),
    [
        ("S06", {"effect": "final_must"}, "final_but_efficiency"),
        ("S03", {"coord": "none"}, "database_denied"),
        ("S02", {"coord": "cons"}, "database_denied"),
        ("S03", {"reject": "none"}, "database_refuses"),
        ("S03", {"fair": "fifo"}, "order_without_queue"),
        ("S01", {"fair": "fifo"}, "order_without_queue"),
        ("S03", {"dur": "long"}, "long_wait_in_request"),
        ("S10", {"version_by_all": "no"}, "partial_version"),
    ],
)
def test_answers_that_do_not_fit_together(answers, id, change, name):
    decision = decide(answers(id, **change))
    assert name in decision.contradictions
    assert set(change) & set(decision.contradictions[name])
    assert name not in decide(answers(id)).contradictions


def test_unknown_answers_contradict_nothing(answers):
    unknown = dict.fromkeys(("effect", "coord", "reject", "fair", "dur", "busy"), "unknown")
    assert decide(answers("S06", **unknown)).contradictions == {}


def test_an_edit_form_that_takes_long_contradicts_nothing(answers):
    decision = decide(answers("S03", shape="think", dur="long"))
    assert decision.design == "D04_OPTIMISTIC_VERSION"
    assert "W21_DOES_NOT_FIT_THE_REQUEST" not in decision.warnings


def test_a_version_that_only_some_check_counts_as_none(answers):
    assert decide(answers("S19", version_by_all="no")).used.values["reject"] == "none"
    both = decide(answers("S02", reject="both", version_by_all="no"))
    assert both.used.values["reject"] == "dedup"


def test_numbers_win_over_ticked_classes_and_the_difference_is_shown(answers):
    decision = decide(answers("S13", arrivals_per_s=2, work_p50_ms=200))
    assert decision.design == "D05_ROW_LOCK"  # 2/s x 0.2 s = 0.4
    assert decision.used.computed == {"cont": "low"}
    ((keys, sentence),) = decision.explanation.contradictions
    assert keys == ("cont",)
    assert sentence == 'You ticked "rarely", your numbers say "often": the numbers are used.'


@pytest.mark.parametrize(
    ("id", "mode"),
    [("S02", "KEY"), ("S21", "KEY"), ("X2", "LEASE_ROW"), ("S11", "SEQUENCER"), ("S12", "BROKER")],
)
def test_modes(answers, id, mode):
    assert decide(answers(id)).mode == mode


@pytest.mark.parametrize(
    ("change", "mode"),
    [
        ({"reject": "none", "lookup": "yes"}, "LOOKUP"),
        ({"reject": "none", "lookup": "no", "effect": "final_skip_ok"}, "AT_MOST_ONCE"),
        ({"reject": "none", "shape": "think", "effect": "undoable"}, "REASSERT"),
        ({"reject": "version"}, "VERSION"),
        ({"reject": "both"}, "KEY"),
    ],
)
def test_the_modes_of_intent_and_key(answers, change, mode):
    decision = decide(answers("S02", **change))
    assert (decision.design, decision.mode) == ("D08_IDEMPOTENCY_OUTBOX", mode)


def test_controls_that_exist_or_are_planned(answers):
    decision = decide(answers("S01", controls=["atomic_acquire"], controls_planned=["metrics"]))
    assert decision.controls["atomic_acquire"] == "exists"
    assert decision.controls["metrics"] == "planned"
    assert decision.controls["unique_token"] == "missing"
    assert decision.explanation.to_build == "To build: 1 of 6 exist"
    assert "W17_MISSING_CONTROL" in decision.blockers
    done = decide(answers("S01", controls=list(decision.controls)))
    assert (done.blockers, done.to_build) == ((), ())


def test_what_if_is_exactly_the_single_answers_that_change_the_design(answers):
    decision = decide(answers("S10"))
    found = {(change.key, change.value): change.design for change in decision.what_if}
    for key in ORDER:
        for value in BY_KEY[key].values:
            design = decide(answers("S10", **{key: value})).design
            assert found.get((key, value), decision.design) == design


def test_the_next_question_could_really_change_the_design(answers):
    open_ = answers("S01", redis="unknown", busy="unknown")
    decision = decide(open_)
    assert decision.next_question == "redis"
    assert {decide(open_ | {"redis": value}).design for value in BY_KEY["redis"].values} != {
        decision.design
    }
    assert decide(answers("S01")).next_question == ""


def test_costs_and_the_cheapest_alternative(answers):
    said = decide(answers("S10")).explanation
    assert said.cost == (
        "to operate: the receiver's own check, Redis",
        "round trips: 2 more than the work: take, give back",
        "expected wait: open until you give two numbers (arrivals_per_s and work_p50_ms)",
    )
    assert said.instead == (
        "Cheaper, and it would hold too: D04 Compare the version when writing. Why not first: Two "
        "would do the long work, and one of them for nothing."
    )
    stock = decide(answers("S03", arrivals_per_s=4, work_p50_ms=100)).explanation
    assert stock.cost[-1] == "expected wait: 67 ms"
    assert stock.instead.startswith("Nothing cheaper holds. The next one that holds: D04")


@pytest.mark.parametrize(
    ("id", "start"),
    [
        ("S05", "Cheaper, and it would hold too: D03 One short transaction"),
        ("S13", "Nothing cheaper holds. The next one that holds: D05 Lock the rows"),
        ("X1", "Cheaper, and it would hold too: D05 Lock the rows"),
        ("S08", "Nothing else holds"),
        ("X3", "No design holds"),
    ],
)
def test_the_alternative_of_known_scenarios(answers, id, start):
    assert decide(answers(id)).explanation.instead.startswith(start)


def test_where_only_work_is_wasted_nothing_at_all_is_an_alternative(answers):
    assert decide(answers("S01")).explanation.instead.endswith("building and running this.")
    assert decide(answers("S01")).explanation.cost[-1] == (
        "expected wait: none, a busy attempt goes away"
    )


def test_the_result_as_text(answers):
    text = str(decide(answers("S03")))
    assert text.startswith("Recommended: D02_ATOMIC_STATEMENT: One statement that changes only if")
    assert "To build: 0 of 4 exist" in text
    assert repr(decide(answers("S02"))) == "<Decision D08_IDEMPOTENCY_OUTBOX KEY, rule B10>"


def test_decide_changes_nothing_it_was_given(answers):
    given = answers("S03")
    before = dict(given)
    decide(given)
    assert given == before
