"""Checks: the rules of an exploration, sorted into those judged on the way and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from labkit.sim.commands import end_of
from labkit.sim.errors import CheckError, LabkitError
from labkit.sim.invariants import Danger, Invariant
from labkit.sim.lab import Lab, read_only
from labkit.sim.machine import WORKERS, WORLD, Machine, State
from labkit.sim.nodes import Node

Rule = Invariant | Callable[[Lab], "str | None"]
Check = Rule | Danger


class Checks:
    """One or several checks.

    Args:
        check: an invariant, a function of the finished lab that returns None or a sentence,
            or several of them in a list; a `Danger` among them is counted.
    """

    def __init__(self, check: Check | Iterable[Check] | None) -> None:
        several = tuple(check) if isinstance(check, list | tuple | set) else (check,)
        self.dangers = [one for one in several if isinstance(one, Danger)]
        self.all: tuple[Any, ...] = ()
        if check is not None:
            self.all = tuple(one for one in several if not isinstance(one, Danger))
        for one in self.all:
            if not (isinstance(one, Invariant) or callable(one)):
                raise CheckError(
                    f"check={one!r} is neither an invariant (such as labkit.mutual_exclusion) nor "
                    f"a function of the finished lab that returns None or a sentence."
                )
        rules = [c for c in self.all if isinstance(c, Invariant) and c.step]
        self.monitors: list[Invariant | Danger] = [*rules, *self.dangers]
        self._judged: dict[Any, str | None] = {}
        self._ends: dict[int, _End] = {}
        self._machine: Machine | None = None  # the numbers in `_judged` and `_ends` are its own

    @property
    def names(self) -> list[str]:
        return [_name(check) for check in self.all]

    @property
    def source(self) -> str:
        """How the checks are written in a call."""
        names = [_identifier(check) for check in self.all]
        return names[0] if len(names) == 1 else f"[{', '.join(names)}]"

    def judge(self, machine: Machine, state: State) -> str | None:
        """The first broken rule of a finished state, as a sentence; None if all hold."""
        if machine is not self._machine:
            self._machine, self._judged, self._ends = machine, {}, {}
        for local in state[WORKERS:]:
            if local not in self._ends:
                self._ends[local] = _End(machine.locals.nodes[local])
        ends = [self._ends[local] for local in state[WORKERS:]]
        key = (state[WORLD], *(end.text for end in ends))
        if key not in self._judged:
            self._judged[key] = self._ask(machine, state, ends)
        return self._judged[key]

    def _ask(self, machine: Machine, state: State, ends: list[_End]) -> str | None:
        worlds = machine.worlds
        execute, now_ms = read_only(worlds.execute, state[WORLD]), worlds.now_ms(state[WORLD])
        lab = Lab(execute, now_ms, worlds.resources)
        for end in ends:
            lab.end(end.letter, end.ended)
        for check in self.all:
            judge = check.at_end if isinstance(check, Invariant) else check
            sentence = _answer(check, judge, lab) if judge else None
            if sentence is not None:
                return sentence
        return None


class _End:
    """How a worker ended. Two ends with the same text are judged alike."""

    __slots__ = ("letter", "ended", "text")

    def __init__(self, node: Node) -> None:
        self.letter = node.worker
        self.ended = end_of(*node.pendings)
        self.text = repr(self.ended)


def _answer(check: Rule, judge: Callable[[Lab], str | None], lab: Lab) -> str | None:
    try:
        sentence = judge(lab)
    except LabkitError:
        raise
    except Exception as error:
        raise CheckError(
            f"The check {_name(check)} raised {type(error).__name__}: {error}. "
            f"It was asked about a finished run with these ends: {dict(lab.outcome)}."
        ) from error
    if sentence is not None and not isinstance(sentence, str):
        raise CheckError(
            f"The check {_name(check)} answered {sentence!r}. "
            f"A check answers None when the rule holds, or a sentence that says what is wrong."
        )
    return sentence


def _name(check: Rule) -> str:
    if isinstance(check, Invariant):
        return check.name
    return getattr(check, "__name__", repr(check))


def _identifier(check: Rule) -> str:
    from labkit.sim import invariants

    if isinstance(check, Invariant):
        for name, value in vars(invariants).items():
            if isinstance(value, Invariant) and value.name == check.name:
                return name if value == check else f'{name}.on("{check.keys}")'
    return _name(check)
