"""Write down every schedule that is replayed while some code runs, such as a notebook's cells."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from labkit.sim.program import Program
from labkit.sim.replaying import Execution
from labkit.sim.trace import Trace

NEEDS = {"needs-server", "needs-postgres"}


@dataclass(frozen=True)
class Recorded:
    """A program, one of its schedules, and what came of it in the simulation."""

    program: Program
    trace: Trace


@contextlib.contextmanager
def recorded() -> Iterator[list[Recorded]]:
    """All replays of the block, the counterexamples of explorations included.

    Every one ends with `Execution.trace`, however the notebook has imported `replay`. An execution
    in which time passed to an instant between two deadlines has no schedule and is left out.
    """
    found: dict[tuple, Recorded] = {}
    trace, pass_to = Execution.trace, Execution.pass_to

    def recording(self: Execution, *, partial: bool = False) -> Trace:
        made = trace(self, partial=partial)
        finished = partial or made.complete or made.broken is not None
        if finished and not getattr(self, "between_deadlines", False):
            key = (made.call, *map(id, self.program.workers.values()), id(self.program.check))
            found[key] = Recorded(self.program, made)
        return made

    def passing(self: Execution, now_ms: int):
        self.between_deadlines = True
        return pass_to(self, now_ms)

    result: list[Recorded] = []
    with mock.patch.multiple(Execution, trace=recording, pass_to=passing):
        yield result
    result += found.values()


def run_cells(notebook: Path) -> None:
    """Run a notebook's code cells in this process, without those that need a server."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    names = {"__name__": notebook.stem}
    with contextlib.chdir(notebook.parent):
        for number, cell in enumerate(cells):
            tags = set(cell["metadata"].get("tags", []))
            if cell["cell_type"] == "code" and not tags & NEEDS:
                code = compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec")
                may_raise = Exception if "raises-exception" in tags else ()
                with contextlib.suppress(*([may_raise] if may_raise else [])):
                    exec(code, names)
