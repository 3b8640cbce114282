"""Texts: one table per language, apart from the rules. English is `en`.

A sentence may end with its origin in double brackets, "... [[Redis 8.4 documentation]]": then it is
*documented*; all others are *judgement*. What was run is said by the evidence, not here.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from labkit.sim.errors import LabkitError

LANGUAGES = ("en",)
JUDGEMENT = "judgement"


def wrapped(line: str) -> str:
    """A line cut for a notebook or a terminal, which would cut it in the middle of a word."""
    return textwrap.fill(line, 96, subsequent_indent="   ", break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it comes from: "ran now: ...", "documented: ..." or "judgement"."""

    text: str
    origin: str = JUDGEMENT

    def __str__(self) -> str:
        return self.text


class Texts:
    """The texts of one language, by key. A mode's own text wins over its design's."""

    def __init__(self, table: dict[str, str]) -> None:
        self.table = table

    def __call__(self, key: str, /, **values: object) -> str:
        text = self.table[key].partition(" [[")[0]
        return text.format(**values) if values else text

    def sentence(self, *keys: str) -> Sentence:
        """The first of these texts that exists, with its origin."""
        text, _, origin = next(self.table[key] for key in keys if key in self.table).partition(
            " [["
        )
        return Sentence(text, f"documented: {origin.rstrip(']')}" if origin else JUDGEMENT)

    def sentences(self, *keys: str) -> tuple[Sentence, ...]:
        """The lines of the first of these texts that exists, each with its origin."""
        lines = next((self.table[key] for key in keys if key in self.table), "").strip().split("\n")
        parts = [line.strip().partition(" [[") for line in lines if line.strip()]
        return tuple(
            Sentence(text, f"documented: {origin.rstrip(']')}" if origin else JUDGEMENT)
            for text, _, origin in parts
        )

    def choice_help(self, key: str, values: Iterable[str]) -> dict[str, str]:
        """What to know about each choice of a question, for those where there is something."""
        return {value: self(f"{key}.{value}.help") for value in values
                if f"{key}.{value}.help" in self.table}  # fmt: skip

    def words(self, text: str) -> tuple[str, ...]:
        """What the special words of a text mean, in one sentence each."""
        words = [key.removeprefix("word.") for key in self.table if key.startswith("word.")]
        found = [word for word in words if re.search(rf"\b{word}s?\b", text, re.I)]
        return tuple(f"{word}: {self(f'word.{word}')}" for word in found)

    def names(self, keys: Iterable[str], prefix: str) -> str:
        """Several texts as a list in words."""
        return ", ".join(self(f"{prefix}.{key}") for key in keys)


@cache
def texts(lang: str = "en") -> Texts:
    """The texts of a language.

    Raises:
        LabkitError: there are none in this language.
    """
    if lang not in LANGUAGES:
        raise LabkitError(f"There are no texts in {lang!r}. There are: {', '.join(LANGUAGES)}.")
    return Texts(importlib.import_module(f"labkit.decision.texts.{lang}").TEXTS)
