"""Workers as trees of replies.

A worker is deterministic: what it does next depends on nothing but the replies it has received
(clock readings included). So its local state is a path in a tree, and a new node of the tree is
made by running the worker on the replies of the path, with no server involved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.sim.commands import CRASHED, Command, Ended, Pending, Waiting
from labkit.sim.errors import NondeterminismError
from labkit.sim.process import Event, Process
from labkit.sim.replies import Blocked, Lost, Reply

Worker = Callable[[Any], Any]

#: Processes that are kept where they stand, so that fewer need to be run again from the start.
PARKED_MAX = 100


class Node:
    """One local state: where the worker stands after the replies on the path to here."""

    __slots__ = ("worker", "parent", "reply", "now_ms", "pending", "events", "timed", "children")

    def __init__(self, worker: str, parent: Node | None, reply: Reply, now_ms: int) -> None:
        self.worker = worker
        self.parent = parent
        self.reply = reply
        self.now_ms = now_ms
        self.pending: Pending = Ended(CRASHED)
        self.events: tuple[Event, ...] = ()
        self.timed = False  # whether the clock was read on the way from the parent
        self.children: dict[Any, Node] = {}

    @property
    def ended(self) -> Ended | None:
        return self.pending if isinstance(self.pending, Ended) else None

    def adopt(self, process: Process) -> None:
        self.pending = process.pending
        self.events = tuple(process.events)
        self.timed = process.clock_was_read

    @property
    def answered(self) -> tuple[Command, bytes | Lost] | None:
        """The command that has waited until the reply of this state came, and that reply."""
        waited = self.parent.pending if self.parent is not None else None
        if not isinstance(waited, Waiting) or waited.command is None:
            return None
        assert isinstance(self.reply, bytes | Lost)
        return waited.command, self.reply

    @property
    def told_at_the_end(self) -> Reply:
        """What its wait ends with if nobody ends it before: the reply of a command that blocks."""
        return self.reply.told if isinstance(self.reply, Blocked) else None

    def path(self) -> list[Node]:
        """From the start of the worker to here."""
        nodes = [self]
        while nodes[-1].parent is not None:
            nodes.append(nodes[-1].parent)
        return nodes[::-1]


class Locals:
    """Local states of all workers as numbers; the end of a wait is part of a local state."""

    def __init__(self, workers: Mapping[str, Worker], resources: Mapping[str, Any]) -> None:
        self.workers = dict(workers)
        self._resources = resources
        self.runs = 0
        self.nodes: list[Node] = []
        self.wakes_at: list[int | None] = []
        self._numbers: dict[tuple[Node, int | None], int] = {}
        self._parked: dict[Node, Process] = {}
        self.crashed = {w: self._number(Node(w, None, None, 0), 0) for w in self.workers}
        self.start = {w: self._number(self._root(w), 0) for w in self.workers}

    def after(self, local: int, reply: Reply, now_ms: int) -> int:
        """The local state after one more reply, which arrives at `now_ms`."""
        return self._number(self._child(self.nodes[local], reply, now_ms), now_ms)

    def wake(self, local: int, now_ms: int) -> int:
        """The local state at `now_ms`: the next one if a wait is over by then, else the same."""
        wakes_at = self.wakes_at[local]
        if wakes_at is None or wakes_at > now_ms:
            return local
        return self.after(local, self.nodes[local].told_at_the_end, now_ms)

    def close(self) -> None:
        while self._parked:
            self._parked.popitem()[1].close()

    def _number(self, node: Node, now_ms: int) -> int:
        pending = node.pending
        ends = isinstance(pending, Waiting) and pending.ms is not None
        wakes_at = now_ms + pending.ms if ends else None  # type: ignore[union-attr, operator]
        number = self._numbers.setdefault((node, wakes_at), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.wakes_at.append(wakes_at)
        return number

    def _child(self, node: Node, reply: Reply, now_ms: int) -> Node:
        child = node.children.get(reply)
        if child is None or child.timed:
            child = node.children.get((reply, now_ms))
        if child is None:
            process = self._process_at(node)
            child = Node(node.worker, node, reply, now_ms)
            if isinstance(reply, Blocked):  # the process goes on standing where it stands
                assert isinstance(node.pending, Command)
                child.pending = Waiting(reply.ms, "waits in", node.pending)
            else:
                process.send(reply, now_ms)
                child.adopt(process)
            node.children[reply] = node.children[reply, now_ms] = child
            self._park(child, process)
        return child

    def _root(self, worker: str) -> Node:
        root = Node(worker, None, None, 0)
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
            if not isinstance(step.reply, Blocked):
                _compare(expected, process)
                process.send(step.reply, step.now_ms)
        _compare(node, process)
        return process


def _compare(node: Node, process: Process) -> None:
    asked = node.pending.command if isinstance(node.pending, Waiting) else None
    if process.pending != (asked or node.pending):
        raise NondeterminismError(
            f"Worker {node.worker} is not deterministic. Given the same replies, after "
            f"{len(node.path()) - 1} of them it was about to do\n    {node.pending}\nand the next "
            f"time\n    {process.pending}\nDoes it use datetime.now(), the order of a set, a "
            f"global variable or a file? Use me.now() and me.token(), and share things through me."
        )
