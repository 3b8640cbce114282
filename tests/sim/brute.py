"""Every schedule of a small program, one after the other: slow, simple, and with nothing shared.

A program is data: a list of instructions. `behaviour` says what it does, as a generator that
yields requests and is told their answers. The same generator is driven twice: `as_worker` lets
redis-py and labkit answer it; `enumerate_all` answers it from a dictionary and tries every order of
moves by plain recursion. Neither fakeredis nor any table of labkit takes part in the second. SQL is
answered by running the whole history so far in a new database, so nothing is ever put back.
"""

from __future__ import annotations

import functools
import sqlite3
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import redis

from labkit.resources import ConnectionLost
from labkit.sim.schedule import Move

KEYS = ("a", "n")
QUEUE = "q"  # the one list: RPUSH puts something in, BLPOP waits for it
COMPARE_AND_DELETE = """\
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0
"""


#: In how many schedules somebody who waited was served, or waits for ever at the end.
met: Counter[str] = Counter()


class TooMany(Exception):
    """The program has more schedules than a test should try."""


# -- what a program does ---------------------------------------------------------------------------


def behaviour(program: tuple, name: str) -> Iterator[Any]:
    """Yields requests: (command, ...), ("pipe", ...), ("sleep", ms), ("now",), ("enter",), ..."""
    for kind, *details in program:
        if kind == "do":
            yield from _do(*details, name)
        elif kind == "acquire":
            key, ttl_ms, attempts, sleep_ms = details
            for _ in range(attempts):
                if (yield "SET NX", key, name, ttl_ms):
                    break
                if sleep_ms:
                    yield "sleep", sleep_ms
            else:
                return "gave up"
        elif kind == "watched":
            yield "WATCH", details[0]
            before = yield "GET", details[0]
            if not (yield "EXEC", ("SET", details[0], f"{before}{name}"), ("INCR", "n")):
                return "conflict"
        elif kind == "sql":
            try:
                yield "SQL", details[0]
            except sqlite3.Error as error:
                if details[1] == "stop":
                    return type(error).__name__
                if details[1] == "raise":
                    raise
        elif kind == "late":
            if (yield ("now",)) >= details[0]:
                return "late"
        elif kind == "raise":
            raise ValueError(name)
        else:
            yield (kind, *details)
    return "done"


def _do(request: tuple, stop_if: str, catch: bool, name: str) -> Iterator[Any]:
    """One command; what happens on its reply, and whether a time-out is survived."""
    request = tuple(name if word == "me" else word for word in request)
    try:
        reply = yield request
    except redis.TimeoutError:
        if not catch:
            raise
        reply = "time-out"
    if (stop_if == "nothing" and not reply) or (stop_if == "something" and reply):
        raise ValueError(f"{name} stops")


# -- answered by labkit ----------------------------------------------------------------------------


def as_worker(program: tuple) -> Callable[[Any], Any]:
    def worker(me: Any) -> Any:
        section = ExitStack()
        running = behaviour(program, me.name)
        answer: Any = None
        with section:
            try:
                request = next(running)
                while True:
                    if request[0] == "enter":
                        section.enter_context(me.critical_section())
                    elif request[0] == "leave":
                        section.close()
                    else:
                        try:
                            answer = _ask(me, request)
                        except (redis.TimeoutError, sqlite3.Error) as error:
                            request = running.throw(error)
                            continue
                    request = running.send(answer)
            except StopIteration as end:
                return end.value

    return worker


def _ask(me: Any, request: tuple) -> Any:
    kind, *words = request
    if kind == "sleep":
        return me.sleep(words[0] / 1000)
    if kind == "now":
        return round(me.now() * 1000)
    if kind == "SQL":
        found = me.shared.bank.execute(words[0])
        return tuple(found.rows) or found.rowcount
    if kind in ("EXEC", "pipe"):
        pipeline = me.redis.pipeline(transaction=kind == "EXEC")
        for command in words:
            pipeline.execute_command(*_wire(*command))
        try:
            return pipeline.execute()
        except redis.WatchError:
            return None
    return me.redis.execute_command(*_wire(kind, *words))


def _wire(kind: str, *words: Any) -> tuple:
    if kind == "SET NX":
        return ("SET", words[0], words[1], "NX", "PX", words[2])
    if kind == "EVAL":
        return ("EVAL", COMPARE_AND_DELETE, 1, *words)
    if kind == "BLPOP":
        return (kind, words[0], words[1] / 1000)
    return (kind, *words)


