"""Text tables: all schedules of a small program, and the source code of a thing."""

from __future__ import annotations

import html
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.checks import Check
from labkit.sim.errors import LabkitError
from labkit.sim.machine import Machine, State
from labkit.sim.nodes import Worker
from labkit.sim.program import Program, Setup
from labkit.sim.replaying import replay
from labkit.sim.schedule import Move
from labkit.sim.trace import Trace, table


def all_schedules(
    worker: Worker | Mapping[str, Worker],
    *,
    workers: str | None = None,
    setup: Setup | None = None,
    check: Check | Iterable[Check] | None = None,
    limit: int = 100,
) -> list[Trace]:
    """The traces of all complete schedules, without pauses and faults, in alphabetical order.

    Raises:
        LabkitError: when there are more than `limit`; `labkit.explore` counts without listing.
    """
    program = Program(worker, workers, setup, check)
    with program.virtual():
        machine = program.machine(budget={moves.TIME: 0})
        try:
            found = []
            for schedule in _complete(machine):
                found.append(schedule)
                if len(found) > limit:
                    raise LabkitError(f"There are more than limit={limit} schedules. "
                                      f"labkit.explore counts them without listing.")  # fmt: skip
        finally:
            machine.close()
    return [replay(worker, s, workers=workers, setup=setup, check=check) for s in found]


def _complete(machine: Machine) -> Iterator[tuple[Move, ...]]:
    """All complete schedules, by brute force, depth first."""
    todo: list[tuple[State, tuple[Move, ...]]] = [(machine.start, ())]
    while todo:
        state, made = todo.pop()
        following = machine.successors(state)
        if not following:
            yield made
        todo += [(after, (*made, move)) for move, after in reversed(following)]


def show_schedules(
    traces: Sequence[Trace], column: str | Callable[[Trace], object] | None = None
) -> None:
    """Print one line per schedule: its letters, the command of each, and what is left.

    Args:
        column: a key, whose last value is shown, or a function of a trace.
    """
    length = max((len(trace.steps) for trace in traces), default=0)
    judged = any(trace.rule for trace in traces)
    title = column if isinstance(column, str) else getattr(column, "__name__", "")
    numbers = [f"{n}." for n in range(1, length + 1)]
    rows = [("schedule", *numbers, *[title] * bool(column), *[""] * judged)]
    for trace in traces:
        commands = [step.command for step in trace.steps] + [""] * (length - len(trace.steps))
        last = [str(_last(trace, column))] if column else []
        verdict = ("broken" if column else trace.broken) if trace.broken else ""
        rows.append((str(trace.schedule), *commands, *last, *[verdict] * judged))
    print("\n".join(table(rows)))
    if judged:
        broken = sum(trace.broken is not None for trace in traces)
        print(f"{broken} of {len(traces)} schedules break the rule.")


def _last(trace: Trace, column: str | Callable[[Trace], object]) -> object:
    if callable(column):
        return column(trace)
    contents = trace.steps[-1].transition.after if trace.steps else trace.start
    return contents[column].text if column in contents else "(none)"


class Records:
    """Lines with titles: a table in HTML, and as text each line below its first field."""

    def __init__(self, titles: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
        self.titles = tuple(titles)
        self.lines = [tuple(line) for line in lines]

    def __repr__(self) -> str:
        width = max(map(len, self.titles[1:]))
        return "\n".join("\n    ".join([first, *(f"{title:{width}}  {field}" for title, field
                                                 in zip(self.titles[1:], rest, strict=True))])
                         for first, *rest in self.lines)  # fmt: skip

    def _repr_html_(self) -> str:
        left = 'style="text-align: left"'
        head = "".join(f'<th scope="col" {left}>{html.escape(title)}</th>' for title in self.titles)
        rows = "".join(
            "<tr>" + "".join(f"<td {left}>{html.escape(field)}</td>" for field in line) + "</tr>"
            for line in self.lines
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


class Source:
    """Source code: a notebook sets it in the colours of its theme, elsewhere it is plain text."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __repr__(self) -> str:
        return self.code

    def _repr_markdown_(self) -> str:
        fence = "`" * 3
        while fence in self.code:
            fence += "`"
        return f"{fence}python\n{self.code}\n{fence}"


def show_source(thing: Any) -> Source:
    """The source code of a function or a class, as it stands in its file."""
    try:
        return Source(textwrap.dedent(inspect.getsource(thing)).rstrip("\n"))
    except (OSError, TypeError):
        raise LabkitError(f"The source code of {thing!r} is not at hand: it is no function or "
                          f"class of a file or a cell.") from None  # fmt: skip
