"""Workers as trees of replies.

A worker is deterministic: what it does next depends on nothing but the replies it has received
(clock readings included) and on which of its threads received them. So its local state is a path in
a tree, and a new node of the tree is made by running the worker on the replies of the path, with no
server involved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from labkit.sim.commands import CRASHED, Command, Ended, Pending, Waiting, waiting
from labkit.sim.errors import NondeterminismError
from labkit.sim.process import Event, Process
from labkit.sim.replies import Blocked, Late, Lost, Reply

#: A function, or several: the first is the main thread's, the others run beside it.
Worker = Callable[[Any], Any] | Sequence[Callable[[Any], Any]]

#: Processes that are kept where they stand, so that fewer need to be run again from the start.
PARKED_MAX = 100


class Node:
    """One local state: where the worker stands after the replies on the path to here.

    Attributes:
        thread: the thread that received the last reply.
        pendings: what each thread is about to do, the main thread first.
        ran: the threads that have run since the parent.
        timed: whether the clock was read on the way from the parent.
    """

    __slots__ = ("worker", "parent", "thread", "reply", "now_ms", "pendings", "ran", "events",
                 "timed", "children")  # fmt: skip

    def __init__(
        self, worker: str, parent: Node | None, thread: int, reply: Reply, now_ms: int
    ) -> None:
        self.worker = worker
        self.parent = parent
        self.thread = thread
        self.reply = reply
        self.now_ms = now_ms
        self.pendings: tuple[Pending, ...] = (Ended(CRASHED),)
        self.ran: frozenset[int] = frozenset({thread})
        self.events: tuple[Event, ...] = ()
        self.timed = False
        self.children: dict[Any, Node] = {}

    @property
    def pending(self) -> Pending:
        """What the main thread is about to do."""
        return self.pendings[0]

    @property
    def ended(self) -> Ended | None:
        """How the process has ended: with its main thread, once no other one runs."""
        main = self.pendings[0]
        over = all(isinstance(pending, Ended) for pending in self.pendings)
        return main if over and isinstance(main, Ended) else None

    def adopt(self, process: Process) -> None:
        self.ran = frozenset(process.ran)
        before = self.parent.pendings if self.parent is not None else ()
        # The process does not know which of its commands still wait for a reply: it stands there.
        self.pendings = tuple(
            waits if number not in self.ran and isinstance(asked, Command) else asked
            for number, (asked, waits) in enumerate(
                zip_longest(process.pendings, before[: len(process.pendings)]), 1
            )
        )
        self.events = tuple(process.events)
        self.timed = process.clock_was_read

    def stand(self, reply: Blocked | Late) -> None:
        """The process stays where it is, in front of a command whose reply is still to come."""
        assert self.parent is not None
        pendings = list(self.parent.pendings)
        command = pendings[self.thread - 1]
        assert isinstance(command, Command)
        pendings[self.thread - 1] = waiting(command, reply)
        self.pendings = tuple(pendings)

    @property
    def answered(self) -> tuple[Command, bytes | Lost] | None:
        """The command that has waited until the reply of this state came, and that reply."""
        before = self.parent.pendings[self.thread - 1] if self.parent is not None else None
        if not isinstance(before, Waiting) or before.command is None:
            return None
        assert isinstance(self.reply, bytes | Lost)
        return before.command, self.reply

    def thread_in(self, session: str) -> int:
        """The thread whose command waits at the server, on this connection."""
        return next(number for number, pending in enumerate(self.pendings, 1)
                    if isinstance(pending, Waiting) and pending.arriving is None
                    and pending.command is not None and pending.command.session == session
                    )  # fmt: skip

    def path(self) -> list[Node]:
        """From the start of the worker to here."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]


