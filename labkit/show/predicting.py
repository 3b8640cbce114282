"""A question before a run: the reader says what will come out, then sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ipywidgets as widgets

from labkit.draw.svg import escape
from labkit.show.models import PREDICTIONS, Prediction, Predictions
from labkit.show.twin import Twin


def predict(question: str, choices: Iterable[Any], *, answer: Any) -> Twin:
    """Ask for a prediction. Nothing is run before the reader has chosen.

    Args:
        choices: values, or a mapping from values to the text that is shown for them.
        answer: the right value, or better a function that finds it by a run.
    """
    prediction = Prediction(question, choices, answer)
    PREDICTIONS.add(prediction)
    return _view(prediction)


def predictions() -> Predictions:
    """The questions of this page: how many were answered, and which were missed."""
    return PREDICTIONS


def _view(prediction: Prediction) -> Twin:
    head = f"<b>Predict.</b> {escape(prediction.question)}"
    choices = widgets.RadioButtons(
        options=list(prediction.choices), value=None, layout={"width": "auto"}
    )
    button = widgets.Button(
        description="That is my answer", tooltip="The first answer counts", disabled=True
    )
    verdict = widgets.HTML()

    def choose(_: Any) -> None:
        button.disabled = prediction.chosen is not None or choices.value is None

    def say(_: Any) -> None:
        try:
            prediction.choose(choices.value)
        except Exception as error:  # a callback's exception would be seen by nobody
            verdict.value = f"<p>{escape(f'{type(error).__name__}: {error}')}</p>"
            return
        button.disabled = choices.disabled = True
        verdict.value = _verdict(prediction)

    choices.observe(choose, "value")
    button.on_click(say)
    texts = "".join(f"<li>{escape(text)}</li>" for text in prediction.choices)
    return Twin(
        [widgets.HTML(f"<p>{head}</p>"), choices, button, verdict],
        plain=f"prediction: {prediction.question} ({' | '.join(prediction.choices)})",
        static=f"<p>{head}</p>\n<ul>{texts}</ul>\n<p>Run this cell to answer.</p>",
    )


def _verdict(prediction: Prediction) -> str:
    mark = "✗" if prediction.missed else "✓"
    return (f'<p style="border-left:4px solid currentColor;padding-left:.6em">'
            f"<b>{mark} {escape(prediction.verdict)}</b></p>")  # fmt: skip
