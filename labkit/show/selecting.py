"""A choice of workers: pick one, have all its schedules tried, and see what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from labkit.draw.svg import escape
from labkit.draw.timeline import timeline
from labkit.show.tables import show_source
from labkit.show.twin import Twin
from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.nodes import Worker
from labkit.sim.report import Exploration

Choice = Callable[..., Any]


class Selection:
    """Workers by their labels; each is explored once, when it is first asked for.

    Args:
        make: makes a worker of a choice, where the choices are only the part that differs.
        bounds: check, setup, workers, pauses, faults as for `labkit.explore`.
    """

    def __init__(
        self, choices: Mapping[str, Choice], *, make: Callable[[Choice], Worker], **bounds: Any
    ) -> None:
        if not choices:
            raise LabkitError("select: there is nothing to choose from. Give label: worker.")
        self.choices = dict(choices)
        self._make = make
        self._bounds = bounds
        self._found: dict[str, Exploration] = {}

    def explore(self, label: str) -> Exploration:
        """All schedules of the worker with this label."""
        if label not in self._found:
            self._found[label] = explore(self._make(self.choices[label]), **self._bounds)
        return self._found[label]


def select(
    question: str,
    choices: Mapping[str, Choice],
    *,
    make: Callable[[Choice], Worker] = lambda worker: worker,
    **bounds: Any,
) -> Twin:
    """A question, a list to choose from, and a button that tries every schedule of the choice.

    Args:
        choices: label -> worker, or the function that `make` makes a worker of. Its code is shown.
        bounds: check, setup, workers, pauses, faults as for `labkit.explore`.
    """
    selection = Selection(choices, make=make, **bounds)
    chosen = widgets.Dropdown(options=list(selection.choices), description="Choose")
    button = widgets.Button(description="Try every schedule", layout={"width": "auto"})
    shown = widgets.HTML(_source(selection, chosen.value))

    def choose(_: Any) -> None:
        shown.value = _source(selection, chosen.value)

    def run(_: Any) -> None:
        shown.value = _source(selection, chosen.value) + _result(selection, chosen.value)

    chosen.observe(choose, "value")
    button.on_click(run)
    listed = "".join(f"<li>{escape(label)}</li>" for label in selection.choices)
    return Twin(
        [widgets.HTML(f"<b>{escape(question)}</b>"), widgets.HBox([chosen, button]), shown],
        plain=f"select: {question} ({' | '.join(selection.choices)})",
        static=f"<p><b>{escape(question)}</b></p><ul>{listed}</ul>"
        "<p>Run this cell to choose one and to try every schedule of it.</p>",
    )


def _source(selection: Selection, label: str) -> str:
    return _pre(show_source(selection.choices[label]).code)


def _result(selection: Selection, label: str) -> str:
    try:
        found = selection.explore(label)
    except LabkitError as error:
        return f"<p><b>Not possible.</b> {escape(error)}</p>"
    if found.counterexample is None:
        return _pre(found)
    return timeline(found.counterexample.trace, theme="live").svg + _pre(found)


def _pre(text: object) -> str:
    return f'<pre style="font-family:monospace">{escape(text)}</pre>'
