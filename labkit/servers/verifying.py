"""Which programs do the same on which servers as in the simulation, as a table.

Each cell of the table is made when it is asked for: the schedules are made on the server that is
here, step by step, and anything that differs is an error, never a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from labkit.servers.agreement import replay_on
from labkit.servers.server import NotUnderstood, Server
from labkit.servers.starting import available, running
from labkit.sim.nodes import Worker
from labkit.sim.trace import table

Programs = Mapping[str, tuple[Worker, Callable[[Any], None], Sequence[str]]]
LACKS = "does not have it"


@dataclass(frozen=True)
class Verified:
    """The table.

    Attributes:
        servers: their names and versions.
        rows: program -> server -> how many schedules were alike; 0 where it lacks a command.
    """

    servers: tuple[str, ...]
    rows: Mapping[str, Mapping[str, int]]

    @property
    def nowhere(self) -> tuple[str, ...]:
        """Programs that no server here can run: verified elsewhere, or not at all."""
        return tuple(name for name, row in self.rows.items() if not any(row.values()))

    def __str__(self) -> str:
        lines = [("verified on", *self.servers)]
        for name, row in self.rows.items():
            cells = (f"{row[s]} schedules alike" if row[s] else LACKS for s in self.servers)
            lines.append((name, *cells))
        return "\n".join(table(lines))

    __repr__ = __str__


def verified_on(programs: Programs, servers: Sequence[Server] | None = None) -> Verified:
    """Make each program's schedules on each server, as far as it has the commands.

    Args:
        programs: name -> worker, setup, schedules; such as `labkit.cases.ladder.RUNGS`.
        servers: all kinds that are available here unless given.

    Raises:
        Disagreement: at the first step that is not as in the simulation.
    """
    with ExitStack() as stack:
        if servers is None:
            servers = [stack.enter_context(running(kind)) for kind in available()]
        rows = {
            name: {server.name: _alike(server, *program) for server in servers}
            for name, program in programs.items()
        }
    return Verified(tuple(server.name for server in servers), rows)


def _alike(
    server: Server, worker: Worker, setup: Callable[[Any], None], schedules: Sequence[str]
) -> int:
    try:
        for schedule in schedules:
            replay_on(server, worker, schedule, setup=setup, partial=True)
    except NotUnderstood:
        return 0
    return len(schedules)
