"""`decide`: the scenarios, and everything that can be said about a result."""

import random
import re

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


# -- nothing that nobody said is stated as a fact --------------------------------------------------

COPY = {"goal": "correct", "scope": "db_ext", "shape": "guard", "effect": "undoable",
        "reject": "none"}  # fmt: skip


def warning(decision, id):
    return next(f.sentence.text for f in decision.explanation.findings if f.id.startswith(id))


def test_what_nobody_answered_is_no_fact_in_a_warning():
    said = warning(decide(COPY), "W21")
    assert said.startswith("If this is long work inside a request: it cannot also wait.")
    known = decide(COPY | {"dur": "long", "runtime": "request", "busy": "wait"})
    assert warning(known, "W21").startswith("Long work inside a request cannot also wait")
    assert "If you cannot ask the receiver" in warning(decide(COPY), "W20")
    assert "You cannot ask" in warning(decide(COPY | {"lookup": "no"}), "W20")
    assert warning(decide({}), "W02").startswith("Unless the receiver can refuse")


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"busy": "wait"}, "dur"),
        ({"busy": "wait", "dur": "long"}, "runtime"),
        ({"dur": "long", "runtime": "request"}, "busy"),
    ],
)
def test_the_next_question_is_one_that_a_blocker_depends_on(given, key):
    decision = decide(COPY | given)
    assert "W21_DOES_NOT_FIT_THE_REQUEST" in decision.blockers
    assert (decision.open_question, decision.next_question) == ("", key)


def test_an_answer_that_nobody_gave_is_not_shown_as_asked_for():
    assert decide(COPY).explanation.policy.startswith("You have not said whether the second one")
    assert decide(COPY | {"busy": "wait"}).explanation.policy.startswith("Who finds it taken waits")


def test_the_result_names_the_open_questions_that_count_as_the_careful_answer(answers):
    open_ = "Not answered, so the careful answer counts: Where it is, Kind of change"
    assert open_ in str(decide({"goal": "correct"})).replace("\n   ", " ")
    assert "Not answered" not in str(decide(answers("S03", redis="unknown", lookup="unknown")))


def test_where_no_lock_is_used_it_is_said():
    assert warning(decide(COPY), "W02").endswith("This design does not rely on a lock.")
    assert not warning(decide({"effect": "final_must"}), "W02").endswith("rely on a lock.")


def test_a_line_and_the_order_do_not_contradict():
    kept = {"fair": "fifo", "reject": "dedup", "busy": "queue_key"}
    assert warning(decide(COPY | kept), "W08").endswith(
        "Standing in line is not enough: begin the next one only when the one before it is done."
    )
    assert warning(decide(COPY | kept | {"busy": "wait"}), "W08").endswith("attempts came.")


# -- variants --------------------------------------------------------------------------------------


def test_another_variant_is_an_answer_that_changes_the_result():
    changes = decide(COPY).explanation.changes
    assert ("Refusing: an old write: it compares a version or a number -> D08 Write down what you "
            "intend, then send it with a version") in changes  # fmt: skip
    assert decide(COPY).mode == "REASSERT"
    for change in decide(COPY).reachable:
        other = decide(COPY | {change.key: change.value})
        assert (other.design, other.mode) == (change.design, change.mode) != (
            decide(COPY).design, "REASSERT")  # fmt: skip


def test_what_changes_the_design_comes_before_what_changes_its_variant(answers):
    same = [c.design == decide(answers("S02")).design for c in decide(answers("S02")).reachable]
    assert same == sorted(same) and True in same


@pytest.mark.parametrize("scope", ["db_ext", "ext_only"])
def test_an_answer_that_cannot_be_had_is_no_way_out(answers, scope):
    decision = decide(answers("X3", scope=scope, coord="none"))
    found = {change.value for change in decision.reachable if change.key == "scope"}
    assert not found & {"one_db", "one_store", "many"}
    assert "one_db" in {change.value for change in decision.what_if}
    assert not any("all of it in one database" in text for text in decision.explanation.changes)
    assert "all of it in one database" not in str(decision.explanation.why_not)


def test_a_scope_that_nobody_said_may_be_anything():
    assert "one_db" in {change.value for change in decide({"goal": "correct"}).reachable}


@pytest.mark.slow
def test_every_refusal_has_a_way_out_that_can_be_had():
    assert all(d.ways_out for d in many_decisions(1_000) if d.card.short == "D14")


OWN_WORDS = {
    "KEY": "",
    "VERSION": r"same key|operation's key|stored answer|T15",
    "LOOKUP": r"same key|stored answer|with a version|T15",
    "AT_MOST_ONCE": r"same key|stored answer|send again|T15",
    "REASSERT": r"same key|operation's key|stored answer|refused as old|an intent|T15",
}


@pytest.mark.parametrize("mode", OWN_WORDS)
def test_a_variant_shows_only_its_own_texts(mode):
    more = {
        "KEY": {"reject": "dedup"},
        "VERSION": {"reject": "version"},
        "LOOKUP": {"shape": "unique", "lookup": "yes"},
        "AT_MOST_ONCE": {"shape": "unique"},
        "REASSERT": {},
    }[mode]
    decision = decide(COPY | more)
    assert decision.mode == mode
    e = decision.explanation
    said = [e.ensures, e.not_ensured, *e.failures.values(), *e.companions, *e.tests, *e.metrics,
            *e.answers.values()]  # fmt: skip
    assert OWN_WORDS[mode] == "" or not re.search(OWN_WORDS[mode], "\n".join(map(str, said)))
    assert ("T15" in decision.tests) == (mode == "KEY")
    kept = {parameter.id for parameter in decision.parameters}
    assert ("own_key_retention_ms" in kept) == (mode not in ("VERSION", "REASSERT"))


def test_a_copy_outside_has_a_fitting_choice():
    rule = next(iter(decide(COPY).explanation.answers.values()))
    assert "a copy outside shows the newest" in rule
