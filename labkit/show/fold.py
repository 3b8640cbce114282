"""Folding: a result that is there, but shown only when the reader opens it."""

from __future__ import annotations

import html


class Folded:
    """Shows `thing` behind a line that can be opened; as plain text it is simply there.

    Args:
        title: the line that stays visible.
        thing: anything that prints well as text.
    """

    def __init__(self, title: str, thing: object) -> None:
        self._title = title
        self._thing = thing

    def __repr__(self) -> str:
        return f"{self._title}\n{self._thing}"

    def _repr_html_(self) -> str:
        title, text = html.escape(self._title), html.escape(str(self._thing))
        return f"<details><summary>{title}</summary><pre>{text}</pre></details>"
