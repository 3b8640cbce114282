"""The space of all 1,935,360 combinations of answers, and which questions still matter in it.

Every combination has a number: its answers, read in the order of `ORDER`, are the digits. Rules are
judged for all combinations at once, one bit for each, which takes some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from labkit.decision.conditions import EVERYTHING, condition
from labkit.decision.designs import DESIGNS
from labkit.decision.engine import derive
from labkit.decision.questions import BY_KEY, ORDER
from labkit.decision.rules import BLOCKS, RULES


@cache
def all_answers() -> dict[str, int]:
    """The facts of all combinations: atom -> a mask with one bit per combination."""
    size, masks = 1, {EVERYTHING: 1}
    for key in reversed(ORDER):  # the last question is the fastest digit
        values = BY_KEY[key].values
        shifts = [place * size for place in range(len(values))]
        own = {f"{key}={value}": masks[EVERYTHING] << shift
               for value, shift in zip(values, shifts, strict=True)}  # fmt: skip
        masks = own | {name: _repeated(mask, shifts) for name, mask in masks.items()}
        size *= len(values)
    return derive(masks)


def _repeated(mask: int, shifts: list[int]) -> int:
    repeated = 0
    for shift in shifts:
        repeated |= mask << shift
    return repeated


@cache
def fired() -> dict[str, int]:
    """Rule -> the combinations in which it fires. Nobody's answers are left over or taken twice."""
    facts = all_answers()
    left = {block: condition(text)(facts) for block, text in BLOCKS.items()}
    found = {}
    for rule in RULES:
        found[rule.id] = condition(rule.when)(facts) & left[rule.block]
        left[rule.block] &= ~found[rule.id]
    return found


@cache
def table() -> bytes:
    """The place of the design in `DESIGNS`, for every combination."""
    size = all_answers()[EVERYTHING].bit_length()
    places = {design.short: place for place, design in enumerate(DESIGNS)}
    digits = 0
    for bit in range(4):
        mask = 0
        for rule in RULES:
            mask |= fired()[rule.id] if places[rule.design] >> bit & 1 else 0
        text = format(mask, f"0{size}b").encode()[::-1]  # one character per combination
        digits |= int.from_bytes(text.translate(bytes.maketrans(b"01", bytes((0, 1 << bit)))))
    return digits.to_bytes(size)


def matters(answers: Mapping[str, str]) -> tuple[dict[str, bool], tuple[str, ...]]:
    """Which questions can still change the design, and which designs are still possible.

    Args:
        answers: normalised answers; a question that is not in it is open.

    A question matters if, the answers before it in `ORDER` being as they are, two of its answers
    lead to different designs for some answers to the questions after it.
    """
    found = {}
    parts = {table()}
    for key in ORDER:
        values = BY_KEY[key].values
        split = {part: _split(part, len(values)) for part in parts}
        found[key] = any(len(set(pieces)) > 1 for pieces in split.values())
        place = values.index(answers[key]) if key in answers else slice(None)
        chosen = [pieces[place] for pieces in split.values()]
        parts = {piece for one in chosen for piece in (one if isinstance(one, tuple) else (one,))}
    possible = sorted({part[0] for part in parts})
    return found, tuple(DESIGNS[place].id for place in possible)


def _split(part: bytes, pieces: int) -> tuple[bytes, ...]:
    length = len(part) // pieces
    return tuple(part[at : at + length] for at in range(0, len(part), length))