def check(salt: int, sql: bool = False) -> Callable[[Any], str | None]:
    """Fails for an arbitrary third of all ends; everything that can be seen counts."""

    def at_the_end(lab: Any) -> str | None:
        ends = [(w, str(o), lab.returned.get(w), type(o.error).__name__)
                for w, o in sorted(lab.outcome.items())]  # fmt: skip
        store: list = [(key, lab.redis.get(key), lab.redis.pttl(key)) for key in KEYS]
        store.append((QUEUE, tuple(lab.redis.lrange(QUEUE, 0, -1)), -1))
        store += lab.shared.bank.execute(ALL_ROWS).rows if sql else []
        return "wrong" if _is_wrong(salt, lab.now_ms, ends, store) else None

    return at_the_end


def _is_wrong(salt: int, now_ms: int, ends: list, store: list) -> bool:
    return zlib.crc32(repr((salt, now_ms, ends, store)).encode()) % 3 == 0


# -- answered from a dictionary --------------------------------------------------------------------

TIMED_OUT = object()


@dataclass(frozen=True)
class Local:
    """A worker: what it has been told, and what follows from that."""

    told: tuple = ()
    pending: tuple | None = None  # the request it is stopped at; None: it has ended
    end: tuple = ()  # (how, value, exception)
    wakes_at: int | None = None
    ran: int = 0  # how many commands of its pending pipeline have run
    replies: tuple = ()  # of that pipeline
    watches: tuple | None = None  # (key, its number of changes), on the connection in use
    session: int = 0  # of its connections to the database, the one in use
    waits: bool = False  # in BLPOP, at the server


@dataclass(frozen=True)
class World:
    now_ms: int
    store: dict  # key -> (value, last instant or None)
    changes: dict  # key -> how often it has changed
    workers: dict
    budget: dict
    inside: frozenset = frozenset()
    broken: bool = False
    history: tuple = ()  # (session, statement), or (session, None): it ended
    queue: tuple = ()  # who waits in BLPOP, the first to come first
    served: bool = False


@dataclass
class Counted:
    schedules: int = 0
    violating: int = 0
    cut: int = 0
    best: Any = None
    ends: set = field(default_factory=set)


def enumerate_all(
    programs: dict, pauses: int, faults: dict, moves_max: int, salt: int, nodes_max: int = 4_000,
    sql: bool = False,
) -> Counted:
    counted = Counted()
    nodes = 0
    start = World(0, {}, dict.fromkeys((*KEYS, QUEUE), 0), {}, {"t": pauses, **faults},
                  history=(("setup", None),) if sql else ())  # fmt: skip
    for name in programs:
        start = _run_on(start, programs, name, Local())

    def explore(world: World, path: tuple) -> None:
        nonlocal nodes
        nodes += 1
        if nodes > nodes_max:
            raise TooMany
        if world.broken:
            _offer(counted, path)
        enabled = _enabled(world, programs)
        if not enabled:
            wrong = world.broken or _ends_wrong(world, salt)
            counted.schedules += 1
            counted.violating += wrong
            met["answered late"] += world.served
            met["stuck"] += any(not local.end for local in world.workers.values())
            if wrong:
                _offer(counted, path)
        elif len(path) == moves_max:
            counted.cut += 1
        else:
            for move, after in enabled:
                explore(after, (*path, move))

    explore(start, ())
    return counted


def _offer(counted: Counted, path: tuple) -> None:
    workers = [move.worker for move in path if move.worker]
    key = (
        len(path),
        sum(move.kind in "?~!" and move.kind != "" for move in path),
        sum(move.kind == "t" for move in path),
        sum(a != b for a, b in zip(workers, workers[1:], strict=False)),
        [
            ("", "-", "^", "?", "~", "!", "t").index(m.kind) * 26 + ord(m.worker or "A")
            for m in path
        ],
    )
    if counted.best is None or key < counted.best[0]:
        counted.best = (key, path)


def _ends_wrong(world: World, salt: int) -> bool:
    ends = [(name, *(local.end or ("stuck", None, "NoneType")))
            for name, local in sorted(world.workers.items())]  # fmt: skip
    store = []
    for key in KEYS:
        value, last = world.store.get(key, (None, None))
        ttl = -2 if value is None else -1 if last is None else last - world.now_ms
        store.append((key, value, ttl))
    store.append((QUEUE, world.store.get(QUEUE, ((), None))[0], -1))
    if world.history:
        store += answers((*world.history, ("check", ALL_ROWS)))[-1]
    return _is_wrong(salt, world.now_ms, ends, store)


