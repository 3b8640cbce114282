"""The words of the workbook, taken from where the code defines them.

Each word is defined once, in the opening docstring of the module that has its type.
"""

from __future__ import annotations

import ast
import html
import re
from functools import cache
from pathlib import Path

from labkit.sim.errors import LabkitError

_DEFINITION = re.compile(r"^([a-z][a-z ]*[a-z])  +(\S.*)$")


@cache
def definitions() -> dict[str, str]:
    """Every defined word with its definition.

    Raises:
        LabkitError: if a word is defined twice.
    """
    found: dict[str, str] = {}
    package = Path(__file__).parents[1]
    for path in sorted([*package.glob("sim/*.py"), package / "locks.py"]):
        for word, meaning in _legend(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""):
            if word in found:
                raise LabkitError(f'"{word}" is defined twice, the second time in {path.name}.')
            found[word] = meaning
    return found


def _legend(docstring: str) -> list[tuple[str, str]]:
    """Lines such as `schedule  the moves we ask for`; an indented line goes on with the last."""
    words: list[tuple[str, str]] = []
    for line in docstring.splitlines():
        match = _DEFINITION.match(line)
        if match:
            words.append((match[1], match[2]))
        elif line.startswith("   ") and words and line.strip():
            words[-1] = (words[-1][0], f"{words[-1][1]} {line.strip()}")
        elif words:
            break
    return words


class Glossary:
    """Some words with their definitions; folded in a notebook, plain as text."""

    def __init__(self, *words: str) -> None:
        known = definitions()
        unknown = [word for word in words if word not in known]
        if unknown:
            there_are = ", ".join(sorted(known))
            raise LabkitError(f'No definition of "{unknown[0]}". Known: {there_are}.')
        self._words = {word: known[word] for word in (words or sorted(known))}

    def __repr__(self) -> str:
        width = max(map(len, self._words))
        return "\n".join(f"{word.ljust(width)}  {text}" for word, text in self._words.items())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<dt><b>{html.escape(word)}</b></dt><dd>{html.escape(text)}</dd>"
            for word, text in self._words.items()
        )
        summary = f"The {len(self._words)} words of this notebook"
        return f"<details><summary>{summary}</summary><dl>{rows}</dl></details>"
