"""What the TTL chooser knows: everything as it was typed, and what follows from it. No widget here.

Nothing typed is lost: what cannot be used stays where it is, beside the sentence that says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from labkit.sim.errors import LabkitError
from labkit.ttl.choosing import TtlChoice, choose_ttl
from labkit.ttl.durations import Durations
from labkit.ttl.reading import decode, example_durations, read_durations

#: Field -> its label. Numbers are typed, so that a mistake can be shown instead of refused.
FIELDS = {
    "text": "Durations: paste numbers or a table",
    "unit": "Unit, where none is written",
    "column": "Column, if several hold numbers",
    "runs_per_day": "Runs a day",
    "recover_ms": "After a crash, others may wait (ms)",
    "redis_p999_ms": "Redis and back, p99.9 (ms)",
    "final_write_p99_ms": "The last write, p99 (ms)",
    "harm": "Two runs at once",
}
UNITS = (("ms, or as the column says", ""), ("ms", "ms"), ("s", "s"))
HARM = (("leave something to repair: data, money, trust", True), ("only waste time", False))
_NUMBERS = ("runs_per_day", "recover_ms", "redis_p999_ms", "final_write_p99_ms")
_START = {"text": "", "unit": "", "column": "", "runs_per_day": "20000", "recover_ms": "5000",
          "redis_p999_ms": "5", "final_write_p99_ms": "10", "harm": True}  # fmt: skip


@dataclass(frozen=True)
class File:
    """A file that was uploaded."""

    name: str
    content: bytes


class Chooser:
    """A TTL being chosen.

    Attributes:
        fields: what was typed.
        file: what was uploaded last; typing durations puts it aside.
        choice: what follows, the last time that something did.
        error: why nothing follows from what is typed now; "" if something does.
    """

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - FIELDS.keys()
        if unknown:
            raise LabkitError(f"The chooser has no {sorted(unknown)[0]!r}. It has: "
                              f"{', '.join(FIELDS)}.")  # fmt: skip
        self.fields: dict[str, Any] = {**_START, **given}
        self.file: File | None = None
        self.error = ""
        self.choice: TtlChoice | None = None
        self._choose()

    def set(self, field: str, value: Any) -> None:
        """Note what was typed."""
        self.fields[field] = value
        if field == "text":
            self.file = None
        self._choose()

    def upload(self, name: str, content: bytes) -> None:
        """Take the durations of a file instead of the text; the text stays."""
        self.file = File(name, content)
        self._choose()

    @property
    def durations(self) -> Durations:
        """What is measured: the file, else the text, else the example."""
        unit, column = self.fields["unit"] or None, self.fields["column"].strip() or None
        if self.file is not None:
            return _read(decode(self.file.content, self.file.name), unit, column, self.file.name)
        if self.fields["text"].strip():
            return _read(self.fields["text"], unit, column, None)
        return example_durations()

    def _choose(self) -> None:
        try:
            numbers: dict[str, Any] = {name: _typed(name, self.fields[name]) for name in _NUMBERS}
            self.choice = choose_ttl(self.durations, harm=self.fields["harm"], **numbers)
            self.error = ""
        except LabkitError as error:
            self.error = str(error)


@lru_cache(2)  # another number does not change the durations
def _read(text: str, unit: str | None, column: str | None, origin: str | None) -> Durations:
    return read_durations(text, unit=unit, column=column, origin=origin)


def _typed(name: str, text: Any) -> float:
    try:
        return float(str(text).replace(",", "").replace("_", "").strip())
    except ValueError:
        raise LabkitError(f'{FIELDS[name]}: "{text}" is no number, such as {_START[name]}.'
                          ) from None  # fmt: skip
