"""Replies are cut out of what arrives, byte by byte."""

import pytest

from labkit.servers.pair import _meanings
from labkit.servers.server import Wire, elements, split
from labkit.sim import resp
from labkit.sim.commands import Command

REPLIES = [b"+OK\r\n", b"-ERR no\r\n", b":12\r\n", b"$-1\r\n", b"*-1\r\n", b"$0\r\n\r\n",
           b"$4\r\n\r\n+x\r\n", b"*0\r\n", b"*2\r\n*1\r\n:1\r\n$1\r\na\r\n"]  # fmt: skip


def test_replies_are_cut_wherever_the_network_cuts_them():
    raw = b"".join(REPLIES)
    assert split(raw) == REPLIES
    for end in range(len(raw)):
        whole = split(raw[:end])
        assert whole == REPLIES[: len(whole)]
        assert len(b"".join(whole)) <= end < len(b"".join(REPLIES[: len(whole) + 1]))


def test_elements_of_an_array():
    assert elements(b"*3\r\n+OK\r\n*1\r\n:1\r\n$1\r\na\r\n") == [b"+OK\r\n", b"*1\r\n:1\r\n",
                                                                  b"$1\r\na\r\n"]  # fmt: skip


def test_a_status_and_the_same_text_as_data_stay_apart(server):
    wire = Wire(server)
    wire.clear()
    asked = [(b"SET", b"k", b"OK"), (b"GET", b"k"), (b"GET",), (b"INCR", b"n")]
    replies = wire.exchange(asked)
    assert replies[:2] == [b"+OK\r\n", b"$2\r\nOK\r\n"]
    assert replies[2].startswith(b"-ERR ")
    assert wire.exchange([(b"EXISTS", b"k", b"n")], db=2) == [b":0\r\n"]
    assert wire.exchange([(b"EXISTS", b"k", b"n")]) == [b":2\r\n"]
    big = b"x" * 300_000
    assert wire.exchange([(b"SET", b"big", big), (b"GET", b"big")])[1] == resp.encode(big)
    wire.close()


def meanings(*words, reply):
    split_words = tuple(tuple(word.encode() for word in line.split()) for line in words)
    return _meanings(Command(split_words, "A1"), reply)


QUEUED = b"+OK\r\n+QUEUED\r\n"
SAME = [
    (("PTTL k",), b":90\r\n", b":86400000\r\n"),
    (("SMEMBERS k",), b"*2\r\n:1\r\n:2\r\n", b"*2\r\n:2\r\n:1\r\n"),
    (("HGETALL k",), b"*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", b"*4\r\n:3\r\n:4\r\n:1\r\n:2\r\n"),
    (("INCR k",), b"-ERR so\r\n", b"-ERR otherwise\r\n"),
    (("MULTI", "TTL k", "EXEC"), QUEUED + b"*1\r\n:1\r\n", QUEUED + b"*1\r\n:9\r\n"),
    (("MULTI", "GET k", "EXEC"), QUEUED + b"$-1\r\n", QUEUED + b"*-1\r\n"),
]
OTHER = [
    (("PTTL k",), b":-1\r\n", b":-2\r\n"),
    (("PTTL k",), b":-1\r\n", b":86400000\r\n"),
    (("HGETALL k",), b"*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", b"*4\r\n:1\r\n:4\r\n:3\r\n:2\r\n"),
    (("LRANGE k 0 -1",), b"*2\r\n:1\r\n:2\r\n", b"*2\r\n:2\r\n:1\r\n"),
    (("GET k",), b"+OK\r\n", b"$2\r\nOK\r\n"),
    (("GET k",), b"$-1\r\n", b"$0\r\n\r\n"),
    (("INCR k",), b"-ERR so\r\n", b"-WRONGTYPE so\r\n"),
    (("MULTI", "INCR k", "EXEC"), QUEUED + b"*1\r\n:1\r\n", QUEUED + b"*1\r\n:9\r\n"),
    (("MULTI", "INCR k", "EXEC"), QUEUED + b"*1\r\n:1\r\n", QUEUED + b"*-1\r\n"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "one", "other"), SAME)
def test_what_cannot_be_the_same_is_not_compared(words, one, other):
    assert meanings(*words, reply=one) == meanings(*words, reply=other)


@pytest.mark.parametrize(("words", "one", "other"), OTHER)
def test_everything_else_is(words, one, other):
    assert meanings(*words, reply=one) != meanings(*words, reply=other)
