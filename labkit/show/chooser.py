"""The TTL chooser as widgets: a thin view over `labkit.ttl.chooser`. It computes nothing itself."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from labkit.draw.svg import escape
from labkit.show.twin import Twin
from labkit.ttl.chooser import FIELDS, HARM, UNITS, Chooser

_LABEL = {"description_width": "22em"}
_WIDE = {"width": "100%", "max_width": "46em"}
_PRE = "font-family:monospace;white-space:pre-wrap;word-break:normal"


class TtlChooser(Twin):
    """Durations and a few numbers in, a TTL with its reasons out."""

    def __init__(self, **given: Any) -> None:
        self.chooser = Chooser(**given)
        self.controls = {name: self._control(name) for name in FIELDS}
        self._upload = widgets.FileUpload(accept=".csv,.txt", description="or load a CSV file",
                                          layout={"width": "15em"})  # fmt: skip
        self._upload.observe(self._loaded, "value")
        self._shown = widgets.HTML(_report(self.chooser))
        text, *others = self.controls.values()
        choice = self.chooser.choice
        super().__init__(
            [text, self._upload, *others, self._shown],
            plain=f"TTL chooser: {choice.recommendation if choice else self.chooser.error}",
            static=f"{_report(self.chooser)}\n<p>Run this cell to try your own durations.</p>",
        )

    def _control(self, name: str) -> Any:
        value, kind = self.chooser.fields[name], widgets.Text
        more: dict[str, Any] = {"continuous_update": False}
        if name in ("unit", "harm"):
            kind, more = widgets.Dropdown, {"options": UNITS if name == "unit" else HARM}
        elif name == "text":
            kind, more = widgets.Textarea, {**more, "rows": 5, "placeholder": "empty: the example"}
        control = kind(value=value, description=FIELDS[name], style=_LABEL, layout=_WIDE, **more)
        control.observe(lambda change: self._after(self.chooser.set, name, change["new"]), "value")
        return control

    def _loaded(self, change: Any) -> None:
        for file in change["new"][-1:]:
            self._after(self.chooser.upload, file["name"], bytes(file["content"]))

    def _after(self, act: Any, *what: Any) -> None:
        act(*what)
        self._shown.value = _report(self.chooser)


def ttl_chooser(**given: Any) -> TtlChooser:
    """The chooser, filled with `text`, `runs_per_day`, `recover_ms` and so on; or the example."""
    return TtlChooser(**given)


def _report(chooser: Chooser) -> str:
    """The choice as text; what cannot be used comes first, and the last good choice stays."""
    choice, error = chooser.choice, chooser.error
    said = f"<p><b>Not possible.</b> {escape(error)}</p>" if error else ""
    if error and choice:
        said += "<p>Below is what followed from the last values that could be used.</p>"
    if choice:
        said += f"<p><b>{escape(choice.recommendation)}</b></p>"
    text = f"{choice.histogram}\n\n{choice}" if choice else ""
    return f'{said}<pre style="{_PRE}">{escape(text)}</pre>'
