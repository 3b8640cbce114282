"""The trace and the store's contents, as HTML; with a caption for those who hear it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from labkit.draw.svg import escape
from labkit.draw.timeline import timeline
from labkit.scheduler.lanes import SERVER, TITLES, rows
from labkit.scheduler.model import Stepper
from labkit.sim import schedule as moves

#: For a room: what is read from the back at 1280 x 720, and how many steps fit beneath each other.
LARGE, MEDIUM, LAST_STEPS = "26px", "20px", 6
#: A cell is not broken into lines if it has no more characters than this.
_WHOLE = 12
_CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:top;font-weight:inherit"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor"


def legend(faults: Iterable[str]) -> str:
    """What each kind of fault is, once for all workers."""
    meant = (f"<b>{escape(kind)}</b> {escape(moves.MEANING[kind])}" for kind in faults)
    text = " · ".join(meant)
    return (
        f"<p style='margin:.3em 0;font-size:{MEDIUM};line-height:1.35'>{text}</p>" if text else ""
    )


def said(lines: Sequence[tuple[str, str]], present: bool = False) -> str:
    """What a screen reader reads out after each change: pairs of a heading and a sentence."""
    text = "".join(f"<p style='margin:.3em 0'><b>{escape(head)}</b> {escape(line)}</p>"
                   for head, line in lines if line)  # fmt: skip
    return f'<div role="status" style="{_size(present)}">{text}</div>'


def report(stepper: Stepper, hidden: Collection[str] = (), present: bool = False) -> str:
    """The trace with the contents beside it, and the timeline, unless a lane is hidden."""
    made = tables(stepper, hidden, LAST_STEPS if present else 0)
    picture = "" if hidden else timeline(stepper.trace, theme="live").svg
    size = f"font-size:{MEDIUM}" if present else ""
    return f'<div style="{size}">{made}</div>{picture}'


def tables(stepper: Stepper, hidden: Collection[str] = (), last: int = 0) -> str:
    """Trace and contents side by side, below each other where the page is narrow."""
    seen = rows(stepper.trace, hidden)
    caption = "Trace" if not last or len(seen) <= last else f"Trace, the last {last} steps"
    parts = [_table(caption, TITLES, seen[-last:], "no move yet")]
    if SERVER not in hidden:
        stored = [(key, value.text, _until(value.expires_at_ms, value.row))
                  for key, value in sorted(stepper.contents.items())]  # fmt: skip
        parts.append(_table("What is stored", ("key", "value", "expires"), stored, "nothing"))
    flex = "display:flex;flex-wrap:wrap;gap:1em 3em;align-items:flex-start"
    return f'<div style="{flex}">{"".join(parts)}</div>'


def _until(expires_at_ms: int | None, row: bool) -> str:
    if expires_at_ms is None:
        return "" if row else "never"
    return f"after {expires_at_ms} ms"


def _table(caption: str, titles: Sequence[str], body: Sequence[Sequence[str]], empty: str) -> str:
    head = "".join(f'<th scope="col" style="{_HEAD}">{escape(title)}</th>' for title in titles)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in body)
    lines = lines or f'<tr><td style="{_CELL}" colspan="{len(titles)}">({empty})</td></tr>'
    style = "font-family:monospace;border-collapse:collapse;line-height:1.4"
    bold = "font-weight:bold;text-align:left;font-family:sans-serif"
    return (f'<table style="{style}"><caption style="{bold}">{escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>")  # fmt: skip


def _cell(text: str) -> str:
    whole = ";white-space:nowrap" if len(text) <= _WHOLE else ""
    return f'<td style="{_CELL}{whole}">{escape(text)}</td>'


def _size(present: bool) -> str:
    return f"font-size:{LARGE};line-height:1.35" if present else "line-height:1.5"
