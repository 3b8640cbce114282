"""SQLite as a store of the machine: connections, transactions, and contents that can be put back.

One connection per session, all to one file, so that locks, BUSY and what a transaction sees are
SQLite's own. A database with open transactions cannot be copied. It is put back as its committed
contents, and then the statements of each open transaction once more, in their order.

What makes that exact: a session has no state but its open transaction (whatever would give it some
is refused, as are clocks and random numbers), and with a rollback journal nobody can commit while
somebody else reads in a transaction, so that all open transactions belong to the same contents.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from labkit.resources.statements import error_reply, parameters_of, reply, shown, verb_of
from labkit.sim.commands import Command, Words
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.store import Contents, Key

#: For a setup only: how soon a connection notices another's new table is hidden inside it.
_TABLES = {"CREATE", "DROP", "ALTER"}
_VERBS = {
    "SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "BEGIN", "COMMIT", "END",
    "ROLLBACK", "SAVEPOINT", "RELEASE", "EXPLAIN", *_TABLES,
}  # fmt: skip
_COMMITS = {b"COMMIT", b"END", b"RELEASE"}
#: Their answers depend on the real clock, on chance, or on what a session did before.
_UNREPEATABLE = {
    "random", "randomblob", "date", "time", "datetime", "julianday", "unixepoch", "strftime",
    "timediff", "current_date", "current_time", "current_timestamp", "changes", "total_changes",
    "last_insert_rowid", "load_extension",
}  # fmt: skip
_TEMPORARY = {
    sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_CREATE_TEMP_VIEW,
    sqlite3.SQLITE_CREATE_TEMP_INDEX, sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
}  # fmt: skip


class Table(NamedTuple):
    """A table's committed rows; `keys` are the places of the columns that name a row."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[int, ...]
    rows: tuple[tuple[Any, ...], ...]  # each after its rowid


@dataclass(frozen=True, eq=False)
class Committed:
    """What everybody sees: an image of the file, and its meaning."""

    image: bytes
    schema: tuple[Any, ...]
    tables: tuple[Table, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Text, because 1 and 1.0 are equal in Python and not the same in a table."""
        return repr((self.schema, self.tables))


class Said(NamedTuple):
    """A statement of an open transaction. `busy`: a COMMIT that met a reader."""

    session: str
    words: Words
    busy: bool


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Committed contents, and what open transactions have said since, in order."""

    committed: Committed
    said: tuple[Said, ...]

    @cached_property
    def fingerprint(self) -> Any:
        # Between transactions the order does not matter: each of these statements was let through.
        each = tuple((name, tuple(s[1:] for s in self.said if s.session == name))
                     for name in sorted(self.sessions))  # fmt: skip
        return self.committed.fingerprint, each

    @cached_property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(said.session for said in self.said))

    def contents(self) -> Contents:
        """Every committed row, such as "account 1" -> "100"."""
        return {name: key for table in self.committed.tables for name, key in _rows(table)}

    def deadline(self) -> int | None:
        return None


