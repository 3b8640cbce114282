"""The table "verified on" of notebook 02 says what the servers here say."""

import json
import re
from pathlib import Path

import pytest

from labkit.cases.ladder import RUNGS
from labkit.servers import available, verified_on

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "02-acquire-and-release.ipynb"


def stored_table():
    """Server -> rung -> what stands in the notebook."""
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    text = "".join(next(cell["source"] for cell in cells if cell["id"] == "real"))
    lines = [[field.strip() for field in line.strip("|").split("|")]
             for line in re.findall(r"(?m)^\|.*\|$", text)]  # fmt: skip
    _, *servers = lines[0]
    return {server: {row[0].partition(" (")[0]: row[n] for row in lines[2:]}
            for n, server in enumerate(servers, start=1)}  # fmt: skip


def test_it_has_every_rung():
    for rungs in stored_table().values():
        assert set(rungs) == set(RUNGS)


@pytest.mark.server
def test_it_says_what_the_servers_here_say():
    if not available():
        pytest.skip("Redis or Valkey: no server")
    found, stored, compared = verified_on(RUNGS), stored_table(), 0
    for server in found.servers:
        for name in (one for one in stored if server.startswith(f"{one}.")):
            compared += 1
            for rung, row in found.rows.items():
                alike = f"{row[server]} schedules alike" if row[server] else "does not have it"
                assert stored[name][rung] == alike, (server, rung)
    assert compared, f"none of {found.servers} stands in the table: {list(stored)}"
