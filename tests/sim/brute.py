"""Every schedule of a small program, one after the other: slow, simple, and with nothing shared.

A program is data: a list of instructions. `behaviour` says what it does, as a generator that
yields requests and is told their answers. The same generator is driven twice: `as_worker` lets
redis-py and labkit answer it; `enumerate_all` answers it from a dictionary and tries every order of
moves by plain recursion. Neither fakeredis nor any table of labkit takes part in the second. SQL is
answered by running the whole history so far in a new database, so nothing is ever put back.
A program that is named "A2" is a thread of A's process.
"""

from __future__ import annotations

import functools
import sqlite3
import tempfile
import threading
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
    except (redis.TimeoutError, redis.ConnectionError):
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
                        except (redis.TimeoutError, redis.ConnectionError, sqlite3.Error) as error:
                            request = running.throw(error)
                            continue
                    request = running.send(answer)
            except StopIteration as end:
                return end.value

    return worker


def as_workers(programs: dict) -> dict:
    """By letter; the threads of one process together."""
    together: dict = {}
    for name, program in programs.items():
        together.setdefault(name[0], []).append(as_worker(program))
    return {letter: tuple(threads) for letter, threads in together.items()}


def _ask(me: Any, request: tuple) -> Any:
    kind, *words = request
    if kind in ("set", "wait", "take", "free"):
        signal = vars(me).setdefault("signal", threading.Event())
        lock = vars(me).setdefault("lock", threading.Lock())
        if kind == "wait":
            return signal.wait(words[0] and words[0] / 1000)
        return {"set": signal.set, "take": lock.acquire, "free": lock.release}[kind]()
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

TIMED_OUT, REFUSED = object(), object()


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
    late: tuple | None = None  # the reply that is on its way: what it will be told


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
    delayed: tuple = ()  # (who, the request or its command, what it watches)
    unseen: tuple = ()  # what the store was before each of the last changes
    down: bool = False
    signals: frozenset = frozenset()  # processes whose event is set
    taken: frozenset = frozenset()  # processes whose lock somebody has
    lag: int = 1


@dataclass
class Counted:
    schedules: int = 0
    violating: int = 0
    cut: int = 0
    best: Any = None
    ends: set = field(default_factory=set)


def enumerate_all(
    programs: dict, pauses: int, faults: dict, moves_max: int, salt: int, nodes_max: int = 4_000,
    sql: bool = False, lag: int = 1,
) -> Counted:
    counted = Counted()
    nodes = 0
    start = World(0, {}, dict.fromkeys((*KEYS, QUEUE), 0), {}, {"t": pauses, **faults},
                  history=(("setup", None),) if sql else (), lag=lag)  # fmt: skip
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
        sum(move.kind not in ("", "t") for move in path),
        sum(move.kind == "t" for move in path),
        sum(a != b for a, b in zip(workers, workers[1:], strict=False)),
        [(("", *"-^?~!tfedu").index(m.kind), m.thread, m.worker or "") for m in path],
    )
    if counted.best is None or key < counted.best[0]:
        counted.best = (key, path)


def _ends_wrong(world: World, salt: int) -> bool:
    ends = []
    for letter in sorted({name[0] for name in world.workers}):
        threads = [local for name, local in world.workers.items() if name[0] == letter]
        over = all(local.end for local in threads)
        ends.append((letter, *(threads[0].end if over else ("stuck", None, "NoneType"))))
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
        kinds = _kinds(world, name, local, programs)
        found += [(Move(kind, name[0], int(name[1:] or 1)), after) for kind, after in kinds]
    ends = [local.wakes_at for local in world.workers.values() if local.wakes_at is not None]
    ends += [last + 1 for _, last in world.store.values() if last is not None]
    can_run = any(map(_can_run, world.workers.values()))
    if not ends and not can_run:
        return []  # all that is left waits for ever
    if ends and (not can_run or world.budget["t"]):
        spent = _spend(world, "t") if can_run else world
        found.append((Move("t"), _pass(spent, programs, min(ends))))
    found += [(Move(kind), _happens(_spend(world, kind), programs, kind)) for kind in "fedu"
              if world.budget.get(kind) and _can_happen(world, kind)]  # fmt: skip
    return found


def _can_run(local: Local) -> bool:
    asks = local.pending is not None and local.pending[0] not in ("sleep", "wait", "take")
    return asks and not local.waits


