"""A program: which workers run, on what, under which check; common to explore and replay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.checks import Check, Checks
from labkit.sim.connection import plain_template
from labkit.sim.errors import LabkitError
from labkit.sim.lab import Lab
from labkit.sim.machine import Machine
from labkit.sim.nodes import Worker
from labkit.sim.virtual import virtual_world
from labkit.sim.worlds import Worlds

Setup = Callable[[Lab], Any]


class Program:
    """Workers, the filling of the stores, and the checks.

    Args:
        worker: one function for all workers, or a mapping letter -> function; several functions
            in a tuple are threads of one process.
        workers: the letters, when `worker` is one function.
        setup: fills the stores before the first move: `setup(lab)`.
        lag: how many changes the replica has not seen when it takes over (`f`).
        evict: a pattern for the keys that an eviction takes (`e`); None: those that have a TTL.
    """

    def __init__(
        self,
        worker: Worker | Mapping[str, Worker],
        workers: str | None,
        setup: Setup | None,
        check: Check | Iterable[Check] | None,
        lag: int = 1,
        evict: str | None = None,
    ) -> None:
        self.worker = worker
        self.workers = _by_letter(worker, workers)
        if setup is not None and not callable(setup):
            raise LabkitError(f"setup={setup!r} is not a function that fills the stores of a lab.")
        self.setup = setup
        if not isinstance(lag, int) or isinstance(lag, bool) or lag < 1:
            raise LabkitError(
                f"lag={lag!r}: a failover loses a whole number of changes, 1 or more."
            )
        if evict is not None and not isinstance(evict, str):
            raise LabkitError(f'evict={evict!r}: write a pattern for keys, such as "lock:*".')
        self.lag = lag
        self.evict = evict
        self.check = check
        self.checks = Checks(check)

    def machine(self, **settings: Any) -> Machine:
        """A new machine in its first state. Use it inside `virtual()`, and close it there."""
        setup = None
        if self.setup is not None:
            fill = self.setup

            def setup(worlds: Worlds) -> None:
                fill(Lab(worlds.set_up, 0, worlds.resources, worlds.declare, worlds.redis.speak))

        return Machine(self.workers, setup=setup, monitors=self.checks.monitors, lag=self.lag,
                       evict=self.evict, **settings)  # fmt: skip

    def virtual(self) -> Any:
        """The context in which workers have virtual time."""
        plain_template()
        return virtual_world(*(function for worker in self.workers.values()
                               for function in functions_of(worker)))  # fmt: skip

    @property
    def name(self) -> str:
        """The worker function's name, or the mapping as it would be written."""
        if isinstance(self.worker, Mapping):
            pairs = (f'"{letter}": {_names(f)}' for letter, f in self.worker.items())
            return "{" + ", ".join(pairs) + "}"
        return _names(self.worker)

    def call(self, function: str, *schedule: str, **options: Any) -> str:
        """The line of Python that runs this program again: `replay(...)` or `simulate(...)`."""
        words = [self.name, *(f'"{text}"' for text in schedule)]
        if not isinstance(self.worker, Mapping) and list(self.workers) != ["A", "B"]:
            words.append(f'workers="{"".join(self.workers)}"')
        if self.setup is not None:
            words.append(f"setup={_name(self.setup)}")
        if self.checks.all:
            words.append(f"check={self.checks.source}")
        if self.lag != 1:
            words.append(f"lag={self.lag}")
        if self.evict is not None:
            words.append(f'evict="{self.evict}"')
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
            known = ", ".join(f"{k} ({moves.MEANING[k]})" for k in moves.FAULTS)
            raise LabkitError(f'faults: "{kind}" is not a kind of fault. Possible: {known}.')
        if not isinstance(count, int) or count < 0:
            raise LabkitError(f'faults: how many "{kind}"? {count!r} is not a number of faults.')
    for kind, first in ((moves.LATE_REQUEST, moves.LOST_REQUEST), (moves.UP, moves.DOWN)):
        if wanted.get(kind) and not wanted.get(first):
            raise LabkitError(
                f'faults: "{kind}" ({moves.MEANING[kind]}) can only follow "{first}" '
                f'({moves.MEANING[first]}). Allow both: "{first}{kind}".'
            )
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
        functions = functions_of(function)
        for one in functions or (None,):
            _check_function(letter, one)
        found[letter] = functions[0] if len(functions) == 1 else functions
    return found


def functions_of(worker: Any) -> tuple[Callable[[Any], Any], ...]:
    """The functions of a worker's threads, the main one first."""
    return tuple(worker) if isinstance(worker, list | tuple) else (worker,)


def _check_function(letter: str, function: Any) -> None:
    if not callable(function):
        raise LabkitError(f"Worker {letter} is {function!r}, not a function of one argument.")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise LabkitError(
            f"Worker {letter}, {_name(function)}, is a generator or a coroutine: calling it runs "
            f"nothing of it. A worker is a plain function, without yield, async and await."
        )


def _names(worker: Any) -> str:
    names = [_name(function) for function in functions_of(worker)]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
