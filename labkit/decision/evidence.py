"""Evidence: which cases show the danger that a design removes, and which show that it holds.

The cases themselves are not imported here: whoever asks brings a registry, a mapping from a case's
name to a function that explores it. A design without cases says so: "not yet shown here".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from labkit.decision.designs import DESIGNS
from labkit.decision.engine import Decision
from labkit.decision.texts import Sentence, texts
from labkit.sim.errors import LabkitError

DANGER, HOLDS = "danger", "holds"
_VERDICT = {DANGER: "violated", HOLDS: "holds within bounds"}


class Explored(Protocol):
    """What a case answers: an `Exploration`, or anything with its verdict and its summary."""

    @property
    def verdict(self) -> str: ...

    @property
    def summary(self) -> str: ...


Registry = Mapping[str, Callable[[], Explored]]
Progress = Callable[[str], None]

#: Design -> names of cases that show the danger, and of cases that show that the design holds.
CASES: dict[str, dict[str, tuple[str, ...]]] = {
    design.id: {DANGER: (), HOLDS: ()} for design in DESIGNS
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of evidence.

    Attributes:
        about: "danger" or "holds".
        case: the name of the case, "" where there is none.
        as_expected: whether the run gave the verdict that supports the design.
    """

    about: str
    case: str
    sentence: Sentence
    as_expected: bool


def gather(
    decision: Decision,
    registry: Registry,
    *,
    cases: Mapping[str, Mapping[str, tuple[str, ...]]] = CASES,
    progress: Progress | None = None,
) -> tuple[Shown, ...]:
    """Run the cases of a decision's design, now.

    Args:
        registry: the cases that exist: name -> a function that explores it.
        cases: which of them belong to which design.
        progress: called with a line of text before each run.
    """
    t = texts(decision.lang)
    wanted = [(about, name) for about in (DANGER, HOLDS)
              for name in cases.get(decision.design, {}).get(about, ()) or ("",)]  # fmt: skip
    found = []
    for number, (about, name) in enumerate(wanted, start=1):
        if progress and name:
            progress(t("evidence.running", number=number, all=len(wanted), name=name))
        found.append(_show(about, name, registry, decision.lang))
    return tuple(found)


def _show(about: str, name: str, registry: Registry, lang: str) -> Shown:
    t = texts(lang)
    if name not in registry:
        text = t("evidence.missing", name=name) if name else t("evidence.none")
        return Shown(about, name, Sentence(text), False)
    try:
        result = registry[name]()
    except LabkitError as error:
        text = t("evidence.failed", name=name, reason=error)
        return Shown(about, name, Sentence(text), False)
    expected = result.verdict == _VERDICT[about]
    key = "evidence.shown" if expected else "evidence.unexpected"
    text = t(key, name=name, summary=result.summary)
    return Shown(about, name, Sentence(text, f"ran now: {name}"), expected)
