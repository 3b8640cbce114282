"""What the widgets know, without a browser."""

import pytest

from labkit.show.models import Prediction, Predictions, Stepper
from labkit.sim.errors import LabkitError
from labkit.sim.invariants import mutual_exclusion
from labkit.sim.schedule import Move
from tests.show.traces import account, constant_value, look_then_take

# -- predictions ----------------------------------------------------------------------------------


def test_nothing_is_run_before_the_reader_has_chosen():
    runs = []
    prediction = Prediction("How many?", [2, 4, 6], lambda: runs.append("run") or 4)
    assert prediction.verdict == "" and not runs
    prediction.choose("2")
    assert runs == ["run"] and prediction.missed
    assert prediction.verdict == "You said 2; it is 4."


def test_the_first_answer_counts():
    prediction = Prediction("How many?", [2, 4], 4)
    prediction.choose("4")
    prediction.choose("2")
    assert prediction.verdict == "You said 4, and it is 4." and not prediction.missed


def test_choices_may_have_texts_of_their_own():
    prediction = Prediction("How many?", {2: "two", 4: "four"}, 4)
    prediction.choose("two")
    assert prediction.verdict == "You said two; it is four."


def test_a_run_that_says_something_else_is_an_error_and_no_answer():
    prediction = Prediction("How many?", [2, 4], lambda: 5)
    with pytest.raises(LabkitError, match="The run says 5, which is none of the choices: 2, 4"):
        prediction.choose("2")
    assert prediction.verdict == ""


@pytest.mark.parametrize("choices", [[], [1], [1, "1"]])
def test_a_question_needs_different_choices(choices):
    with pytest.raises(LabkitError, match="two or more different choices"):
        Prediction("How many?", choices, 1)


def test_the_page_lists_what_was_missed():
    page = Predictions()
    assert repr(page) == "No prediction has been asked yet."
    first, second = Prediction("One?", [1, 2], 1), Prediction("Two?", [1, 2], 2)
    page.add(first)
    page.add(second)
    page.add(first)  # the cell is run again
    assert repr(page) == "You have not answered any of 2 predictions yet."
    first.choose("1")
    second.choose("1")
    assert repr(page) == (
        "Of 2 predictions: 1 right, 1 wrong, 0 not answered.\n- Two? You said 1; it is 2."
    )
    page.add(Prediction("Two?", [1, 2], 2))  # asked afresh
    assert (len(page.asked), len(page.answered), len(page.missed)) == (2, 1, 0)


# -- the stepper ----------------------------------------------------------------------------------


def stepper(schedule="", **settings):
    return Stepper(look_then_take, schedule, setup=account, check=mutual_exclusion, **settings)


def test_it_offers_every_move_with_its_command_or_the_reason_against_it():
    found = {str(o.move): (o.text, o.enabled) for o in stepper("A B").options}
    assert found["A"] == ("SET lock A", True)
    assert found["B"] == ("SET lock B", True)
    assert found["t"][1] is False and "no key expires" in found["t"][0]


def test_moves_are_added_and_taken_back():
    model = stepper("A B A")
    model.play(Move("", "B"))
    assert model.schedule == "A B A B" and model.trace.broken == "A and B are both inside"
    model.undo()
    assert model.schedule == "A B A" and model.trace.broken is None
    model.reset()
    model.undo()  # nothing left: nothing happens
    assert model.schedule == "" and model.trace.about_to.startswith("A is about to: GET lock")


def test_a_schedule_can_be_written_and_is_kept_up_to_a_mistake():
    model = stepper()
    model.write("A B t A")
    assert model.schedule == "A B"
    assert model.error.startswith('Move 3, "t", is not possible after A B')
    model.write("A B what")
    assert model.schedule == "A B" and '"w" is not a move' in model.error
    model.write("A B A")
    assert model.schedule == "A B A" and model.error == ""


def test_it_ends_when_all_have_ended():
    model = stepper("A A A A A B B B B B")
    assert model.trace.complete and model.trace.broken is None
    assert not any(option.enabled for option in model.options)
    assert model.options[0].text == "A has ended (returned)"


def test_time_and_faults_can_be_chosen():
    model = Stepper(constant_value, "A", faults="?~!")
    found = {str(o.move): o.text for o in model.options}
    assert found["t"] == "time passes to 101 ms"
    assert found["A?"] == "INCRBY n 1, reply lost"
    assert found["A~"] == "INCRBY n 1, request lost"
    assert found["A!"] == "crash before INCRBY n 1"
    model.play(Move("!", "A"))
    assert model.schedule == "A A!" and not model.options[0].enabled


def test_faults_that_are_not_offered_are_not_possible():
    model = stepper()
    model.write("A?")
    assert model.schedule == "" and "is not possible" in model.error
