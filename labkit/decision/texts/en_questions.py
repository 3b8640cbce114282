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
    "goal.help": "Imagine it happened last night, and nobody noticed. Would somebody have to "
                 "repair something today? Then choose the first. Answer once for every effect. An "
                 "effect is one thing that happens and must come out right: \"charge the card\" "
                 "and \"update the order\" are two.",
    "goal.correct": "someone would have to repair data, money or trust",
    "goal.effic": "only time or computing is wasted",
    # -- Q2 -----------------------------------------------------------------------------------
    "scope.ask": "Where is the thing that must stay right?",
    "scope.label": "Where it is",
    "scope.help": "Draw every arrow that leaves your process, and look where the arrows end.",
    "scope.one_db": "all of it in one database (also a document database, if only one document "
                    "changes at a time)",
    "scope.one_db.help": "All arrows end in the same database.",
    "scope.one_store": "in one other store: files, objects, a cache, a search index",
    "scope.one_store.help": "All arrows end in one store that is not a database with transactions.",
    "scope.db_ext": "in my database and in an outside system",
    "scope.db_ext.help": "One arrow ends in your database, one leaves for a provider, a partner or "
                         "a device. Answer the next questions for the arrow that leaves.",
    "scope.many": "in several systems of our own",
    "scope.many.help": "The arrows end in several services or databases that you operate yourself.",
    "scope.ext_only": "only in an outside system or device, and I keep no database about it",
    "scope.ext_only.help": "The only arrow leaves. If you could keep a row about it, choose "
                           "\"in my database and in an outside system\".",
    # -- Q3 -----------------------------------------------------------------------------------
    "shape.ask": "Which sentence describes the change?",
    "shape.label": "Kind of change",
    "shape.help": "Choose \"at most one\" only if that is the whole rule. If several rows must "
                  "also change together, choose that one; the result tells how to keep out "
                  "repeats.",
    "shape.unique": "at most one X per Y (one charge per order, one run per job and day)",
    "shape.unique.help": "You can name a key that must not appear twice: an order number, an "
                         "e-mail address, a job name with its planned time. Two bookings that "
                         "must not overlap count as well, if your database can express that.",
    "shape.guard": "change one value: while a condition on it holds (stock above 0), or so that a "
                   "copy outside shows the newest (a price at a partner)",
    "shape.guard.help": "One value is set or counted. Also: a thermostat, or a price in a "
                        "partner's shop, must show your newest value.",
    "shape.multi": "change several known rows together, or none (from account to account)",
    "shape.multi.help": "You know before you begin which rows they are.",
    "shape.think": "read, then think or compute, then write back (an edit form, a cart)",
    "shape.think.help": "The new value depends on the old one, and you compute it outside the "
                        "store.",
    "shape.setrule": "keep a rule about a group of rows (at least one doctor must stay on call)",
    "shape.setrule.help": "Each change is harmless alone, but two together break the rule. Also: a "
                          "condition such as \"no open order exists\".",
    "shape.claim": "take one of many waiting items, each to be done once (jobs, mails to send)",
    "shape.claim.help": "It does not matter which worker takes which item.",
    "shape.section": "a piece of work without a row of its own (build a report, deploy)",
    "shape.section.help": "None of the others fits: one worker at a time should do it.",
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
    "dur.bounded": "longer, but the work is stopped at a limit, and others may be blocked that "
                   "long after a crash",
    "dur.long": "long, or it differs too much",
    # -- Q8 -----------------------------------------------------------------------------------
    "effect.ask": "If it happens wrongly or twice, can it be taken back?",
    "effect.effic.ask": "If it ran twice, would anything be wrong afterwards?",
    "effect.label": "Taking it back",
    "effect.help": "Is a wrong value put right by sending the right one? Then choose \"put right "
                   "cheaply\". Else: which sentence would you rather say to the customer, \"we did "
                   "it twice\" or \"we have not done it yet\"? The second: choose \"leaving it out "
                   "and asking a person is fine\". If you can say neither, choose \"must not be "
                   "left out either\".",
    "effect.undoable": "it is put right cheaply; or there is nothing to put right, because the "
                       "result is the same",
    "effect.final_skip_ok": "it cannot be taken back, but leaving it out and asking a person is "
                            "fine",
    "effect.final_must": "it cannot be taken back, and it must not be left out either",
    # -- Q9 -----------------------------------------------------------------------------------
    "lookup.ask": "After a time-out, can you ask the receiver whether it happened?",
    "lookup.label": "Asking afterwards",
    "lookup.words": "The receiver is whoever accepts the write at the end.",
    "lookup.help": "Is there a search by your own reference number that sees the effect at once? "
                   "Reading the present value also counts, if that is enough to see that it is "
                   "right. And is a \"no\" final, or could your first request still arrive later?",
    "lookup.yes": "yes",
    "lookup.no": "no",
    # -- Q10 ----------------------------------------------------------------------------------
    "reject.ask": "What can the receiver refuse, in the same step as the write?",
    "reject.label": "Refusing",
    "reject.words": "The receiver is whoever accepts the write at the end: a database, a file "
                    "store, a provider, a device.",
    "reject.help": "What could it refuse if you asked for it? A database always can: a unique key, "
                   "or a version column that you add. Try it on the test system: send the same "
                   "request twice, then an old one after a newer one. What happens? A version that "
                   "only some writers check is no protection: then choose \"nothing\".",
    "reject.none": "nothing: it takes whatever arrives",
    "reject.dedup": "a repeat: it recognises an operation by a key that you send (an idempotency "
                    "key)",
    "reject.version": "an old write: it compares a version or a number (in HTTP: an ETag)",
    "reject.both": "both",
    # -- Q11 ----------------------------------------------------------------------------------
    "busy.ask": "What should happen to the second one, if the first is still at work or has "
                "already changed it?",
    "busy.label": "When taken",
    "busy.help": "Is the first one doing the same work? Then the second can go away. Is it doing "
                 "other work on the same thing, and somebody waits for the answer? Then wait. "
                 "Nobody waits, but it must be done? Then stand in line.",
    "busy.skip": "go away: it is being done, or is already done (or: be told no, and see what has "
                 "changed; nobody waits)",
    "busy.wait": "wait a limited time",
    "busy.queue": "be done later: one line for everything",
    "busy.queue_key": "be done later: a line for each customer, house or order",
    # -- Q12 ----------------------------------------------------------------------------------
    "cont.ask": "How often do attempts meet on the same key?",
    "cont.label": "Meeting on a key",
    "cont.words": "Key = the one customer, house or account that two could meet on.",
    "cont.help": "Take the busiest key, not the average. \"Often\" begins where the key is taken "
                 "for 30 % of the time. Example: 20 ms of work, 15 times a second = 30 %.",
    "cont.low": "rarely",
    "cont.high": "often",
    # -- Q13 ----------------------------------------------------------------------------------
    "fair.ask": "Must every one be done in its order, or is it enough that the newest wins?",
    "fair.label": "Order",
    "fair.help": "Would it be wrong or unfair if a later one were done before an earlier one? Then "
                 "choose \"in its order\".",
    "fair.no": "the order does not matter, or the newest wins",
    "fair.fifo": "every one must be done in its order",
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
    "hard_cap_ms": "limit at which the work is stopped by force (leave empty if nothing stops it)",
    "pause_ms": "longest pause of the process to survive (garbage collection, virtual machine)",
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
    "control.unique_token": "every attempt has a token of its own (a random text that says whose "
                            "lock it is)",
    "control.owner_release": "only the owner's token can release",
    "control.owner_renewal": "only the owner's token can renew, and a lost lock is not recreated",
    "control.unknown_reply": "a rule for \"no answer\": not done, done, or asked",
    "control.stop_deadline": "work stops at a deadline of its own, before the lock ends",
    "control.resource_check": "the receiver compares a version or number in the write itself",
    "control.operation_key": "every operation has a key (a name of its own), made before the first "
                             "attempt",
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
