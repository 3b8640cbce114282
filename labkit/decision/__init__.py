"""The decision: answers in, a design out, and a record to commit.

    from labkit.decision import decide, record
    d = decide({"goal": "correct", "scope": "one_db", "shape": "guard"})
    d.design                  'D02_ATOMIC_STATEMENT'
    print(d)                  the result in a few lines
    d.explanation.answers     the six questions, each answered in a sentence
    print(record(d, name="the last items in stock"))

The parts:

    questions, rules, designs, scenarios   data; identifiers are stable, records use them
    texts          what a reader sees, one table per language
    conditions     the small language of rules and warnings
    answers        checks what was typed; unknown and numbers become what routes
    engine         `decide`
    parameters     formulas for the reader's own numbers
    explain        what follows, in words
    space          all combinations: which questions still matter
    relevance      whether a question matters for the design, for details, or for nothing
    evidence       cases that show the danger and that the design holds, run now
    records, writing, saved                records: written, and read again
    page           the page as a model; `panel` and `view` show it, `terminal` asks in a terminal

Nothing here needs ipywidgets but `view`, which `checklist()` loads.
"""

from __future__ import annotations

from labkit.lazy import lazy

_WHERE = {
    "decide": ".engine",
    "Decision": ".engine",
    "AnswerError": ".answers",
    "record": ".records",
    "Record": ".records",
    "load": ".saved",
    "check_file": ".saved",
    "gather": ".evidence",
    "Page": ".page",
    "Checklist": ".view",
    "checklist": ".view",
}

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