def _kinds(world: World, name: str, local: Local, programs: dict) -> Iterator[tuple[str, World]]:
    """The moves of one thread: (kind, what follows)."""
    if local.late is not None:
        yield "", _arrive(world, programs, name)
    elif _can_run(local) and world.down and local.pending[0] != "SQL":
        yield "", _tell(world, programs, name, REFUSED)
    elif _can_run(local):
        yield "", _noted(world, _serve(_run(world, programs, name), programs))
        would_wait = _would_wait(world, local.pending)  # then no reply could be lost or late
        for kind in "-?~":
            if world.budget.get(kind) and not (would_wait and kind != "~"):
                spent = _spend(world, kind)
                if kind == "-":
                    after = _run(spent, programs, name, late=True)
                elif kind == "?":
                    after = _run(spent, {}, name)  # the store only
                    after = _time_out(after, programs, name, local)
                else:
                    after = _time_out(_delay(spent, name, local), programs, name, local)
                yield kind, _noted(world, _serve(after, programs))
    if world.budget.get("^") and any(who == name for who, *_ in world.delayed):
        yield "^", _noted(world, _serve(_late_request(_spend(world, "^"), name), programs))
    process = {n: one for n, one in world.workers.items() if n[0] == name[0]}
    if len(name) == 1 and world.budget.get("!") and any(one.pending for one in process.values()):
        yield "!", _crash(_spend(world, "!"), process)


def _crash(world: World, process: dict) -> World:
    gone = Local(end=("crashed", None, "NoneType"))
    history = world.history
    for name, local in process.items():
        history = _ended(history, name, local)
    return replace(world, workers={**world.workers, **dict.fromkeys(process, gone)},
                   inside=world.inside - set(process), history=history,
                   queue=tuple(one for one in world.queue if one not in process))  # fmt: skip


def _noted(before: World, after: World) -> World:
    """A replica has not seen the last changes."""
    if "f" not in after.budget or before.store == after.store:
        return after
    return replace(after, unseen=(*after.unseen, before.store)[-after.lag :])


def _arrive(world: World, programs: dict, name: str) -> World:
    local = replace(world.workers[name], late=None)
    told = world.workers[name].late
    if not told:  # the next command of the pipeline is pending
        return replace(world, workers={**world.workers, name: local})
    return _run_on(world, programs, name, replace(local, told=(*local.told, *told)))


def _tell(world: World, programs: dict, name: str, what: Any) -> World:
    local = world.workers[name]
    return _run_on(world, programs, name, replace(local, told=(*local.told, what), watches=None))


def _delay(world: World, name: str, local: Local) -> World:
    if "^" not in world.budget:
        return world
    request = local.pending[1 + local.ran] if local.pending[0] == "pipe" else local.pending
    return replace(world, delayed=(*world.delayed, (name, request, local.watches)))


def _late_request(world: World, name: str) -> World:
    place = [who for who, *_ in world.delayed].index(name)
    _, request, watches = world.delayed[place]
    world = replace(world, delayed=world.delayed[:place] + world.delayed[place + 1 :])
    if request[0] == "WATCH" or _would_wait(world, request):  # its connection has ended
        return world
    sender = replace(world, workers={name: Local(pending=request, watches=watches)})
    return replace(_run(sender, {}, name), workers=world.workers)


def _can_happen(world: World, kind: str) -> bool:
    if kind == "f":
        return bool(world.unseen)
    if kind == "e":
        return not world.down and any(last is not None for _, last in world.store.values())
    return world.down == (kind == "u")


def _happens(world: World, programs: dict, kind: str) -> World:
    """Failover, eviction, the server goes down, it comes back."""
    if kind == "u":
        return replace(world, down=False)
    if kind == "e":
        gone = {key for key, (_, last) in world.store.items() if last is not None}
        return replace(world, store={k: v for k, v in world.store.items() if k not in gone},
                       changes={k: n + (k in gone) for k, n in world.changes.items()})  # fmt: skip
    store = world.store
    if kind == "f":
        store = {k: (value, last) for k, (value, last) in world.unseen[0].items()
                 if last is None or last >= world.now_ms}  # fmt: skip
    waited = world.queue
    changes = {key: n + 1 for key, n in world.changes.items()}  # no EXEC that watches succeeds
    world = replace(world, store=store, changes=changes, queue=(), delayed=(), down=kind == "d",
                    unseen=() if kind == "f" else world.unseen)  # fmt: skip
    for name in waited:
        world = _tell(world, programs, name, REFUSED)
    return world


