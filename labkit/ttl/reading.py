"""Durations from what people have: numbers, pasted text, a CSV file.

A bad line is never left out in silence: the message says which, and what a good one looks like.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from labkit.sim.errors import LabkitError
from labkit.ttl.durations import UNITS, Durations, checked, factor_of

_SEPARATORS = str.maketrans(",;|\t", "    ")
_WITH_UNIT = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?)(us|µs|ms|s|sec|min)", re.IGNORECASE)
_BEFORE_UNIT = re.compile(r"(?<=\d)[ \t]+(?=(?:us|µs|ms|s|sec|min)\b)", re.IGNORECASE)
_OF_COLUMN = re.compile(r"[_ (\[](us|µs|ms|s|sec|min|millis|seconds)[)\]]?$", re.IGNORECASE)
_LONG_NAMES = {"millis": "ms", "seconds": "s"}
_EXAMPLE = "300 280.5, or 300ms 1.2s"
_SAMPLE = 50  #: rows that show whether a column is one of numbers


def read_durations(source: Any, *, unit: str | None = None, column: str | int | None = None,
                   origin: str | None = None) -> Durations:  # fmt: skip
    """Durations from numbers, from text, or from a file (a `Path`).

    Args:
        unit: of numbers that name none: "ms" unless the column's name says otherwise.
        column: which column of a table; not needed when only one holds numbers.
        origin: where they come from, for messages.

    Raises:
        LabkitError: says which line or value cannot be used, and what to do.
    """
    if isinstance(source, Durations):
        return source
    if isinstance(source, Path):
        return read_durations(_text_of(source), unit=unit, column=column, origin=source.name)
    if not isinstance(source, str):
        return _from_numbers(source, unit, origin or "numbers")
    factor_of(unit)
    lines = list(_kept(source))
    if not lines:
        raise LabkitError(f"{origin or 'The text'} is empty: no line with a duration in it. "
                          f"Paste numbers such as {_EXAMPLE}.")  # fmt: skip
    if column is not None or (len(lines) > 1 and _is_header(lines[0])):
        return _from_table(source, lines, unit, column, origin or "pasted table")
    return _from_text(source, lines, unit, origin or "pasted numbers")


def _kept(text: str) -> Iterator[str]:
    """The lines that are neither empty nor comments."""
    return (line for line in text.splitlines() if (words := line.strip()) and words[0] != "#")


def _line_number(text: str, place: int) -> int:
    """Where the n-th kept line stands; asked for only when a message needs it."""
    numbers = [number for number, line in enumerate(text.splitlines(), 1) if any(_kept(line))]
    return numbers[place]


def example_durations() -> Durations:
    """2,000 durations of a report job that never was; `example` says how they were made."""
    text = (files("labkit.ttl") / "data/durations.csv").read_text("utf-8")
    return read_durations(text, origin="the example")


def decode(content: bytes, name: str) -> str:
    """The text of a file."""
    if b"\x00" in content:
        raise LabkitError(f"{name} is no text file (a spreadsheet?). Save it as CSV in UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LabkitError(f"{name}, line {line}: this is not UTF-8. Save the file as CSV in "
                          f"UTF-8.") from None  # fmt: skip


def _text_of(path: Path) -> str:
    try:
        return decode(path.read_bytes(), path.name)
    except OSError as error:
        raise LabkitError(f"{path} cannot be read: {error.strerror}. The present folder is "
                          f"{Path.cwd()}.") from None  # fmt: skip


def _from_numbers(source: Iterable[Any], unit: str | None, origin: str) -> Durations:
    try:
        values = list(source)
    except TypeError:
        raise LabkitError(f"{source!r} is no list of durations. Give numbers, text, or a "
                          f"pathlib.Path.") from None  # fmt: skip
    try:
        numbers = list(map(float, values))
    except (TypeError, ValueError):
        place = next(place for place, value in enumerate(values) if not _is_number(value))
        raise LabkitError(f"Value {place + 1:,} of {len(values):,} is {values[place]!r}: no "
                          f"number.") from None  # fmt: skip
    return checked(numbers, unit, origin, lambda i: f"Value {i + 1:,} of {len(values):,}")


# -- text -----------------------------------------------------------------------------------------


def _from_text(source: str, lines: list[str], unit: str | None, origin: str) -> Durations:
    text = "\n".join(lines)
    if ";" in text or "\t" in text:
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)  # the comma is no separator then
    elif "," in text and all(re.fullmatch(r"\s*\d+,\d+\s*", line) for line in lines):
        raise LabkitError(f'Line {_line_number(source, 0)}, "{lines[0].strip()}": a decimal comma, '
                          f"or two values? Write decimals with a point, or put a space between "
                          f"values.")  # fmt: skip
    text = text.translate(_SEPARATORS)
    try:
        values, units = list(map(float, text.split())), unit
    except ValueError:
        text = _BEFORE_UNIT.sub("", text)
        values, units = _with_units(text.split(), lambda i: _place_of_word(source, text, i)), "ms"
    return checked(values, units, origin, lambda i: _place_of_word(source, text, i))


def _with_units(words: list[str], where: Callable[[int], str]) -> list[float]:
    """Values such as 300ms or 1.2s. All or none must have a unit: half of them is a riddle."""
    found = [_WITH_UNIT.fullmatch(word) for word in words]
    bare = [place for place, match in enumerate(found) if match is None]
    bad = [place for place in bare if not _is_number(words[place])]
    for place in [*bad, *bare][:1]:
        why = ("has no unit, while others have one. Write the unit with every value, or with none"
               if not bad else f"is no duration. Write numbers such as {_EXAMPLE}, with a comma, "
               f"a space or a new line between them")  # fmt: skip
        raise LabkitError(f'{where(place)}, "{words[place][:40]}", {why}.')
    return [float(m[1]) * UNITS[m[2].lower()] for m in found if m]


def _place_of_word(source: str, text: str, place: int) -> str:
    """The line in which the n-th word stands."""
    for kept, line in enumerate(text.split("\n")):
        place -= len(line.split())
        if place < 0:
            return f"Line {_line_number(source, kept):,}"
    return "The text"


def _is_number(word: Any) -> bool:
    try:
        float(word)
    except (TypeError, ValueError):
        return False
    return True


def _is_header(line: str) -> bool:
    """Whether a first line names columns: some word is neither a number nor one with a unit."""
    words = _BEFORE_UNIT.sub("", line).translate(_SEPARATORS).split()
    return any(not _is_number(word) and not _WITH_UNIT.fullmatch(word) for word in words)


# -- tables ---------------------------------------------------------------------------------------


def _from_table(source: str, lines: list[str], unit: str | None, column: str | int | None,
                origin: str) -> Durations:  # fmt: skip
    delimiter = max(",;\t|", key=re.sub('"[^"]*"', "", lines[0]).count)
    if delimiter == ";":  # the comma is the decimal mark then
        lines = [line.replace(",", ".") for line in lines]
    rows = csv.reader(lines, delimiter=delimiter)
    sample = [[cell.strip() for cell in row] for row in itertools.islice(rows, _SAMPLE)]
    head, named = sample[0], not any(map(_is_number, sample[0]))
    if named:
        del sample[0]
    else:
        head = [str(n) for n in range(1, len(head) + 1)]
    place = _column(head, sample, column, origin)
    cells = [row[place] if place < len(row) else "" for row in itertools.chain(sample, rows)]
    what = f"column {head[place]}"

    def where(i: int) -> str:
        return f"Line {_line_number(source, i + named):,}, {what},"

    try:
        numbers = list(map(float, cells))
    except ValueError:
        i = next(i for i, cell in enumerate(cells) if not _is_number(cell))
        raise LabkitError(f'{where(i)} "{cells[i][:40]}": no number. Correct or take out this '
                          f"line.") from None  # fmt: skip
    return checked(numbers, unit or _unit_of(head[place]), f"{what} of {origin}", where)


def _unit_of(column: str) -> str | None:
    """The unit at the end of a column's name."""
    found = _OF_COLUMN.search(column.strip())
    unit = found[1].lower() if found else None
    return _LONG_NAMES.get(unit, unit) if unit else None


def _column(head: list[str], rows: list[list[str]], column: str | int | None,
            origin: str) -> int:  # fmt: skip
    """Which column holds the durations: the one that is named, or the only one with numbers."""
    there_are = f"{origin} has the columns {', '.join(head)}"
    if column is not None:
        names, name = [name.lower() for name in head], str(column).strip().lower()
        if name in names:
            return names.index(name)
        raise LabkitError(f'No column "{column}": {there_are}.')
    # Some lines may be bad: they are named later, with their numbers.
    found = [place for place in range(len(head))
             if sum(place < len(row) and _is_number(row[place]) for row in rows) * 2 > len(rows)
             ]  # fmt: skip
    if len(found) == 1:
        return found[0]
    if not found:
        raise LabkitError(f"No column holds numbers: {there_are}. A table of durations has one "
                          f"line for each run, with the duration as a number.")  # fmt: skip
    numeric = ", ".join(head[place] for place in found)
    raise LabkitError(f"Several columns hold numbers: {numeric}. Say which one holds the durations "
                      f'(column="...").')  # fmt: skip
