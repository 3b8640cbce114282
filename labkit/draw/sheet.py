"""A sheet to draw a trace on: rows of steps from top to bottom, and what can be put on them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from labkit.draw.story import Span
from labkit.draw.svg import (
    MONO,
    SANS,
    box,
    element,
    escape,
    hatch,
    number,
    path,
    style,
    text,
    wrap,
)

LABELS, MARGIN, NARROWEST, WIDEST = 80, 10, 440, 600
COLUMNS, COLUMN_MAX = 6, 150  # steps in one row at most, and how wide a step may be
LINE = 15  # from one line of text to the next
SHOWN_AT = 1.35  # a picture is shown larger than it is drawn, where there is room


@dataclass(frozen=True)
class Picture:
    """A drawing, and what it shows in one line of text."""

    svg: str
    alt: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.alt}

    def __repr__(self) -> str:
        return self.alt


class Sheet:
    """A drawing in progress. Positions in it are steps: 2 is the second step, 2.5 half a step on.

    Attributes:
        y: how far down it is filled.
        first, last: the steps of the row that is being drawn.
        under, back, front: markup, in the order in which it is painted.
    """

    def __init__(self, steps: int, letters: tuple[str, ...]) -> None:
        self.steps = max(1, steps)
        self.letters = letters
        self.per_row = -(-self.steps // -(-self.steps // COLUMNS))
        self.column = min(COLUMN_MAX, (WIDEST - LABELS - MARGIN) // self.per_row)
        self.width = max(NARROWEST, LABELS + self.per_row * self.column + MARGIN)
        self.y = 12.0
        self.first = self.last = 1
        self.under: list[str] = []
        self.back: list[str] = []
        self.front: list[str] = []

    # -- positions --------------------------------------------------------------------------------

    def x(self, at: float) -> float:
        return LABELS + (at - self.first + 0.5) * self.column

    def here(self, at: int | None) -> bool:
        """Whether a step is in this row."""
        return at is not None and self.first <= at <= self.last

    def ends(self, start: float, end: float | None) -> tuple[float, float] | None:
        """Where something begins and ends in this row, or None if it is not seen here."""
        left, right = max(start, self.first - 0.5), self.last + 0.5
        right = right if end is None else min(end, right)
        return (self.x(left), self.x(right)) if left < right else None

    # -- things -----------------------------------------------------------------------------------

    def say(self, words: object, x: float, y: float, class_: str = "") -> None:
        self.front.append(text(words, x, y, class_))

    def lines(self, lines: list[tuple[str, str]], x: float, y: float) -> None:
        """Lines of text beneath each other, each with its class."""
        for place, (line, class_) in enumerate(lines):
            self.say(line, x, y + place * LINE, class_)

    def rect(self, x: float, y: float, width: float, height: float, class_: str,
             rx: float | None = None) -> str:  # fmt: skip
        return element("rect", x=x, y=y, width=width, height=height, rx=rx, class_=class_)

    def pill(self, words: str, x: float, y: float, width: float) -> None:
        """A few words on black: something is wrong here."""
        self.front.append(self.rect(x, y, width, 20, "alarm", 4))
        self.say(words, x + width / 2, y + 14.5, "strong said")

    def stretch(self, start: float, end: float | None, y: float, class_: str) -> None:
        """A horizontal line, as far as it is in this row."""
        ends = self.ends(start, end)
        if ends is not None:
            line = f"M{number(ends[0])} {number(y)}H{number(ends[1])}"
            (self.under if class_ == "guide" else self.back).append(path(line, class_))

    def bar(self, span: Span, y: float, half: float) -> tuple[float, float] | None:
        """A hatched bar, open on the side where it goes on outside this row; its two ends."""
        ends = self.ends(span.start, span.end)
        if ends is not None:
            for class_ in (f"tint w{span.who}", f"hatch h{span.who}"):
                self.back.append(self.rect(ends[0], y - half, ends[1] - ends[0], 2 * half, class_))
            outline = box(*ends, y, half, left=self.here(span.start), right=self.here(span.end))
            self.back.append(path(outline, f"line w{span.who}"))
        return ends

    def lane_name(self, name: str, y: float) -> None:
        lines = wrap(name, LABELS - 14, 13, lines=2)
        for place, line in enumerate(lines):
            self.say(line, LABELS - 8, y + 4.5 + (place - (len(lines) - 1) / 2) * 13, "code end")

    def paragraph(self, words: str, class_: str, size: int, indent: int = MARGIN) -> None:
        em = MONO if class_ == "code" else SANS
        for line in wrap(words, self.width - indent - MARGIN, size, lines=9, em=em):
            self.say(line, indent, self.y + size, f"{class_} start")
            self.y += size + 5
        self.y += 6

    # -- the whole --------------------------------------------------------------------------------

    def svg(self, title: str, spoken: str, theme: str) -> str:
        height = int(self.y) + 4
        body = "".join(
            [self.rect(0.5, 0.5, self.width - 1, height - 1, "card", 8),
             *self.under, *self.back, *self.front]
        )  # fmt: skip
        said = f"{title}{spoken}{theme}{body}"
        name = "tl" + hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:8]
        head = [
            element("title", escape(title), id=f"{name}-t"),
            element("desc", escape(spoken), id=f"{name}-d"),
            element("style", style(name, self.letters, theme)),
            element("defs", "".join(hatch(name, *placed) for placed in enumerate(self.letters))),
        ]
        return element(
            "svg", "".join(head) + body,
            xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {self.width} {height}", id=name,
            width=int(self.width * SHOWN_AT), height=int(height * SHOWN_AT), role="img",
            aria_labelledby=f"{name}-t {name}-d", style="max-width:100%;height:auto",
        )  # fmt: skip
