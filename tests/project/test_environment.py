"""pyproject.toml, the lock and the two conda files ask for the same packages."""

import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.source import ROOT

PLAN = {"jupyterlab", "redis", "fakeredis", "ipywidgets", "matplotlib", "nbval"}
# Names of conda-forge that differ, and what comes by itself with pip but not there.
CONDA = {"redis": ["redis-py"], "fakeredis": ["fakeredis", "lupa"]}
SERVERS = ["redis-server", "postgresql", "psycopg"]


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def conda() -> dict[str, str]:
    """Package -> what the conda file says about its version."""
    listed = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    return dict(re.fullmatch(r"([\w-]+)(.*)", entry).groups() for entry in listed)


def requirements(project: dict, *extras: str) -> list[Requirement]:
    more = [line for extra in extras for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in project["dependencies"] + more]


def locked() -> list[tuple[str, str]]:
    """(name, version) of every line in the lock; a name may have several, for several Pythons."""
    return re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text("utf-8"))


def test_the_packages_of_the_plan_are_asked_for_everywhere(project, conda):
    assert {canonicalize_name(r.name) for r in requirements(project)} >= PLAN
    assert {name for name, _ in locked()} >= PLAN
    assert conda.keys() >= {name for part in PLAN for name in CONDA.get(part, [part])}


def test_every_requirement_is_met_by_the_lock(project):
    versions: dict[str, list[str]] = {}
    for name, version in locked():
        versions.setdefault(canonicalize_name(name), []).append(version)
    for requirement in requirements(project, *project["optional-dependencies"]):
        found = versions.get(canonicalize_name(requirement.name), [])
        met = found and all(map(requirement.specifier.contains, found))
        assert met, f"{requirement} against {found}; run: python3 lab.py lock"


def test_the_lock_has_a_hash_for_everything_and_no_address():
    text = (ROOT / "requirements.lock").read_text("utf-8")
    entries = re.split(r"(?m)^(?=[\w.-]+==)", text)[1:]
    assert len(entries) > 100
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


def test_conda_asks_for_the_same_packages_in_the_same_versions(project, conda):
    expected = {"python": "=3.12", "pip": ""}
    for requirement in requirements(project):
        names = CONDA.get(requirement.name, [requirement.name])
        expected[names[0]] = str(requirement.specifier)
        expected |= {name: conda.get(name, "is not there") for name in names[1:]}
    expected |= {name: conda.get(name, "is not there") for name in SERVERS}
    assert conda == expected


def test_binder_gets_the_same_file():
    root, binder = ROOT / "environment.yml", ROOT / "binder" / "environment.yml"
    assert not binder.is_symlink(), "Binder copies this one file only: a link leads nowhere"
    assert binder.read_bytes() == root.read_bytes()


def test_the_script_for_binder_stops_at_the_first_failure_and_installs_labkit():
    script = ROOT / "binder" / "postBuild"
    lines = script.read_text("utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert "python -m pip install --no-deps --editable ." in lines
    assert "python -m labkit.workbook copy" in lines


@pytest.mark.parametrize("script", ["binder/postBuild", ".ci/run"])
def test_scripts_can_be_run(script):
    assert (ROOT / script).stat().st_mode & 0o111, f"chmod +x {script}"
    assert subprocess.call(["bash", "-n", str(ROOT / script)]) == 0
