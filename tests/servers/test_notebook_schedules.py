"""Every schedule that a notebook shows does the same on real servers."""

import functools
import json
from pathlib import Path

import pytest

from labkit.servers.agreement import follow
from tests.servers.recording import recorded, run_cells

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

#: A failover takes a second server, which is not started here.
ONLY_SIMULATED = {"f"}
CELLS = [
    "from labkit import *\nimport labkit\nfrom labkit.sim.replaying import replay as again",
    """
def worker(me):
    if me.redis.get("lock") is None:
        me.redis.set("lock", me.name, px=100)
        with me.critical_section():
            me.redis.incr("n")
""",
    'replay(worker, "A B A B", check=mutual_exclusion)',
    'again(worker, "A", partial=True)\nlabkit.replay(worker, "A A t B", partial=True)',
    "print(explore(worker, check=mutual_exclusion))",
    "simulate(worker)\nsimulate(worker, pause=('A', 2, 0.02))",
    ("needs-server", "raise SystemExit('must not run')"),
    ("raises-exception", 'replay(worker, "A")'),
]


def write(path, cells):
    pairs = [cell if isinstance(cell, tuple) else ("", cell) for cell in cells]
    code = [{"cell_type": "code", "metadata": {"tags": [tag]}, "source": source.splitlines(True)}
            for tag, source in pairs]  # fmt: skip
    text = {"cell_type": "markdown", "metadata": {}, "source": ["not Python"]}
    path.write_text(json.dumps({"cells": [text, *code]}))
    return path


@functools.cache
def shown():
    """Notebook -> what it replays. Run once for all kinds of server."""
    found = {}
    for notebook in NOTEBOOKS:
        with recorded() as schedules:
            run_cells(notebook)
        found[notebook.name] = schedules
    return found


@pytest.mark.slow
def test_every_schedule_of_the_notebooks_does_the_same_on_a_server(server):
    assert shown(), "there are no notebooks, so nothing was compared"
    assert all(shown().values()), "a notebook without a single schedule"
    for schedules in shown().values():
        for one in schedules:
            if not {str(move) for move in one.trace.schedule} & ONLY_SIMULATED:
                assert str(follow(server, one.program, one.trace)) == str(one.trace)


def test_only_failovers_are_simulated_only_and_their_notebooks_say_so():
    for name, schedules in shown().items():
        moves = {str(move) for one in schedules for move in one.trace.schedule}
        text = (ROOT / "notebooks" / name).read_text("utf-8")
        assert not moves & ONLY_SIMULATED or "A failover is simulated only" in text, name


def test_the_recorder_sees_every_schedule_however_it_is_replayed(server, tmp_path):
    notebook = write(tmp_path / "dummy.ipynb", CELLS)
    with recorded() as schedules:
        run_cells(notebook)
    seen = {str(one.trace.schedule): one for one in schedules}
    assert seen.keys() == {
        "A B A B", "A", "A A t B",  # replayed, whatever name it was imported under
        "A B B A",                  # found by the exploration
        "A A A B",                  # chosen by a strategy, without a pause between deadlines
    }  # fmt: skip
    assert seen["A B A B"].trace.broken == "A and B are both inside"
    for one in schedules:
        assert str(follow(server, one.program, one.trace)) == str(one.trace)


def test_a_failing_cell_fails_with_its_place(tmp_path):
    notebook = write(tmp_path / "broken.ipynb", ["x = 1", "1 / 0"])
    with pytest.raises(ZeroDivisionError) as caught, recorded():
        run_cells(notebook)
    assert "broken.ipynb, cell 2" in str(caught.traceback[-1].path)
