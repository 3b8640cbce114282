"""Named situations: what is at stake, who works on it, and the rule that must hold.

    case       what a case is: wrong and right worker, rule, danger, mutants, what is expected
    catalogue  all cases by class of fault: of("F04"), named("late-delete"), every()
    rules      rules and dangers that several cases use
    workers    workers that several cases use
    account    a bank account in Redis, and two who take money from it
    gap        random arrivals: how often a gap is hit

The cases themselves are data: acquiring, releasing, renewing, scope, errors, units, entering;
leases, losing, helpers, clocks, fencing, attempts for leases that end and writes that come late.
In `database` the database decides, without a lock.
"""

from labkit.lazy import lazy

#: Name -> module that defines it, loaded at first use.
_WHERE = {"Case": ".case", "FAULTS": ".catalogue", "every": ".catalogue", "named": ".catalogue",
          "of": ".catalogue"}  # fmt: skip

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
