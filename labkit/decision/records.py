"""The decision record: MADR Markdown to commit, and the answers as JSON beside it.

Nothing that a user typed reaches the Markdown unescaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.decision.designs import DESIGNS
from labkit.decision.engine import Decision
from labkit.decision.evidence import Shown
from labkit.decision.writing import Writer
from labkit.sim.errors import LabkitError

FORMAT = "lock lab decision"
FORMS = ("adr", "pr")
TYPED = ("name", "chosen", "because", "decided_by", "date", "link")


@dataclass(frozen=True, slots=True, repr=False)
class Record:
    """A record: `markdown` to read, `json` to evaluate again."""

    markdown: str
    json: str

    def __str__(self) -> str:
        return self.markdown

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        """From the title on: what stands above it is YAML, in which Markdown is not escaped."""
        return re.split(r"^(?=#)", self.markdown, maxsplit=1, flags=re.M)[1]

    def save(self, path: str | Path) -> tuple[Path, Path]:
        """Write PATH.md and PATH.json.

        Raises:
            LabkitError: one of them exists, or cannot be written. Nothing was overwritten.
        """
        base = Path(path)
        base = base.with_suffix("") if base.suffix in (".md", ".json") else base
        files = (base.with_name(base.name + ".md"), base.with_name(base.name + ".json"))
        for file in files:
            if file.exists():
                raise LabkitError(f"{file} exists already and was left alone. Choose another name.")
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for file, text in zip(files, (self.markdown, self.json), strict=True):
                file.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise LabkitError(f"{base} could not be written: {error.strerror or error}.") from error
        return files


def record(
    decision: Decision,
    *,
    form: str = "adr",
    name: str = "",
    chosen: str = "",
    because: str = "",
    decided_by: str = "",
    date: str = "",
    link: str = "",
    evidence: Sequence[Shown] = (),
    unused: Mapping[str, Any] | None = None,
) -> Record:
    """The record of a decision.

    Args:
        form: "adr" for the full record, "pr" for at most 25 lines in a pull request.
        name: what is protected, in a few words.
        chosen: another design, if the team chose one, with `because`.
        date, decided_by, link: as they should appear; left open when empty.
        evidence: what `evidence.gather` has shown.
        unused: answers that could not be used; kept in the JSON, so that nothing typed is lost.

    Raises:
        LabkitError: `form` or `chosen` is not possible.
    """
    if form not in FORMS:
        raise LabkitError(f"form: {form!r} is not possible. Possible: {', '.join(FORMS)}.")
    typed = dict(zip(TYPED, (name, chosen, because, decided_by, date, link), strict=True))
    typed = {key: str(value) for key, value in typed.items()}
    typed["chosen"] = _design_id(chosen)
    writer = Writer(decision, typed, tuple(evidence))
    lines = writer.short() if form == "pr" else writer.full()
    return Record("\n".join(lines) + "\n", _json(decision, typed, unused or {}))


def _design_id(chosen: str) -> str:
    if not chosen:
        return ""
    for design in DESIGNS:
        if chosen in (design.id, design.short):
            return design.id
    possible = ", ".join(design.id for design in DESIGNS)
    raise LabkitError(f"chosen: {str(chosen)[:60]!r} is not a design. Possible: {possible}.")


def _json(decision: Decision, typed: Mapping[str, str], unused: Mapping[str, Any]) -> str:
    result = {
        "design": decision.design, "mode": decision.mode, "rule": decision.rule,
        "blockers": list(decision.blockers), "to_build": list(decision.to_build),
        "answers_used": dict(decision.used.values),
    }  # fmt: skip
    data: dict[str, Any] = {"format": FORMAT, "model": decision.model}
    data |= {key: value for key, value in typed.items() if value}
    data |= {"answers": dict(decision.answers), "result": result}
    if unused:
        data["unused"] = dict(unused)
    return json.dumps(data, indent=1, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """What JSON does not know."""
    return dict(value) if isinstance(value, Mapping) else sorted(value)