def _enabled(world: World, programs: dict) -> list:
    if all(local.pending is None for local in world.workers.values()):
        return []
    found = []
    for name, local in world.workers.items():
        if local.pending is None:
            continue
        if local.wakes_at is None and not local.waits:
            found.append((Move("", name), _serve(_run(world, programs, name), programs)))
            for kind in "?~":
                if kind == "?" and _would_wait(world, local.pending):
                    continue  # no reply that could be lost
                if world.budget.get(kind):
                    spent = _spend(world, kind)
                    if kind == "?":
                        spent = _run(spent, {}, name)  # the store only
                    spent = _time_out(spent, programs, name, local)
                    found.append((Move(kind, name), _serve(spent, programs)))
        if world.budget.get("!"):
            gone = replace(local, pending=None, end=("crashed", None, "NoneType"), wakes_at=None,
                           waits=False)  # fmt: skip
            after = _spend(world, "!")
            after = replace(after, workers={**world.workers, name: gone},
                            inside=world.inside - {name},
                            history=_ended(world.history, name, local),
                            queue=tuple(one for one in world.queue if one != name))  # fmt: skip
            found.append((Move("!", name), after))
    ends = [local.wakes_at for local in world.workers.values() if local.wakes_at is not None]
    ends += [last + 1 for _, last in world.store.values() if last is not None]
    can_run = any(w.pending is not None and w.wakes_at is None and not w.waits
                  for w in world.workers.values())  # fmt: skip
    if not ends and not can_run:
        return []  # all that is left waits for ever
    if ends and (not can_run or world.budget["t"]):
        spent = _spend(world, "t") if can_run else world
        found.append((Move("t"), _pass(spent, programs, min(ends))))
    return found


def _spend(world: World, kind: str) -> World:
    return replace(world, budget={**world.budget, kind: world.budget[kind] - 1})


def _pass(world: World, programs: dict, now_ms: int) -> World:
    store, changes = dict(world.store), dict(world.changes)
    for key, (_, last) in world.store.items():
        if last is not None and last < now_ms:
            del store[key]
            changes[key] += 1
    world = replace(world, now_ms=now_ms, store=store, changes=changes)
    for name, local in world.workers.items():
        if local.wakes_at is not None and local.wakes_at <= now_ms:
            world = replace(world, queue=tuple(one for one in world.queue if one != name))
            world = _run_on(world, programs, name, replace(local, told=(*local.told, None)))
    return world


def _would_wait(world: World, request: tuple) -> bool:
    return request[0] == "BLPOP" and request[1] not in world.store


def _serve(world: World, programs: dict) -> World:
    """Who waits gets what there is now, first come, first served."""
    while world.queue and QUEUE in world.store:
        name, *rest = world.queue
        store = dict(world.store)
        reply = _pop(store)
        world = replace(world, store=store, queue=tuple(rest), served=True)
        local = world.workers[name]
        world = _run_on(world, programs, name, replace(local, told=(*local.told, reply)))
    return world


def _pop(store: dict) -> list:
    (first, *rest), last = store.pop(QUEUE)
    if rest:
        store[QUEUE] = (tuple(rest), last)
    return [QUEUE, first]


def _run(world: World, programs: dict, name: str) -> World:
    """The pending command runs; without programs the worker is not told."""
    local = world.workers[name]
    request = local.pending
    store, changes = dict(world.store), dict(world.changes)
    if _would_wait(world, request):
        wakes_at = world.now_ms + request[2] if request[2] else None
        waiting = replace(local, waits=True, wakes_at=wakes_at)
        return replace(world, workers={**world.workers, name: waiting},
                       queue=(*world.queue, name))  # fmt: skip
    if request[0] == "pipe":
        reply = _execute(store, changes, world.now_ms, request[1 + local.ran])
        replies, ran = (*local.replies, reply), local.ran + 1
        local = replace(local, replies=replies, ran=ran)
        reply = list(replies)
        if any(isinstance(one, redis.ResponseError) for one in replies):
            reply = next(one for one in replies if isinstance(one, redis.ResponseError))
        done = ran == len(request) - 1
    elif request[0] == "EXEC":
        watched, done = local.watches, True
        local = replace(local, watches=None)
        if watched is not None and changes[watched[0]] != watched[1]:
            reply = None
        else:
            reply = [_execute(store, changes, world.now_ms, command) for command in request[1:]]
            errors = [one for one in reply if isinstance(one, redis.ResponseError)]
            reply = errors[0] if errors else reply
    elif request[0] == "WATCH":
        local, reply, done = replace(local, watches=(request[1], changes[request[1]])), True, True
    elif request[0] == "SQL":
        history = (*world.history, (f"{name}{local.session}", request[1]))
        world, reply, done = replace(world, history=history), answers(history)[-1], True
    else:
        reply, done = _execute(store, changes, world.now_ms, request), True
    world = replace(world, store=store, changes=changes, workers={**world.workers, name: local})
    if not done or not programs:
        return world
    return _run_on(world, programs, name, replace(local, told=(*local.told, reply)))