def _spend(world: World, kind: str) -> World:
    return replace(world, budget={**world.budget, kind: world.budget[kind] - 1})


def _pass(world: World, programs: dict, now_ms: int) -> World:
    store, changes = dict(world.store), dict(world.changes)
    for key, (_, last) in world.store.items():
        if last is not None and last < now_ms:
            del store[key]
            changes[key] += 1
    world = replace(world, now_ms=now_ms, store=store, changes=changes)
    for name in world.workers:
        local = world.workers[name]
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


def _run(world: World, programs: dict, name: str, late: bool = False) -> World:
    """The pending command runs; without programs the worker is not told, or not yet if late."""
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
    if late:
        local = replace(local, late=(reply,) if done else ())
    world = replace(world, store=store, changes=changes, workers={**world.workers, name: local})
    if not done or not programs or late:
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
    """Run a thread on to its next request, and then those of its process that it lets go on."""
    world = _run_alone(world, programs, name, local)
    for other, waiting in world.workers.items():
        if other[0] == name[0] and _is_let_go(world, other, waiting):
            told = replace(waiting, told=(*waiting.told, True))
            if waiting.pending[0] == "take":
                world = replace(world, taken=world.taken | {name[0]})
            return _run_on(world, programs, other, told)
    return world


def _is_let_go(world: World, name: str, local: Local) -> bool:
    request = local.pending or ("",)
    return (request[0] == "wait" and name[0] in world.signals) or (
        request[0] == "take" and name[0] not in world.taken
    )


def _run_alone(world: World, programs: dict, name: str, local: Local) -> World:
    """Run a worker's generator again on all it has been told, up to its next request."""
    running = behaviour(programs[name], name[0])
    answers = iter(local.told)
    told, fresh = list(local.told), len(local.told)
    given = 0
    end: tuple = ()
    try:
        request = next(running)
        while True:
            if request[0] in ("enter", "leave", "set", "free"):
                if given == fresh:
                    world = _at_once(world, name, request[0])
                request = next(running)
                continue
            if given == fresh:
                at_once = _answer_at_once(world, name, request)
                if at_once is None:
                    break
                if request[0] == "take":
                    world = replace(world, taken=world.taken | {name[0]})
                told.append(at_once)
                fresh += 1
                answers = iter([at_once])
            given += 1
            answer = next(answers)
            if answer is TIMED_OUT or answer is REFUSED:
                lost = redis.ConnectionError if answer is REFUSED else redis.TimeoutError
                request = running.throw((ConnectionLost if request[0] == "SQL" else lost)())
            elif isinstance(answer, Exception):
                request = running.throw(answer)
            else:
                request = running.send(answer)
    except StopIteration as finished:
        request, end = None, ("returned", finished.value, "NoneType")
    except Exception as error:
        request, end = None, ("raised", None, type(error).__name__)
    inside = world.inside - {name} if end else world.inside
    waits_ms = request[1] if request and request[0] in ("sleep", "wait") else None
    wakes_at = None if waits_ms is None else world.now_ms + waits_ms
    history = _ended(world.history, name, local) if end else world.history
    local = replace(local, told=tuple(told), pending=request, end=end, wakes_at=wakes_at,
                    ran=0, replies=(), waits=False, late=None)  # fmt: skip
    workers = {**world.workers, name: local}
    return replace(world, workers=workers, inside=inside, history=history)


def _at_once(world: World, name: str, what: str) -> World:
    """What needs no answer and is seen by nobody else but in its effect."""
    if what == "enter":
        broken = world.broken or bool(world.inside)
        return replace(world, inside=world.inside | {name}, broken=broken)
    if what == "leave":
        return replace(world, inside=world.inside - {name})
    if what == "set":
        return replace(world, signals=world.signals | {name[0]})
    return replace(world, taken=world.taken - {name[0]})


def _answer_at_once(world: World, name: str, request: tuple) -> Any:
    """The answer to a request that nobody need wait for; None if somebody must."""
    if request[0] == "now":
        return world.now_ms
    return _is_let_go(world, name, Local(pending=request)) or None


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
