"""Conditions: the small language in which rules and warnings are written, and how one is judged.

    shape = claim and fifo and (short or not high)
    scope in (one_store, ext_only)

A condition is judged on *facts*: a mapping from an atom ("shape=claim", "fifo") to a bit mask. With
one bit, the facts are the answers of one reader; with one bit per combination of answers, the same
condition is judged for all of them at once. That is how the tests look at the whole answer space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

Facts = Mapping[str, int]
Judge = Callable[[Facts], int]

EVERYTHING = "*"  #: the atom that is always true; its mask has all bits set
_TOKEN = re.compile(r"\s*([A-Za-z0-9_*]+|[=(),])")


@cache
def condition(text: str) -> Judge:
    """Compile a condition. "otherwise" is always true.

    Raises:
        ValueError: the text is not a condition; it says where.
    """
    reader = _Reader(text)
    judge = reader.either()
    if reader.next:
        raise ValueError(f"{text!r}: a condition ends before {reader.next!r}.")
    return judge


class _Reader:
    """Reads one condition from left to right; `next` is the token not yet used ("" at the end)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _TOKEN.findall(text)[::-1]
        if "".join(text.split()) != "".join(self.tokens[::-1]):
            raise ValueError(f"{text!r} has characters that no condition has.")

    @property
    def next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def take(self, expected: str = "") -> str:
        if not self.next or (expected and self.next != expected):
            raise ValueError(f"{self.text!r}: {expected or 'a name'} is missing at {self.next!r}.")
        return str(self.tokens.pop())

    def either(self) -> Judge:
        judges = [self.both()]
        while self.next == "or":
            self.take()
            judges.append(self.both())
        return _any(judges)

    def both(self) -> Judge:
        judges = [self.one()]
        while self.next == "and":
            self.take()
            judges.append(self.one())
        return _all(judges)

    def one(self) -> Judge:
        word = self.take()
        if word == "not":
            inside = self.one()
            return lambda facts: facts[EVERYTHING] & ~inside(facts)
        if word == "(":
            inside = self.either()
            self.take(")")
            return inside
        if self.next == "=":
            self.take()
            word += "=" + self.take()
        elif self.next == "in":
            self.take()
            return _any([_atom(f"{word}={value}") for value in self.values()])
        return _atom(EVERYTHING if word == "otherwise" else word)

    def values(self) -> list[str]:
        self.take("(")
        found = [self.take()]
        while self.next == ",":
            self.take()
            found.append(self.take())
        self.take(")")
        return found


def _atom(name: str) -> Judge:
    return lambda facts: facts[name]


def _any(judges: list[Judge]) -> Judge:
    if len(judges) == 1:
        return judges[0]
    first, rest = judges[0], _any(judges[1:])
    return lambda facts: first(facts) | rest(facts)


def _all(judges: list[Judge]) -> Judge:
    if len(judges) == 1:
        return judges[0]
    first, rest = judges[0], _all(judges[1:])
    return lambda facts: (yes := first(facts)) and (yes & rest(facts))
