"""Evidence: cases that show the danger, and that the design holds. They are run when asked for.

A case has a worker that gets it wrong and one that gets it right. For a design that refuses (D14)
there is only the danger; for a lock alone there is also what it does not prevent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from labkit import cases
from labkit.decision.engine import Decision
from labkit.decision.texts import Sentence, Texts, texts, wrapped
from labkit.sim.errors import LabkitError

if TYPE_CHECKING:
    from labkit.sim.report import Exploration

DANGER, HOLDS, LIMIT = "danger", "holds", "limit"
Progress = Callable[[str], None]

#: Design, or design and mode -> names of its cases. The others are not yet shown here.
CASES = {
    "D01": ("look-then-insert", "locked-and-charged-twice"),
    "D02": ("look-then-sell", "refused-and-sold"),
    "D04": ("read-then-overwrite", "refused-and-saved"),
    "D08 KEY": ("retry-charges-again",),
    "D09": ("look-then-take", "no-expiry", "late-delete"),
    "D10": ("blind-renewal", "renewal-revives"),
    "D11": ("late-write", "late-delete"),
    "D14": ("late-write", "locked-and-charged-twice"),
}
_ONLY_DANGER = ("D14",)
#: A lock alone -> the case whose right worker does not keep two from working at once.
LIMITS = {"D09": "late-delete", "D10": "blind-renewal"}


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of evidence.

    Attributes:
        about: "danger", "holds" or "limit".
        case: the name of the case, "" where there is none.
        title: what it is about, in words.
        as_expected: whether the run gave the verdict that supports the design.
    """

    about: str
    case: str
    title: str
    sentence: Sentence
    as_expected: bool

    def __str__(self) -> str:
        return f"{self.title}: {self.sentence}"


class Evidence(tuple[Shown, ...]):
    """Pieces of evidence, printed one below the other."""

    def __repr__(self) -> str:
        return "\n".join(wrapped(f"* {shown}") for shown in self)


def names_of(decision: Decision) -> tuple[str, ...]:
    """The cases of a decision's design."""
    short = decision.card.short
    return CASES.get(f"{short} {decision.mode}") or CASES.get(short, ())


def gather(decision: Decision, progress: Progress | None = None) -> Evidence:
    """Run the cases of a decision's design, now.

    Args:
        progress: called with a line of text before each run.
    """
    t, short, names = texts(decision.lang), decision.card.short, names_of(decision)
    wanted = [(DANGER, name) for name in names]
    wanted += [(HOLDS, name) for name in names if short not in _ONLY_DANGER]
    wanted += [(LIMIT, LIMITS[short])] if short in LIMITS else []
    found = []
    for number, (about, name) in enumerate(wanted, start=1):
        if progress:
            progress(t("evidence.running", number=number, all=len(wanted), name=name))
        found.append(_show(about, name, t))
    return Evidence(found or [_missing(t)])


def _missing(t: Texts) -> Shown:
    return Shown(HOLDS, "", t(f"evidence.{HOLDS}"), Sentence(t("evidence.none")), False)


def _show(about: str, name: str, t: Texts) -> Shown:
    title = t(f"evidence.{about}")
    try:
        found = explored(about, name)
    except (LabkitError, ImportError) as error:
        sentence = Sentence(t("evidence.failed", name=name, reason=error))
        return Shown(about, name, title, sentence, False)
    expected = found.exact and (found.counterexample is None) == (about == HOLDS)
    key = f"evidence.shown_{about}" if expected else "evidence.unexpected"
    own = f"evidence.case.{name}"  # where the case's own words are about something else
    what = t(own) if own in t.table else cases.named(name).text
    text = t(key, name=name, text=what, **_counts(found, t))
    return Shown(about, name, title, Sentence(text, f"ran now: {found.bounds}"), expected)


@cache
def explored(about: str, name: str) -> Exploration:
    """The exploration behind a piece of evidence; once per process."""
    case = cases.named(name)
    if about == LIMIT:
        from labkit.sim.exploration import explore
        from labkit.sim.invariants import mutual_exclusion

        return explore(case.right, check=mutual_exclusion, setup=case.setup, pauses=1)
    return case.explore(case.wrong if about == DANGER else case.right)


def _counts(found: Exploration, t: Texts) -> dict[str, object]:
    shortest = found.counterexample.schedule if found.counterexample else ""
    met = [t("evidence.met", danger=danger, n=n) for danger, n in found.dangers.items()]
    return {"broken": found.violating, "all": found.schedules, "shortest": shortest,
            "met": "; ".join(met), "summary": found.summary}  # fmt: skip
