"""What the widgets know, without a browser."""

import pytest

from labkit.show.models import Prediction, Predictions
from labkit.sim.errors import LabkitError


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
