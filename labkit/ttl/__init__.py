"""How long a lease should last: what a TTL does, and which one the measured durations ask for.

    lease      workers that take turns        limits    how sure a count or a quantile is
    reading    durations from text and files  choosing  the TTLs compared, one recommended
    advice     why, and what else to change   chooser   what the widget knows

A TTL is chosen for how long others wait after a crash. It never makes a late write safe.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Name here -> module that defines it; loaded when it is first used.
_WHERE = {
    "choose_ttl": "labkit.ttl.choosing",
    "read_durations": "labkit.ttl.reading",
    "example_durations": "labkit.ttl.reading",
    "lease_run": "labkit.ttl.lease",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"labkit.ttl has no {name!r}. It has: {', '.join(__all__)}.")
