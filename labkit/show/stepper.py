"""Be the scheduler: write a schedule letter by letter, and see what every letter does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from labkit.draw.svg import escape
from labkit.draw.timeline import timeline
from labkit.show.models import Option, Stepper
from labkit.show.twin import Twin
from labkit.sim.nodes import Worker


def be_the_scheduler(
    worker: Worker | Mapping[str, Worker], schedule: str = "", **settings: Any
) -> Twin:
    """One button for each move, undo, and the schedule as text that can be copied and edited.

    Args:
        schedule: where to begin.
        settings: workers, setup, check as in `labkit.replay`; faults such as "?~!".
    """
    stepper = Stepper(worker, schedule, **settings)
    return Twin(
        _View(stepper).controls,
        plain=f"be the scheduler: {stepper.schedule or 'no move yet'}; {stepper.trace.about_to}",
        # No SVG here: a notebook that is not trusted yet would show its words without the picture.
        static=f"{_text(stepper)}\n<p>Run this cell to choose the moves yourself.</p>",
    )


class _View:
    """The controls, which always show what the model says."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._moves = [self._button(option) for option in stepper.options]
        self._text = widgets.Text(description="Schedule", continuous_update=False,
                                  placeholder="such as A B A B")  # fmt: skip
        self._undo = widgets.Button(description="Undo")
        self._reset = widgets.Button(description="Reset")
        self._report = widgets.HTML()
        self._text.observe(self._typed, "value")
        self._undo.on_click(lambda _: self._after(stepper.undo))
        self._reset.on_click(lambda _: self._after(stepper.reset))
        self._show()

    @property
    def controls(self) -> list[Any]:
        row = {"flex_flow": "row wrap"}
        return [
            widgets.Box(self._moves, layout=row),
            widgets.Box([self._text, self._undo, self._reset], layout=row),
            self._report,
        ]

    def _button(self, option: Option) -> Any:
        button = widgets.Button(layout={"width": "auto"})
        button.on_click(lambda _: self._after(lambda: self._stepper.play(option.move)))
        return button

    def _typed(self, change: Any) -> None:
        # The schedule itself, without a mistake before it, was written by `_show`, not typed.
        if change["new"] != self._stepper.schedule or self._stepper.error:
            self._after(lambda: self._stepper.write(change["new"]))

    def _after(self, change: Any) -> None:
        change()
        self._show()

    def _show(self) -> None:
        stepper = self._stepper
        for button, option in zip(self._moves, stepper.options, strict=True):
            button.description = f"{option.move}: {option.text}"
            button.disabled = not option.enabled
        self._undo.disabled = self._reset.disabled = not stepper.schedule
        if not stepper.error:  # a schedule with a mistake stays, so that it can be corrected
            self._text.value = stepper.schedule
        self._report.value = _report(stepper)


def _report(stepper: Stepper) -> str:
    """The timeline, and the trace as text; a mistake in the schedule comes first."""
    error = f"<p><b>Not possible.</b> {escape(stepper.error)}</p>" if stepper.error else ""
    return error + timeline(stepper.trace, theme="live").svg + _text(stepper)


def _text(stepper: Stepper) -> str:
    return f'<pre style="font-family:monospace">{escape(stepper.trace)}</pre>'
