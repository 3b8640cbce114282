"""How long a lease should last: what a TTL does, and which one the measured durations ask for.

    lease      workers that take turns        limits    how sure a count or a quantile is
    reading    durations from text and files  choosing  the TTLs compared, one recommended
    advice     why, and what else to change   chooser   what the widget knows

A TTL is chosen for how long others wait after a crash. It never makes a late write safe.
"""

from __future__ import annotations

from labkit.lazy import lazy

#: Name here -> module that defines it; loaded when it is first used.
_WHERE = {
    "choose_ttl": ".choosing",
    "read_durations": ".reading",
    "example_durations": ".reading",
    "lease_run": ".lease",
}

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
