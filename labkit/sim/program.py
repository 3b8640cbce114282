"""A program: which workers run, on what, under which check; common to explore and replay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.checks import Check, Checks
from labkit.sim.connection import plain_template
from labkit.sim.errors import LabkitError, NotModelled
from labkit.sim.lab import Lab
from labkit.sim.machine import Machine
from labkit.sim.nodes import Worker
from labkit.sim.virtual import virtual_world
from labkit.sim.worlds import Worlds

#: Faults that are modelled so far.
MODELLED = (moves.LOST_REPLY, moves.LOST_REQUEST, moves.CRASH)
Setup = Callable[[Lab], Any]


class Program:
    """Workers, the filling of the stores, and the checks.

    Args:
        worker: one function for all workers, or a mapping letter -> function.
        workers: the letters, when `worker` is one function.
        setup: fills the stores before the first move: `setup(lab)`.
    """

    def __init__(
        self,
        worker: Worker | Mapping[str, Worker],
        workers: str | None,
        setup: Setup | None,
        check: Check | Iterable[Check] | None,
    ) -> None:
        self.worker = worker
        self.workers = _by_letter(worker, workers)
        if setup is not None and not callable(setup):
            raise LabkitError(f"setup={setup!r} is not a function that fills the stores of a lab.")
        self.setup = setup
        self.check = check
        self.checks = Checks(check)

    def machine(self, **settings: Any) -> Machine:
        """A new machine in its first state. Use it inside `virtual()`, and close it there."""
        setup = None
        if self.setup is not None:
            fill = self.setup

            def setup(worlds: Worlds) -> None:
                fill(Lab(worlds.set_up, 0, worlds.resources, worlds.declare, worlds.speak))

        return Machine(self.workers, setup=setup, monitors=self.checks.monitors, **settings)

    def virtual(self) -> Any:
        """The context in which workers have virtual time."""
        plain_template()
        return virtual_world(*self.workers.values())

    @property
    def name(self) -> str:
        """The worker function's name, or the mapping as it would be written."""
        if isinstance(self.worker, Mapping):
            pairs = (f'"{letter}": {_name(f)}' for letter, f in self.worker.items())
            return "{" + ", ".join(pairs) + "}"
        return _name(self.worker)

    def call(self, function: str, *schedule: str, **options: Any) -> str:
        """The line of Python that runs this program again: `replay(...)` or `simulate(...)`."""
        words = [self.name, *(f'"{text}"' for text in schedule)]
        if not isinstance(self.worker, Mapping) and list(self.workers) != ["A", "B"]:
            words.append(f'workers="{"".join(self.workers)}"')
        if self.setup is not None:
            words.append(f"setup={_name(self.setup)}")
        if self.checks.all:
            words.append(f"check={self.checks.source}")
        words += [f"{name}={value}" for name, value in options.items() if value]
        return f"{function}({', '.join(words)})"


def fault_budget(faults: str | Mapping[str, int]) -> dict[str, int]:
    """How many of each fault: `"?!"` allows one of each, a mapping says how many."""
    if not isinstance(faults, str | Mapping):
        raise LabkitError(f'faults={faults!r}: write "?!" for one of each, or {{"?": 2, "!": 1}}.')
    if isinstance(faults, str) and len(set(faults)) < len(faults):
        raise LabkitError(f'faults="{faults}": for more than one of a kind, write {{"?": 2}}.')
    wanted = dict(faults) if isinstance(faults, Mapping) else dict.fromkeys(faults, 1)
    for kind, count in wanted.items():
        if kind not in moves.FAULTS:
            known = ", ".join(f"{k} ({moves.MEANING[k]})" for k in MODELLED)
            raise LabkitError(f'faults: "{kind}" is not a kind of fault. Possible: {known}.')
        if kind not in MODELLED:
            raise NotModelled(f'faults: "{kind}" ({moves.MEANING[kind]}) is not modelled yet.')
        if not isinstance(count, int) or count < 0:
            raise LabkitError(f'faults: how many "{kind}"? {count!r} is not a number of faults.')
    return wanted


def _by_letter(worker: Any, workers: str | None) -> dict[str, Worker]:
    if isinstance(worker, Mapping):
        found = dict(worker)
        if workers is not None and set(workers) != set(found):
            raise LabkitError(f'workers="{workers}" does not fit the mapping {sorted(found)}.')
    else:
        letters = "AB" if workers is None else workers
        if not isinstance(letters, str) or not letters or len(set(letters)) < len(letters):
            raise LabkitError(f'workers={letters!r}: write a letter for each worker, as in "ABC".')
        found = dict.fromkeys(letters, worker)
    if not found:
        raise LabkitError("The mapping of workers is empty: name at least one worker.")
    for letter, function in found.items():
        if not isinstance(letter, str) or len(letter) != 1 or not ("A" <= letter <= "Z"):
            raise LabkitError(f'"{letter}" cannot name a worker. Use one capital letter, A to Z.')
        _check_function(letter, function)
    return found


def _check_function(letter: str, function: Any) -> None:
    if not callable(function):
        raise LabkitError(f"Worker {letter} is {function!r}, not a function of one argument.")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise LabkitError(
            f"Worker {letter}, {_name(function)}, is a generator or a coroutine: calling it runs "
            f"nothing of it. A worker is a plain function, without yield, async and await."
        )


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
