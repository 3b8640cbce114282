"""SVG as text: elements, measures, and the look that all pictures share.

Written by hand so that a picture is the same bytes on every machine: strict nbval compares them.
"""

from __future__ import annotations

import html
import re
from functools import cache, lru_cache
from pathlib import Path

#: Okabe-Ito, as far as it is dark enough for a line on white; a fifth worker has the first
#: colour again, and another hatch.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
#: Each worker's hatch, as a path in a tile of 8 by 8: told apart in greyscale too.
HATCHES = ("M-2 2 2-2M0 8 8 0M6 10 10 6", "M-2 6 2 10M0 0 8 8M6-2 10 2", "M2 0V8M6 0V8",
           "M0 2H8M0 6H8", "M0 4H8M4 0V8", "M1 1h2v2h-2zM5 5h2v2h-2z")  # fmt: skip

#: Ink, quieter ink, hairlines and the ground: on paper, and in a live page's own theme.
THEMES = {
    "card": {"ink": "#1b1b1b", "quiet": "#595959", "hair": "#d4d4d4", "ground": "#ffffff"},
    "live": {
        "ink": "var(--jp-ui-font-color1, #1b1b1b)",
        "quiet": "var(--jp-ui-font-color2, #595959)",
        "hair": "var(--jp-border-color2, #d4d4d4)",
        "ground": "var(--jp-layout-color0, #ffffff)",
    },
}

#: Width of a character in units of the font size: exact for monospace, ample for sans-serif.
MONO, SANS = 0.602, 0.56

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def escape(text: object) -> str:
    """Text for XML and HTML; characters that XML does not allow become visible."""
    visible = _NOT_IN_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", str(text))
    return html.escape(visible, quote=True)


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; `content` is markup. `stroke_width` is written stroke-width, `class_` class."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
                    for key, value in attributes.items() if value is not None)  # fmt: skip
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def text(content: object, x: float, y: float, class_: str = "", **attributes: object) -> str:
    return element("text", escape(content), x=x, y=y, class_=class_ or None, **attributes)


def path(data: str, class_: str, **attributes: object) -> str:
    return element("path", d=data, class_=class_, **attributes)


@lru_cache(4096)  # a live picture is drawn again with nearly the same words
def wrap(content: str, width: float, size: float, *, lines: int = 3,
         em: float = MONO) -> tuple[str, ...]:  # fmt: skip
    """Text cut into lines that fit `width`, evenly; what does not fit ends in an ellipsis."""
    characters = max(4, int(width / (em * size)))
    cut = _cut(content, characters, lines)
    while characters > 4:
        narrower = _cut(content, characters - 1, lines)
        if len(narrower) != len(cut) or len("".join(narrower)) != len("".join(cut)):
            break
        cut, characters = narrower, characters - 1
    return tuple(cut)


def _cut(content: str, characters: int, lines: int) -> list[str]:
    """Lines cut at spaces, and in long names after a colon or a slash."""
    pieces: list[str] = []
    for word in content.split():
        parts = re.findall("[^:/]+[:/]*|[:/]+", word) if len(word) > characters else [word]
        for part in parts:
            pieces += [part[i : i + characters] for i in range(0, len(part), characters)]
        pieces[-1] += " "
    cut = [""]
    for piece in pieces:
        if len((cut[-1] + piece).rstrip()) > characters and cut[-1]:
            cut.append("")
        cut[-1] += piece
    cut = [line.rstrip() for line in cut if line]
    if len(cut) > lines:
        cut[lines - 1 :] = [cut[lines - 1][: characters - 1].rstrip() + "…"]
    return cut


def box(x1: float, x2: float, y: float, half: float, *, left: bool, right: bool) -> str:
    """The outline of a bar around the height `y`, with or without its left and right side."""
    top, bottom = number(y - half), number(y + half)
    sides = f"M{number(x1)} {top}V{bottom}" * left + f"M{number(x2)} {top}V{bottom}" * right
    return f"M{number(x1)} {top}H{number(x2)}M{number(x1)} {bottom}H{number(x2)}{sides}"


def number(value: float) -> str:
    """At most one decimal, so that no platform rounds differently."""
    return f"{value:.1f}".removesuffix(".0")


def _value(value: object) -> str:
    return number(value) if isinstance(value, int | float) else escape(value)


def style(name: str, letters: tuple[str, ...], theme: str) -> str:
    """The style sheet of one picture, with its id before each selector: pages hold several."""
    sheet = data("timeline.css").split("*/", 1)[1]
    rules = "".join(line.strip() for line in sheet.splitlines())
    for colour, value in THEMES[theme].items():
        rules = rules.replace(f"${colour}", value)
    if theme == "live":
        rules += ".card{fill:none;stroke:none}"
    for place, letter in enumerate(letters):
        colour = COLOURS[place % len(COLOURS)]
        rules += f".w{letter}{{stroke:{colour}}}.tint.w{letter},.full.w{letter}{{fill:{colour}}}"
        rules += f".h{letter}{{fill:url(#{name}-{letter})}}"
    return re.sub(r"([^{},]+)(?=,[^{}]*\{|\{)", rf"#{name} \1", rules)


@cache
def data(name: str) -> str:
    """A file beside this module."""
    return (Path(__file__).parent / name).read_text("utf-8")


def hatch(name: str, place: int, letter: str) -> str:
    lines = path(HATCHES[place % len(HATCHES)], f"thin w{letter}")
    return element("pattern", lines, id=f"{name}-{letter}", width=8, height=8,
                   patternUnits="userSpaceOnUse")  # fmt: skip
