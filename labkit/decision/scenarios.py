"""Data: the named scenarios a reader can start from. Their names and traps are texts."""

from __future__ import annotations

from labkit.decision.questions import QUESTIONS

_KEYS = tuple(question.key for question in QUESTIONS)

#: Opened first: the reader expects a lock, and the answer is one statement.
FIRST = "S03"

# In the order of the questions: goal scope shape redis coord runtime dur effect lookup reject busy
# cont fair
_ROWS = {
    "S01": "effic one_store section single none worker bounded undoable no none skip low no",
    "S02": "correct db_ext unique single db request bounded final_must yes dedup wait low no",
    "S03": "correct one_db guard single db request short undoable yes version wait high no",
    "S05": "correct one_db multi single db request short final_must yes version wait high no",
    "S06": "effic one_store section failover none request short undoable no none skip high no",
    "S08": "correct one_db unique single db request short undoable yes version skip low no",
    "S10": "correct one_store section single db worker bounded undoable yes version wait low no",
    "S11": "correct many section none cons worker long undoable yes version wait low no",
    "S12": "effic ext_only section single none worker short undoable no none queue high no",
    "S13": "correct one_db multi single db request short final_must yes version wait low no",
    "S15": "effic one_store claim single none worker bounded undoable yes version queue low no",
    "S16": "effic one_store section single none worker long undoable yes none skip low no",
    "S18": "correct many section single none worker long undoable yes version queue_key low fifo",
    "S19": "correct one_store think single none request short undoable yes version wait low no",
    "S21": "correct db_ext unique failover db request bounded final_must yes dedup "
           "queue_key low no",
    "S23": "correct one_store think single none worker short undoable yes version wait low no",
    "X1": "correct one_db setrule none db request short undoable yes version wait low no",
    "X2": "correct one_db section none db worker long final_must yes version skip low no",
    "X3": "correct ext_only unique failover db worker bounded final_must no none wait low no",
    "X4": "effic ext_only section none none worker bounded undoable no none wait low no",
    "X5": "effic ext_only section failover none request bounded final_must no none wait low no",
}  # fmt: skip

SCENARIOS = {id: dict(zip(_KEYS, row.split(), strict=True)) for id, row in _ROWS.items()}