class Locals:
    """Local states of all workers as numbers; the ends of waits are part of a local state.

    Attributes:
        ends: local state -> for each thread, when its wait ends by itself (None: it does not).
        wakes_at: local state -> the earliest of these.
    """

    def __init__(self, workers: Mapping[str, Worker], resources: Mapping[str, Any]) -> None:
        self.workers = dict(workers)
        self._resources = resources
        self.runs = 0
        self.nodes: list[Node] = []
        self.ends: list[tuple[int | None, ...]] = []
        self.wakes_at: list[int | None] = []
        self._numbers: dict[tuple[Node, tuple[int | None, ...]], int] = {}
        self._parked: dict[Node, Process] = {}
        self.crashed = {w: self._number(Node(w, None, 1, None, 0), 0, ()) for w in self.workers}
        self.start = {w: self._number(self._root(w), 0, ()) for w in self.workers}

    def after(self, local: int, thread: int, reply: Reply, now_ms: int) -> int:
        """The local state after one more reply, which reaches a thread at `now_ms`."""
        child = self._child(self.nodes[local], thread, reply, now_ms)
        return self._number(child, now_ms, self.ends[local])

    def wake(self, local: int, now_ms: int) -> int:
        """The local state at `now_ms`, once the waits that are over by then have ended."""
        while (wakes_at := self.wakes_at[local]) is not None and wakes_at <= now_ms:
            ends = self.ends[local]
            thread = next(n for n, end in enumerate(ends, 1) if end is not None and end <= now_ms)
            pending = self.nodes[local].pendings[thread - 1]
            assert isinstance(pending, Waiting)
            local = self.after(local, thread, pending.told, now_ms)
        return local

    def close(self) -> None:
        while self._parked:
            self._parked.popitem()[1].close()

    def _number(self, node: Node, now_ms: int, before: tuple[int | None, ...]) -> int:
        """Waits of threads that have just run begin now; those of the others go on."""
        ends = tuple(
            None if not isinstance(pending, Waiting) or pending.ms is None
            else now_ms + pending.ms if number in node.ran else before[number - 1]
            for number, pending in enumerate(node.pendings, 1)
        )  # fmt: skip
        number = self._numbers.setdefault((node, ends), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.ends.append(ends)
            self.wakes_at.append(min((end for end in ends if end is not None), default=None))
        return number

    def _child(self, node: Node, thread: int, reply: Reply, now_ms: int) -> Node:
        child = node.children.get((thread, reply))
        if child is None or child.timed:
            child = node.children.get((thread, reply, now_ms))
        if child is None:
            process = self._process_at(node)
            child = Node(node.worker, node, thread, reply, now_ms)
            if isinstance(reply, Blocked | Late):
                child.stand(reply)
            else:
                process.send(reply, now_ms, thread)
                child.adopt(process)
            node.children[thread, reply] = node.children[thread, reply, now_ms] = child
            self._park(child, process)
        return child

    def _root(self, worker: str) -> Node:
        root = Node(worker, None, 1, None, 0)
        process = self._new_process(root)
        root.adopt(process)
        self._park(root, process)
        return root

    def _new_process(self, root: Node) -> Process:
        self.runs += 1
        process = Process(root.worker, self.workers[root.worker], self._resources)
        process.start(root.now_ms)
        return process

    def _park(self, node: Node, process: Process) -> None:
        """Keep the process where it stands: soon somebody may ask how it goes on."""
        if not node.ended:
            self._parked[node] = process
        if len(self._parked) > PARKED_MAX:
            oldest = next(iter(self._parked))
            self._parked.pop(oldest).close()

    def _process_at(self, node: Node) -> Process:
        """A process that stands at `node`: the parked one, or a new one told the same replies."""
        parked = self._parked.pop(node, None)
        if parked is not None:
            return parked
        path = node.path()
        process = self._new_process(path[0])
        for expected, step in zip(path, path[1:], strict=False):
            if not isinstance(step.reply, Blocked | Late):
                _compare(expected, process)
                process.send(step.reply, step.now_ms, step.thread)
        _compare(node, process)
        return process


def _compare(node: Node, process: Process) -> None:
    expected = [asked.command or asked if isinstance(asked, Waiting) else asked
                for asked in node.pendings]  # fmt: skip
    if list(process.pendings) != expected:
        then, now = (" · ".join(map(str, pendings)) for pendings in (expected, process.pendings))
        raise NondeterminismError(
            f"Worker {node.worker} is not deterministic. Given the same replies, after "
            f"{len(node.path()) - 1} of them it was about to do\n    {then}\nand the next "
            f"time\n    {now}\nDoes it use datetime.now(), the order of a set, a "
            f"global variable or a file? Use me.now() and me.token(), and share things through me."
        )
