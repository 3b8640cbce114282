"""The catalogue of cases, by class of fault. A class is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from labkit.cases.case import Case
from labkit.sim.errors import LabkitError

#: Class of fault -> what it is, and the modules of its cases.
FAULTS = {
    "F01": ("acquiring is not one step", "acquiring"),
    "F02": ("a lock without an end", "acquiring"),
    "F03": ("one token for everybody", "acquiring"),
    "F04": ("a release that does not ask whose lock it is", "releasing"),
    "F05": ("a renewal that does not ask, or that revives", "renewing"),
    "F06": ("who loses moves the end of the lock", "acquiring"),
    "F07": ("a lease shorter than the work", "leases"),
    "F08": ("a pause that outlasts the lease", "leases", "database"),
    "F09": ("a renewal that stops, or that leaves no second chance", "losing"),
    "F10": ("renewal that outlives the work", "losing"),
    "F11": ("a lost lease that nobody notices, or that stops nothing", "losing"),
    "F12": ("a former holder that undoes its successor's work", "losing"),
    "F13": ("a lease that is counted from the wrong moment", "clocks"),
    "F15": ("a retry that does the same again", "database"),
    "F19": ("the server's clock jumps", "clocks"),
    "F20": ("clocks of two machines are compared", "clocks"),
    "F21": ("holder and waiter disagree how long a lease lasts", "clocks"),
    "F22": ('a lock taken for "only once"', "database"),
    "F24": ("the counter of numbers is reset", "fencing"),
    "F25": ("a number that comes twice, or that nobody checks", "fencing"),
    "F28": ("deciding on what was read before", "database"),
    "F31": ("looking for a row, then inserting it", "database"),
    "F33": ("a refusal that nobody looks at", "database"),
    "F38": ("blocked by oneself, or freeing what one never took", "attempts"),
    "F40": ("a token that several attempts share", "scope"),
    "F41": ("an error on the way in or out leaks the lock, or hides another error", "errors"),
    "F47": ("units and options mixed up", "units"),
    "F49": ("released before one has stopped", "attempts"),
    "F50": ("entering without a grant", "entering"),
}


def of(fault: str) -> tuple[Case, ...]:
    """The cases of a class of fault, such as "F04".

    Raises:
        LabkitError: when there is no such class.
    """
    if fault not in FAULTS:
        known = ", ".join(f"{one} ({what})" for one, (what, *_) in FAULTS.items())
        raise LabkitError(f'There are no cases for "{fault}". There are some for {known}.')
    _, *names = FAULTS[fault]
    modules = [importlib.import_module(f"labkit.cases.{name}") for name in names]
    return tuple(case for module in modules for case in module.CASES if case.fault == fault)


def every() -> Iterator[Case]:
    """All cases, in the order of their classes."""
    for fault in FAULTS:
        yield from of(fault)


def named(name: str) -> Case:
    """The case of this name, such as "late-delete".

    Raises:
        LabkitError: when there is no such case.
    """
    cases = {case.name: case for case in every()}
    if name not in cases:
        raise LabkitError(f'There is no case "{name}". There are: {", ".join(cases)}.')
    return cases[name]
