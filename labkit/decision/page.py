"""The checklist without its widgets: what was typed, what follows, what no longer matters.

The widgets (`view`) and the terminal (`terminal`) are thin layers over this model.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from labkit.decision.answers import check, duration_from, number_from
from labkit.decision.conditions import condition
from labkit.decision.engine import Decision, decide
from labkit.decision.evidence import Progress, Shown, gather
from labkit.decision.parameters import wanted
from labkit.decision.questions import CONTROLS, DETAILS, NUMBER_BY_KEY, ORDER
from labkit.decision.records import TYPED, Record, record
from labkit.decision.relevance import DESIGN, MINOR, NOTHING, relevance, still_possible
from labkit.decision.saved import Saved, load
from labkit.decision.scenarios import FIRST, SCENARIOS
from labkit.decision.texts import texts

OWN = "own"  #: the sheet that begins empty
#: Designs in which somebody can be blocked after a crash.
HELD = "design in (D06, D09, D10, D11, D12, D13)"

__all__ = ["DESIGN", "HELD", "MINOR", "NOTHING", "OWN", "Page", "State"]


class State:
    """What follows from what was typed. Nothing is computed before it is asked for.

    Attributes:
        decision: from the answers that can be used.
        problems: key -> what is wrong with what was typed there.
    """

    def __init__(self, answers: Mapping[str, Any], lang: str) -> None:
        good, problems = check(answers)
        self.decision = decide(good, lang=lang)
        self.problems = {problem.key: problem.sentence for problem in problems}

    @cached_property
    def contradictions(self) -> dict[str, tuple[str, ...]]:
        """Key -> the sentences that belong beside this answer."""
        beside: dict[str, tuple[str, ...]] = {}
        for keys, sentence in self.decision.explanation.contradictions:
            for key in keys:
                beside[key] = (*beside.get(key, ()), sentence)
        return beside

    @cached_property
    def _matters(self) -> tuple[Mapping[str, bool], tuple[str, ...]]:
        return still_possible(self.decision)

    @property
    def possible(self) -> tuple[str, ...]:
        """The designs that open questions still leave possible."""
        return self._matters[1]

    @cached_property
    def relevance(self) -> dict[str, str]:
        """Key -> whether the answer can change the "design", only "details", or "nothing"."""
        return relevance(self.decision, self._matters[0])


class Page:
    """A checklist being filled in. Every scenario is a sheet that keeps what is changed on it.

    >>> page = Page()
    >>> page.set("shape", "unique")
    >>> page.state.decision.design
    'D01_UNIQUE_INSERT'
    """

    def __init__(self, scenario: str = FIRST, *, lang: str = "en") -> None:
        self.lang = lang
        self.t = texts(lang)
        self.sheets: dict[str, dict[str, Any]] = {OWN: {}}
        self.sheets |= {id: dict(answers) for id, answers in SCENARIOS.items()}
        self.names: dict[str, dict[str, str]] = {
            id: {"name": self.t(f"{id}.name")} if id != OWN else {} for id in self.sheets
        }
        self.scenario = scenario
        self._state: State | None = None
        self._shown: dict[tuple[str, str], tuple[Shown, ...]] = {}

    @property
    def answers(self) -> dict[str, Any]:
        """What was typed on the present sheet, usable or not."""
        return self.sheets[self.scenario]

    @property
    def typed(self) -> dict[str, str]:
        """The free texts of the present sheet: name, because, decided_by, ..."""
        return self.names[self.scenario]

    def show(self, scenario: str) -> None:
        """Turn to another sheet; this one keeps what is on it."""
        if scenario not in self.sheets:
            raise KeyError(
                f"There is no scenario {scenario!r}. There are: {', '.join(self.sheets)}."
            )
        self.scenario, self._state = scenario, None

    def set(self, key: str, value: Any) -> None:
        """Note an answer, a number (as typed) or a free text; "" takes it back."""
        if key in TYPED:
            self.typed[key] = value
            return
        if key in NUMBER_BY_KEY and isinstance(value, str):
            timed = NUMBER_BY_KEY[key].unit == "ms"
            value = duration_from(value) if timed else number_from(value)
        if value == "" or value is None:
            self.answers.pop(key, None)
        else:
            self.answers[key] = value
        self._state = None

    def set_control(self, name: str, state: str) -> None:
        """Note that a control "exists", is "planned", or neither ("")."""
        for key, of in (("controls", "exists"), ("controls_planned", "planned")):
            names = {*self.answers.get(key, ()), name} if state == of else {
                *self.answers.get(key, ())} - {name}  # fmt: skip
            self.set(key, [control for control in CONTROLS if control in names])

    def set_confidence(self, key: str, how: str) -> None:
        """Note how the answer to a question came about."""
        self.set("confidence", {**self.answers.get("confidence", {}), key: how})

    def control(self, name: str) -> str:
        """The state of a control: "exists", "planned" or ""."""
        if name in self.answers.get("controls", ()):
            return "exists"
        return "planned" if name in self.answers.get("controls_planned", ()) else ""

    @property
    def state(self) -> State:
        """What follows from the present sheet."""
        if self._state is None:
            self._state = State(self.answers, self.lang)
        return self._state

    def details(self) -> tuple[str, ...]:
        """The further questions that belong to the answers given."""
        relevance = self.state.relevance
        return tuple(d.key for d in DETAILS if self.answers.get(d.belongs_to) in d.after
                     and (relevance[d.belongs_to] != NOTHING or d.key in self.answers))  # fmt: skip

    def numbers(self) -> tuple[str, ...]:
        """The numbers that the settings of the present design are computed from."""
        facts = self.state.decision.facts
        names = wanted(facts) | ({"recover_ms"} if condition(HELD)(facts) else set())
        return tuple(key for key in NUMBER_BY_KEY if key in names)

    @property
    def next_question(self) -> str:
        """The first open question that could change the design, alone or with later ones."""
        state = self.state
        alone, blocking = state.decision.open_question, state.decision.next_question
        if alone or len(state.possible) == 1:
            return alone or blocking
        open_ = state.decision.used.unknown
        return next((k for k in ORDER if k in open_ and state.relevance[k] == DESIGN), blocking)

    @property
    def built(self) -> Decision:
        """The decision, or what was chosen instead."""
        chosen, decision = self.typed.get("chosen"), self.state.decision
        return decision.instead(chosen) if chosen else decision

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The evidence for the present design, if it was run."""
        return self._shown.get((self.built.design, self.built.mode), ())

    def run_evidence(self, progress: Progress | None = None) -> tuple[Shown, ...]:
        """Run the cases of the present design; records made from now on include them."""
        built = self.built
        self._shown[built.design, built.mode] = gather(built, progress)
        return self.shown

    def record(self, form: str = "adr", **more: Any) -> Record:
        """The record of the present sheet; what could not be used is kept in its JSON."""
        good, _ = check(self.answers)
        unused = {key: value for key, value in self.answers.items() if key not in good}
        more = {**self.typed, "evidence": self.shown, **more}
        return record(self.state.decision, form=form, unused=unused, **more)

    def save(self, path: str | Path, form: str = "adr", **more: Any) -> tuple[Path, Path]:
        """Write the record and its JSON; never over existing files."""
        return self.record(form, **more).save(path)

    def load(self, source: str) -> Saved:
        """Read a saved record onto the sheet "own"; an unreadable one changes nothing."""
        saved = load(source, lang=self.lang)
        if saved.decision is not None:
            self.sheets[OWN] = {**saved.answers, **saved.unused}
            self.names[OWN] = dict(saved.typed)
            self.show(OWN)
        return saved
