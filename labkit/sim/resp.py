"""RESP2, the wire protocol of Redis: replies as bytes, and back.

The machine keeps every reply as the bytes a server would send. Bytes can be compared, stored in
a table and handed to any client, whatever language it is written in. Reading is done by hiredis;
writing is short enough to stand here. Source: the RESP specification of the Redis documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hiredis

OK = b"+OK\r\n"
QUEUED = b"+QUEUED\r\n"
NIL = b"$-1\r\n"


class Status(bytes):
    """A simple string such as OK, which RESP tells apart from data."""


class ErrorReply(Exception):
    """An error that the server answered with, as data."""


def encode(value: Any) -> bytes:
    """The RESP2 bytes of a reply; `value` is what fakeredis or `decode` gives."""
    if value is None:
        return NIL
    if isinstance(value, Status):
        return b"+%s\r\n" % bytes(value)
    if isinstance(value, bytes):
        return b"$%d\r\n%s\r\n" % (len(value), value)
    if isinstance(value, bool | int):
        return b":%d\r\n" % value
    if isinstance(value, ErrorReply):
        return b"-%s\r\n" % str(value).replace("\r", " ").replace("\n", " ").encode()
    if isinstance(value, list | tuple):
        return b"*%d\r\n" % len(value) + b"".join(map(encode, value))
    raise TypeError(f"a reply of type {type(value).__name__} has no RESP2 form: {value!r}")


def decode_all(raw: bytes) -> list[Any]:
    """Every reply in `raw`; an error reply becomes an `ErrorReply` object, not an exception."""
    reader = hiredis.Reader(replyError=ErrorReply, notEnoughData=_MORE)
    reader.feed(raw)
    replies = []
    while (reply := reader.gets()) is not _MORE:
        replies.append(reply)
    return replies


def decode(raw: bytes) -> Any:
    """The last reply in `raw` (a transaction's bytes hold one per command; EXEC's is the last)."""
    return decode_all(raw)[-1]


class CommandReader:
    """Cuts the bytes that a client sends into commands, each a tuple of bytes."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(notEnoughData=_MORE)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, ...]]:
        self._reader.feed(data)
        while (words := self._reader.gets()) is not _MORE:
            yield tuple(words)


_MORE = object()


def show(raw: bytes) -> str:
    """A reply as redis-cli would print it, on one line: OK, (nil), 3, "text", (error) ERR ..."""
    return _show(decode(raw), top=raw[:1] == b"+")


def _show(value: Any, *, top: bool = False) -> str:
    if value is None:
        return "(nil)"
    if isinstance(value, ErrorReply):
        return f"(error) {value}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_show, value)) + "]"
    if isinstance(value, bytes):
        text = value.decode("utf-8", "backslashreplace")
        return text if top else f'"{text}"'
    return str(value)
