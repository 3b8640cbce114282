"""Widgets with a twin: what stands in a stored notebook, or where no kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets


class Twin(widgets.VBox):
    """Controls below each other; as text and as HTML, what they show before they are used.

    Both twins come from the cell itself, so that strict nbval compares them.

    Args:
        plain: one line of text, the same in every run.
        static: HTML that says as much as can be said without a kernel.
    """

    def __init__(self, controls: Sequence[Any], *, plain: str, static: str) -> None:
        super().__init__(list(controls))
        self._plain = plain if len(plain) <= 110 else plain[:109] + "…"
        self._static = static

    def __repr__(self) -> str:
        return self._plain

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        found = super()._repr_mimebundle_(**kwargs)
        bundle = dict(found[0] if isinstance(found, tuple) else found)
        return {**bundle, "text/plain": self._plain, "text/html": self._static}
