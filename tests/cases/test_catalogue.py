"""Every case does what it says: wrong in so many schedules, right in all, each mutant noticed."""

import subprocess
import sys

import pytest

from labkit import LabkitError, cases, mutual_exclusion, replay
from labkit.cases.case import Case
from labkit.cases.rules import second_comer
from labkit.cases.workers import by_hand, right

CASES = {case.name: case for case in cases.every()}


@pytest.mark.parametrize("name", CASES)
def test_the_wrong_worker_breaks_the_rule_in_exactly_so_many_schedules(name):
    found = CASES[name].explore(CASES[name].wrong)
    assert (found.violating, found.schedules) == CASES[name].broken
    assert str(found.counterexample.schedule) == CASES[name].shortest


@pytest.mark.parametrize("name", CASES)
def test_the_right_worker_holds_and_was_really_in_danger(name):
    found = CASES[name].explore(CASES[name].right)
    assert found.verdict == "holds within bounds"
    assert (*found.dangers.values(), found.schedules) == CASES[name].met
    assert CASES[name].met[0] > 0
    assert found.worked > 0


@pytest.mark.parametrize(
    ("name", "mutant"), [(name, mutant) for name, case in CASES.items() for mutant in case.mutants]
)
def test_every_mutant_is_caught_by_its_case(name, mutant):
    assert CASES[name].explore(CASES[name].mutants[mutant]).verdict == "violated"


def test_every_class_has_cases_and_every_case_has_mutants():
    assert {case.fault for case in CASES.values()} == set(cases.FAULTS)
    assert len(CASES) == sum(len(cases.of(fault)) for fault in cases.FAULTS)
    assert all(case.mutants for case in CASES.values())


def test_the_right_worker_by_hand_is_the_one_with_the_lock_of_the_ladder():
    """So a mutant by hand differs from the right worker in what it leaves out only."""
    for name in ("late-delete", "take-then-expire"):
        case = CASES[name]
        one, other = case.explore(right), case.explore(by_hand())
        assert (one.schedules, one.dangers) == (other.schedules, other.dangers)


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("look-then-take", "A B B A"),
        ("look-then-take", "A B A B"),
        ("take-then-expire", "A A!"),
        ("late-delete", "A A t B A"),
        ("check-then-delete", "A A A t B A"),
        ("lost-reply-repeated", "A? A"),
    ],
)
def test_the_known_schedules_break_the_rule(name, schedule):
    case = CASES[name]
    trace = replay(case.wrong, schedule, setup=case.setup, check=case.check, partial=True)
    assert trace.broken
    assert len(trace.schedule) == len(case.shortest.split())


def test_a_check_that_lets_the_lock_change_hands_is_one_letter_longer_than_none():
    lengths = [len(CASES[name].shortest.split()) for name in ("late-delete", "check-then-delete")]
    assert lengths == [5, 6]


def test_a_case_takes_about_ten_lines_and_marks_any_worker():
    case = Case(
        "no-nx", "F01", "SET without NX", wrong=by_hand(nx=False), right=right,
        check=mutual_exclusion, danger=second_comer, shortest="A B", broken=(12, 20), met=(4, 6),
        mutants={}, pauses=0,
    )  # fmt: skip
    assert case.keeps(right)
    assert not case.keeps(by_hand(nx=False))
    assert not case.keeps(lambda me: me.redis.get("lock"))  # keeps the rule, but was in no danger
    assert str(case) == "no-nx (F01): SET without NX"


def test_what_holds_says_in_how_many_schedules_the_danger_was_met():
    found = str(CASES["late-delete"].explore(right))
    assert "no failing schedule among 44" in found
    assert "a late owner's release was refused in 38 of them" in found


def test_the_error_that_is_hidden_is_named():
    case = CASES["no-answer-hides-the-error"]
    found = case.explore(case.mutants["raise_on_release_error=False alone"]).counterexample
    assert found.reason == "A's caller sees TimeoutError, which hides BodyFailed('no such account')"


def test_classes_and_cases_are_looked_up_by_name():
    assert cases.named("late-delete") is CASES["late-delete"]
    assert [case.name for case in cases.of("F03")] == ["constant-value", "process-id-as-token"]


def test_an_unknown_class_or_case_is_answered_with_those_that_exist():
    with pytest.raises(LabkitError, match=r'no cases for "F99".*F01 \(acquiring is not one step\)'):
        cases.of("F99")
    with pytest.raises(LabkitError, match='no case "late-del".*late-delete'):
        cases.named("late-del")
    with pytest.raises(AttributeError, match="labkit.cases has no 'all'"):
        cases.all  # noqa: B018


def test_a_class_is_loaded_when_it_is_asked_for():
    code = """if True:
        import sys
        from labkit import cases
        assert not [name for name in sys.modules if name.startswith("labkit.cases.")]
        cases.of("F04")
        assert "labkit.cases.releasing" in sys.modules
        assert "labkit.cases.renewing" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
