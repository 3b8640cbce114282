"""`decide`: answers in, a design out. Pure, total, and the same for the page and the terminal.

The rules are data (`rules`); this module judges their conditions and collects what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from labkit.decision.answers import AnswerError, Used, check, normalise
from labkit.decision.conditions import EVERYTHING, Facts, condition
from labkit.decision.designs import (
    COMPONENTS,
    DESIGN,
    DESIGNS,
    EFFORT,
    IN_ORDER,
    NOT_IN_MODE,
    WHY_NOT,
    Design,
)
from labkit.decision.parameters import Parameter, parameters
from labkit.decision.questions import CONTROLS, DETAILS, ORDER, QUESTIONS
from labkit.decision.rules import (
    BLOCK,
    BLOCKS,
    CONTRADICTIONS,
    DERIVED,
    FIXED,
    MODEL_VERSION,
    MODES,
    REQUIRED_CONTROLS,
    RULES,
    WARNINGS,
    Rule,
    Warn,
)

if TYPE_CHECKING:
    from labkit.decision.evidence import Evidence
    from labkit.decision.explain import Explanation

_NOTHING = {f"{q.key}={value}": 0 for q in QUESTIONS for value in q.values}
_EXTRA = {f"{d.key}={value}": 0 for d in DETAILS for value in d.values}
_EXTRA |= {f"said_{key}": 0 for key in ORDER} | {f"design={short}": 0 for short in DESIGN}
_EXTRA |= {f"mode={mode}": 0 for _, mode, _ in MODES}
_EXTRA |= dict.fromkeys(("saturated", "database_denied", "partial_version", "redis_design",
                         "missing_control"), 0)  # fmt: skip


def derive(facts: dict[str, int]) -> dict[str, int]:
    """Add the derived facts to those of the thirteen answers (of one reader, or of many)."""
    for name, text in DERIVED.items():
        facts[name] = condition(text)(facts)
    return facts


def route(values: Mapping[str, str]) -> Rule:
    """The rule that fires for thirteen normalised answers."""
    facts = derive(_NOTHING | {EVERYTHING: 1} | {f"{k}={v}": 1 for k, v in values.items()})
    block = next(name for name, text in BLOCKS.items() if condition(text)(facts))
    return next(r for r in RULES if r.block == block and condition(r.when)(facts))


@dataclass(frozen=True, slots=True)
class Change:
    """One answer that would change the result."""

    key: str
    value: str
    design: str
    rule: str
    mode: str = ""


@dataclass(frozen=True)
class Decision:
    """A recommended design with everything that follows from the answers.

    Attributes:
        answers: the answers as they were given.
        used: the same as the rules saw them (unknown replaced, numbers applied).
        design: its full identifier, such as "D09_REDIS_LEASE_EFFIC".
        mode: the variant of the design, "" if it has none.
        rule: the identifier of the rule that fired.
        warnings: identifiers of what to know; blockers are among them.
        blockers: those that stand in the way of "accepted".
        contradictions: answers that do not fit together: identifier -> their keys.
        controls: what must exist for this design -> "exists", "planned" or "missing".
    """

    answers: Mapping[str, Any]
    used: Used
    design: str
    mode: str
    rule: str
    warnings: tuple[str, ...]
    blockers: tuple[str, ...]
    contradictions: Mapping[str, tuple[str, ...]]
    controls: Mapping[str, str]
    facts: Facts
    lang: str = "en"
    model: int = MODEL_VERSION

    def __repr__(self) -> str:
        return f"<Decision {self.design}{self.mode and ' ' + self.mode}, rule {self.rule}>"

    def __str__(self) -> str:
        return self.explanation.summary()

    @cached_property
    def explanation(self) -> Explanation:
        """Everything that follows, in words."""
        from labkit.decision.explain import Explanation

        return Explanation(self)

    @cached_property
    def evidence(self) -> Evidence:
        """What the cases of this design show, run now; some seconds at most."""
        from labkit.decision.evidence import gather

        return gather(self)

    @property
    def card(self) -> Design:
        return DESIGN[self.design[:3]]

    @property
    def to_build(self) -> tuple[str, ...]:
        """Controls that this design needs and that do not exist yet."""
        return tuple(name for name, state in self.controls.items() if state != "exists")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Numbers to configure the design with, with their formulas."""
        return parameters(self.facts, self.answers)

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests to write for this variant of the design."""
        return tuple(id for id in self.card.tests if id not in NOT_IN_MODE.get(self.mode, ()))

    @property
    def metrics(self) -> tuple[str, ...]:
        """What to measure in this variant of the design."""
        return tuple(id for id in self.card.metrics if id not in NOT_IN_MODE.get(self.mode, ()))

    @cached_property
    def _others(self) -> tuple[Change, ...]:
        return tuple(change for key in ORDER for change in _changes(self.used.values, key))

    @cached_property
    def what_if(self) -> tuple[Change, ...]:
        """Every single answer that would change the design."""
        return tuple(change for change in self._others if change.design != self.design)

    @cached_property
    def reachable(self) -> tuple[Change, ...]:
        """Every single answer that would change the design or its variant, and that can be had.

        An outside system, for example, does not move into your database.
        """
        now = (self.design, self.mode)
        found = [change for change in self._others if (change.design, change.mode) != now
                 and not self._is_fixed(change)]  # fmt: skip
        return tuple(sorted(found, key=lambda change: change.design == self.design))

    def _is_fixed(self, change: Change) -> bool:
        """Whether what was answered cannot be turned into this."""
        fixed = FIXED.get((change.key, self.used.values[change.key]), ())
        return change.value in fixed and change.key not in self.used.unknown

    @property
    def ways_out(self) -> tuple[Change, ...]:
        """For a refusal: the single answers that would lift it."""
        if self.card.short != "D14":
            return ()
        return tuple(change for change in self.reachable if change.design[:3] != "D14")

    @property
    def open_question(self) -> str:
        """The first question not answered yet that could change the design, or ""."""
        could = {change.key for change in self.what_if}
        return next((key for key in ORDER if key in self.used.unknown and key in could), "")

    @property
    def next_question(self) -> str:
        """The same; else the first one not answered that a blocker depends on, or ""."""
        blocking = (key for warning in WARNINGS
                    if warning.level == BLOCK and warning.id in self.blockers
                    for key in warning.about if key in self.used.unknown)  # fmt: skip
        return self.open_question or next(blocking, "")

    @cached_property
    def alternatives(self) -> tuple[str, ...]:
        """Other designs that hold as well, the cheapest first."""
        others = [d for d in DESIGNS if d.id != self.design and condition(d.also_holds)(self.facts)]
        if self.facts["fifo"] and self.card.short in IN_ORDER:
            others = [d for d in others if d.short in IN_ORDER]
        return tuple(d.id for d in sorted(others, key=lambda d: self.cost(d.id)))

    def cost(self, design: str = "") -> tuple[int, int]:
        """To compare designs by, for these answers: how much to operate, then the rank.

        A database in which the state lives is operated anyway.
        """
        short = (design or self.design)[:3]
        facts, _ = _with_design(self.facts, short)
        parts = set(_components(facts))
        if self.used.values["scope"] in ("one_db", "db_ext"):
            parts -= {"database"}
        return sum(EFFORT.get(part, 1) for part in parts), DESIGN[short].rank

    @property
    def why_not(self) -> dict[str, str]:
        """For every other design the identifier of the sentence that says why not."""
        return {d.id: self._why_not(d.short) for d in DESIGNS if d.id != self.design}

    def _why_not(self, short: str) -> str:
        reasons = (why for of, when, why in WHY_NOT
                   if of == short and condition(when)(self.facts))  # fmt: skip
        return next(reasons, "earlier_rule")

    @property
    def components(self) -> tuple[str, ...]:
        """What has to be operated."""
        return _components(self.facts)

    def instead(self, design: str) -> Decision:
        """What follows from the same answers if this design is chosen."""
        return _result(self.answers, self.used, self.rule, design[:3], self.lang)


def _changes(values: Mapping[str, str], key: str) -> list[Change]:
    question = next(q for q in QUESTIONS if q.key == key)
    found = []
    for value in question.values:
        if value != values[key]:
            rule = route({**values, key: value})
            mode = _mode({**values, key: value}, rule.design)
            found.append(Change(key, value, DESIGN[rule.design].id, rule.id, mode))
    return found


def _mode(values: Mapping[str, str], short: str) -> str:
    """The mode of a design for thirteen normalised answers."""
    if short not in {of for of, _, _ in MODES}:
        return ""
    true = {f"{key}={value}": 1 for key, value in values.items()}
    return _with_design(derive(_NOTHING | _EXTRA | {EVERYTHING: 1} | true), short)[1]


def decide(answers: Mapping[str, Any], *, lang: str = "en") -> Decision:
    """The design for these answers.

    Args:
        answers: keys and values as in `questions`; what is left out counts as unknown.
        lang: the language of the texts.

    Raises:
        AnswerError: an answer is not possible; it says which, and what is.
    """
    good, problems = check(answers)
    if problems:
        raise AnswerError(problems, answers)
    used = normalise(good)
    rule = route(used.values)
    return _result(good, used, rule.id, rule.design, lang)


def _result(good: Mapping[str, Any], used: Used, rule: str, short: str, lang: str) -> Decision:
    """Everything that follows from answers and a design."""
    facts, mode = _with_design(_facts(good, used), short)
    controls = _controls(facts, good)
    facts["missing_control"] = int(any(state != "exists" for state in controls.values()))
    fired = [warning for warning in WARNINGS if condition(warning.when)(facts)]
    return Decision(
        answers=MappingProxyType(dict(good)),
        used=used,
        design=DESIGN[short].id,
        mode=mode,
        rule=rule,
        warnings=_ids(fired),
        blockers=_ids([warning for warning in fired if warning.level == BLOCK]),
        contradictions={n: keys for n, keys, when in CONTRADICTIONS if condition(when)(facts)},
        controls=controls,
        facts=facts,
        lang=lang,
    )


def _ids(warnings: list[Warn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warning.id for warning in warnings))


def _facts(good: Mapping[str, Any], used: Used) -> dict[str, int]:
    true = {f"{key}={value}" for key, value in used.values.items()} | used.flags
    true |= {f"{d.key}={good[d.key]}" for d in DETAILS if d.key in good}
    true |= {f"said_{key}" for key in ORDER if key not in used.unknown}
    facts = _NOTHING | _EXTRA | {EVERYTHING: 1} | dict.fromkeys(true, 1)
    if "partial_version" in used.flags:
        facts["said_reject"] = 1
    return derive(facts)


def _with_design(facts: Facts, short: str) -> tuple[dict[str, int], str]:
    """The facts when this design is the result, and its mode."""
    found = dict(facts) | {name: 0 for name in facts if name.startswith(("design=", "mode="))}
    found[f"design={short}"] = 1
    found["redis_design"] = int(short in ("D09", "D10", "D11"))
    modes = (mode for of, mode, when in MODES if of == short and condition(when)(found))
    mode = next(modes, "")
    if mode:
        found[f"mode={mode}"] = 1
    return found, mode


def _components(facts: Facts) -> tuple[str, ...]:
    return tuple(name for name, when in COMPONENTS.items() if condition(when)(facts))


def _controls(facts: Facts, good: Mapping[str, Any]) -> dict[str, str]:
    exists, planned = good.get("controls", ()), good.get("controls_planned", ())
    return {
        name: "exists" if name in exists else "planned" if name in planned else "missing"
        for name in CONTROLS
        if condition(REQUIRED_CONTROLS[name])(facts)
    }
