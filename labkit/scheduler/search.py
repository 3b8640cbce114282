"""Every way to go on, looked through bit by bit while the reader goes on clicking.

`labkit.explore` answers in one go, for the start of a program. Here somebody stands in the middle
of a schedule and does not want to wait: the search is a generator that is continued for some
milliseconds at a time, and it keeps the way from each state to the nearest violation.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from labkit.sim import schedule as moves
from labkit.sim.machine import BROKEN, MEMORY, Machine, State
from labkit.sim.program import Program
from labkit.sim.schedule import Move, Schedule

#: Where the search gives up. Beyond these, `labkit.explore` is the better tool.
MOVES_MAX, STATES_MAX = 200, 100_000

#: A state of the machine, and how many pauses and faults are left.
Node = tuple[State, tuple[int, ...]]
Edges = list[tuple[Move, Node]]


class Walk:
    """A machine without budgets, with pauses and faults counted beside it.

    Whoever plays may go beyond the bounds of the search; the machine must let them.

    Args:
        limits: how often a pause (`t`) and each kind of fault may happen.
    """

    def __init__(self, program: Program, machine: Machine, limits: Mapping[str, int]) -> None:
        self.program, self.machine = program, machine
        self._places = {kind: place for place, kind in enumerate(limits)}
        self.start: Node = (machine.start, tuple(limits.values()))

    def edges(self, node: Node) -> Edges:
        """The moves within the limits."""
        found = self.machine.successors(node[0])
        can_run = any(move.kind == moves.RUN for move, _ in found)
        counted = ((move, after, self._left(node[1], move, can_run)) for move, after in found)
        return [(move, (after, left)) for move, after, left in counted if min(left) >= 0]

    def follow(self, node: Node, move: Move) -> Node:
        """Where an enabled move leads, also if nothing of its kind was left."""
        found = self.machine.successors(node[0])
        can_run = any(move.kind == moves.RUN for move, _ in found)
        left = self._left(node[1], move, can_run)
        return dict(found)[move], tuple(max(0, count) for count in left)

    def broken(self, node: Node, complete: bool) -> bool:
        if node[0][MEMORY] == BROKEN:
            return True
        return complete and self.program.checks.judge(self.machine, node[0]) is not None

    def _left(self, left: tuple[int, ...], move: Move, can_run: bool) -> tuple[int, ...]:
        """A `t` is a pause only while somebody could run."""
        if move.kind == moves.RUN or (move.kind == moves.TIME and not can_run):
            return left
        place = self._places[move.kind]
        return (*left[:place], left[place] - 1, *left[place + 1 :])


class Search:
    """All that can come after one node.

    Attributes:
        schedules, violating: how many ways there are to the end, and how many break a rule.
        stopped: the bound at which it gave up, or "".
        over: whether it has come to its end.
    """

    def __init__(self, walk: Walk, root: Node) -> None:
        self._walk, self._root = walk, root
        self.schedules = self.violating = 0
        self.stopped = ""
        self.over = False
        self._edges: dict[Node, Edges] = {}
        self._before: dict[Node, list[Node]] = {}
        self._distance: dict[Node, int] = {}
        self.steps = self._run()

    @property
    def states(self) -> int:
        return len(self._edges)

    def knows(self, node: Node) -> bool:
        return node in self._edges

    def path(self, node: Node) -> Schedule | None:
        """A shortest schedule to a violation, chosen among equals as `labkit.explore` does."""
        if node not in self._distance:
            return None
        move_of: dict[Any, Move] = {}
        queue: list[tuple[Any, ...]] = [(0, 0, 0, (), node, "")]
        seen = set()
        while True:
            faults, times, switches, ranks, here, last = heapq.heappop(queue)
            if self._distance[here] == 0:
                return Schedule(move_of[rank] for rank in ranks)
            if (here, last) in seen:
                continue
            seen.add((here, last))
            for move, after in self._edges[here]:
                if self._distance.get(after) == self._distance[here] - 1:
                    move_of[move.rank] = move
                    heapq.heappush(queue, (
                        faults + move.is_fault,
                        times + (move.kind == moves.TIME),
                        switches + (move.worker is not None and last not in ("", move.worker)),
                        (*ranks, move.rank), after, move.worker or last,
                    ))  # fmt: skip

    def _run(self) -> Iterator[None]:
        """One state after the other; layer by layer, so that ways can be counted together."""
        layer, made = {self._root: 1}, 0
        while layer and not self.stopped:
            following: dict[Node, int] = {}
            for node, ways in layer.items():
                edges = self._look_at(node)
                if not edges:
                    self.schedules += ways
                    self.violating += ways * (node in self._distance)
                for _, after in edges:
                    following[after] = following.get(after, 0) + ways
                yield
                if self.states >= STATES_MAX:
                    self.stopped = f"{STATES_MAX:,} states"
                    break
            layer, made = following, made + 1
            if layer and made > MOVES_MAX:
                self.stopped = f"{MOVES_MAX} moves"
        yield from self._measure()
        self.over = True

    def _look_at(self, node: Node) -> Edges:
        known = self._edges.get(node)
        if known is None:
            known = self._edges[node] = self._walk.edges(node)
            for _, after in known:
                self._before.setdefault(after, []).append(node)
            if self._walk.broken(node, complete=not known):
                self._distance[node] = 0
        return known

    def _measure(self) -> Iterator[None]:
        """Backwards from all violations: how far away the nearest is."""
        queue = deque(self._distance)
        while queue:
            node = queue.popleft()
            for before in self._before.get(node, ()):
                if before not in self._distance:
                    self._distance[before] = self._distance[node] + 1
                    queue.append(before)
            yield
