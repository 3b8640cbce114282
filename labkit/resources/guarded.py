"""Tables with a row that refuses writes: by a fencing number, or by a version. Real SQLite.

Each call is one statement, so that the check and the write are one step. The row starts with the
number, or the version, 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from labkit.resources.connection import Connection, sqlite
from labkit.sim.errors import LabkitError
from labkit.sim.shared import Ask

#: What the row compares: its own number is smaller (or equal), or it compares nothing.
Compare = Literal["<", "<=", "nothing"]


class FencedRow:
    """What stands behind `me.shared.<name>`: one row with a value and the number of its writer.

    Attributes:
        execute: any other statement, on the same connection.
    """

    def __init__(self, connection: Connection, compare: Compare) -> None:
        self.execute = connection.execute
        self._where = "" if compare == "nothing" else f" AND fence {compare} ?"

    def read(self) -> Any:
        """The value."""
        return self.execute("SELECT value FROM data WHERE id = 1").value

    def write(self, value: Any, fence: int) -> bool:
        """Write with the number of a grant: whether it was accepted."""
        compared = [fence] if self._where else []
        sql = f"UPDATE data SET value = ?, fence = ? WHERE id = 1{self._where}"
        return self.execute(sql, value, fence, *compared).rowcount == 1

    def raise_to(self, fence: int) -> bool:
        """From now on smaller numbers are refused: whether nobody has raised it further.

        Who raises before reading knows that nothing older is written between the two. The value
        is then written with `write_as`.
        """
        return self.execute("UPDATE data SET fence = ? WHERE id = 1 AND fence < ?", fence,
                            fence).rowcount == 1  # fmt: skip

    def write_as(self, value: Any, fence: int) -> bool:
        """Write if the row's number is exactly this one: whether it was."""
        return self.execute("UPDATE data SET value = ? WHERE id = 1 AND fence = ?", value,
                            fence).rowcount == 1  # fmt: skip


class VersionedRow:
    """What stands behind `me.shared.<name>`: one row with a value and a version."""

    def __init__(self, connection: Connection) -> None:
        self.execute = connection.execute

    def read(self) -> tuple[Any, int]:
        """The value and its version."""
        value, version = self.execute("SELECT value, version FROM data WHERE id = 1").rows[0]
        return value, int(version or 0)

    def write(self, value: Any, version: int) -> bool:
        """Compare and set: write if nobody has written since this version; whether that is so."""
        sql = "UPDATE data SET value = ?, version = version + 1 WHERE id = 1 AND version = ?"
        return self.execute(sql, value, version).rowcount == 1


class _Row(sqlite):
    def __init__(self, value: Any, guard: str) -> None:
        if not isinstance(value, int | str):
            raise LabkitError(f"The row starts with {value!r}: it takes a number or text.")
        text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(int(value))
        super().__init__(
            f"CREATE TABLE data (id INTEGER PRIMARY KEY, value, {guard} INTEGER NOT NULL)",
            f"INSERT INTO data VALUES (1, {text}, 0)",
        )


class fenced_row(_Row):  # noqa: N801  written like a function, as `sqlite` is
    """A row for `lab.shared.<name>` that accepts a write only with a larger number than before.

    Args:
        value: what it holds at the beginning.
        compare: "<" accepts one write for each number, "<=" any number of writes with the same
            one, "nothing" writes the number down and refuses nobody.

    Raises:
        LabkitError: for a value or a comparison that it does not have.
    """

    def __init__(self, value: int | str, compare: Compare = "<") -> None:
        super().__init__(value, "fence")
        if compare not in ("<", "<=", "nothing"):
            raise LabkitError(f'compare={compare!r}: it is "<", "<=" or "nothing".')
        self._compare = compare

    def handle(self, ask: Ask, new_session: Callable[[], str], name: str) -> Any:
        return FencedRow(Connection(ask, new_session, name), self._compare)


class versioned_row(_Row):  # noqa: N801
    """A row for `lab.shared.<name>` that accepts a write only with the version that was read.

    Args:
        value: what it holds at the beginning.

    Raises:
        LabkitError: for a value that it does not take.
    """

    def __init__(self, value: int | str) -> None:
        super().__init__(value, "version")

    def handle(self, ask: Ask, new_session: Callable[[], str], name: str) -> Any:
        return VersionedRow(Connection(ask, new_session, name))
