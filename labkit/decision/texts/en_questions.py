"""English: headings, questions with help, details, numbers, controls, scenarios."""

TEXTS = {
    # -- the six headings ---------------------------------------------------------------------
    "heading.1": "Which rule must hold, and can the database express it?",
    "heading.2": "Can it be taken in one step: only if free, and with an end?",
    "heading.3": "Does every attempt have its own token, and is the owner checked?",
    "heading.4": "What if the process pauses, or the connection is lost?",
    "heading.5": "Can the receiver refuse an old or a repeated write?",
    "heading.6": "Is waiting bounded, with recovery, measurements and tests?",
    # -- Q1 -----------------------------------------------------------------------------------
    "goal.ask": "What is lost if two workers do this at once, or one does it twice?",
    "goal.label": "What is lost",
    "goal.help": "Imagine that the lock silently failed last night. Would somebody have to repair "
                 "something today? Then choose the first. Fill in this page once for every effect "
                 "you protect: \"charge the card\" and \"update the order\" are two.",
    "goal.correct": "someone would have to repair data, money or trust",
    "goal.effic": "only time or computing is wasted",
    # -- Q2 -----------------------------------------------------------------------------------
    "scope.ask": "Where is the thing that must stay right?",
    "scope.label": "Where it is",
    "scope.help": "Draw every arrow that leaves your process. If all of them end in the same "
                  "database, choose the first. If one leaves the database, choose \"my database "
                  "and an outside system\" and answer the next questions about that arrow.",
    "scope.one_db": "all of it in one database with transactions",
    "scope.one_store": "in one other store: files, objects, a cache, a search index",
    "scope.db_ext": "in my database and in an outside system",
    "scope.many": "in several systems of our own",
    "scope.ext_only": "only in an outside system or device",
    # -- Q3 -----------------------------------------------------------------------------------
    "shape.ask": "Which sentence describes the change?",
    "shape.label": "Kind of change",
    "shape.help": "If you can name a key that must not appear twice, choose the first: an order "
                  "number, an e-mail address, a job name with its planned time. Two bookings that "
                  "must not overlap count as well, if your database can express that.",
    "shape.unique": "at most one X per Y (one charge per order, one run per job and day)",
    "shape.guard": "change one value only while a condition on it holds (stock above 0)",
    "shape.multi": "change several known rows together, or none (from account to account)",
    "shape.think": "read, then think or compute, then write back (an edit form, a cart)",
    "shape.setrule": "a rule about a set of rows, or about rows that must not exist (one doctor on "
                     "call)",
    "shape.claim": "take one of many waiting items (jobs, mails to send)",
    "shape.section": "a piece of work without a row of its own (build a report, deploy)",
    # -- Q4 -----------------------------------------------------------------------------------
    "redis.ask": "Which Redis (or Valkey) could coordinate the workers?",
    "redis.label": "Redis",
    "redis.help": "Ask operations: when the server dies, who answers next, and may the last second "
                  "be missing? A replica that takes over may not have seen the last writes.",
    "redis.none": "none",
    "redis.single": "one server, nobody takes over automatically",
    "redis.failover": "a replica takes over (Sentinel, Cluster, managed service)",
    # -- Q5 -----------------------------------------------------------------------------------
    "coord.ask": "What else can all workers reach?",
    "coord.label": "Other coordinators",
    "coord.help": "Count only what you already operate. A new cluster for one lock is rarely worth "
                  "it.",
    "coord.none": "nothing",
    "coord.db": "a relational database",
    "coord.cons": "etcd, ZooKeeper or Consul",
    "coord.both": "both",
    # -- Q6 -----------------------------------------------------------------------------------
    "runtime.ask": "Where does the work run?",
    "runtime.label": "Where it runs",
    "runtime.help": "Could this process run for an hour, and do something else in the middle? A "
                    "web request cannot: it is ended at a limit, and has no background.",
    "runtime.request": "inside a web request or a function with a time limit",
    "runtime.worker": "in a worker, a daemon or a command",
    # -- Q7 -----------------------------------------------------------------------------------
    "dur.ask": "How long does one unit of work take?",
    "dur.label": "Duration",
    "dur.help": "Measure from the first read that the decision is based on, to the last write. For "
                "an edit form that includes the minutes of the person. A batch of 10,000 small "
                "items is not long: the unit is one item. One video to convert is long.",
    "dur.short": "short: at most a second",
    "dur.bounded": "longer, but with a limit I can name",
    "dur.long": "long, or nobody knows",
    # -- Q8 -----------------------------------------------------------------------------------
    "effect.ask": "If it happens wrongly or twice, can it be taken back?",
    "effect.label": "Taking it back",
    "effect.help": "Which sentence would you rather say to the customer: \"we did it twice\" or "
                   "\"we have not done it yet\"? If you can say neither, choose the last.",
    "effect.undoable": "yes, cheaply",
    "effect.final_skip_ok": "no, but leaving it out and asking a person is fine",
    "effect.final_must": "no, and it must not be left out either",
    # -- Q9 -----------------------------------------------------------------------------------
    "lookup.ask": "After a time-out, can you ask the receiver whether it happened?",
    "lookup.label": "Asking afterwards",
    "lookup.help": "Is there a search by your own reference number that sees the effect at once? "
                   "And is a \"no\" final, or could your first request still arrive later?",
    "lookup.yes": "yes",
    "lookup.no": "no",
    # -- Q10 ----------------------------------------------------------------------------------
    "reject.ask": "What can the receiver refuse, in the same step as the write?",
    "reject.label": "Refusing",
    "reject.help": "Try it on the test system: send the same request twice, then an old one after "
                   "a "
                   "newer one. What happens? A version that only some writers check is no "
                   "protection: then choose \"nothing\".",
    "reject.none": "nothing: it takes whatever arrives",
    "reject.dedup": "a repeat: it recognises an operation by a key (idempotency key)",
    "reject.version": "an old write: it compares a version, a number or an ETag",
    "reject.both": "both",
    # -- Q11 ----------------------------------------------------------------------------------
    "busy.ask": "What should an attempt do when it finds the resource taken?",
    "busy.label": "When taken",
    "busy.help": "Is the other worker doing my work? Then skip. Is it doing other work on the same "
                 "thing? Then wait or queue.",
    "busy.skip": "go away: the work is being done",
    "busy.wait": "wait a limited time",
    "busy.queue": "stand in one line, and be done later",
    "busy.queue_key": "stand in a line per key, and be done later",
    # -- Q12 ----------------------------------------------------------------------------------
    "cont.ask": "How often do attempts meet on the same key?",
    "cont.label": "Meeting on a key",
    "cont.help": "Take the busiest key, not the average. \"Often\" begins where the key is taken "
                 "for 30 % of the time.",
    "cont.low": "rarely",
    "cont.high": "often",
    # -- Q13 ----------------------------------------------------------------------------------
    "fair.ask": "Must attempts be served in the order in which they came?",
    "fair.label": "Order",
    "fair.help": "Would overtaking be unfair or wrong, or only bad luck?",
    "fair.no": "no",
    "fair.fifo": "yes",
    # -- details ------------------------------------------------------------------------------
    "persistence.ask": "What does this Redis write to disk?",
    "persistence.none": "nothing",
    "persistence.rdb": "a snapshot now and then (RDB)",
    "persistence.aof_everysec": "every command, once a second (AOF everysec)",
    "persistence.aof_always": "every command at once (AOF always)",
    "evicting_cache.ask": "May this Redis throw keys away when memory is short, or be flushed?",
    "evicting_cache.yes": "yes, it is (also) a cache",
    "evicting_cache.no": "no",
    "lookup_final.ask": "If the receiver says \"did not happen\", is that final?",
    "lookup_final.yes": "yes",
    "lookup_final.no": "no, the first request may still arrive",
    "version_covers.ask": "What does the version cover?",
    "version_covers.item": "one item",
    "version_covers.set": "the whole group that must fit together",
    "version_by_all.ask": "Does every writer and every receiver check the version?",
    "version_by_all.yes": "yes",
    "version_by_all.no": "no, only some",
    "payload_compared.ask": "Is a repeat with the same key but other contents refused?",
    "payload_compared.yes": "yes",
    "payload_compared.no": "no",
    "failures_replayed.ask": "Does the receiver give a stored failure again for the same key?",
    "failures_replayed.yes": "yes",
    "failures_replayed.no": "no, it tries again",
    "unknown": "I don't know",
    "not_answered": "not answered yet",
    # -- numbers ------------------------------------------------------------------------------
    "work_p50_ms": "half of the runs are done within",
    "work_p99_ms": "99 of 100 runs are done within",
    "work_max_ms": "longest run seen",
    "hard_cap_ms": "enforced limit (0 = none: leave empty)",
    "pause_ms": "longest pause to survive (garbage collection, virtual machine)",
    "recover_ms": "how long others may stay blocked after a crash",
    "final_write_p99_ms": "99 of 100 final writes are done within",
    "redis_p999_ms": "999 of 1000 Redis answers arrive within",
    "caller_deadline_ms": "the caller gives up after",
    "arrivals_per_s": "attempts per second on the busiest key",
    "workers": "workers that may meet",
    "pool": "worker slots or connections in the pool",
    "key_retention_ms": "the receiver remembers a key for",
    # -- controls -----------------------------------------------------------------------------
    "controls.ask": "What exists already, or is planned?",
    "controls.help": "Tick only what you could show in a code review.",
    "control.atomic_acquire": "taking the lock and giving it an end is one command",
    "control.unique_token": "every attempt has a token of its own",
    "control.owner_release": "only the owner's token can release",
    "control.owner_renewal": "only the owner's token can renew, and a lost lock is not recreated",
    "control.unknown_reply": "a rule for \"no answer\": not done, done, or asked",
    "control.stop_deadline": "work stops at a deadline of its own, before the lock ends",
    "control.resource_check": "the receiver compares a version or number in the write itself",
    "control.operation_key": "every operation has a key, made before the first attempt",
    "control.bounded_wait": "waiting has a limit, with random pauses between tries",
    "control.metrics": "\"taken\" and \"error\" are counted apart",
    "control.interleaving_tests": "tests that control the order of steps",
    "state.exists": "exists",
    "state.planned": "planned",
    "state.missing": "not yet",
    "confidence.measured": "measured",
    "confidence.looked_up": "looked up",
    "confidence.assumed": "assumed",
}  # fmt: skip
