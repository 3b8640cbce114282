"""The widgets: thin views, and the twins that a stored notebook keeps."""

import ast
from pathlib import Path

import pytest

import labkit
from labkit.show.predicting import predict, predictions

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def question():
    return predict("What is left of <100>?", [40, 70], answer=lambda: 40)


def test_a_prediction_is_stored_unanswered_with_its_choices(question):
    bundle = question._repr_mimebundle_()
    assert VIEW in bundle
    assert bundle["text/plain"] == "prediction: What is left of <100>? (40 | 70)"
    assert "What is left of &lt;100&gt;?" in bundle["text/html"]
    assert "<li>40</li><li>70</li>" in bundle["text/html"]


def test_the_plain_text_of_a_long_question_is_short():
    widget = predict("Why? " * 50, [1, 2], answer=1)
    assert len(widget._repr_mimebundle_()["text/plain"]) == 110


def test_a_reader_chooses_then_says_it_and_is_told(question):
    _, choices, button, verdict = question.children
    assert button.disabled and choices.value is None and verdict.value == ""
    choices.value = "70"
    assert not button.disabled
    button.click()
    assert "✗ You said 70; it is 40." in verdict.value
    assert button.disabled and choices.disabled
    assert "What is left of <100>? You said 70; it is 40." in repr(predictions())


def test_a_failing_run_is_shown_where_the_reader_looks():
    _, choices, button, verdict = predict("Well?", [1, 2], answer=lambda: 1 / 0).children
    choices.value = "1"
    button.click()
    assert "ZeroDivisionError" in verdict.value and not button.disabled


def test_no_widget_that_strict_nbval_fails_on():
    for module in Path(labkit.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            name = getattr(node, "attr", getattr(node, "id", ""))
            assert name not in {"Output", "interact", "interactive_output", "clear_output"}
