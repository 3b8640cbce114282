"""pyproject.toml, the lock and the two conda files ask for the same packages, and all are used."""

import ast
import json
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from tests.project.packages import CONDA_NAMES, conda_packages, disagreements, locked, requirements
from tests.project.source import ROOT

PLAN = {"jupyterlab", "redis", "fakeredis", "ipywidgets", "matplotlib", "nbval"}
CONDA_FILES = ("environment.yml", "binder/environment.yml")
PROGRAMS = {"redis-server", "postgresql"}  # conda brings real servers; with pip it is an extra


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


# --- the same packages everywhere ---------------------------------------------------------------


@pytest.mark.parametrize("conda", CONDA_FILES)
def test_no_file_forbids_a_version_that_another_has(conda):
    found = disagreements(text_of("pyproject.toml"), text_of("requirements.lock"), text_of(conda))
    assert not found, "\n".join([*found, "After a change in pyproject.toml: python3 lab.py lock"])


def test_the_six_packages_of_the_plan_are_named_in_every_file():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert {requirement.name for requirement in requirements(project)} >= PLAN
    assert locked(text_of("requirements.lock")).keys() >= PLAN
    for file in CONDA_FILES:
        named = conda_packages(text_of(file)).keys()
        assert named >= {CONDA_NAMES.get(name, name) for name in PLAN}
        assert named >= {"lupa"} | PROGRAMS, "what pip brings by itself has to be spelled out here"


def test_conda_takes_everything_from_conda_forge():
    for file in CONDA_FILES:
        assert yaml.safe_load(text_of(file))["channels"] == ["conda-forge", "nodefaults"]


PYPROJECT = """[project]
requires-python = ">=3.11,<3.14"
dependencies = ["redis>=7.0", "fakeredis[lua]>=2.3"]
[project.optional-dependencies]
servers = ["psycopg[binary]>=3.2"]
test = ["ruff>=0.14"]
"""
LOCK = "redis==8.1.0 \\\n    --hash=x\nfakeredis==2.4\nlupa==2.8\npsycopg==3.3\nruff==0.15\n"
CONDA = """dependencies: [python=3.12, pip, redis-py>=7.0, "fakeredis>=2.3", "lupa>=2.4",
  psycopg>=3.2, redis-server>=7.0]"""


def test_files_that_agree_have_no_disagreement():
    assert disagreements(PYPROJECT, LOCK, CONDA) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("lock", "redis==8.1.0", "redis==6.4.0", "the lock has redis 6.4.0; asked for is"),
        ("lock", "redis==8.1.0", "", "redis is not in the lock"),
        ("lock", "ruff==0.15", "ruff==0.13", "the lock has ruff 0.13"),
        ("lock", "lupa==2.8", "lupa==2.3", "the lock has lupa 2.3; the conda file asks"),
        # another version for another Python
        ("lock", "lupa==2.8", "redis==9 ; python_version\nredis==6.0", "the lock has redis 6.0"),
        ("conda", "redis-py>=7.0", "redis-py>=8.0", "redis-py: conda>=8.0, pyproject.toml>=7.0"),
        ("conda", "redis-py>=7.0", "redis-py=7.0", "redis-py: conda==7.0.*"),
        ("conda", "redis-py>=7.0", "redis-py", "redis-py: conda, pyproject.toml>=7.0"),
        ("conda", "redis-py>=7.0", "redis>=7.0", "redis-py is not in the conda file"),
        ("conda", "psycopg>=3.2", "psycopg>=3.1", "psycopg: conda>=3.1"),
        ("conda", "psycopg>=3.2", "numpy>=2", "numpy is only in the conda file"),
        ("conda", "python=3.12", "python=3.10", "the conda file has Python 3.10"),
        ("conda", "python=3.12", "python>=3.12", "must name one Python"),
        ("conda", "python=3.12, ", "", "must name one Python"),
        ("pyproject", "fakeredis[lua]>=2.3", "fakeredis[lua]>=2.5", "the lock has fakeredis 2.4"),
        ("pyproject", "redis>=7.0", "redis>=7.0,<8", "the lock has redis 8.1.0"),
        ("pyproject", '"redis>=7.0", ', "", "redis-py is only in the conda file"),
    ],
)
def test_every_disagreement_is_named(file, old, new, said):
    texts = {"pyproject": PYPROJECT, "lock": LOCK, "conda": CONDA}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    assert any(said in line for line in disagreements(*texts.values()))


def test_a_list_of_pip_packages_in_a_conda_file_is_refused():
    with pytest.raises(ValueError, match="only names of conda-forge"):
        conda_packages("dependencies: [{pip: [redis]}]")


def test_the_lock_has_a_hash_for_everything_and_no_address():
    text = text_of("requirements.lock")
    entries = re.split(r"(?m)^(?=[\w.-]+==)", text)[1:]
    assert len(entries) > 100
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


# --- what is asked for is used ------------------------------------------------------------------


def imported(code: str) -> set[str]:
    """The top names of the modules that this code imports."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules.add((node.module or "").partition(".")[0])
    return modules


def python_files() -> list[str]:
    paths = [*(ROOT / "labkit").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return [path.read_text("utf-8") for path in paths]


def cells() -> list[str]:
    notebooks = [json.loads(p.read_text("utf-8")) for p in (ROOT / "notebooks").glob("*.ipynb")]
    return [
        "".join(cell["source"])
        for notebook in notebooks
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def test_the_libraries_of_the_plan_are_imported():
    used = set().union(*map(imported, [*python_files(), *cells()]))
    assert {"redis", "fakeredis", "ipywidgets", "matplotlib"} <= used


def test_jupyterlab_is_started_and_nbval_compares(monkeypatch):
    """These two are programs: nobody imports them."""
    import lab
    from tests.__main__ import FULL_BESIDE

    monkeypatch.setattr(lab, "ON_LINUX", False)
    assert "jupyterlab" in lab.jupyter_command("notebooks")
    assert "--nbval" in FULL_BESIDE["notebooks"]


def test_each_package_that_labkit_imports_is_asked_for():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    asked = {r.name.replace("-", "_") for r in requirements(project)}
    known = asked | {"labkit", *sys.stdlib_module_names}
    # They come with ipywidgets and nbclient, and are the same project.
    known |= {"IPython", "traitlets"}
    optional = {r.name.replace("-", "_") for r in requirements(project, "servers")}
    modules = (ROOT / "labkit").rglob("*.py")
    used = set().union(*(imported(path.read_text("utf-8")) for path in modules))
    assert used - known - optional == set()


# --- Binder -------------------------------------------------------------------------------------


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
    """Asked of git, because Windows has no such mode: what it stores is what Linux gets."""
    listed = subprocess.run(["git", "ls-files", "--stage", script], cwd=ROOT, capture_output=True)
    assert listed.stdout.startswith(b"100755"), f"git update-index --chmod=+x {script}"


@pytest.mark.parametrize("script", ["binder/postBuild", ".ci/run"])
def test_scripts_have_no_error_that_bash_can_see(script):
    if sys.platform == "win32":
        pytest.skip("the syntax of the scripts that only run on Linux (no bash)")
    assert subprocess.call(["bash", "-n", str(ROOT / script)]) == 0
