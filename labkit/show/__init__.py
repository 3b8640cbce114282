"""What a reader sees in a notebook: text tables, charts, and small widgets.

    tables    text tables, source code        charts    durations and counts
    models    what the widgets know           twin      widgets that can be stored
    predicting  a question before a run       fold      a result behind a line
    glossary  the words, where defined        selecting a choice of workers to try
    libraries which rung is your framework's lock, and the traps of redis-py's
    sliders   a lease by hand                 chooser   a TTL from measured durations

Be the scheduler is a part of its own, `labkit.scheduler`, and is asked for here like the others.
"""

from __future__ import annotations

from labkit.lazy import lazy

#: Name here -> module that defines it; loaded when it is first used.
_WHERE = {
    "timeline": "labkit.draw.timeline",
    "predict": ".predicting",
    "predictions": ".predicting",
    "be_the_scheduler": "labkit.scheduler.view",
    "all_schedules": ".tables",
    "show_schedules": ".tables",
    "show_source": ".tables",
    "collisions_chart": ".charts",
    "durations_chart": ".charts",
    "lease_sliders": ".sliders",
    "lease_picture": ".sliders",
    "ttl_chooser": ".chooser",
    "Folded": ".fold",
    "Glossary": ".glossary",
    "known_locks": ".libraries",
    "traps": ".libraries",
    "select": ".selecting",
}

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