class Database:
    """A database in a temporary file, with its journal in memory.

    Args:
        statements: they make the tables and their first rows.
    """

    served = ()  # nobody waits for a database: busy is answered at once

    def __init__(self, statements: Sequence[str]) -> None:
        folder = tempfile.mkdtemp(prefix="labkit-sqlite-")
        self._path = Path(folder, "db")
        self._refused = ""  # what the authorizer has just refused
        self._open: list[sqlite3.Connection] = []
        self.close = weakref.finalize(self, _close, folder, self._open)
        self._memory = self._keep(sqlite3.connect(":memory:", check_same_thread=False))
        self._admin = self._connect(guarded=False)
        self._admin.execute("PRAGMA user_version = 1")  # an empty file has no image
        self._connections = {"lab": self._connect(guarded=True)}
        self._said: list[Said] = []
        self._fill(statements)
        self._version, self._committed = self._data_version(), self._read()

    def execute(self, command: Command, now_ms: int) -> bytes:
        """Run a statement in its session; the reply as bytes."""
        if command.session != "lab" and command.name in _TABLES:
            raise NotModelled(f'"{command}": a worker cannot change tables. Make them in setup.')
        connection, words = self._connection(command.session), command.words[0]
        answer, busy = self._run(connection, words)
        if not connection.in_transaction:
            self._said = [said for said in self._said if said.session != command.session]
            self._look()
        elif not busy or (words[0] in _COMMITS and not self._waits(command.session)):
            self._said.append(Said(command.session, words, busy))
        return answer

    def snapshot(self) -> Snapshot:
        return Snapshot(self._committed, tuple(self._said))

    def restore(self, snapshot: Snapshot, new: Sequence[str] = ()) -> None:
        """Put everything back; `new`: sessions that begin."""
        for connection in self._connections.values():
            connection.rollback()
        for session in {*snapshot.sessions, *new} - self._connections.keys():
            # Only now: while somebody writes, a new connection cannot be set up.
            self._connections[session] = self._connect(guarded=True)
        if snapshot.committed is not self._committed:
            self._memory.deserialize(snapshot.committed.image)
            self._memory.backup(self._admin)
            self._committed, self._version = snapshot.committed, self._data_version()
        with contextlib.ExitStack() as stack:
            if any(said.busy for said in snapshot.said):
                # The reader that a COMMIT met may have ended since; it still waits to commit.
                self._admin.execute("BEGIN")
                stack.callback(self._admin.rollback)
                self._admin.execute("SELECT 1 FROM sqlite_master").fetchall()
            for said in snapshot.said:
                self._run(self._connections[said.session], said.words)
        self._said = list(snapshot.said)

    def expire(self, now_ms: int) -> None:
        """Rows do not expire."""

    def end(self, sessions: Iterable[str]) -> None:
        """Connections have ended; SQLite rolls back what they had not committed."""
        for name in set(sessions) & self._connections.keys():
            connection = self._connections.pop(name)
            self._open.remove(connection)
            connection.close()
            self._said = [said for said in self._said if said.session != name]

    # -- connections --------------------------------------------------------------------------

    def _connection(self, session: str) -> sqlite3.Connection:
        if session not in self._connections:
            self.restore(self.snapshot(), new=(session,))
        return self._connections[session]

    def _connect(self, *, guarded: bool) -> sqlite3.Connection:
        connection = self._keep(sqlite3.connect(
            self._path, isolation_level=None, timeout=0, check_same_thread=False
        ))  # fmt: skip
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        if guarded:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.set_authorizer(self._authorize)
        return connection

    def _keep(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        self._open.append(connection)
        return connection

    def _authorize(self, action: int, first: str | None, second: str | None, *_: Any) -> int:
        """SQLite asks this about everything that a statement will do."""
        name = (second or "").lower()
        if action == sqlite3.SQLITE_FUNCTION and name in _UNREPEATABLE:
            self._refused = f"{name}() answers differently each time: pass a value as a parameter"
        elif action in _TEMPORARY:
            self._refused = "a temporary table belongs to one connection"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _run(self, connection: sqlite3.Connection, words: Words) -> tuple[bytes, bool]:
        """Execute; the reply, and whether the answer was BUSY."""
        sql, self._refused = words[1].decode(), ""
        if verb_of(sql) not in _VERBS and sqlite3.complete_statement(sql + ";"):
            self._refuse_verb(sql)
        cursor = connection.cursor()
        try:
            return reply(cursor.execute(sql, parameters_of(words))), False
        except sqlite3.Error as error:
            if self._refused:
                raise NotModelled(f'"{shown(sql, ())}": {self._refused}.') from error
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            return error_reply(error), busy
        except OverflowError as error:
            return error_reply(sqlite3.DataError(str(error))), False
        finally:
            cursor.close()

    def _refuse_verb(self, sql: str) -> None:
        if verb_of(sql) in {"PRAGMA", "ATTACH", "DETACH", "VACUUM", "ANALYZE", "REINDEX"}:
            raise NotModelled(
                f'"{shown(sql, ())}": {verb_of(sql)} changes how a connection or the file works, '
                f"which is not modelled."
            )

    def _waits(self, session: str) -> bool:
        """Whether it has tried to commit and met a reader: until then nobody new may read."""
        return any(said.busy for said in self._said if said.session == session)

    # -- contents -----------------------------------------------------------------------------

    def _fill(self, statements: Sequence[str]) -> None:
        for number, sql in enumerate(statements, start=1):
            where = f'sqlite(): statement {number}, "{shown(sql, ())}"'
            try:
                answer, _ = self._run(self._connections["lab"], (b"", sql.encode()))
            except NotModelled as error:
                raise LabkitError(f"{where}, cannot be used here. {error}") from error
            if answer[:1] == b"-":
                why = answer.decode().split(" ", 2)[2].strip()
                raise LabkitError(f"{where}, fails: {why}.")
        if self._connections["lab"].in_transaction:
            raise LabkitError("sqlite(): its statements leave a transaction open. Add COMMIT.")

    def _look(self) -> None:
        """Read what is committed, if somebody has committed."""
        with contextlib.suppress(sqlite3.OperationalError):  # BUSY: a writer is in, so nobody has
            version = self._data_version()
            if version != self._version:
                self._version, self._committed = version, self._read()

    def _data_version(self) -> int:
        """Changes whenever another connection commits."""
        return int(self._admin.execute("PRAGMA data_version").fetchone()[0])

    def _read(self) -> Committed:
        ask = self._admin.execute
        schema = tuple(ask("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2").fetchall())
        tables = tuple(self._table(name) for kind, name, _ in schema if kind == "table")
        return Committed(self._admin.serialize(), schema, tables)

    def _table(self, name: str) -> Table:
        quoted = '"' + name.replace('"', '""') + '"'
        info = self._admin.execute(f"PRAGMA table_info({quoted})").fetchall()
        keys = sorted((place_in_key, place) for place, *_, place_in_key in info if place_in_key)
        try:
            rows = self._admin.execute(f"SELECT rowid, * FROM {quoted} ORDER BY rowid").fetchall()
        except sqlite3.OperationalError:  # WITHOUT ROWID
            rows = self._admin.execute(f"SELECT 0, * FROM {quoted}").fetchall()
        columns = tuple(column for _, column, *_ in info)
        return Table(name, columns, tuple(place for _, place in keys), tuple(rows))


def _rows(table: Table) -> Iterable[tuple[str, Key]]:
    """Each row of a table: its name, such as "account 1", and what it holds."""
    for rowid, *values in table.rows:
        key = [values[place] for place in table.keys] or [rowid]
        rest = [place for place in range(len(values)) if place not in table.keys]
        text = ", ".join(f"{table.columns[place]} {_text(values[place])}" for place in rest)
        if len(rest) == 1:
            text = _text(values[rest[0]])
        name = " ".join([table.name, *map(_text, key)])
        yield name, Key(text, repr(values), None, row=True)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


def _close(folder: str, connections: list[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()
    shutil.rmtree(folder, ignore_errors=True)
