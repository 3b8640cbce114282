"""What a reader sees in a notebook: text tables, charts, and small widgets.

    tables    text tables, source code        charts    durations and counts
    models    what the widgets know           twin      widgets that can be stored
    predicting  a question before a run       fold      a result behind a line
    glossary  the words, where defined        selecting a choice of workers to try
    libraries which rung is your framework's lock, and the traps of redis-py's
    lease_sliders  a lease by hand            ttl_chooser  a TTL from measured durations

Be the scheduler is a part of its own, `labkit.scheduler`, and is asked for here like the others.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Name here -> module that defines it; loaded when it is first used.
_WHERE = {
    "timeline": "labkit.draw.timeline",
    "predict": "labkit.show.predicting",
    "predictions": "labkit.show.predicting",
    "be_the_scheduler": "labkit.scheduler.view",
    "all_schedules": "labkit.show.tables",
    "show_schedules": "labkit.show.tables",
    "show_source": "labkit.show.tables",
    "collisions_chart": "labkit.show.charts",
    "durations_chart": "labkit.show.charts",
    "lease_sliders": "labkit.show.lease_sliders",
    "lease_picture": "labkit.show.lease_sliders",
    "ttl_chooser": "labkit.show.ttl_chooser",
    "Folded": "labkit.show.fold",
    "Glossary": "labkit.show.glossary",
    "known_locks": "labkit.show.libraries",
    "traps": "labkit.show.libraries",
    "select": "labkit.show.selecting",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"labkit.show has no {name!r}. It has: {', '.join(__all__)}.")
