"""What follows from a decision, in words: everything the page, the terminal and the record show.

Each sentence knows its origin: documented, ran now, or judgement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labkit.decision.conditions import condition
from labkit.decision.designs import DESIGNS, FAILURES
from labkit.decision.engine import Change, Decision
from labkit.decision.parameters import Parameter
from labkit.decision.relevance import DESIGN, relevance
from labkit.decision.rules import ADDED, BLOCK, JUDGEMENT_CALLS, WARNINGS, Warn
from labkit.decision.texts import Sentence, texts, wrapped


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning in words: its level, what it says, and the answers it is about."""

    id: str
    level: str
    sentence: Sentence
    about: tuple[str, ...]


class Explanation:
    """A decision in words. Nothing is computed before it is asked for."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.t = texts(decision.lang)

    def _keys(self, field: str) -> tuple[str, str]:
        """Where a text of the design is: the mode's own, else the design's."""
        short, mode = self.decision.card.short, self.decision.mode
        return f"{short}.{mode}.{field}", f"{short}.{field}"

    def _sentence(self, field: str) -> Sentence:
        return self.t.sentence(*self._keys(field))

    # -- the design ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._sentence("name").text

    @property
    def why(self) -> Sentence:
        """The reason of the rule that fired."""
        return self.t.sentence(self.decision.rule)

    @property
    def ensures(self) -> Sentence:
        """What it ensures, and as long as what."""
        return self._sentence("ensures")

    @property
    def not_ensured(self) -> Sentence:
        return self._sentence("not")

    @property
    def failures(self) -> dict[str, Sentence]:
        """What happens in each of the seven failures."""
        return {failure: self._sentence(failure) for failure in FAILURES}

    @property
    def worst(self) -> str:
        """The failure that hurts most, and what happens then."""
        failure = self.decision.card.worst
        return f"{self.t(f'failure.{failure}')}: {self.failures[failure]}"

    @property
    def companions(self) -> tuple[Sentence, ...]:
        """What has to be built with it."""
        return self.t.sentences(*self._keys("with"))

    # -- why this one -------------------------------------------------------------------------

    @property
    def why_not(self) -> dict[str, str]:
        """For every other design: why not, or which single answer would lead to it."""
        nearest = {change.design: change for change in reversed(self.decision.reachable)}
        found = {}
        for design, reason in self.decision.why_not.items():
            text = self.t(f"why_not.{reason}")
            if design in nearest:
                answer = self.change(nearest[design], design=False)
                text += f" ({self.t('why_not.unless', answer=answer)})"
            found[design] = text
        return found

    def change(self, change: Change, *, design: bool = True) -> str:
        """A single answer that would change the result."""
        value = self.t(f"{change.key}.{change.value}").partition(" (")[0]  # without its example
        answer = f"{self.t(f'{change.key}.label')}: {value}"
        return f"{answer} -> {self.variant(change.design, change.mode)}" if design else answer

    def variant(self, id: str, mode: str) -> str:
        """A design's identifier and name, and which variant of it."""
        named, noted = f"{id[:3]}.{mode}.name", f"{id[:3]}.{mode}.variant"
        if named in self.t.table:
            return f"{id[:3]} {self.t(named)}"
        return f"{self.design(id)} ({self.t(noted)})" if noted in self.t.table else self.design(id)

    def design(self, id: str) -> str:
        """A design's identifier and name."""
        return f"{id[:3]} {self.t(f'{id[:3]}.name')}"

    @property
    def changes(self) -> tuple[str, ...]:
        return tuple(map(self.change, self.decision.ways_out or self.decision.reachable))

    def ask(self, key: str) -> str:
        """A question, as it is asked after the first one was answered."""
        special = f"{key}.{self.decision.used.values['goal']}.ask"
        return self.t(special if special in self.t.table else f"{key}.ask")

    @property
    def next_question(self) -> str:
        key = self.decision.next_question
        return self.ask(key) if key else self.t("ui.no_next")

    @property
    def counted(self) -> str:
        """Questions without an answer that could change the design; their careful answer counts."""
        open_, matter = self.decision.used.unknown, relevance(self.decision)
        return ", ".join(self.t(f"{key}.label") for key in open_ if matter[key] == DESIGN)

    @property
    def people_differ(self) -> tuple[str, ...]:
        """The judgement calls that this result rests on."""
        calls = [call for call, rules in JUDGEMENT_CALLS.items() if self.decision.rule in rules]
        if any(parameter.value is not None for parameter in self.decision.parameters):
            calls.append("constants")
        return tuple(self.t(f"judgement.{call}") for call in calls)

    # -- what to know -------------------------------------------------------------------------

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The warnings in words; the one about controls is `to_build`."""
        blockers, found = self.decision.blockers, []
        for id in self.decision.warnings:
            if id != "W17_MISSING_CONTROL":
                blocks = id in blockers
                warning = next(w for w in WARNINGS if w.id == id and blocks == (w.level == BLOCK))
                found.append(Finding(id, warning.level, self._warning(warning), warning.about))
        return tuple(found)

    def _warning(self, warning: Warn) -> Sentence:
        """What a warning says; what nobody answered is no fact, so it says "if"."""
        open_ = set(warning.about) & set(self.decision.used.unknown)
        sentence = self.t.sentence(*[f"{warning.id}.if"] * bool(open_), warning.id)
        added = [self.t(f"{id}.{name}") for id, name, when in ADDED
                 if id == warning.id and condition(when)(self.decision.facts)]  # fmt: skip
        return Sentence(" ".join([sentence.text, *added]), sentence.origin)

    @property
    def contradictions(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Answers that do not fit together: their keys, and the sentence that asks."""
        decision = self.decision
        found = [(keys, self.t(f"contradiction.{name}"))
                 for name, keys in decision.contradictions.items()]  # fmt: skip
        for key, ticked in decision.used.computed.items():
            computed = self.t(f"{key}.{decision.used.values[key]}")
            text = self.t("contradiction.number_wins", ticked=self.t(f"{key}.{ticked}"),
                          computed=computed)  # fmt: skip
            found.append(((key,), text))
        return tuple(found)

    @property
    def to_build(self) -> str:
        states = self.decision.controls
        done = sum(state == "exists" for state in states.values())
        return self.t("ui.build", done=done, all=len(states)) if states else ""

    @property
    def controls(self) -> tuple[tuple[str, str, str], ...]:
        """What the design needs: (identifier, state, in words)."""
        return tuple((name, state, f"{self.t(f'control.{name}')}: {self.t(f'state.{state}')}")
                     for name, state in self.decision.controls.items())  # fmt: skip

    # -- settings, tests, cost ----------------------------------------------------------------

    @property
    def policy(self) -> str:
        """What an attempt does that finds the resource taken."""
        values, unknown = self.decision.used.values, self.decision.used.unknown
        text = self.t("policy.unknown" if "busy" in unknown else f"policy.{values['busy']}")
        return f"{text} {self.t('policy.high')}" if values["cont"] == "high" else text

    def parameter(self, parameter: Parameter) -> str:
        """A parameter as a line: name, value, formula, and what to know about it."""
        line = f"{self.t(f'parameter.{parameter.id}')}: {parameter.shown} = {parameter.formula}"
        notes = [self.t(f"note.{note}") for note in parameter.notes]
        if parameter.assumed:
            notes.append(self.t("parameter.assumed", names=", ".join(parameter.assumed)))
        if parameter.missing:
            notes.append(self.t("parameter.missing", names=", ".join(parameter.missing)))
        return f"{line} ({'; '.join(notes)})" if notes else line

    @property
    def tests(self) -> tuple[str, ...]:
        return self._list(self.decision.tests)

    @property
    def metrics(self) -> tuple[str, ...]:
        return self._list(self.decision.metrics)

    def _list(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(f"{id}: {self.t(id)}" for id in ids)

    @property
    def cost(self) -> tuple[str, ...]:
        """Parts to operate, round trips, expected wait."""
        t, parts = self.t, self.decision.components
        names = t.names(parts, "component")
        wait = next((p for p in self.decision.parameters if p.id == "queue_wait_ms"), None)
        lines = [t("ui.operate", names=names) if parts else t("ui.nothing_to_operate")]
        lines.append(t("ui.trips", trips=self._sentence("trips")))
        if wait:
            known = wait.value is not None or wait.notes
            shown = wait.shown if not wait.notes else t(f"note.{wait.notes[0]}")
            lines.append(t("ui.wait", wait=shown) if known else t("ui.wait_unknown"))
        elif self.decision.used.values["busy"] == "skip" and parts:
            lines.append(t("ui.wait", wait=t("ui.no_wait")))
        return tuple(lines)

    @property
    def cheapest(self) -> str:
        """The cheapest other design that holds as well; if it is cheaper, why it is not taken."""
        t, decision = self.t, self.decision
        if decision.card.short == "D14":
            return t("ui.none_holds")
        if not decision.alternatives:
            return t("ui.no_other")
        other = decision.alternatives[0]
        if decision.cost(other) > decision.cost():
            return t("ui.dearer", design=self.design(other))
        reason = decision.why_not[other]
        why = self.why.text if reason == "earlier_rule" else t(f"why_not.{reason}")
        why = f"{why[0].upper()}{why[1:].rstrip('.')}."
        return t("ui.cheaper", design=self.design(other), why=why)

    @property
    def instead(self) -> str:
        """The cheapest alternative; where doing it twice only wastes work, nothing at all too."""
        wastes = not self.decision.facts["correct"] and self.decision.card.short != "D00"
        return f"{self.cheapest} {self.t('ui.or_nothing')}" if wastes else self.cheapest

    # -- the six questions ---------------------------------------------------------------------

    @property
    def answers(self) -> dict[str, str]:
        """The six headings, each answered in a sentence."""
        answers = (self._rule(), self._sentence("atomic").text, self._sentence("token").text,
                   self._pause(), self._refusal(), self._bounded())  # fmt: skip
        return {self.t(f"heading.{number}"): text for number, text in enumerate(answers, start=1)}

    def _rule(self) -> str:
        values = self.decision.used.values
        where = "one_db" if values["scope"] == "one_db" else "outside"
        key, name = f"rule.{values['shape']}", self.name
        rule = self.t.sentence(f"{key}.{where}", key)
        return self.t(f"express.{where}", rule=rule, design=name[0].lower() + name[1:])

    def _pause(self) -> str:
        failures: Mapping[str, Sentence] = self.failures
        pause, reply = failures["pause"].text, failures["reply_lost"].text
        return self.t("pause_and_loss", pause=pause, reply=reply.rstrip("."))

    def _refusal(self) -> str:
        values = self.decision.used.values
        key = "one_db" if values["scope"] == "one_db" else values["reject"]
        return self.t(f"refuse.{key}")

    def _bounded(self) -> str:
        states = self.decision.controls
        if not states:
            return self.t("bounded.nothing", policy=self.policy)
        done = sum(state == "exists" for state in states.values())
        return self.t("bounded.build", policy=self.policy, done=done, all=len(states))

    def summary(self) -> str:
        """The result in a few lines of text."""
        t, decision = self.t, self.decision
        lines = [
            f"{t('ui.design')}: {decision.design}: {self.name}",
            f"{t('ui.why')}: {self.why} (rule {decision.rule})",
            self.ensures.text,
            f"{t('ui.not_ensured')}: {self.not_ensured}",
            f"{t('ui.worst')}: {self.worst}",
            f"{t('ui.cost')}: {'; '.join(self.cost)}",
            f"{t('ui.alternative')}: {self.instead}",
        ]
        lines += [f"[{t(f'level.{f.level}')}] {f.sentence}" for f in self.findings]
        lines += [f"{t('ui.together')}: {text}" for _, text in self.contradictions]
        lines += [self.to_build] if self.to_build else []
        lines += [t("ui.counted", names=self.counted)] if self.counted else []
        lines.append(f"{t('ui.next')}: {self.next_question}")
        return "\n".join(map(wrapped, lines))


def names(lang: str = "en") -> dict[str, str]:
    """All designs with their names."""
    t = texts(lang)
    return {design.id: f"{design.short} {t(f'{design.short}.name')}" for design in DESIGNS}
