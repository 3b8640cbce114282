"""English: reasons, warnings, parameters, tests, metrics, and the words around them."""

TEXTS = {
    # -- why this design: one sentence per rule ----------------------------------------------------
    "A01": "A rule \"at most one per key\" is enforced where the row is written.",
    "A02": "The new value and its condition fit into one statement.",
    "A03": "A list of waiting items with an order, and it may wait: one consumer per key.",
    "A04": "Short items: take one with SKIP LOCKED and finish it in the same transaction.",
    "A05": "The items outlive a transaction and may wait: a job queue that hands them out.",
    "A06": "The item is worked on while somebody waits: a lease row, its number checked at commit.",
    "A07": "Read, compute, write is short but often meets others: lock the row, do not burn tries.",
    "A08": "Never hold a lock while a person or a long computation thinks: check the version when "
           "writing.",
    "A09": "Many rows, not short, may wait: one after the other per key, in small transactions.",
    "A10": "Many rows, not short, the caller waits: compute outside, then one short commit that "
           "checks a version.",
    "A11": "Several rows, short, and others are met often: lock them first, in a fixed order.",
    "A12": "Several rows, short, and calm: one transaction, each change with its condition, in a "
           "fixed order.",
    "A13": "The rule depends on a set of rows: let the database find the conflict, and repeat.",
    "A14": "Work inside one database that may wait, and meets others or needs an order.",
    "A15": "Long work inside a request that may wait: move it to a worker with a queue.",
    "A16": "Work inside one database: a lock object of the database, checked in every commit.",
    "B01": "The receiver cannot refuse and cannot be asked, and the effect is final and must not "
           "be "
           "left out.",
    "B02": "Your own database writes the intent down once; what stays unknown is asked or looked "
           "at "
           "by a person.",
    "B03": "No database: a lasting claim in the coordinator, and the receiver is asked before "
           "acting.",
    "B04": "No database: one consumer asks before acting, and a rare repeat can be undone.",
    "B05": "Nothing lasting records the attempt, and the receiver cannot refuse a repeat.",
    "B06": "The receiver itself can create something only if it is absent.",
    "B07": "A list of waiting items: a queue, and the receiver recognises the operation.",
    "B08": "Take the item by writing over exactly the version that was read.",
    "B09": "No database, but a lasting queue can keep the operation and its key.",
    "B10": "The receiver recognises an operation: write the intent down, send, and repeat with the "
           "same key.",
    "C01": "The receiver cannot refuse a late write, and the effect is final: no lock is enough.",
    "C02": "The database is the truth, and the outside copy is set again until it matches.",
    "C03": "One writer per key makes the gap small; what slips through is repaired.",
    "C04": "A reliable lock makes the gap small; what slips through is repaired.",
    "C05": "Nothing can refuse, nothing keeps an order, and nothing may wait in line.",
    "C06": "The database fixes the order, one operation is on its way per key, and the receiver "
           "recognises repeats.",
    "C07": "The queue fixes the order, one operation is on its way per key, and the receiver "
           "recognises repeats.",
    "C08": "Repeats are recognised; late writes are not refused, but they can be undone.",
    "C09": "The receiver recognises repeats, but does not refuse late writes, and nothing fixes "
           "the order.",
    "C10": "The store applies condition and change in one operation.",
    "C11": "Others are met often, or an order is needed, and it may wait: one writer per key, and "
           "the version check as the guard.",
    "C12": "Short work on one thing with a version: write if it is unchanged, else try again; no "
           "lock needed.",
    "C13": "Long work inside a request that may wait: move it to a worker with a queue.",
    "C14": "Expensive work, and a coordinator is at hand: its lock saves work, its number is "
           "checked "
           "by the receiver.",
    "C15": "Expensive work: a Redis lock saves work, and the receiver's version check keeps it "
           "right.",
    "C16": "Expensive work: a lease row in the database saves work, and the receiver checks its "
           "number.",
    "C17": "Expensive and often met: the coordinator's lock saves work, the version check keeps it "
           "right.",
    "C18": "Expensive and often met: a Redis lock saves work, the version check keeps it right.",
    "C19": "Expensive and often met: a lease row saves work, the version check keeps it right.",
    "C20": "One thing with a version: write if it is unchanged, else try again.",
    "C21": "Several systems: the database decides and numbers the change, messages carry the "
           "version.",
    "C22": "Several systems, no database: a lasting queue carries numbered changes.",
    "C23": "Several systems, no database: intent and number live in the coordinator.",
    "C24": "Work that can be run again, over systems with versions: every write is conditional.",
    "C25": "A change over several systems that nobody wrote down cannot be finished after a crash.",
    "E01": "A row for each thing to do once is the cheapest filter for repeats.",
    "E02": "The store has a conditional operation.",
    "E03": "A cheap check for conflicts at the store.",
    "E04": "A list of waiting items that may wait is a queue.",
    "E05": "The order matters and the work may wait.",
    "E06": "Others are met often and every attempt must still run later: a queue instead of "
           "waiting "
           "workers.",
    "E07": "A short piece of work inside one database: its own lock for the length of a "
           "transaction.",
    "E08": "Long work inside a request that may wait: move it to a worker with a queue.",
    "E09": "Long work, or nobody knows how long, in a process that can renew.",
    "E10": "Doing it twice only costs work: one Redis lock, no majority of servers.",
    "E11": "No Redis: use the database that is already there.",
    "E12": "No Redis and no database: use the coordinator that is already there.",
    "E13": "Nothing is shared but a queue: let it hand out the work.",
    "E14": "Doing it twice is harmless and nothing is shared: accept it, and spread it in time.",
    # -- warnings ------------------------------------------------------------------------------
    "W01_FINAL_EFFECT": "You said that only time is lost; but it cannot be taken back, or nobody "
                        "knows whether it can. So it is treated as something to repair.",
    "W02_NO_LEASE_IS_ENOUGH": "You need a right result, but the receiver cannot refuse an old or "
                              "repeated write. No lock alone is enough.",
    "W02_NO_LEASE_IS_ENOUGH.if": "Unless the receiver can refuse an old or repeated write, no lock "
                                 "alone is enough.",
    "W02_NO_LEASE_IS_ENOUGH.no_lock": "This design does not rely on a lock.",
    "W03_FAILOVER_GRANTS_TWICE": "When a replica takes over, two workers may hold the lock. A "
                                 "number "
                                 "for the receiver must come from the receiver or a database, not "
                                 "from this Redis.",
    "W04_RESTART_FORGETS": "A restart may forget locks. Start again only after the longest TTL, or "
                           "accept that work is done twice. [[Redis documentation, distributed "
                           "locks]]",
    "W05_EVICTING_CACHE": "Keep locks away from a Redis that throws keys away or is flushed: a "
                          "lock "
                          "has a TTL, so it is among the first to go.",
    "W06_REQUEST_KILL_LIMIT": "A request is ended at its limit and cannot renew in the background: "
                              "the TTL must be longer than the limit, and waiting must be bounded.",
    "W07_KEEP_TRANSACTION_SHORT": "Keep transactions short although the work is not: move calls "
                                  "and "
                                  "computing outside.",
    "W07_KEEP_TRANSACTION_SHORT.if": "If the work takes more than a second: keep transactions "
                                     "short all the same, and move calls and computing outside.",
    "W08_NO_ARRIVAL_ORDER": "This design by itself does not keep the order in which attempts came.",
    "W08_NO_ARRIVAL_ORDER.in_line": "Standing in line is not enough: begin the next one only when "
                                    "the one before it is done.",
    "W09_SATURATED_KEY": "The busiest key is taken nearly all the time. No lock repairs that: "
                         "shorten the work, split the key, or spread it.",
    "W10_LOOKUP_IS_A_RACE": "Asking and then acting is a race, unless only one sender can exist, "
                            "and "
                            "a \"no\" is final.",
    "W11_MAY_SKIP": "Sent at most once: it may be left out, and a person decides what is open.",
    "W12_RETRY_HORIZON": "Stop repeating before the receiver forgets the key; afterwards a repeat "
                         "counts as new.",
    "W13_ONE_VERSION_FOR_THE_GROUP": "Several things must fit together: one version for the whole "
                                     "group, not one for each.",
    "W14_RESIDUAL_RISK": "A late write is not refused here. The gap is small, not closed: plan how "
                         "to find and repair it.",
    "W14_RESIDUAL_RISK.if": "Unless the receiver compares a version, a late write is not refused "
                            "here. The gap is small, not closed: plan how to find and repair it.",
    "W15_DATABASE_CAN_REFUSE": "A database can always refuse: by a key, a condition or a version "
                               "column.",
    "W16_CALLER_KEEPS_THE_INTENT": "There is no database: the caller has to keep intent and key, "
                                   "and "
                                   "repeat with the same one.",
    "W16_CALLER_KEEPS_THE_INTENT.if": "Unless there is a database: the caller has to keep intent "
                                      "and key, and repeat with the same one.",
    "W17_MISSING_CONTROL": "Something that this design needs does not exist yet.",
    "W19_ONE_GLOBAL_CONSUMER": "One line for everything: check that one consumer can keep up.",
    "W20_NEEDS_DRIFT_DETECTION": "You cannot ask the receiver: find another way to notice that the "
                                 "copy is wrong.",
    "W20_NEEDS_DRIFT_DETECTION.if": "If you cannot ask the receiver: find another way to notice "
                                    "that the copy is wrong.",
    "W21_DOES_NOT_FIT_THE_REQUEST": "Long work inside a request cannot also wait: answer "
                                    "\"accepted\" "
                                    "and queue it, or make the unit of work shorter.",
    "W21_DOES_NOT_FIT_THE_REQUEST.if": "If this is long work inside a request: it cannot also "
                                       "wait. Then answer \"accepted\" and queue it, or make the "
                                       "unit of work shorter.",
    "W22_WORK_FOLLOWS_THE_ROW": "The row is written at once, the work takes longer: first write a "
                                "row that says \"started\", and finish only where its number, "
                                "which grows with every takeover, is still yours.",
    "W22_WORK_FOLLOWS_THE_ROW.if": "If work follows the row and takes longer: first write a row "
                                   "that says \"started\", and finish only where its number, which "
                                   "grows with every takeover, is still yours.",
    "W23_ALL_SYSTEMS_CHECK": "Every system that is touched must check the same number.",
    "W24_GUARD_SPANS_SYSTEMS": "One statement cannot reach over several systems.",
    "level.info": "to know",
    "level.medium": "take care",
    "level.high": "important",
    "level.block": "stands in the way",
    # -- contradictions ------------------------------------------------------------------------
    "contradiction.final_but_efficiency": "Only time is wasted, and yet it cannot be taken back: "
                                          "which of the two is right?",
    "contradiction.database_denied": "The state lives in a database, and yet no database can be "
                                     "reached: it is taken to be reachable.",
    "contradiction.database_refuses": "The state lives in one database, and yet nothing can "
                                      "refuse: "
                                      "a database can, so this answer is not used.",
    "contradiction.order_without_queue": "The order of arrival cannot be kept by attempts that go "
                                         "away or wait: queue them, or drop the order.",
    "contradiction.long_wait_in_request": "Long work, inside a request, that has to wait: one of "
                                          "the "
                                          "three has to change.",
    "contradiction.partial_version": "A version that only some writers check protects nobody: it "
                                     "counts as no version.",
    "contradiction.number_wins": "You ticked \"{ticked}\", your numbers say \"{computed}\": the "
                                 "numbers are used.",
    # -- why not -------------------------------------------------------------------------------
    "why_not.needs_repair": "somebody would have to repair data, money or trust",
    "why_not.wasted_work": "nothing would break, but more work would be wasted",
    "why_not.no_key": "your rule is not \"at most one per key\"",
    "why_not.no_version": "the receiver compares no version, so a late write would be accepted",
    "why_not.spans": "one write cannot reach over several systems",
    "why_not.no_guard": "your change is not one value with a condition on itself",
    "why_not.not_one_db": "what must stay right is not all in one database",
    "why_not.not_short": "a transaction must not stay open for so long",
    "why_not.not_several_rows": "it is made for several known rows",
    "why_not.nothing_to_compare": "before the first one there is no version to compare",
    "why_not.many_conflicts": "many would meet, and most tries would be wasted",
    "why_not.work_twice": "two would do the long work, and one of them for nothing",
    "why_not.no_row_yet": "a row that does not exist cannot be locked",
    "why_not.no_database": "there is no database that all workers reach",
    "why_not.constraint_is_enough": "a unique key does it without a lock",
    "why_not.lease_row_elsewhere": "a row in a database does not stop a write elsewhere",
    "why_not.simpler_in_database": "the database has something simpler for this rule",
    "why_not.only_wasted": "doing it twice only wastes work; keys and senders would cost more",
    "why_not.same_transaction": "effect and record are in the same database: one transaction does "
                                "it",
    "why_not.no_refusal": "the receiver recognises neither a key nor a version",
    "why_not.lease_ends_early": "a lock can end while its holder is still at work: the late or "
                                "repeated effect would be accepted",
    "why_not.no_redis": "there is no Redis",
    "why_not.no_bound": "nobody can say how long the work takes",
    "why_not.request_cannot_renew": "a request cannot renew in the background",
    "why_not.bound_is_enough": "the duration has a limit, so nothing has to be renewed",
    "why_not.database_refuses": "the database refuses by itself; a lock would be one more part",
    "why_not.retry_is_cheaper": "the work is short: trying again costs less than a lock",
    "why_not.must_not_queue": "a busy attempt is not to be done later",
    "why_not.no_consensus": "you do not run one, and a new cluster would cost more than it saves",
    "why_not.not_needed": "something here can hold",
    "why_not.earlier_rule": "it may do, but the rule above fits better",
    "why_not.unless": "it would be, with another answer: {answer}",
    # -- cost ----------------------------------------------------------------------------------
    "component.database": "your database",
    "component.receiver": "the receiver's own check",
    "component.redis": "Redis",
    "component.queue": "a queue (broker)",
    "component.worker": "a sender or consumer process",
    "component.consensus": "etcd, ZooKeeper or Consul",
    "component.people": "a person who looks at open outcomes",
    # -- contention ----------------------------------------------------------------------------
    "policy.skip": "Who finds it taken or already done goes away at once and says so. \"Taken\" is "
                   "not an error.",
    "policy.wait": "Who finds it taken waits, with random pauses, up to a limit; then it answers "
                   "\"taken\", which is not an error.",
    "policy.queue": "Who finds it taken stands in one line for everything; the caller gets "
                    "\"accepted\".",
    "policy.queue_key": "Who finds it taken stands in a line for each key; the caller gets "
                        "\"accepted\".",
    "policy.unknown": "You have not said whether the second one goes away, waits or stands in "
                      "line. The settings assume that it waits, up to a limit.",
    "policy.high": "Others are met often: shorten what is held, or split the key.",
    # -- the first, fifth and sixth heading ----------------------------------------------------
    "rule.unique": "At most one per key",
    "rule.guard": "One value changes only while its condition holds",
    "rule.guard.outside": "One value is right: its condition holds, and a copy outside shows the "
                          "newest",
    "rule.multi": "Several rows change together or not at all",
    "rule.think": "What was read is still true when it is written",
    "rule.setrule": "A rule about a set of rows stays true",
    "rule.claim": "Each waiting item is taken by one worker",
    "rule.section": "One worker at a time does this piece of work",
    "express.one_db": "{rule}; yes, the database can express it: {design}.",
    "express.outside": "{rule}; the database alone cannot, because the effect is elsewhere: "
                       "{design}.",
    "refuse.one_db": "Yes: the database refuses inside the same statement or transaction.",
    "refuse.none": "No: it takes whatever arrives, old or repeated.",
    "refuse.dedup": "It refuses repeats, by the operation's key; it does not refuse old writes.",
    "refuse.version": "It refuses old writes, by their version; the same holder's repeats pass.",
    "refuse.both": "Yes, both: old writes by their version, repeats by their key.",
    "pause_and_loss": "After a pause: {pause}. After a lost answer: {reply}.",
    "bounded.build": "{policy} To build: {done} of {all} exist.",
    "bounded.nothing": "{policy} Nothing has to be built for it.",
    # -- parameters ----------------------------------------------------------------------------
    "parameter.work_bound_ms": "Upper bound of one run",
    "parameter.ttl_ms": "TTL of the lock",
    "parameter.visibility_ms": "Time until a message is delivered again, at least",
    "parameter.holder_deadline_ms": "The holder stops after",
    "parameter.renew_every_ms": "Renew every",
    "parameter.stop_after_ms": "Stop after the last renewal",
    "parameter.client_timeout_ms": "Time-out of the Redis client",
    "parameter.tolerated_pause_ms": "Longest pause without harm",
    "parameter.max_renewals": "Renewals at most",
    "parameter.load": "Load of the busiest key",
    "parameter.busy_share": "Attempts that find it taken",
    "parameter.queue_wait_ms": "Expected wait",
    "parameter.worst_wait_ms": "Wait when all come at once",
    "parameter.wait_limit_ms": "Limit for waiting",
    "parameter.retry_base_ms": "First random pause, up to",
    "parameter.retry_cap_ms": "Later random pauses, up to",
    "parameter.retry_attempts": "Tries within the limit, about",
    "parameter.optimistic_attempts": "Tries until one wins, on average",
    "parameter.retry_horizon_ms": "Stop repeating after",
    "parameter.own_key_retention_ms": "Keep your own keys for at least",
    "parameter.transaction_limit_ms": "Limit for a transaction",
    "note.blocks_too_long": "longer than others may stay blocked: renew, queue or split the work",
    "note.pause_too_long": "below the pause you want to survive: a longer TTL would block longer",
    "note.no_time_to_wait": "there is no time to wait: skip or queue",
    "note.too_many_tries": "above 1.5: another design wastes less",
    "note.no_end": "at a load of 1 or more the line only grows",
    "parameter.assumed": "not given, taken as 0: {names}",
    "parameter.missing": "open: needs {names}",
    # -- tests ---------------------------------------------------------------------------------
    "T1": "Many workers start at once: one effect.",
    "T2": "Kill a worker after every step: another one takes over in time.",
    "T3": "Stop the holder beyond its lease, let the next finish, resume: the late write is "
          "refused "
          "(or counted, where only work is wasted).",
    "T4": "The lock server refuses, is slow, or gives no answer: the rule for it is followed, and "
          "it "
          "is not counted as \"taken\".",
    "T5": "The old holder releases after the next has taken: the lock stays.",
    "T6": "Lose the answer to taking it: no work without a grant, no waiting for oneself.",
    "T7": "Lose the answer to the write or commit, then repeat: one effect.",
    "T8": "The same request twice, together and later: one effect, the same answer.",
    "T9": "Let a replica take over before it has seen the lock: two hold it, and the receiver's "
          "check still holds (or the double work is counted).",
    "T10": "The number falls back or comes twice: refused.",
    "T11": "Take over in the middle of read, change, write: nothing is lost.",
    "T12": "Force a deadlock, a serialization failure, a lock time-out: bounded repeats.",
    "T13": "More attempts than can be served: waiting stays below the limit, and workers stay "
           "free.",
    "T14": "All orders of the steps of the small protocol, by exploration.",
    "T15": "Repeat after the receiver has forgotten the key.",
    "T16": "Delivered again while it runs; a message that always fails.",
    "T17": "Remove one protection at a time: some test must fail.",
    "T18": "The work is dead, the renewal is alive: the lock ends in time.",
    # -- metrics -------------------------------------------------------------------------------
    "M1": "Results of taking, counted apart: acquired, busy, error, unknown. Alarm on error and "
          "unknown, never mixed with busy.",
    "M2": "Waiting time and number of waiting workers. Alarm when 99 % is above 0.8 of the limit.",
    "M3": "Time held / TTL. Warn above 0.5 (99 %), page above 0.8: shorten or split the work, do "
          "not "
          "just raise the TTL.",
    "M4": "Locks lost while working, releases that found another owner. Any, where the result must "
          "be right.",
    "M5": "Time left at renewal, and failed renewals.",
    "M6": "Late writes refused (412, old number, 0 rows). A sudden step means that the lease no "
          "longer fits.",
    "M7": "40001, 40P01, 23505, lock time-outs, and tries per success.",
    "M8": "Repeats answered from the record, \"in progress\" answers, keys with other contents.",
    "M9": "Length of the queue, age of the oldest, redeliveries, messages given up.",
    "M10": "Open outcomes and their age; how many wait for a person.",
    "M11": "The lock server's errors, answer times, restarts, takeovers, evicted keys.",
    "M12": "The rule itself, checked by an independent query (doubles, sums, gaps). Page above 0.",
    # -- judgement calls -----------------------------------------------------------------------
    "judgement.consensus_first": "the coordinator's lock is preferred to Redis where both exist",
    "judgement.redis_for_long_sections": "a Redis lock rather than a database connection that "
                                         "stays "
                                         "open",
    "judgement.refuse_residual_risk": "a refusal rather than a lock with a small remaining risk",
    "judgement.constants": "the limits: 1 s for a transaction, 30 % load for \"often\", 1 % clock "
                           "error, 10 % of the pool waiting",
    # -- evidence ------------------------------------------------------------------------------
    "evidence.danger": "The danger",
    "evidence.holds": "That it holds",
    "evidence.limit": "What it does not prevent",
    "evidence.none": "not yet shown here",
    "evidence.not_run": "not run for this record",
    "evidence.shown_danger": "{text} ({name}). This happens in {broken} of {all} schedules; the "
                             "shortest is {shortest}",
    "evidence.shown_holds": "in none of the {all} schedules of \"{name}\" was the rule broken; "
                            "{met}",
    "evidence.shown_limit": "two workers inside at once: {broken} of {all} schedules of "
                            "\"{name}\"; the shortest is {shortest}",
    "evidence.met": "{danger} (in {n} of them)",
    "evidence.unexpected": "{name}: {summary}. That was not expected: do not rely on this design "
                           "before you know why.",
    "evidence.pr": "Run now, as expected: {names}.",
    "evidence.pr_not": "Run now, NOT as expected: {names}.",
    "evidence.case.locked-and-charged-twice": "the lock is right; the second one does it again "
                                              "when the first has gone",
    "evidence.running": "Running {number} of {all}: {name} ...",
    "evidence.failed": "{name} could not be run: {reason}",
    "evidence.run": "Run the evidence now",
    # -- words around the result ---------------------------------------------------------------
    "ui.title": "Which lock do I need, and do I need one?",
    "ui.scenario": "Scenario",
    "ui.own": "my own, from the beginning",
    "ui.help": "What does this mean?",
    "ui.design": "Recommended",
    "ui.why": "Why",
    "ui.ensures": "Ensures",
    "ui.not_ensured": "Does not ensure",
    "ui.worst": "The worst that can happen",
    "ui.next": "Next question that could change this",
    "ui.no_next": "No open question would change this by itself.",
    "ui.counted": "Not answered, so the careful answer counts: {names}",
    "ui.possible": "Still possible",
    "ui.changes": "Answers that would change this",
    "ui.no_changes": "No single answer would change this.",
    "ui.ways_out": "Any of these answers would make it possible",
    "ui.warnings": "To know",
    "ui.together": "These answers do not fit together",
    "ui.no_effect": "does not change the result any more",
    "ui.details_only": "changes only warnings and settings",
    "ui.settings": "Settings",
    "ui.build": "To build: {done} of {all} exist",
    "ui.cost": "What it costs",
    "ui.operate": "to operate: {names}",
    "ui.nothing_to_operate": "nothing to operate",
    "ui.trips": "round trips: {trips}",
    "ui.wait": "expected wait: {wait}",
    "ui.wait_unknown": "expected wait: open until you give two numbers (arrivals_per_s and "
                       "work_p50_ms)",
    "ui.no_wait": "none, a busy attempt goes away",
    "ui.alternative": "Instead",
    "ui.cheaper": "Cheaper, and it would hold too: {design}. Why not first: {why}",
    "ui.dearer": "Nothing cheaper holds. The next one that holds: {design}.",
    "ui.no_other": "Nothing else holds with these answers.",
    "ui.none_holds": "No design holds with these answers.",
    "ui.or_nothing": "Or nothing at all, if doing it twice now and then costs less than building "
                     "and running this.",
    "ui.words": "Words",
    "ui.failures": "When something fails",
    "ui.answers": "In one sentence each",
    "ui.contention": "When it is taken",
    "ui.with": "Goes with it",
    "ui.why_not": "Why not the others",
    "ui.tests": "Tests to write",
    "ui.metrics": "Measure",
    "ui.people_differ": "Reasonable people differ here",
    "ui.export": "Record",
    "ui.save": "Save",
    "ui.load": "Load",
    "ui.load_label": "Or paste a saved record (JSON) here",
    "ui.file": "File",
    "ui.saved": "Saved: {names}",
    "ui.loaded": "Loaded.",
    "ui.name": "What is protected",
    "ui.decided_by": "Decided by",
    "ui.chosen": "Chosen instead",
    "ui.because": "Because",
    "ui.form": "Length",
    "ui.form_adr": "full record (ADR)",
    "ui.form_pr": "for a pull request",
    "ui.as_recommended": "as recommended",
    "ui.details": "Ask for numbers and details too (all optional; a time may have its unit: 2 min)",
    "ui.confidence": "{label}: how do you know?",
    "ui.trap": "The trap here",
    "ui.show_record": "Show the record",
    "ui.date": "Date",
    "ui.link": "Link",
    "ui.unit_ms": "milliseconds",
    "ui.unit_s": "seconds",
    "ui.unit_h": "hours",
    "ui.unit_per second": "per second",
    "ui.unit_": "a count",
    "ui.origin": "Where sentences come from: those marked [documented: ...] were read in the "
                 "product's documentation or tried, those marked [ran now: ...] were run for this "
                 "record; all others are judgement.",
    # -- record --------------------------------------------------------------------------------
    "record.title": "Protect {name} with: {design}",
    "record.title_refused": "Change the receiver before you lock: {name}",
    "record.unnamed": "an effect without a name",
    "record.fill_in": "(fill in)",
    "record.context": "Context and Problem Statement",
    "record.drivers": "Decision Drivers",
    "record.options": "Considered Options",
    "record.outcome": "Decision Outcome",
    "record.consequences": "Consequences",
    "record.confirmation": "Confirmation",
    "record.more": "More Information",
    "record.answers": "Answers",
    "record.check": "Check before merge",
    "record.check_line": "{ask} {answer}; checked by: ______",
    "record.counts_as": "unknown, counts as \"{value}\"",
    "record.not_asked": "not asked: makes no difference",
    "record.short": "In Short",
    "record.recommended": "Recommended: \"{design}\" (rule {rule}, model {model}).",
    "record.chosen": "Chosen: \"{design}\", against the recommendation, because: {because}.",
    "record.accepted": "With it these failures are accepted:",
    "record.blocked": "Not to be accepted yet:",
    "record.review": "Look at this again when: time held / TTL is above 0.5 (99 %); a new region "
                     "is "
                     "added; the receiver's contract changes; a replica that takes over is added.",
    "record.reevaluate": "The answers are in the JSON file beside this one; "
                         "`python -m labkit decide --check FILE` evaluates them again.",
    "record.pr_risk": "What can still go wrong",
    "record.pr_more": "Full record and raw answers: {link}",
    "record.good": "Good: {text}",
    "record.bad": "Bad: does not ensure: {text}",
    # -- saved records -------------------------------------------------------------------------
    "saved.not_json": "This is not readable JSON (line {line}, column {column}: {reason}). Load "
                      "the "
                      "JSON file that was saved beside the record.",
    "saved.foreign": "This JSON is not a saved decision: \"format\" is {found}, not \"{format}\".",
    "saved.no_answers": "The saved record has no usable \"answers\": they are a mapping such as "
                        "{{\"goal\": \"correct\"}}.",
    "saved.version": "\"model\" is {found}. Possible: a whole number from 1 to {model}.",
    "saved.newer": "This record was written by model {found}; this labkit knows up to {model}. "
                   "Update labkit, then check again.",
    "saved.older": "This record was written by model {found}; it was read as model {model}: "
                   "{what}.",
    "saved.migrated": "times are in milliseconds now",
    "saved.dropped": "Left out, and counted as unknown: {sentence}",
    "saved.text": "\"{key}\" is not text and was left out.",
    "saved.same": "Unchanged: {design} (rule {rule}).",
    "saved.design": "The design changes from {old} to {new} (rule {rule}).",
    "saved.mode": "The design's variant changes from {old} to {new}: {name}.",
    "saved.rule": "The rule that fired was {old}; it is {new} now: the rules have changed.",
    "saved.answer": "Answer {key} was {old}; it is {new} now.",
    "saved.blockers": "In the way of \"accepted\": was {old}; is {new} now.",
    "saved.no_result": "The record holds no result to compare with.",
    "saved.nothing": "nothing",
    # -- terminal ------------------------------------------------------------------------------
    "term.hello": "One effect at a time: one thing that happens and must come out right. Type the "
                  "number of an answer; Enter = I don't know (or keep what is there). Add m if you "
                  "measured it, l if you looked it up: 2m. ? = help, b = back, s = save and stop, "
                  "q = stop.",
    "term.skip": "(not asked, because it does not change the result: {name})",
    "term.early": "Too early to say: {count} designs are still possible.",
    "term.now": "So far: {design}",
    "term.settled": "Nothing that is still open can change the design: {design}. What follows sets "
                    "details.",
    "term.kept": "now: {value}",
    "term.not_possible": "\"{typed}\" is not possible here. Type a number from 1 to {last}, Enter, "
                         "?, b, s or q.",
    "term.number_help": "{name}, in {unit}. Enter leaves it out.",
    "term.times": "Times: a number, or a number with its unit: 200 ms, 1.5 s, 2 min, 3 h. Enter "
                  "leaves a number out.",
    "term.controls": "What does this design need, and what is there already? Type e if it exists, "
                     "p if it is planned, Enter if neither.",
    "term.control": "{text} (e = exists, p = planned, Enter = not yet): ",
    "term.control_ask": "Does it exist (e), is it planned (p), or neither (Enter)?",
    "term.control_bad": "\"{typed}\" is not possible here. Type e, p, Enter, ?, b, s or q.",
    "term.again": "{sentence} Asked again; Enter keeps the answer.",
    "term.first": "This is the first question.",
    "term.text_help": "Any text; Enter leaves it open.",
    "term.file": "Save to",
    "term.stopped": "Stopped, nothing saved. What you typed, to load it again:",
    # -- words, each explained where it appears first ----------------------------------------------
    "word.receiver": "whoever accepts the write at the end: a database, a file store, a provider, "
                     "a device",
    "word.effect": "one thing that happens and must come out right, such as a charge",
    "word.key": "a name that tells one thing from all others: an order number, a customer, an "
                "operation",
    "word.intent": "a row that says what you are going to do, written before you do it",
    "word.token": "a text or number that says whose lock it is, or whose turn",
    "word.lease": "a lock that ends by itself after a time",
    "word.TTL": "the time after which Redis deletes a key by itself; for a lock: its end",
    "word.schedule": "one order in which the steps of the workers can happen",
    "word.outbox": "a table of messages to send, in the same database as the change",
    "word.SKIP LOCKED": "take the next row that nobody has locked, without waiting",
    "word.idempotency key": "a key sent with an operation; the receiver does it once per key",
}  # fmt: skip
