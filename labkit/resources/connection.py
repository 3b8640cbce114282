"""A SQLite database as a resource: real SQLite, which stands for a remote database.

Each statement is one step. A connection is opened with a worker's first statement, and ends with
its process (returned, raised or crashed alike); what it had not committed is rolled back.

SQLite itself has no network. Here it stands for a database that has one, so that a reply (`?`) or
a request (`~`) can be lost. Then the worker sees `ConnectionLost` at once, a subclass of
`sqlite3.OperationalError`; its session is over, and the database rolls its open transaction back.
The next statement opens a new session, outside of any transaction.

Nobody waits: a statement that meets somebody else's lock is answered with "database is locked"
(SQLITE_BUSY), and the worker decides what to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from labkit.resources.database import Database
from labkit.resources.statements import Result, command, result
from labkit.sim.errors import LabkitError
from labkit.sim.replies import Lost
from labkit.sim.shared import Ask


class ConnectionLost(sqlite3.OperationalError):
    """No answer came. The statement may have been executed; an open transaction is rolled back."""


class Connection:
    """What stands behind `me.shared.<name>`: one connection, opened when it is first used."""

    def __init__(self, ask: Ask, new_session: Callable[[], str], name: str) -> None:
        self._ask = ask
        self._new_session = new_session
        self._name = name
        self._session = ""

    def execute(self, sql: str, *parameters: Any) -> Result:
        """Run one statement; `?` in it stands for a parameter.

        Raises:
            sqlite3.Error: whatever SQLite raises: IntegrityError, OperationalError, ...
            ConnectionLost: when no answer came.
        """
        self._session = self._session or self._new_session()
        answer = self._ask(command(sql, parameters, self._session, self._name))
        if isinstance(answer, Lost):
            self._session = ""
            raise ConnectionLost(
                f"no answer from {self._name}: the connection is lost, and with it any open "
                f"transaction; the statement may have been executed"
            )
        return result(answer)


class sqlite:  # noqa: N801  written like a function, as in lab.shared.bank = sqlite("CREATE ...")
    """A database for `lab.shared.<name>`, made by these statements.

    Raises:
        LabkitError: when there is none, or one of them is no text. SQLite's own errors are
            reported when the setup declares the resource.
    """

    def __init__(self, *statements: str) -> None:
        if not statements:
            raise LabkitError('sqlite(): a database needs tables: sqlite("CREATE TABLE ...").')
        for number, statement in enumerate(statements, start=1):
            if not isinstance(statement, str):
                raise LabkitError(f"sqlite(): statement {number} is {statement!r}, and not text.")
        self.statements = statements

    def store(self) -> Database:
        return Database(self.statements)

    def handle(self, ask: Ask, new_session: Callable[[], str], name: str) -> Connection:
        return Connection(ask, new_session, name)
