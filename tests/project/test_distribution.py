"""The distribution `locklab`: a wheel and an sdist that hold everything, and work by themselves."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.project.source import LABKIT, ROOT, project_files
from tests.project.test_images import empty_environment, uv

IMPORT_ALL = """
import importlib, pathlib, pkgutil, sys
import labkit
sys.path.insert(0, "")
assert "%s" not in labkit.__file__, labkit.__file__
for module in pkgutil.walk_packages(labkit.__path__, "labkit."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

def take(me):
    me.redis.incrby("balance", -30)

def all_taken(lab):
    return None if int(lab.redis.get("balance")) == 40 else "lost"

schedules = labkit.explore(take, setup=lambda lab: lab.redis.set("balance", 100),
                           check=all_taken).schedules
root = pathlib.Path(labkit.__path__[0])
print(schedules, *sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()))
"""


def build(source: Path, folder: Path, *kinds: str) -> Path:
    """Build with the hatchling of the lock; nothing is fetched. The file, or the first of them."""
    targets = [word for kind in kinds for word in ("-t", kind)]
    ran = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *targets, "-d", str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("locklab-*-py3-none-any.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory) -> Path:
    """The folder inside the sdist."""
    (path,) = built.glob("locklab-*.tar.gz")
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def files_of_labkit() -> set[str]:
    """Modules and data, as git keeps them."""
    return {p.relative_to(ROOT).as_posix() for p in project_files() if p.is_relative_to(LABKIT)}


@pytest.mark.slow
def test_the_wheel_holds_labkit_with_its_data_files_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {name for name in names if ".dist-info/" not in name}
    assert ours == files_of_labkit()
    for kind in (".css", ".html", ".csv", "overrides.json"):
        assert any(name.endswith(kind) for name in ours), kind
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_sdist_holds_what_lab_py_needs_and_no_reader_s_work(unpacked):
    top = {path.name for path in unpacked.iterdir()}
    assert top >= {"lab.py", "requirements.lock", "pyproject.toml", "conftest.py", "README.md",
                   "LICENSE", "labkit", "notebooks", "tests", "environment.yml"}  # fmt: skip
    assert not top & {".venv", "my-notebooks", ".ci", ".github", "dist"}


@pytest.mark.slow
def test_the_wheel_from_the_sdist_is_the_same(unpacked, wheel, tmp_path):
    again = build(unpacked, tmp_path, "wheel")
    contents = [{i.filename: i.CRC for i in zipfile.ZipFile(path).infolist()}
                for path in (wheel, again)]  # fmt: skip
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_it_installs_into_an_empty_environment_and_works_there(wheel, tmp_path):
    python = empty_environment(tmp_path / "venv")
    ran = uv("pip", "install", "--python", python, "--constraints", str(ROOT / "requirements.lock"),
             str(wheel), timeout=600)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    code = IMPORT_ALL % ROOT.as_posix()
    ran = subprocess.run([python, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    schedules, *files = ran.stdout.split()
    assert int(schedules) == 2, "two workers, one command each: A B and B A"
    there = {f"labkit/{name}" for name in files if "__pycache__" not in name}
    assert there == files_of_labkit()
    ready = subprocess.run([python, "-I", "-m", "labkit"], cwd=tmp_path, capture_output=True)
    assert ready.returncode == 0, ready.stdout
