"""English: the designs. What each ensures, and does not, and what happens when something fails."""

TEXTS = {
    "failure.crash": "The process dies in the middle",
    "failure.pause": "The process pauses longer than its lock or patience lasts",
    "failure.redis_down": "Redis cannot be reached",
    "failure.reply_lost": "The answer to a request is lost",
    "failure.failover": "Another server takes over",
    "failure.stale_release": "Somebody releases a lock that is no longer theirs",
    "failure.duplicate": "The same request comes twice",
    # -- D00 ----------------------------------------------------------------------------------
    "D00.name": "No lock at all",
    "D00.ensures": "Ensures nothing, and needs nothing: right wherever doing it twice is harmless "
                   "and cheap.",
    "D00.not": "Work may be done twice, at the same time.",
    "D00.with": "Start times spread out, by a fixed offset per host.\n"
                "Output that may be overwritten: written aside, then renamed.",
    "D00.trips": "none",
    "D00.atomic": "Nothing is taken, so nothing can be taken wrongly.",
    "D00.token": "No token is needed: there is no owner.",
    "D00.crash": "nothing was held; the next run does it",
    "D00.pause": "two runs may overlap, which you accepted",
    "D00.redis_down": "not used",
    "D00.reply_lost": "nothing was asked",
    "D00.failover": "not used",
    "D00.stale_release": "there is nothing to release",
    "D00.duplicate": "the work is done again",
    # -- D01 ----------------------------------------------------------------------------------
    "D01.name": "A unique key: insert only if absent",
    "D01.ensures": "Ensures at most one row or object per key, whatever the clients do, as long as "
                   "everybody writes where the key is enforced.",
    "D01.not": "That the work behind the row was finished; and a caller's repeat is not recognised "
               "unless the row stores who made it and with what result.",
    "D01.with": "A state in the row (started, finished), and a number that grows with every "
                "takeover; finish only where that number is still yours.\n"
                "The result stored with the row, so that a repeat gets the same answer.\n"
                "A lock time-out: a second insert of the same key waits for the first "
                "transaction, also with ON CONFLICT DO NOTHING; so keep the transaction tiny. "
                "[[PostgreSQL documentation]]\n"
                "Columns of the key that are never NULL: NULLs do not count as equal by default. "
                "[[PostgreSQL documentation]]\n"
                "For planned jobs the planned time in the key, and the row kept for the period.",
    "D01.trips": "1: the insert decides",
    "D01.atomic": "One insert decides: it succeeds only if the key is free. It needs no end, "
                  "because it is a fact and not a lock.",
    "D01.token": "The key is the business event; the row stores which operation made it, and that "
                 "is compared.",
    "D01.crash": "before the commit: undone. After it: the row stays; a row still \"started\" is "
                 "taken over by raising its number",
    "D01.pause": "harmless; an insert not yet committed makes the same key wait, up to its "
                 "time-out",
    "D01.redis_down": "not used",
    "D01.reply_lost": "insert again: a conflict with your own operation is a success",
    "D01.failover": "a replica that is behind can lose a committed row: wait for the replica where "
                    "money is at stake",
    "D01.stale_release": "there is nothing to release",
    "D01.duplicate": "recognised by the key and not done again; the stored result is returned",
    # -- D02 ----------------------------------------------------------------------------------
    "D02.name": "One statement that changes only if the condition holds",
    "D02.ensures": "Ensures that condition and change are one step, as long as the condition is "
                   "about the row that is changed and the number of changed rows is looked at.",
    "D02.not": "Repeats: a repeated decrement decrements again. And a condition that looks at "
               "other "
               "rows (a sub-query) is not safe this way. [[PostgreSQL documentation, READ "
               "COMMITTED]]",
    "D02.with": "The number of changed rows: 0 means refused.\n"
                "A row with the operation's key in the same transaction, if callers can repeat.\n"
                "Where work follows: first set it aside (reserve), then confirm or cancel.",
    "D02.trips": "1: the statement decides",
    "D02.atomic": "Yes: one statement checks and changes. It needs no end, because nothing stays "
                  "taken.",
    "D02.token": "No lock, so no owner; a repeat is recognised by the operation's key.",
    "D02.crash": "done or not done, never half",
    "D02.pause": "harmless: nothing is held between two steps",
    "D02.redis_down": "not used",
    "D02.reply_lost": "doing it again would count twice: find out by the operation's key",
    "D02.failover": "a replica that is behind can lose a committed change: wait for the replica "
                    "where money is at stake",
    "D02.stale_release": "there is nothing to release",
    "D02.duplicate": "counts twice without the operation's key, once with it",
    # -- D03 ----------------------------------------------------------------------------------
    "D03.name": "One short transaction: each change with its condition, rows in a fixed order",
    "D03.ensures": "Ensures all changes or none, as long as every change carries its condition and "
                   "all transactions take the rows in the same order.",
    "D03.not": "Decisions based on rows that were only read, and repeats.",
    "D03.with": "The same order of keys everywhere, so that nobody waits in a circle.\n"
                "No call to another system inside the transaction.\n"
                "A row with the operation's key in the same transaction.\n"
                "Time-outs for locks, statements and idle transactions: in PostgreSQL all three "
                "are off by default. [[PostgreSQL documentation]]\n"
                "A bounded number of repeats after a deadlock (40P01). In InnoDB a lock time-out "
                "undoes the statement, not the transaction.",
    "D03.trips": "2 + one per row: begin, change, commit",
    "D03.atomic": "Yes: the transaction is the step, and the database ends it when the client "
                  "dies.",
    "D03.token": "The transaction is the owner; no token is needed.",
    "D03.crash": "everything is undone",
    "D03.pause": "others wait until a time-out of the server ends the transaction; then its late "
                 "commit fails",
    "D03.redis_down": "not used",
    "D03.reply_lost": "whether the commit happened is unknown: find out by the operation's key",
    "D03.failover": "a replica that is behind can lose a committed change: wait for the replica "
                    "where money is at stake",
    "D03.stale_release": "there is nothing to release by hand",
    "D03.duplicate": "counts twice without the operation's key, once with it",
    # -- D04 ----------------------------------------------------------------------------------
    "D04.name": "Compare the version when writing",
    "D04.ensures": "Ensures that a write based on an old version is refused, however long the "
                   "pause, as long as every writer uses the condition.",
    "D04.not": "Progress when many meet; and that you can tell your own first try from somebody "
               "else's, unless the operation's key is stored in the object.",
    "D04.with": "One version for everything that must fit together.\n"
                "The condition enforced for all writers (HTTP 428, a bucket policy).\n"
                "After a refusal: read again, at most so many times, or show the conflict.\n"
                "The operation's key stored in the object.\n"
                "No storage that lets the last writer win in several regions: there the check does "
                "not hold. [[DynamoDB guide, global tables]]",
    "D04.trips": "2: read with its version, write if it is still the same",
    "D04.atomic": "Yes, at the end: the write happens only if the version is still the one that "
                  "was "
                  "read. Nothing is taken before.",
    "D04.token": "The version is the token, and the receiver compares it.",
    "D04.crash": "nothing was held",
    "D04.pause": "harmless: the late write is refused",
    "D04.redis_down": "not used",
    "D04.reply_lost": "a refusal may be your own success: compare the operation's key",
    "D04.failover": "breaks where the last writer wins between copies",
    "D04.stale_release": "there is nothing to release",
    "D04.duplicate": "the second one is refused",
    # -- D05 ----------------------------------------------------------------------------------
    "D05.name": "Lock the rows, then read and write them",
    "D05.ensures": "Ensures that other writers of these rows wait until the transaction ends, as "
                   "long as the lock is taken before the first read.",
    "D05.not": "Anything about rows that do not exist yet: there FOR UPDATE locks nothing. "
               "[[PostgreSQL 15, tried]]",
    "D05.with": "The lock before the read, in the same short transaction.\n"
                "A fixed order of rows.\n"
                "NOWAIT or a lock time-out; SKIP LOCKED only for lists of waiting items.\n"
                "For a rule about a set of rows: lock and update one parent row, so that the "
                "conflict really exists.",
    "D05.trips": "3: lock and read, write, commit",
    "D05.atomic": "Yes: the lock is taken by the read itself and ends with the transaction.",
    "D05.token": "The transaction is the owner; no token is needed.",
    "D05.crash": "everything is undone and the rows are free",
    "D05.pause": "others wait until a time-out of the server ends the transaction",
    "D05.redis_down": "not used",
    "D05.reply_lost": "whether the commit happened is unknown: find out by the operation's key",
    "D05.failover": "a replica that is behind can lose a committed change: wait for the replica "
                    "where money is at stake",
    "D05.stale_release": "there is nothing to release by hand",
    "D05.duplicate": "counts twice without the operation's key, once with it",
    # -- D06 ----------------------------------------------------------------------------------
    "D06.name": "A lock object in the database",
    "D06.ADVISORY.ensures": "Ensures one holder per name while its transaction lives, as long as "
                            "everybody asks for the same lock on the same primary server.",
    "D06.LEASE_ROW.ensures": "Ensures that only the newest holder can commit, as long as every "
                             "commit compares the holder's number in the lease row.",
    "D06.ADVISORY.variant": "for one transaction",
    "D06.LEASE_ROW.variant": "as a row with an end and a number",
    "D06.ADVISORY.not": "Anything for code that does not ask; and effects outside the database.",
    "D06.not": "Anything for code that does not ask; and effects outside the database, unless the "
               "receiver compares the number.",
    "D06.ADVISORY.with": "The transaction's own form (pg_advisory_xact_lock): the session's form "
                         "survives a rollback. [[PostgreSQL 15, tried]]\n"
                         "As the first statement, and READ COMMITTED: at a higher level the "
                         "transaction still sees the old data. [[PostgreSQL 15, tried]]\n"
                         "MySQL only has a lock of the session (GET_LOCK).\n"
                         "A lock time-out.",
    "D06.LEASE_ROW.with": "Take over with one statement: owner = me, number + 1, until = now + "
                          "ttl, "
                          "where until < now; the time is the database's (in PostgreSQL "
                          "clock_timestamp(), because now() is the start of the transaction).\n"
                          "Every commit checks that the number is still mine.\n"
                          "Small transactions while the lease lasts, never one long one.\n"
                          "A row per period for \"done\", so that it is not done again.",
    "D06.trips": "2: take, commit with the check",
    "D06.ADVISORY.trips": "2: take, commit",
    "D06.ADVISORY.atomic": "Yes: one statement takes it only if it is free, and it ends with the "
                           "transaction.",
    "D06.atomic": "Yes: one statement takes it only if it is free, and it ends by itself.",
    "D06.ADVISORY.token": "The transaction is the owner; no token is needed.",
    "D06.LEASE_ROW.token": "The row holds the owner and a number that grows; both are compared.",
    "D06.ADVISORY.crash": "free as soon as the transaction ends",
    "D06.LEASE_ROW.crash": "others wait until the lease ends",
    "D06.ADVISORY.pause": "the holder keeps it, or loses the connection and cannot commit on it",
    "D06.LEASE_ROW.pause": "somebody else takes over, and the number refuses the late commit",
    "D06.redis_down": "not used",
    "D06.ADVISORY.reply_lost": "a lost connection is a lost lock: begin again",
    "D06.LEASE_ROW.reply_lost": "read the row and compare the owner",
    "D06.ADVISORY.failover": "the lock is gone; open transactions fail",
    "D06.LEASE_ROW.failover": "the row survives if the copy is up to date; else its number may "
                              "fall back, and two holders may get the same one",
    "D06.ADVISORY.stale_release": "there is nothing to release by hand",
    "D06.LEASE_ROW.stale_release": "refused: owner and number are in the condition",
    "D06.duplicate": "done again later, unless something is unique",
    # -- D07 ----------------------------------------------------------------------------------
    "D07.name": "Serializable transaction, repeated as a whole",
    "D07.ensures": "Ensures a result as if transactions ran one after another, as long as all of "
                   "them use this level and are repeated from their first read.",
    "D07.not": "Progress when many meet; and other databases mean other things by the word: "
               "Oracle's SERIALIZABLE allows two transactions that each break the other's rule.",
    "D07.with": "Repeat the whole transaction after error 40001, a bounded number of times. "
                "[[PostgreSQL documentation]]\n"
                "The same level for everybody who touches the rule.\n"
                "Nothing outside the database inside the transaction.",
    "D07.trips": "3 and more: read, write, commit; all again after a conflict",
    "D07.atomic": "Yes: the database finds the conflict at the latest when you commit.",
    "D07.token": "The transaction is the owner; no token is needed.",
    "D07.crash": "everything is undone",
    "D07.pause": "more transactions have to be repeated",
    "D07.redis_down": "not used",
    "D07.reply_lost": "whether the commit happened is unknown: find out by the operation's key",
    "D07.failover": "a replica that is behind can lose a committed change: wait for the replica "
                    "where money is at stake",
    "D07.stale_release": "there is nothing to release by hand",
    "D07.duplicate": "counts twice without the operation's key, once with it",
    # -- D08 ----------------------------------------------------------------------------------
    "D08.name": "Write down what you intend, then send it with a key",
    "D08.KEY.name": "Write down what you intend, then send it with the same key every time",
    "D08.VERSION.name": "Write down what you intend, then send it with a version",
    "D08.LOOKUP.name": "Write down what you intend, send once, and ask before repeating",
    "D08.AT_MOST_ONCE.name": "Write down what you intend, claim once, never repeat by machine",
    "D08.REASSERT.name": "The database is the truth; send the whole state until it matches",
    "D08.KEY.ensures": "Ensures one effect per operation, as long as the receiver still knows the "
                       "key and the same key is used for every try.",
    "D08.VERSION.ensures": "Ensures that an older state never replaces a newer one, as long as the "
                           "receiver compares the version in the write.",
    "D08.LOOKUP.ensures": "Ensures at most one effect by your machines, as long as nobody sends "
                          "again before the receiver has said a final \"no\".",
    "D08.AT_MOST_ONCE.ensures": "Ensures at most one send by your machines, as long as an unknown "
                                "outcome goes to a person and never to a retry.",
    "D08.REASSERT.ensures": "Ensures that the outside copy becomes right in the end, as long as "
                            "one "
                            "push per key is on its way and the copies are compared regularly.",
    "D08.not": "That it happens at once; an order over different keys; anything after the receiver "
               "has forgotten the key.",
    "D08.VERSION.not": "One effect per operation, unless the effect is a state or is created only "
                       "if absent.",
    "D08.AT_MOST_ONCE.not": "That it happens at all: some operations stay open until a person has "
                            "looked.",
    "D08.LOOKUP.not": "That it happens soon: without a final \"no\" it waits for a person.",
    "D08.REASSERT.not": "That the outside copy is right at any moment: it may be wrong for a "
                        "while.",
    "D08.with": "The intent in the same transaction as your own change (an outbox table).\n"
                "The key made from the business event, before the first try.\n"
                "A sender that takes rows with SKIP LOCKED, and one that finishes what was left.\n"
                "One operation on its way per key, where the order matters.\n"
                "The contents compared: a key with other contents is an error. "
                "[[IETF draft Idempotency-Key]]\n"
                "The receiver's contract read: how long keys live and whether failures are "
                "repeated differ between providers.",
    "D08.VERSION.with": "The intent in the same transaction as your own change (an outbox "
                        "table).\n"
                        "A version that grows with every change, made in that transaction.\n"
                        "A sender that takes rows with SKIP LOCKED, and one that finishes what "
                        "was left.\n"
                        "The answer \"too old\" counts as done.\n"
                        "The receiver's contract read: is the version compared in the write "
                        "itself, for every writer?",
    "D08.AT_MOST_ONCE.with": "The intent in the same transaction as your own change.\n"
                             "Marked \"sent\" before sending; never sent again by machine.\n"
                             "A list of open outcomes with an owner, and a time by which somebody "
                             "looks.",
    "D08.LOOKUP.with": "The intent in the same transaction as your own change.\n"
                       "Your own reference number in the request, to ask for later.\n"
                       "No automatic resend until a final \"no\".\n"
                       "One sender only, and a list of open outcomes with an owner.",
    "D08.REASSERT.with": "The intended state in the same transaction as your own change.\n"
                         "One push on its way per key.\n"
                         "A regular comparison of both copies, and a repair.",
    "D08.trips": "2: write down, send; and a sender beside it",
    "D08.atomic": "Yes: writing down is one insert with a unique key. It needs no end, because it "
                  "is an intent and not a lock.",
    "D08.REASSERT.trips": "2: write down, send the whole state; and a sender and a comparison "
                          "beside it",
    "D08.REASSERT.atomic": "Yes: the state that you want is written in one transaction. It needs "
                           "no end, because it is a state and not a lock.",
    "D08.VERSION.atomic": "Yes: the change and its version are written in one transaction. It "
                          "needs no end, because it is an intent and not a lock.",
    "D08.token": "The operation's key, the same for every try, is compared by the receiver.",
    "D08.AT_MOST_ONCE.token": "The operation's key marks what has been sent; nobody sends it "
                              "twice.",
    "D08.LOOKUP.token": "The operation's key is the reference number to ask for.",
    "D08.REASSERT.token": "Each key has one sender at a time; what is sent is the whole state.",
    "D08.VERSION.token": "The version is the token, and the receiver compares it.",
    "D08.crash": "the intent stays; another sender goes on with the same key",
    "D08.LOOKUP.crash": "the intent stays; ask first, then a person decides",
    "D08.AT_MOST_ONCE.crash": "the intent stays marked \"sent\"; a person decides",
    "D08.VERSION.crash": "the intent stays; another sender sends it with the same version",
    "D08.REASSERT.crash": "the state that you want stays written down; another sender sends it",
    "D08.pause": "a repeat is recognised by its key and not done again",
    "D08.LOOKUP.pause": "nobody takes over by machine",
    "D08.AT_MOST_ONCE.pause": "nobody takes over by machine",
    "D08.REASSERT.pause": "an old push may arrive late; the next comparison repairs it",
    "D08.VERSION.pause": "a late push is refused as old",
    "D08.redis_down": "not used",
    "D08.reply_lost": "send again with the same key",
    "D08.LOOKUP.reply_lost": "ask; without a final \"no\" a person decides",
    "D08.AT_MOST_ONCE.reply_lost": "open until a person has looked",
    "D08.REASSERT.reply_lost": "push the whole state again",
    "D08.VERSION.reply_lost": "send again with the same version: \"too old\" counts as done",
    "D08.failover": "a replica that is behind can lose the intent: wait for the replica where "
                    "money "
                    "is at stake",
    "D08.REASSERT.failover": "a replica that is behind can lose the newest state: wait for the "
                             "replica where money is at stake",
    "D08.stale_release": "there is nothing to release",
    "D08.VERSION.duplicate": "refused: the receiver has this version or a newer one",
    "D08.AT_MOST_ONCE.duplicate": "not sent again; the caller gets what is known so far",
    "D08.LOOKUP.duplicate": "not sent again before the receiver has said a final \"no\"",
    "D08.REASSERT.duplicate": "harmless: the same state is set twice",
    "D08.duplicate": "the stored answer is given; while it runs: \"in progress\"",
    # -- D09 ----------------------------------------------------------------------------------
    "D09.name": "One Redis lock with an end, to save work",
    "D09.ensures": "Ensures that usually one worker does it, as long as nothing pauses, restarts "
                   "or "
                   "takes over; a dead holder blocks the others no longer than the TTL.",
    "D09.not": "That only one works: after a pause, a clock change, a restart or a takeover two "
               "may.",
    "D09.with": "A token per attempt; release only by compare-and-delete (a script; DELEX from "
                "Redis 8.4; DELIFEQ from Valkey 9.0). [[Redis and Valkey documentation]]\n"
                "A deadline of your own, counted from before the request was sent.\n"
                "A comment that says \"approximate: saves work only\".\n"
                "A rule for an unreachable Redis: run without the lock, or do not run.\n"
                "With a library: set its TTL and its waiting limit. redis-py's Lock has neither by "
                "default. [[redis-py 8.1, tried]]",
    "D09.trips": "2: take, give back",
    "D09.atomic": "Yes: SET with NX and PX takes it only if it is free, and with an end.",
    "D09.token": "Yes: a new token per attempt; release compares it in one step.",
    "D09.crash": "others wait until the TTL has passed",
    "D09.pause": "two may work at the same time",
    "D09.redis_down": "your rule decides: run without the lock, or do not run; never call it "
                      "\"taken\"",
    "D09.reply_lost": "ask again with SET ... NX GET and the same token: nil or your own token "
                      "means it is yours. [[Redis 7.0 documentation]]",
    "D09.failover": "two may hold it at the same time",
    "D09.stale_release": "does nothing: the token is compared",
    "D09.duplicate": "skipped while it is held, done again afterwards",
    # -- D10 ----------------------------------------------------------------------------------
    "D10.name": "One Redis lock, renewed while the work goes on, to save work",
    "D10.ensures": "Ensures that usually one worker does it, of whatever length, as long as pauses "
                   "stay below the tolerated one and the renewal stops with the work.",
    "D10.not": "That only one works: a pause stops the renewal too.",
    "D10.with": "Renewal that compares the token and extends in one step.\n"
                "Renewal from the work's own loop: a helper thread may outlive the work, or fail "
                "to stop it.\n"
                "A failed, late or unknown renewal stops the work; no cleaning up over the next "
                "holder's work.\n"
                "A bound for the number of renewals.\n"
                "A rule for an unreachable Redis: stop at your own deadline.",
    "D10.trips": "2, and one for every renewal",
    "D10.atomic": "Yes: SET with NX and PX takes it only if it is free, and with an end.",
    "D10.token": "Yes: release and renewal compare the token in one step.",
    "D10.crash": "others wait until the TTL has passed, if the renewal dies with the work",
    "D10.pause": "beyond the tolerated pause two may work; the next renewal fails and stops the "
                 "first",
    "D10.redis_down": "the work stops at its own deadline",
    "D10.reply_lost": "a renewal without an answer counts as failed",
    "D10.failover": "two may hold it at the same time",
    "D10.stale_release": "does nothing: the token is compared",
    "D10.duplicate": "skipped while it is held, done again afterwards",
    # -- D11 ----------------------------------------------------------------------------------
    "D11.name": "A Redis lock to save work, and a number that the receiver checks",
    "D11.ensures": "Ensures that late writes are refused, whatever Redis does, as long as the "
                   "check "
                   "is in the write itself, the number only grows, and the new holder raises it "
                   "before its first read (or writes only over the version it has read).",
    "D11.not": "Progress while Redis is down; and effects on systems that do not check.",
    "D11.with": "The number from the receiver's own version, or from a database; never from a "
                "Redis "
                "counter with failover: two holders may get the same number. [[Redis 7.0, tried]]\n"
                "If the number is the receiver's own version, this is \"compare the version\" plus "
                "a lock that saves work.\n"
                "After a refusal: drop the work, read again.\n"
                "A stop at your own deadline, before the lock ends.\n"
                "The operation's key as well: the number lets the same holder repeat itself.",
    "D11.trips": "2 more than the work: take, give back",
    "D11.atomic": "Yes, twice: the lock by SET with NX and PX, the write by its condition.",
    "D11.token": "Yes: a token for the lock, and a growing number for the receiver.",
    "D11.crash": "others wait until the TTL has passed, then go on with a higher number",
    "D11.pause": "harmless: the late write is refused",
    "D11.redis_down": "run without the lock or queue: only work can be wasted",
    "D11.reply_lost": "of the lock: ask again with the same token; of the write: compare the "
                      "operation's key",
    "D11.failover": "two may hold the lock; only work is wasted, unless the number came from Redis",
    "D11.stale_release": "does nothing: the token is compared",
    "D11.duplicate": "the version refuses it; the same holder's repeat needs the operation's key",
    # -- D12 ----------------------------------------------------------------------------------
    "D12.name": "A queue with one consumer per key",
    "D12.ensures": "Ensures one consumer per key in normal operation and order per key, as long as "
                   "the consumer recognises what it has already done.",
    "D12.not": "Exactly one delivery: a message that took too long is delivered again, while the "
               "first consumer may still be at it.",
    "D12.TABLE.variant": "as a table in your database",
    "D12.BROKER.variant": "in a queue product, a broker",
    "D12.TABLE.with": "The message written in the same transaction as your own change: a table "
                      "taken with SKIP LOCKED is queue enough.\n"
                      "A table of done messages at the consumer, or a version check.\n"
                      "A limit for failing messages, and a place for them.\n"
                      "An answer to the caller: \"accepted, here is where to look\".",
    "D12.BROKER.with": "A message id made by the sender; a table of done messages at the consumer, "
                       "or a version check.\n"
                       "The time until redelivery extended like a lease while work goes on.\n"
                       "A limit for failing messages, and a place for them.\n"
                       "An answer to the caller: \"accepted, here is where to look\".",
    "D12.trips": "3: put in, take out, confirm",
    "D12.atomic": "Yes: taking a message hides it for a time; that time is its end.",
    "D12.token": "Every delivery has its receipt, and the message's id is compared by the "
                 "consumer.",
    "D12.crash": "the message is delivered again",
    "D12.pause": "the message is delivered again while the first consumer still runs: key or "
                 "version must decide",
    "D12.redis_down": "not used, unless Redis is the queue: then nothing moves",
    "D12.reply_lost": "of sending: the same id again; of confirming: it is delivered again",
    "D12.failover": "messages may be lost or doubled, depending on the queue's settings",
    "D12.stale_release": "an old receipt is ignored",
    "D12.duplicate": "recognised by the table of done messages",
    # -- D13 ----------------------------------------------------------------------------------
    "D13.name": "A lock in etcd, ZooKeeper or Consul, and a number that the receiver checks",
    "D13.CLAIM.name": "A lasting claim in etcd, ZooKeeper or Consul: claim once, never repeat by "
                      "machine",
    "D13.SEQUENCER.ensures": "Ensures that grants survive the loss of a server and are numbered, "
                             "as "
                             "long as the receiver refuses lower numbers.",
    "D13.CLAIM.ensures": "Ensures at most one claim per operation, as long as the claim never ends "
                         "by itself and only a person hands it on.",
    "D13.not": "That only one works on outside things: the lock's state is reliable, its holder is "
               "not. [[etcd documentation]]",
    "D13.CLAIM.not": "That it happens at all: a claim without an outcome waits for a person.",
    "D13.with": "The number (revision, zxid, LockIndex) checked by the receiver.\n"
                "A check of the lease before each outside effect, and a stop at your own "
                "deadline.\n"
                "An own id in the node's name, to find it again after a lost answer. "
                "[[ZooKeeper recipes]]",
    "D13.CLAIM.with": "A key without an end, made only if absent.\n"
                      "The receiver is asked before acting.\n"
                      "Takeover only by a person.",
    "D13.CLAIM.trips": "2: claim, ask the receiver",
    "D13.CLAIM.token": "The operation's key is the claim; it stores who made it.",
    "D13.CLAIM.reply_lost": "of the claim: read who made it; of the effect: ask the receiver",
    "D13.CLAIM.failover": "confirmed claims survive",
    "D13.CLAIM.stale_release": "nobody releases a claim but a person",
    "D13.CLAIM.duplicate": "the claim is there already: not done again",
    "D13.trips": "3: take, check, give back",
    "D13.atomic": "Yes: created only if absent, and it ends with its session.",
    "D13.CLAIM.atomic": "Yes: created only if absent. It has no end on purpose.",
    "D13.token": "Yes: an own session, and a number that grows.",
    "D13.crash": "the next one follows when the session ends",
    "D13.CLAIM.crash": "the claim stays; a person decides",
    "D13.pause": "two believe they hold it; the receiver refuses the lower number, if it checks",
    "D13.CLAIM.pause": "nobody takes over by machine",
    "D13.redis_down": "not used",
    "D13.reply_lost": "find your own node or lease by its id",
    "D13.failover": "confirmed grants survive",
    "D13.stale_release": "does nothing: the session's id is compared",
    "D13.duplicate": "the number lets the same holder repeat itself: use the operation's key",
    # -- D14 ----------------------------------------------------------------------------------
    "D14.name": "Change the receiver before you lock",
    "D14.ensures": "No lock can make this safe; a small change of the situation can.",
    "D14.not": "Anything, as things are: a late or repeated effect would be accepted.",
    "D14.with": "Let the receiver accept a key per operation, or compare a version.\n"
                "Or put a gate in front of it that does.\n"
                "Or write to a place of its own for every attempt, and switch a pointer if it is "
                "still the old one.\n"
                "Or set it aside first (reserve) and confirm later, instead of one final step.\n"
                "Or make it undoable: a delay, a hold, a cancel.\n"
                "Or claim once, never repeat by machine: unknown outcomes go to a person.\n"
                "Or accept the damage openly, with an owner, and answer the first question again.",
    "D14.trips": "none",
    "D14.atomic": "It would not help: the danger comes after the lock was taken.",
    "D14.token": "It would not help: nobody at the receiver compares it.",
    "D14.crash": "unknown whether it happened, and nobody to ask",
    "D14.pause": "a late effect is accepted",
    "D14.redis_down": "not used",
    "D14.reply_lost": "unknown whether it happened",
    "D14.failover": "not used",
    "D14.stale_release": "there is nothing to release",
    "D14.duplicate": "happens twice",
}  # fmt: skip
