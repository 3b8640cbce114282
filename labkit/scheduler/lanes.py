"""What can be seen of a trace while the lane of the server, or of a worker, is hidden.

With the server hidden, a request that is lost and a reply that is lost look the same: no answer
comes. That is all a worker knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from labkit.sim import schedule as moves
from labkit.sim.errors import LabkitError
from labkit.sim.trace import Step, Trace

SERVER = "server"
TITLES = ("#", "move", "at", "command", "reply", "what else")
Row = tuple[str, ...]


def hidden_lanes(text: str, letters: Collection[str]) -> frozenset[str]:
    """The lanes named in a text such as "server" or "server B".

    Raises:
        LabkitError: for a lane that does not exist.
    """
    lanes = str(text).split()
    for lane in lanes:
        if lane != SERVER and lane not in letters:
            possible = ", ".join([SERVER, *letters])
            raise LabkitError(f'hide="{text}": there is no lane "{lane}". Possible: {possible}.')
    return frozenset(lanes)


def rows(trace: Trace, hidden: Collection[str] = ()) -> list[Row]:
    """One row for each step that can be seen, as `TITLES` says; counted without the others."""
    seen = [row for step in trace.steps for row in _seen(step, hidden)]
    return [(str(number), *row) for number, row in enumerate(seen, 1)]


def _seen(step: Step, hidden: Collection[str]) -> Iterator[Row]:
    move, reply, notes = str(step.move), step.reply, step.notes
    of_server = step.move.kind == moves.LATE_REQUEST or (
        step.move.worker is None and step.move.kind != moves.TIME
    )
    if step.move.worker in hidden or (of_server and SERVER in hidden):
        return
    if SERVER in hidden:
        if step.move.is_fault and step.move.kind != moves.CRASH:
            move, reply = move.removesuffix(step.move.kind), "(no answer)"
        if step.move.kind == moves.TIME:  # that a key expires is said before all else
            gone = set(step.transition.before) - set(step.transition.after)
            notes = notes[len(gone) :]
    others = tuple(f"{lane}{end}" for lane in hidden for end in (" ", "'", ":"))
    kept = "; ".join(note for note in notes if not note.startswith(others))
    yield move, f"{step.at_ms} ms", step.command, reply, kept
