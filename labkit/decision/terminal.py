"""The checklist in a terminal: the same questions, the same record, for `python -m labkit decide`.

Input, output and saving are injected, so that a test can hold the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from labkit.decision.answers import check, duration_from
from labkit.decision.page import DESIGN, NOTHING, OWN, Page
from labkit.decision.questions import BY_KEY, CHOICES, CONTROLS, NUMBER_BY_KEY, ORDER, UNKNOWN
from labkit.decision.saved import check_file
from labkit.decision.texts import wrapped
from labkit.sim.errors import LabkitError

Ask = Callable[[str], str]
Say = Callable[[str], None]

_COMMANDS = ("?", "b", "s", "q")
_HOW = {"m": "measured", "l": "looked_up"}
_DETAILS = tuple(key for key in CHOICES if key not in BY_KEY)
_FREE = ("name", "decided_by")
#: What routes first: before these are answered there is no result to speak of.
_FIRST = ORDER[:6]
#: What a time without a unit counts in; the others count in seconds.
_UNITS = {"redis_p999_ms": "ms", "final_write_p99_ms": "ms", "key_retention_ms": "h"}


class _Left(Exception):
    """The reader leaves a question: with "b", "s" or "q"."""


def run(
    ask: Ask = input,
    say: Say = print,
    *,
    page: Page | None = None,
    save: Callable[[Page, str], tuple[Path, Path]] | None = None,
    date: str = "",
) -> int:
    """Hold the conversation. Returns 0 when a record was saved, else 1.

    Args:
        ask: shows a prompt and returns a line, as `input` does.
        save: writes the record of a page to a path; `Page.save` unless given.
        date: for the record.
    """
    page = page or Page(OWN)
    page.set("date", date)
    dialogue = _Dialogue(page, ask, say)
    try:
        if dialogue.hold():
            return dialogue.save(save or Page.save)
    except (EOFError, KeyboardInterrupt):
        say("")
    say(page.t("term.stopped"))
    say(page.record().json)
    return 1


class _Dialogue:
    def __init__(self, page: Page, ask: Ask, say: Say) -> None:
        self.page, self.ask, self.say, self.t = page, ask, say, page.t
        self.settled = ""  # the design of which was said that nothing can change it any more
        self.told: set[str] = set()  # what was explained
        self.late: set[str] = set()  # questions asked in the second round

    def hold(self) -> bool:
        """Ask everything; True when there is something to save, False after "q"."""
        self.say(wrapped(self.t("term.hello")))
        # the second time: what did not matter at first, but does after later answers
        steps = ("name", *ORDER, *ORDER, *_DETAILS, *NUMBER_BY_KEY,
                 *(f"control.{c}" for c in CONTROLS), "decided_by")  # fmt: skip
        asked: list[int] = []
        at = 0
        while at < len(steps):
            if not self._applies(steps[at], late=at > len(ORDER)):
                at += 1
                continue
            try:
                self._step(steps[at])
            except _Left as left:
                if str(left) != "b":
                    return str(left) == "s"
                if not asked:
                    self.say(self.t("term.first"))
                at = asked.pop() if asked else at
                continue
            asked.append(at)
            at += 1
        return True

    def _applies(self, step: str, *, late: bool) -> bool:
        if step in BY_KEY:
            matters = self.page.state.relevance[step] != NOTHING
            if late:
                if step not in self.page.answers and matters:
                    self.late.add(step)
                return step in self.late
            if not matters:
                self.say(self.t("term.skip", name=self.t(f"{step}.label")))
            return matters
        if step in _DETAILS:
            return step in self.page.details()
        if step in NUMBER_BY_KEY:
            return step in self.page.numbers()
        return step in _FREE or step.partition(".")[2] in self.page.state.decision.controls

    def _step(self, step: str) -> None:
        if step in CHOICES:
            self._choose(step)
        elif step in NUMBER_BY_KEY:
            self._number(step)
        elif step in _FREE:
            typed = self._line(f"{self.t(f'ui.{step}')}: ", self.t("term.text_help"))
            self.page.set(step, typed or self.page.typed.get(step, ""))
        else:
            self._control(step.partition(".")[2])

    def _line(self, prompt: str, help: str) -> str:
        """A line that is no command; help is given on the way."""
        while (typed := self.ask(prompt).strip()) in _COMMANDS:
            if typed != "?":
                raise _Left(typed)
            self.say(help)
        return typed

    def _choose(self, key: str) -> None:
        """One question; asked again while its answer does not fit to the others."""
        seen: set[str] = set()
        while True:
            self._pick(key)
            if key not in BY_KEY:
                return
            self._standing()
            doubts = set(self.page.state.contradictions.get(key, ())) - seen
            if not doubts:
                return
            for sentence in sorted(doubts):
                self.say(self.t("term.again", sentence=sentence))
            seen |= doubts

    def _standing(self) -> None:
        """What is known so far: nothing yet, a design for now, or the design."""
        page, state = self.page, self.page.state
        design, count = state.decision.explanation.name, len(state.possible)
        if count == 1 and self.settled != design:
            self.say(wrapped(self.t("term.settled", design=design)))
        elif count == 1:
            pass  # it was said before
        elif any(key not in page.answers and state.relevance[key] == DESIGN for key in _FIRST):
            self.say(self.t("term.early", count=count))
        else:
            self.say(wrapped(self.t("term.now", design=design)))
        self.settled = design if count == 1 else ""

    def _put(self, key: str) -> str:
        """Say a question and its possible answers. Returns the help."""
        values, now = CHOICES[key], self.page.answers.get(key)
        asked = self.page.state.decision.explanation.ask(key)
        self.say("")
        self.say(f"{BY_KEY[key].id} {asked}" if key in BY_KEY else asked)
        if f"{key}.words" in self.t.table:
            self.say(wrapped(f"   {self.t(f'{key}.words')}"))
        for number, value in enumerate(values, start=1):
            text = self.t(UNKNOWN if value == UNKNOWN else f"{key}.{value}")
            self.say(wrapped(f"  {number}  {text}").replace("\n   ", "\n     "))
        if now in values:
            kept = self.t(UNKNOWN if now == UNKNOWN else f"{key}.{now}")
            self.say(self.t("term.kept", value=kept))
        lines = [self.t(f"{key}.help") if key in BY_KEY else asked]
        lines += [f"  {values.index(value) + 1}  {text}"
                  for value, text in self.t.choice_help(key, values).items()]  # fmt: skip
        return "\n".join(map(wrapped, lines))

    def _pick(self, key: str) -> None:
        values, now = CHOICES[key], self.page.answers.get(key)
        help = self._put(key)
        while True:
            typed = self._line("> ", help).replace(" ", "")
            if not typed:
                self.page.set(key, now if now in values else UNKNOWN)
                return
            digits, how = (typed[:-1], typed[-1]) if typed[-1] in _HOW else (typed, "")
            if digits.isdecimal() and 1 <= int(digits[:3]) <= len(values):
                self.page.set(key, values[int(digits[:3]) - 1])
                if how:
                    self.page.set_confidence(key, _HOW[how])
                return
            self.say(self.t("term.not_possible", typed=typed, last=len(values)))

    def _number(self, key: str) -> None:
        unit = NUMBER_BY_KEY[key].unit
        unit = _UNITS.get(key, "s") if unit == "ms" else unit
        name, shown = self.t(key), self.t(f"ui.unit_{unit}")
        if timed := NUMBER_BY_KEY[key].unit == "ms":
            self._once("term.times")
        help = self.t("term.number_help", name=name, unit=shown)
        while True:
            typed = self._line(f"{name} ({shown}): ", help)
            if not typed:
                return
            before = self.page.answers.get(key, "")
            self.page.set(key, duration_from(typed, unit) if timed else typed)
            _, problems = check(self.page.answers)
            if not any(key in problem.sentence for problem in problems):
                return
            self.page.set(key, before)
            self.say("\n".join(map(str, problems)))

    def _once(self, key: str) -> None:
        """Explain something before it is asked for the first time."""
        if key not in self.told:
            self.told.add(key)
            self.say(wrapped(self.t(key)))

    def _control(self, name: str) -> None:
        self._once("term.controls")
        prompt = self.t("term.control", text=self.t(f"control.{name}"))
        states = {"e": "exists", "p": "planned", "": self.page.control(name)}
        while (typed := self._line(prompt, self.t("term.control_ask"))) not in states:
            self.say(self.t("term.control_bad", typed=typed))
        self.page.set_control(name, states[typed])

    def save(self, save: Callable[[Page, str], tuple[Path, Path]]) -> int:
        """Show the result, ask where to save, and save."""
        self.say("")
        decision = self.page.state.decision
        self.say(str(decision))
        changes = self.t("ui.ways_out" if decision.ways_out else "ui.changes")
        self._list(changes, decision.explanation.changes or [self.t("ui.no_changes")])
        self._list(self.t("ui.with"), decision.explanation.companions)
        for number, (question, answer) in enumerate(self._answers(), start=1):
            self.say(f"{number}. {question} {answer}")
        evidence = self.page.run_evidence(self.say)
        for shown in evidence:
            self.say(wrapped(str(shown)))
        parts = (decision, *decision.explanation.companions, *evidence)
        self._list(self.t("ui.words"), self.t.words("\n".join(map(str, parts))))
        while True:
            path = self.ask(f"{self.t('term.file')} [decision]: ").strip() or "decision"
            try:
                files = save(self.page, path)
            except LabkitError as error:
                self.say(str(error))
                continue
            self.say(self.t("ui.saved", names=", ".join(map(str, files))))
            return 0

    def _list(self, title: str, entries: Iterable[object]) -> None:
        self.say(f"{title}:")
        for entry in entries:
            self.say(wrapped(f"* {entry}"))

    def _answers(self) -> list[tuple[str, str]]:
        return list(self.page.state.decision.explanation.answers.items())


def recheck(path: str, say: Say = print) -> int:
    """Evaluate a saved record again: `python -m labkit decide --check FILE`. The exit code."""
    code, sentences = check_file(path)
    for sentence in sentences:
        say(sentence)
    return code
