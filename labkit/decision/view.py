"""The checklist as widgets: a thin view over `page.Page`. It decides nothing itself.

Only HTML and controls with `.observe` and `.on_click`; each control carries its label.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w

from labkit.decision import panel
from labkit.decision.explain import names
from labkit.decision.page import NOTHING, OWN, Page
from labkit.decision.questions import (
    CHOICES,
    CONFIDENCE,
    CONTROLS,
    DETAILS,
    NUMBER_BY_KEY,
    NUMBERS,
    QUESTIONS,
    UNKNOWN,
)
from labkit.decision.records import FORMS
from labkit.sim.errors import LabkitError

_LABEL = {"description_width": "initial"}


def _labelled(kind: Callable[..., Any], label: str, width: str = "46em", **more: Any) -> Any:
    """A control whose label is tied to it."""
    layout = w.Layout(width="98%", max_width=width)
    return kind(description=label, style=_LABEL, layout=layout, **more)


def _scrolled() -> w.Layout:
    """Both halves stay in sight, and a redraw never moves what is below them."""
    return w.Layout(flex="1 1 25em", min_width="0", height="48em", overflow="auto",
                    display="block")  # fmt: skip


class Checklist(w.VBox):
    """The decision page.

    Args:
        page: the model; the first scenario unless given.
    """

    def __init__(self, page: Page | None = None) -> None:
        self.page = page or Page()
        self._filling = False
        self._further = {detail.key for detail in DETAILS}
        self.controls: dict[str, Any] = {}  # key, "confidence.KEY" or "control.NAME" -> its control
        self.notes = {q.key: w.HTML() for q in QUESTIONS}
        self.asks = {q.key: w.HTML() for q in QUESTIONS}
        self.heads = {number: w.HTML() for number in range(1, 7)}
        self.result, self.more, self.trap, self.message, self.shown = (w.HTML() for _ in range(5))
        left = w.VBox(self._questions(), layout=_scrolled())
        right = w.VBox([self.result, *self._evidence(), self.more], layout=_scrolled())
        both = w.HBox([left, right], layout=w.Layout(flex_flow="row wrap", grid_gap="16px"))
        super().__init__([*self._top(), both, *self._bottom()])
        self.refill()

    def __repr__(self) -> str:
        return f"Checklist: {self.page.state.decision.design}, rule {self.page.state.decision.rule}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": repr(self), "text/html": panel.twin(self.page)}

    # -- what there is ------------------------------------------------------------------------

    def _top(self) -> list[Any]:
        t = self.page.t
        options, now = panel.scenarios(self.page), self.page.scenario
        self.scenario = _labelled(w.Dropdown, t("ui.scenario"), options=options, value=now)
        self.scenario.observe(self._turn, "value")
        self.details = _labelled(w.Checkbox, t("ui.details"), indent=False)
        self.details.observe(lambda change: self.redraw(), "value")
        return [self.scenario, self.trap, self.details]

    def _questions(self) -> list[Any]:
        found: list[Any] = []
        for number, head in self.heads.items():
            found.append(head)
            for question in QUESTIONS:
                if question.heading == number:
                    found += self._question(question.key)
        return found + self._ticks()

    def _question(self, key: str) -> list[Any]:
        """A question: its text, its control, its details and numbers, and what to note."""
        t, page = self.page.t, self.page
        label, ways = t(f"{key}.label"), [(t(f"confidence.{how}"), how) for how in CONFIDENCE]
        how = self._choice(f"confidence.{key}", t("ui.confidence", label=label), ways,
                           partial(page.set_confidence, key))  # fmt: skip
        parts = [self.asks[key], self._choice(key, label), self.notes[key], how]
        parts += [self._choice(d.key, t(f"{d.key}.ask")) for d in DETAILS if d.belongs_to == key]
        return parts + [self._text(n.key, f"{t(n.key)} ({t(f'ui.unit_{n.unit}')})")
                        for n in NUMBERS if n.belongs_to == key]  # fmt: skip

    def _ticks(self) -> list[Any]:
        t, page = self.page.t, self.page
        states = [(t(f"state.{state or 'missing'}"), state) for state in ("", "planned", "exists")]
        self.build = w.HTML()
        return [self.build, *(self._choice(f"control.{name}", t(f"control.{name}"), states,
                                           partial(page.set_control, name))
                              for name in CONTROLS)]  # fmt: skip

    def _choice(
        self, key: str, label: str, options: Any = None, note: Callable[[Any], None] | None = None
    ) -> Any:
        """A drop-down list whose label is tied to it."""
        t = self.page.t
        if options is None:
            options = [(t("not_answered"), "")] + [
                (t(UNKNOWN if value == UNKNOWN else f"{key}.{value}"), value)
                for value in CHOICES[key]
            ]
        control = _labelled(w.Dropdown, label, options=options)
        return self._add(key, control, note or partial(self.page.set, key))

    def _add(self, key: str, control: Any, note: Callable[[Any], None]) -> Any:
        def changed(change: Any) -> None:
            if not self._filling:
                note(change["new"])
                self.redraw()

        control.observe(changed, "value")
        self.controls[key] = control
        return control

    def _evidence(self) -> list[Any]:
        self.evidence = self._button(self.page.t("evidence.run"), self._run_evidence)
        return [self.evidence, self.shown]

    def _bottom(self) -> list[Any]:
        t = self.page.t
        fields = [self._text(key, t(f"ui.{key}"))
                  for key in ("name", "decided_by", "date", "because", "link")]  # fmt: skip
        designs = [(t("ui.as_recommended"), "")] + [(text, id) for id, text in names().items()]
        fields.append(self._choice("chosen", t("ui.chosen"), designs))
        forms = [(t(f"ui.form_{form}"), form) for form in FORMS]
        self.form = _labelled(w.Dropdown, t("ui.form"), options=forms)
        self.file = _labelled(w.Text, t("ui.file"), value="decision")
        self.text = _labelled(w.Textarea, t("ui.export"), "98%", rows=8)
        self.source = _labelled(w.Textarea, t("ui.load_label"), "98%", rows=3)
        title = w.HTML(f"<h4>{t('ui.export')}</h4>")
        acts = (("ui.show_record", self.export), ("ui.save", self.save), ("ui.load", self.load))
        show, save, load = (self._button(t(key), act) for key, act in acts)
        return [title, *fields, self.form, self.file, show, self.text, save, self.source, load,
                self.message]  # fmt: skip

    def _text(self, key: str, label: str) -> Any:
        text = _labelled(w.Text, label, continuous_update=False)
        return self._add(key, text, partial(self.page.set, key))

    def _button(self, label: str, act: Callable[[], None]) -> Any:
        button = w.Button(description=label, layout=w.Layout(width="auto", align_self="flex-start"))
        button.on_click(lambda _: act())
        return button

    # -- what is done -------------------------------------------------------------------------

    def _turn(self, change: Any) -> None:
        if not self._filling:
            self.page.show(change["new"])
            self.refill()

    def refill(self) -> None:
        """Put the present sheet into the controls."""
        self._filling = True
        self.scenario.value = self.page.scenario
        for key, control in self.controls.items():
            control.value = self._value(key, control)
        self._filling = False
        if self.page.scenario == OWN and any(n.key in self.page.answers for n in NUMBERS):
            self.details.value = True
        self.message.value = self.text.value = ""
        self.redraw()

    def _value(self, key: str, control: Any) -> Any:
        page = self.page
        kind, _, name = key.partition(".")
        if kind == "control":
            return page.control(name)
        if kind == "confidence":
            return page.answers.get("confidence", {}).get(name, "assumed")
        value = page.typed.get(key, page.answers.get(key, ""))
        if isinstance(control, w.Text):
            return str(value)
        return value if value in [option for _, option in control.options] else ""

    def redraw(self) -> None:
        """Show what follows from the present answers."""
        page = self.page
        self.result.value = panel.result(page)  # first: it is what the reader looks at
        self.more.value, self.shown.value = panel.more(page), panel.evidence(page)
        for number, head in self.heads.items():
            head.value = panel.heading(page, number)
        for key, note in self.notes.items():
            note.value = panel.beside(page, key)
            self.asks[key].value = panel.question(page, key)
            self.controls[key].disabled = page.state.relevance[key] == NOTHING
        self.trap.value = panel.trap(page)
        self.build.value = panel.tasks(page)
        for key, control in self.controls.items():
            if key not in self.notes:
                control.layout.display = "" if self._visible(key) else "none"

    def _visible(self, key: str) -> bool:
        kind, _, name = key.partition(".")
        if kind == "control":
            return name in self.page.state.decision.controls
        if key in self._further:
            return bool(self.details.value) and key in self.page.details()
        if key in NUMBER_BY_KEY:
            return bool(self.details.value) and (
                key in self.page.numbers() or key in self.page.answers
            )
        if kind == "confidence":
            return bool(self.details.value) and self.page.state.relevance[name] != NOTHING
        return True

    def _run_evidence(self) -> None:
        def progress(line: str) -> None:
            self.shown.value = panel.lines([line])

        self.page.run_evidence(progress)
        self.shown.value = panel.evidence(self.page)

    def export(self) -> None:
        """Show the record as text, with links to download it."""
        record = self.page.record(self.form.value)
        self.text.value = record.markdown
        files = (
            ("md", "text/markdown", record.markdown),
            ("json", "application/json", record.json),
        )
        links = [f'<a download="decision.{end}" href="data:{kind};base64,'
                 f'{b64encode(text.encode()).decode()}">decision.{end}</a>'
                 for end, kind, text in files]  # fmt: skip
        self.message.value = " ".join(links)

    def save(self) -> None:
        """Write the record and its JSON beside the notebook."""
        try:
            files = self.page.save(self.file.value.strip() or "decision", self.form.value)
        except LabkitError as error:
            self.message.value = panel.lines([str(error)])
            return
        saved = self.page.t("ui.saved", names=", ".join(map(str, files)))
        self.message.value = panel.lines([saved])

    def load(self) -> None:
        """Read the pasted record; what cannot be used is named, and the text stays there."""
        saved = self.page.load(self.source.value)
        if saved.decision is not None:
            self.refill()
        done = [] if saved.decision is None else [self.page.t("ui.loaded")]
        self.message.value = panel.lines([*done, *saved.problems])


def checklist(scenario: str = "S03") -> Checklist:
    """The page, as widgets, with a worked scenario on it."""
    return Checklist(Page(scenario))
