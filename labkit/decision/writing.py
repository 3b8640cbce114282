"""How a record is written: the full one (MADR), and the short one for a pull request.

Everything that a user typed goes through `escape`.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping

from labkit.decision.engine import Decision
from labkit.decision.evidence import Shown, names_of
from labkit.decision.explain import Explanation
from labkit.decision.questions import BY_KEY, CHOICES, NUMBER_BY_KEY, QUESTIONS, UNKNOWN
from labkit.decision.relevance import NOTHING, relevance
from labkit.decision.texts import Sentence


def escape(text: str) -> str:
    """Typed text for Markdown: one line, and nothing in it is markup, HTML or a mention."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    special = re.escape(string.punctuation.translate({ord(c): None for c in "&;,.'\"?%/=-+:"}))
    text = re.sub(f"([{special}])", r"\\\1", text)
    text = re.sub(r"^([-+=]|\d+[.)])", r"\\\1", text)
    return re.sub(
        r"(?i)(://|www|@|#)(?=.)", lambda found: f"{found[0][0]}&#8203;{found[0][1:]}", text
    )


def one_line(text: str) -> str:
    """Typed text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class Writer:
    """Writes one record. `t` are the texts, `e` the decision in words."""

    def __init__(
        self, decision: Decision, typed: Mapping[str, str], shown: tuple[Shown, ...]
    ) -> None:
        self.d, self.typed, self.shown = decision, typed, shown
        self.e: Explanation = decision.explanation
        self.t = self.e.t
        self.relevance = relevance(decision)
        #: what will be built: the recommendation, or what was chosen instead
        self.built = self.other or self.e

    def typed_or_open(self, key: str) -> str:
        return escape(self.typed[key]) or self.t("record.fill_in")

    @property
    def other(self) -> Explanation | None:
        """The design that was chosen against the recommendation, in words."""
        chosen = self.typed["chosen"]
        if not chosen or chosen == self.d.design:
            return None
        return self.d.instead(chosen).explanation

    @property
    def title(self) -> str:
        name = escape(self.typed["name"]) or self.t("record.unnamed")
        if self.built.decision.card.short == "D14":
            return self.t("record.title_refused", name=name)
        return self.t("record.title", name=name, design=lower_first(self.built.name))

    def outcome(self) -> list[str]:
        recommended = self.t("record.recommended", design=f"{self.d.design[:3]} {self.e.name}",
                             rule=self.d.rule, model=self.d.model)  # fmt: skip
        if self.other is None:
            return [recommended]
        design = f"{self.other.decision.design[:3]} {self.other.name}"
        because = self.typed_or_open("because")
        return [recommended, self.t("record.chosen", design=design, because=because.rstrip("."))]

    # -- for a pull request -------------------------------------------------------------------

    def short(self) -> list[str]:
        t, e, built = self.t, self.e, self.built
        settings = [f"{t(f'parameter.{p.id}')}: {p.shown}" for p in built.decision.parameters
                    if p.value is not None]  # fmt: skip
        risk = f"{built.worst}. {t('ui.not_ensured')}: {lower_first(built.not_ensured.text)}"
        lines = [f"### {self.title}", ""]
        lines += [f"- {line}" for line in self.outcome()]
        lines += [f"- {t('ui.why')}: {e.why}", f"- {' '.join([str(built.ensures), *self.ran()])}",
                  f"- {t('record.pr_risk')}: {risk}"]  # fmt: skip
        if self.other:
            lines.append(f"- {t('record.accepted')} {'; '.join(self._failures(built))}")
        if settings:
            lines.append(f"- {t('ui.settings')}: {'; '.join(settings)}")
        cost = f"{'; '.join(built.cost)}. {t('ui.alternative')}: {built.instead}"
        lines.append(f"- {t('ui.cost')}: {cost}")
        if built.findings:
            known = " ".join(finding.sentence.text for finding in built.findings)
            lines.append(f"- {t('ui.warnings')}: {known}")
        lines += ["", *self.boxes()]
        if built.decision.tests:
            lines.append(f"- [ ] {t('ui.tests')}: {', '.join(built.decision.tests)}")
        if self.unchecked():
            labels = ", ".join(t(f"{key}.label") for key in self.unchecked())
            lines.append(f"- [ ] {t('record.check')}: {labels}")
        link = self.typed_or_open("link")
        return [*lines, "", t("record.pr_more", link=link)]

    def ran(self) -> list[str]:
        """Which evidence was run, in a sentence."""
        found = []
        for expected, key in ((True, "evidence.pr"), (False, "evidence.pr_not")):
            ran = dict.fromkeys(s.case for s in self.shown if s.as_expected == expected and s.case)
            found += [self.t(key, names=", ".join(ran))] if ran else []
        return found

    def boxes(self) -> list[str]:
        return [f"- [{'x' if state == 'exists' else ' '}] {text}"
                for _, state, text in self.built.controls]  # fmt: skip

    def _failures(self, e: Explanation) -> list[str]:
        return [f"{self.t(f'failure.{key}')}: {text}" for key, text in e.failures.items()]

    # -- the full record ----------------------------------------------------------------------

    def full(self) -> list[str]:
        parts = (self.front_matter(), [f"# {self.title}"], self.in_short(), self.context(),
                 self.drivers(), self.options(), self.decided(), self.consequences(),
                 self.confirmation(), self.more())  # fmt: skip
        lines = [line for part in parts for line in (*part, "")][:-1]
        words = self.t.words("\n".join(lines))
        return [*lines, "", f"### {self.t('ui.words')}", "", *(f"- {word}" for word in words)]

    def in_short(self) -> list[str]:
        """What a reader wants to know first about what will be built."""
        e, t = self.built, self.t
        why = [f"- {t('ui.why')}: {marked(e.why)}"] if self.other is None else []
        lines = [f"## {t('record.short')}", "", *why, f"- {marked(e.ensures)}",
                 f"- {t('ui.not_ensured')}: {lower_first(marked(e.not_ensured))}", ""]  # fmt: skip
        lines += [f"| {t('ui.failures')} | |", "|---|---|"]
        lines += [f"| {t(f'failure.{key}')} | {marked(s)} |" for key, s in e.failures.items()]
        return [*lines, "", f"### {t('ui.with')}", "", *(f"- {marked(s)}" for s in e.companions)]

    def front_matter(self) -> list[str]:
        values = {"status": "proposed", "date": one_line(self.typed["date"]),
                  "decision-makers": one_line(self.typed["decided_by"])}  # fmt: skip
        return ["---", *(f"{key}: {_quoted(value)}" for key, value in values.items()), "---"]

    def context(self) -> list[str]:
        lines = [f"## {self.t('record.context')}", "", f"{self.t('ui.name')}: "
                 f"{self.typed_or_open('name')}", ""]  # fmt: skip
        lines += [f"- {question} {answer}" for question, answer in self.e.answers.items()]
        lines += ["", f"### {self.t('record.answers')}", ""]
        lines += [f"- {question.id} {self.ask(question.key)} {self.answered(question.key)}"
                  for question in QUESTIONS]  # fmt: skip
        given = [key for key in self.d.answers if key not in BY_KEY and self._sayable(key)]
        lines += [f"- {self.ask(key)} {self.answered(key)}" for key in given]
        lines += [f"- {self.t('ui.together')}: {text}" for _, text in self.e.contradictions]
        return lines

    def _sayable(self, key: str) -> bool:
        return key in NUMBER_BY_KEY or key in CHOICES

    def ask(self, key: str) -> str:
        """A question, or the name of a number."""
        if key in NUMBER_BY_KEY:
            return f"{self.t(key)[0].upper()}{self.t(key)[1:]} ({key}):"
        return self.e.ask(key)

    def answered(self, key: str) -> str:
        """An answer in words and how it came about; or that it was not needed."""
        if key in BY_KEY and key in self.d.used.unknown:
            return self.t("record.not_asked") if self.is_idle(key) else self.answer(key)
        if key not in BY_KEY and self.d.answers[key] == UNKNOWN:
            return self.answer(key)
        return f"{self.answer(key)} ({self.how(key)})"

    def is_idle(self, key: str) -> bool:
        """Whether no answer to this question would change anything."""
        return self.relevance[key] == NOTHING

    def answer(self, key: str) -> str:
        """An answer in words; for an unknown one what it counts as."""
        value = self.d.answers.get(key, UNKNOWN)
        if key in NUMBER_BY_KEY:
            return f"{value:,g} {NUMBER_BY_KEY[key].unit}".strip()
        if value != UNKNOWN:
            return self.t(f"{key}.{value}")
        if key not in BY_KEY:
            return self.t(UNKNOWN)
        return self.t("record.counts_as", value=self.t(f"{key}.{self.d.used.values[key]}"))

    def how(self, key: str) -> str:
        """How an answer came about; what nobody marked is assumed."""
        if key in BY_KEY and key in self.d.used.unknown:
            return UNKNOWN
        confidence = self.d.answers.get("confidence", {})
        return self.t(f"confidence.{confidence.get(key, 'assumed')}")

    def unchecked(self) -> list[str]:
        """The questions whose answer is assumed or unknown, and makes a difference."""
        sure = self.t("confidence.measured"), self.t("confidence.looked_up")
        return [
            question.key
            for question in QUESTIONS
            if self.how(question.key) not in sure and not self.is_idle(question.key)
        ]

    def drivers(self) -> list[str]:
        lines = [f"## {self.t('record.drivers')}", "", f"- {marked(self.e.why)} ({self.d.rule})"]
        lines += [f"- {self.t('ui.people_differ')}: {text}" for text in self.e.people_differ]
        return lines

    def options(self) -> list[str]:
        lines = [f"## {self.t('record.options')}", "",
                 f"- {self.e.variant(self.d.design, self.d.mode)}"]  # fmt: skip
        return lines + [f"- {self.e.design(id)}: {why}" for id, why in self.e.why_not.items()]

    def decided(self) -> list[str]:
        lines = [f"## {self.t('record.outcome')}", "", *self.outcome()]
        if self.other:
            lines += ["", self.t("record.accepted"), ""]
            lines += [f"- {text}" for text in self._failures(self.other)]
        blocking = [f.sentence.text for f in self.built.findings if f.level == "block"]
        blocking += [self.built.to_build] if self.built.decision.to_build else []
        if blocking:
            lines += ["", self.t("record.blocked"), "", *(f"- {text}" for text in blocking)]
        if self.d.ways_out:
            lines += ["", f"{self.t('ui.ways_out')}:", ""]
            lines += [f"- {text}" for text in self.e.changes]
        return lines

    def consequences(self) -> list[str]:
        e, t = self.built, self.t
        return [f"### {t('record.consequences')}", "",
                f"- {t('record.good', text=lower_first(marked(e.ensures)))}",
                f"- {t('record.bad', text=lower_first(marked(e.not_ensured)))}"]  # fmt: skip

    def confirmation(self) -> list[str]:
        t = self.t
        lines = [f"### {t('record.confirmation')}", ""]
        lines += [f"- [ ] {text}" for text in self.built.tests]
        lines += [f"- {t('ui.metrics')} {text}" for text in self.built.metrics]
        lines += [f"- {s.title}: {marked(s.sentence)}" for s in self.shown]
        if not self.shown:
            why = "evidence.not_run" if names_of(self.built.decision) else "evidence.none"
            lines.append(f"- {t('evidence.holds')}: {t(why)}")
        if self.unchecked():
            lines += ["", f"#### {t('record.check')}", ""]
            for key in self.unchecked():
                line = t("record.check_line", ask=self.ask(key), answer=self.answered(key))
                lines.append(f"- [ ] {line}")
        return lines

    def more(self) -> list[str]:
        e, t = self.built, self.t
        groups = (
            (t("ui.warnings"), [f"{t(f'level.{f.level}')}: {marked(f.sentence)} "
                                f"<sub>{f.id}</sub>" for f in e.findings]),
            (e.to_build, [text for _, _, text in e.controls]),
            (t("ui.settings"), [e.parameter(parameter) for parameter in e.decision.parameters]),
            (t("ui.contention"), [e.policy]),
            (t("ui.cost"), [*e.cost, f"{t('ui.alternative')}: {e.instead}"]),
            (t("ui.changes"), list(self.e.changes) or [t("ui.no_changes")]),
        )  # fmt: skip
        lines = [f"## {t('record.more')}"]
        for heading, entries in groups:
            if entries:
                lines += ["", f"### {heading}", "", *(f"- {entry}" for entry in entries)]
        return [*lines, "", t("record.review"), "", t("ui.origin"), "", t("record.reevaluate")]


def _quoted(text: str) -> str:
    """Typed text as a string of YAML, in which HTML stays text whoever reads it."""
    quoted = json.dumps(text, ensure_ascii=False)
    for c in "<>&":
        quoted = quoted.replace(c, f"\\u{ord(c):04x}")
    return quoted


def marked(sentence: Sentence) -> str:
    """A sentence with its origin, where it is not mere judgement."""
    return sentence.text if sentence.origin == "judgement" else f"{sentence} [{sentence.origin}]"


def lower_first(text: str) -> str:
    """A text that follows a colon."""
    return text if text[1:2].isupper() else text[0].lower() + text[1:]