def _time_out(world: World, programs: dict, name: str, local: Local) -> World:
    """The worker's client gives up waiting and drops its connection, with what it watched."""
    told = replace(local, told=(*local.told, TIMED_OUT), watches=None)
    if local.pending[0] == "SQL":
        world = replace(world, history=_ended(world.history, name, local))
        told = replace(told, watches=local.watches, session=local.session + 1)
    return _run_on(world, programs, name, told)


def _ended(history: tuple, name: str, local: Local) -> tuple:
    return (*history, (f"{name}{local.session}", None)) if history else ()


def _run_on(world: World, programs: dict, name: str, local: Local) -> World:
    """Run a worker's generator again on all it has been told, up to its next request."""
    running = behaviour(programs[name], name)
    answers = iter(local.told)
    told, fresh = list(local.told), len(local.told)
    given, inside, broken = 0, world.inside, world.broken
    end: tuple = ()
    try:
        request = next(running)
        while True:
            if request[0] in ("enter", "leave"):
                if given == fresh:
                    broken |= request[0] == "enter" and bool(inside)
                    inside = inside | {name} if request[0] == "enter" else inside - {name}
                request = next(running)
                continue
            if given == fresh and request[0] != "now":
                break
            if given == fresh:
                told.append(world.now_ms)
                fresh += 1
                answers = iter([world.now_ms])
            given += 1
            answer = next(answers)
            if answer is TIMED_OUT:
                lost = ConnectionLost if request[0] == "SQL" else redis.TimeoutError
                request = running.throw(lost())
            elif isinstance(answer, Exception):
                request = running.throw(answer)
            else:
                request = running.send(answer)
    except StopIteration as finished:
        request, end = None, ("returned", finished.value, "NoneType")
    except Exception as error:
        request, end = None, ("raised", None, type(error).__name__)
    if end:
        inside -= {name}
    wakes_at = world.now_ms + request[1] if request and request[0] == "sleep" else None
    history = _ended(world.history, name, local) if end else world.history
    local = replace(local, told=tuple(told), pending=request, end=end, wakes_at=wakes_at,
                    ran=0, replies=(), waits=False)  # fmt: skip
    return replace(
        world, workers={**world.workers, name: local}, inside=inside, broken=broken, history=history
    )  # fmt: skip


TABLES = (
    "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER CHECK (balance > 0))",
    "INSERT INTO account VALUES (1, 100)",
)
ALL_ROWS = "SELECT id, balance FROM account ORDER BY id"


@functools.cache
def answers(history: tuple) -> list:
    """What each statement of a history is answered, in a database that has seen nothing else."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder, ExitStack() as stack:
        path = Path(folder, "db")
        path.write_bytes(_new_database())

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(path, isolation_level=None, timeout=0)
            stack.callback(connection.close)
            return connection

        sessions: dict = {}
        return [_answer(sessions, connect, *said) for said in history]


@functools.cache
def _new_database() -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in TABLES:
            connection.execute(statement)
        return connection.serialize()


def _answer(sessions: dict, connect: Any, session: str, statement: str | None) -> Any:
    if session not in sessions:
        sessions[session] = connect()
    if statement is None:
        sessions.pop(session).close()
        return None
    try:
        cursor = sessions[session].execute(statement)
        return cursor.rowcount if cursor.description is None else tuple(cursor.fetchall()) or 0
    except sqlite3.Error as error:
        return error


def _execute(store: dict, changes: dict, now_ms: int, command: tuple) -> Any:
    kind, key, *words = command
    if kind == "BLPOP":
        return _pop(store)
    value, last = store.get(key, (None, None))
    if kind == "RPUSH":
        store[key] = ((*(value or ()), *words), last)
        return len(store[key][0])
    if kind == "GET":
        return value
    if kind == "SET NX" and value is not None:
        return None
    if kind == "DEL" or (kind == "EVAL" and value == words[0]):
        changes[key] += value is not None
        store.pop(key, None)
        return int(value is not None)
    if kind == "EVAL" or (kind == "PEXPIRE" and value is None):
        return 0
    changes[key] += 1
    if kind in ("SET", "SET NX"):
        store[key] = (str(words[0]), None if kind == "SET" else now_ms + words[1])
        return True
    if kind == "PEXPIRE":
        store[key] = (value, now_ms + words[0])
        return 1
    assert kind == "INCR"
    try:
        store[key] = (str(int(value or 0) + 1), last)
    except ValueError:
        changes[key] -= 1
        return redis.ResponseError("value is not an integer or out of range")
    return int(value or 0) + 1
