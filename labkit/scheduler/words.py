"""Hint, counts and score, as sentences."""

from __future__ import annotations

from labkit.scheduler.model import Stepper
from labkit.sim.schedule import Move

NO_RULE = "No rule is checked here, so none can be broken. Give one: check=..."


def spoken(stepper: Stepper) -> str:
    """The last move as a sentence, with what came of it."""
    trace = stepper.trace
    if not trace.steps:
        return "No move has been made yet."
    step = trace.steps[-1]
    reply = f": {step.reply}" if step.reply and not step.reply.startswith("(") else ""
    notes = "".join(f"; {note}" for note in step.notes if note not in step.spoken)
    return f"{step.spoken}{reply}{notes}."


def score(stepper: Stepper) -> str:
    """Once a rule is broken: in how many moves, beside the shortest schedule that does it."""
    trace = stepper.trace
    if trace.broken is None:
        return ""
    made = trace.broken_at or 0
    said = f"{trace.broken}. You broke the rule in {_count(made)}"
    if not stepper.whole.over:
        return f"{said}; looking for the shortest schedule."
    best = stepper.shortest
    if best is None or made < len(best):
        why = stepper.whole.stopped and f", as far as the search came ({stepper.whole.stopped})"
        return f"{said}: no schedule within {stepper.bounds} is as short{why}."
    if made > len(best):
        return f"{said}; the shortest schedule has {len(best)}."
    return f"{said}: no schedule is shorter."


def counts(stepper: Stepper) -> str:
    """How many schedules there are, and how many of them break the rule."""
    if not stepper.has_rule:
        return NO_RULE
    if not stepper.whole.over:
        return progress(stepper)
    whole = stepper.whole
    least, of = "", f"{whole.schedules:,} schedules break the rule ({stepper.bounds})"
    if whole.stopped:
        least, of = "at least ", f"{of}. The search stopped at {whole.stopped}"
    counted = f"{least}{whole.violating:,} of {least}{of}. A share of schedules is no likelihood."
    return counted[0].upper() + counted[1:]


def hint(stepper: Stepper) -> str:
    """A shortest way from here to a violation, or that there is none."""
    if not stepper.has_rule:
        return NO_RULE
    if stepper.trace.broken is not None:
        return "The rule is broken already. Undo, or restart, to look for another way."
    if not stepper.searched:
        return progress(stepper)
    path, stopped = stepper.from_here
    if path:
        first = _doing(stepper, path[0])
        return f"From here {_count(len(path))} can break the rule: {path}. First {first}."
    if stopped:
        return (f"The search from here stopped at {stopped}. It has found no way to break the "
                f"rule, which does not mean that there is none.")  # fmt: skip
    if stepper.shortest is not None:
        return (f"Explored to the end: from here every schedule keeps the rule ({stepper.bounds}, "
                f"counted from the start). Take moves back: from the start, "
                f"{_count(len(stepper.shortest))} can break it.")  # fmt: skip
    return (f"Explored to the end: this one holds ({stepper.bounds}). Try a fault. "
            f"Not tried: {stepper.bounds.not_tried}.")  # fmt: skip


def progress(stepper: Stepper) -> str:
    return f"Looking at every schedule: {stepper.states:,} states so far. You can go on."


def _doing(stepper: Stepper, move: Move) -> str:
    return next((str(option) for option in stepper.options if option.move == move), str(move))


def _count(moves: int) -> str:
    return "1 move" if moves == 1 else f"{moves} moves"
