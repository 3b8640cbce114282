"""What locks protect: things that two workers can both touch, each a store of its own.

    connection  a database of SQLite, declared and used as a remote database would be
    statements  SQL as commands: words on the wire, text for people, replies as bytes
    database    SQLite itself: connections, transactions, and contents that can be put back
    guarded     rows that refuse a write with an old number, or with an old version
    external    an external service that takes a number with each request

A setup declares a resource, `lab.shared.bank = sqlite("CREATE TABLE ...")`; a worker reaches it as
`me.shared.bank`, and a check as `lab.shared.bank`.
"""

from labkit.lazy import lazy

#: Name -> module that defines it, loaded at first use.
_WHERE = {"sqlite": ".connection", "Result": ".statements", "ConnectionLost": ".connection",
          "fenced_row": ".guarded", "versioned_row": ".guarded",
          "service": ".external", "ServiceTimeout": ".external"}  # fmt: skip

__all__ = sorted(_WHERE)
__getattr__ = lazy(__name__, _WHERE)
