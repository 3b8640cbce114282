"""SQL as commands: words on the wire, text for people, and replies as bytes.

A command's words are the verb, the statement, and its parameters, each with a letter for its type.
A reply is RESP: +OK, the number of changed rows, an array of rows, or an error with SQLite's class
and code. Numbers with a fraction are RESP3 doubles; a blob is an array that holds one string, which
tells it from text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from labkit.sim import resp
from labkit.sim.commands import Command, Words

Value = int | float | str | bytes | None

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(?:--[^\n]*|\s)+|\?")
_MISSING = object()
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement answered.

    Attributes:
        rows: the rows of a SELECT or of RETURNING, each a tuple.
        rowcount: how many rows were changed or, if there are rows, how many there are; -1 for a
            statement that does neither, such as BEGIN.
    """

    rows: list[tuple[Value, ...]] = field(default_factory=list)
    rowcount: int = -1

    @property
    def value(self) -> Any:
        """The first value of the first row; None if there is no row."""
        return self.rows[0][0] if self.rows else None


def verb_of(sql: str) -> str:
    """The first word of a statement, in capitals."""
    found = _FIRST_WORD.match(sql)
    return found[1].upper() if found else ""


def command(sql: Any, parameters: Sequence[Any], session: str, store: str) -> Command:
    """The command for a statement.

    Raises:
        sqlite3.ProgrammingError: for what cannot be sent, as a driver would.
    """
    if not isinstance(sql, str):
        raise sqlite3.ProgrammingError(f"execute({sql!r}): a statement is text.")
    words = tuple(_word(number, value) for number, value in enumerate(parameters, start=1))
    verb = verb_of(sql).encode() or b"(NOTHING)"
    return Command(((verb, sql.encode(), *words),), session, store, text=shown(sql, parameters))


def shown(sql: str, parameters: Sequence[Any]) -> str:
    """A statement on one line with its parameters filled in: for people, never for a database."""
    values = iter(parameters)

    def fill(match: re.Match[str]) -> str:
        token = match[0]
        if token == "?":
            return _literal(next(values, _MISSING))
        return token if token[0] in "'\"" else " "

    return _TOKEN.sub(fill, sql).strip()


def parameters_of(words: Words) -> tuple[Value, ...]:
    return tuple(map(_value, words[2:]))


def reply(cursor: sqlite3.Cursor) -> bytes:
    """The reply to a statement that has been executed."""
    if cursor.description is not None:
        rows = [b"*%d\r\n" % len(row) + b"".join(map(_cell, row)) for row in cursor.fetchall()]
        return b"*%d\r\n" % len(rows) + b"".join(rows)
    return resp.OK if cursor.rowcount < 0 else b":%d\r\n" % cursor.rowcount


def error_reply(error: sqlite3.Error) -> bytes:
    code = getattr(error, "sqlite_errorname", None) or "SQLITE_MISUSE"
    return resp.encode(resp.ErrorReply(f"{type(error).__name__} {code} {error}"))


def result(raw: bytes) -> Result:
    """What a reply means to the worker.

    Raises:
        sqlite3.Error: of the class and with the code that SQLite gave.
    """
    answer = resp.decode(raw)
    if isinstance(answer, resp.ErrorReply):
        raise _error(str(answer))
    if isinstance(answer, list):
        rows = [tuple(map(_from_cell, row)) for row in answer]
        return Result(rows, len(rows))
    return Result(rowcount=answer if isinstance(answer, int) else -1)


def _error(text: str) -> sqlite3.Error:
    kind, code, message = text.split(" ", 2)
    error: sqlite3.Error = getattr(sqlite3, kind)(message)
    error.sqlite_errorname = code
    error.sqlite_errorcode = getattr(sqlite3, code, sqlite3.SQLITE_MISUSE)
    return error


def _word(number: int, value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, bool | int):
        return b"i%d" % value
    if isinstance(value, float):
        return b"f" + value.hex().encode()
    if isinstance(value, str):
        return b"s" + value.encode()
    if isinstance(value, bytes):
        return b"b" + value
    hint = ""
    if isinstance(value, list | tuple | dict):
        hint = " Write the values one after the other: execute(sql, 1, 2)."
    raise sqlite3.ProgrammingError(
        f"Parameter {number} is {value!r}, of type {type(value).__name__}, which a database cannot "
        f"take. It takes int, float, str, bytes and None.{hint}"
    )


def _value(word: bytes) -> Value:
    kind, rest = word[:1], word[1:]
    if kind == b"i":
        return int(rest)
    if kind == b"f":
        return float.fromhex(rest.decode())
    if kind == b"s":
        return rest.decode()
    return rest if kind == b"b" else None


def _literal(value: Any) -> str:
    if value is None or value is _MISSING:
        return "?" if value is _MISSING else "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(int(value)) if isinstance(value, bool) else str(value)


def _cell(value: Value) -> bytes:
    if isinstance(value, float):
        return b",%s\r\n" % repr(value).encode()
    if isinstance(value, bytes):
        return resp.encode([value])
    return resp.encode(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


def _from_cell(cell: Any) -> Value:
    if isinstance(cell, list):
        return bytes(cell[0])
    return cell.decode() if isinstance(cell, bytes) else cell
