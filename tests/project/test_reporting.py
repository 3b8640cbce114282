"""Nothing is left out quietly: cells that need a server, and the closing lines of the test run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import conftest
from tests.__main__ import verdict
from tests.project.source import ROOT

NO_SERVER = "\n\nservers_here = frozenset\n"


def test_all_green():
    assert verdict([], [], nothing_may_be_missing=True) == (["All checks passed."], 0)


def test_a_failure_is_named():
    assert verdict(["mypy", "tests"], [], nothing_may_be_missing=False) == (
        ["FAILED: mypy, tests"],
        1,
    )


def test_a_gap_is_the_last_line_and_accepted_where_it_cannot_be_closed():
    lines, code = verdict([], ["no browser", "no server"], nothing_may_be_missing=False)
    assert (lines[-1], code) == ("not tested here: no browser; no server", 0)


@pytest.mark.parametrize("failed", [[], ["mypy"]])
def test_on_linux_a_gap_is_a_failure_that_says_what_to_install(failed):
    lines, code = verdict(failed, ["no browser"], nothing_may_be_missing=True)
    assert (lines[-1], code) == ("not tested here: no browser", 1)
    assert "sudo apt-get install chromium" in lines[-2]
    assert lines[:-2] == ["FAILED: mypy" for _ in failed]


@pytest.mark.parametrize(
    ("tags", "here", "lacking"),
    [
        ([], set(), ""),
        (["needs-server"], {"valkey"}, ""),
        (["needs-server"], {"redis"}, ""),
        (["needs-server"], {"url"}, ""),
        (["needs-server"], {"postgres"}, "no Redis or Valkey server"),
        (["needs-postgres"], {"redis"}, "no PostgreSQL server"),
        (["needs-postgres", "needs-server"], {"redis", "postgres"}, ""),
    ],
)
def test_a_tagged_cell_needs_one_of_its_kinds_of_server(monkeypatch, tags, here, lacking):
    monkeypatch.setattr(conftest, "servers_here", lambda: here)
    assert conftest.missing_server(tags).endswith(lacking)
    assert bool(conftest.missing_server(tags)) == bool(lacking)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one notebook, whose second cell would fail if it were compared."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {"tags": tags},
            "source": [f"print({number})"],
            "execution_count": number,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
        }
        for number, tags in ((1, []), (2, ["needs-server"]))
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "01-ask.ipynb").write_text(json.dumps(notebook))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8") + NO_SERVER)
    return tmp_path


def nbval(project: Path, **environment: str) -> subprocess.CompletedProcess:
    """What a reader types, in a place without servers."""
    clean = {k: v for k, v in os.environ.items() if k not in ("CI", "LABKIT_GAPS")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--nbval", "01-ask.ipynb"],
        cwd=project,
        env=clean | environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_without_a_server_a_tagged_cell_steps_aside_and_is_named(project):
    ran = nbval(project, LABKIT_GAPS=str(project / "gaps"))
    assert ran.returncode == 0, ran.stdout
    assert "1 passed, 1 skipped" in ran.stdout
    gap = "cells tagged needs-server are not compared: no Redis or Valkey server"
    assert f"not tested here: {gap}" in ran.stdout
    assert (project / "gaps").read_text() == gap + "\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only CI on Linux has every server")
def test_in_ci_on_linux_a_missing_server_is_an_error(project):
    ran = nbval(project, CI="true")
    assert ran.returncode == 1
    assert "in CI on Linux every cell is compared" in ran.stdout
