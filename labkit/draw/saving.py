"""Traces as files: a picture for a chat, a page for a link, a block for a comment."""

from __future__ import annotations

from string import Template

from labkit.draw.svg import data, escape
from labkit.draw.timeline import outcome, timeline
from labkit.sim.trace import RENDERERS, Trace

_COLUMNS = ("#", "move", "at", "command", "reply", "what else")


def as_svg(trace: Trace) -> str:
    """The timeline with a caption: rule and workers above, schedule and replay line beneath."""
    foot = (f"Schedule: {trace.schedule}", trace.call)
    return timeline(trace, caption=heading(trace), foot=foot).svg + "\n"


def as_html(trace: Trace) -> str:
    """A page that needs nothing else: picture, steps, the trace in words, the replay line."""
    return Template(data("page.html")).substitute(
        title=escape(heading(trace)),
        picture=timeline(trace, theme="live").svg,
        # The picture itself says which rule is broken.
        outcome="" if trace.broken else f"<p>{escape(outcome(trace))}.</p>",
        table=steps_table(trace),
        spoken=escape(trace.spoken),
        call=escape(trace.call),
    )


def as_markdown(trace: Trace) -> str:
    """A block for the comment under a pull request."""
    fence = "`" * 3
    while fence in f"{trace}{trace.call}":
        fence += "`"
    return (
        f"**{_plain(heading(trace))}**\n\n"
        f"Schedule `{trace.schedule}`: {_plain(trace.spoken)}\n\n"
        f"{fence}text\n{trace}\n{fence}\n\n"
        f"{fence}python\n{trace.call}\n{fence}\n"
    )


def heading(trace: Trace) -> str:
    """The rule and what became of it, as one line."""
    if trace.rule is None:
        return f"{trace.worker}: {trace.schedule}"
    return f"{trace.rule}: " + ("broken" if trace.broken else "not broken here")


def steps_table(trace: Trace) -> str:
    """The steps as an HTML table."""
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (
            step.number, step.move, f"{step.at_ms} ms", step.command, step.reply,
            "; ".join(step.notes))) + "</tr>"
        for step in trace.steps
    )  # fmt: skip
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _plain(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return "".join("\\" + c if c in "\\`*_<>[]|#~" else c for c in text)


RENDERERS.update({".svg": as_svg, ".html": as_html, ".md": as_markdown})
