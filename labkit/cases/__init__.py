"""Named situations: what is at stake, who works on it, and the rule that must hold.

    case       what a case is: wrong and right worker, rule, danger, mutants, what is expected
    catalogue  all cases by class of fault: of("F04"), named("late-delete"), every()
    rules      rules and dangers that several cases use
    workers    workers that several cases use
    account    a bank account in Redis, and two who take money from it
    gap        random arrivals: how often a gap is hit

The cases themselves are data: acquiring, releasing, renewing, scope, errors, units, entering;
leases, losing, clocks, fencing and attempts for leases that end, and writes that come too late.
In `database` the database decides, without a lock.
"""

import importlib
from typing import Any

#: Name -> module that defines it, loaded at first use.
_WHERE = {"Case": "case", "FAULTS": "catalogue", "every": "catalogue", "named": "catalogue",
          "of": "catalogue"}  # fmt: skip

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"labkit.cases has no {name!r}. It has: {', '.join(__all__)}.")
    return getattr(importlib.import_module(f"labkit.cases.{_WHERE[name]}"), name)
