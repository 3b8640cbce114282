"""The image for Binder and the container for a class without internet, as far as that goes here.

No image is built here: that needs a container engine. Checked are the file that repo2docker would
build from, and the commands of container/Containerfile that collect and install wheels, with a part
of the lock and in a folder, not an image. Not checked: that conda finds the packages, and that
postBuild runs to its end. `.github/workflows/images.yml` builds both, once a week.
"""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.source import ROOT, project_files

# In an environment of its own: with its 40 packages it has no place in our lock.
REPO2DOCKER = "jupyter-repo2docker==2026.4.0"
CONTAINERFILE = ROOT / "container" / "Containerfile"
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what the images are made from (they are Linux)"
)


def uv(*arguments: str, **settings) -> subprocess.CompletedProcess:
    assert importlib.util.find_spec("uv"), "lab.py installs uv; without it: pip install uv"
    return subprocess.run(
        [sys.executable, "-m", "uv", *arguments], capture_output=True, text=True, **settings
    )


# --- Binder -------------------------------------------------------------------------------------


@on_linux
@pytest.mark.slow
def test_repo2docker_takes_our_python_our_packages_and_our_script():
    dry = ["repo2docker", "--no-build", "--debug", "--user-id=1000", "--user-name=reader", "."]
    run = ["tool", "run", "--python", sys.executable, "--from", REPO2DOCKER, *dry]
    ran = uv(*run, cwd=ROOT, timeout=300)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    assert "python=3.12" in said, "Binder would take another Python"
    assert re.search(r'env update .*--file "binder/environment\.yml"', said)
    assert "RUN ./binder/postBuild" in said
    assert "/environment.yml" not in re.sub(r"binder/environment\.yml", "", said)


# --- the container ------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    """(instruction, what follows) of the Containerfile, continued lines joined."""
    text = re.sub(r"(?m)^#.*\n", "", CONTAINERFILE.read_text("utf-8")).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def pip_commands() -> list[list[str]]:
    runs = [rest for name, rest in instructions() if name == "RUN" and "-m pip" in rest]
    return [shlex.split(run.split("&&")[0])[1:] for run in runs]


def test_the_containerfile_has_known_instructions_only():
    known = {"FROM", "COPY", "RUN", "WORKDIR", "USER", "EXPOSE", "CMD"}
    assert {name for name, _ in instructions()} == known


def test_both_stages_have_the_python_of_the_conda_files():
    images = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert images == ["python:3.12-slim-bookworm"] * 2
    assert "python=3.12" in (ROOT / "environment.yml").read_text("utf-8")


def test_everything_that_is_copied_is_in_the_project():
    kept = {path.relative_to(ROOT).parts[0] for path in project_files()}
    copied = [rest.split()[:-1] for name, rest in instructions() if name == "COPY"]
    names = [name for line in copied if not line[0].startswith("--from=") for name in line]
    assert names
    assert [name for name in names if name not in kept] == []


def test_only_collecting_the_wheels_needs_the_network():
    collect, *installs = pip_commands()
    assert {"download", "--require-hashes", "--only-binary=:all:"} <= set(collect)
    assert len(installs) == 2
    assert all({"--no-index", "--no-deps"} <= set(install) for install in installs)
    assert "--require-hashes" in installs[0]
    assert not any("apt-get" in rest or "curl" in rest for _, rest in instructions())


def test_readers_are_not_root_and_start_on_their_copy():
    names = [name for name, _ in instructions()]
    assert ("USER", "reader") in instructions()
    assert names.index("USER") < names.index("CMD")
    (start,) = (rest for name, rest in instructions() if name == "CMD")
    assert "python -m labkit.workbook copy && exec python -m jupyterlab" in start


def part_of_the_lock(*names: str) -> str:
    entries = re.split(r"(?m)^(?=[\w.-]+==)", (ROOT / "requirements.lock").read_text("utf-8"))[1:]
    return "".join(entry for entry in entries if entry.split("==")[0] in names)


@on_linux
@pytest.mark.slow
def test_the_wheels_that_the_containerfile_collects_are_all_that_installing_needs(tmp_path):
    """Its own commands, on the part of the lock that the simulation needs; all of it takes 200 s.

    Only the folders are replaced, and uv installs: the environment has no pip.
    """
    lock, wheels = tmp_path / "requirements.lock", tmp_path / "wheels"
    names = ("redis", "hiredis", "fakeredis", "sortedcontainers", "lupa", "greenlet")
    lock.write_text(part_of_the_lock(*names), "utf-8")
    collect, install = (
        [word.replace("/wheels", str(wheels)).replace("/requirements.lock", str(lock))
         for word in command if word != "--no-cache-dir"]
        for command in pip_commands()[:2]
    )  # fmt: skip
    ran = subprocess.run([sys.executable, *collect], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(list(wheels.glob("*.whl"))) == len(names)
    python = empty_environment(tmp_path / "venv")
    ran = uv(*install[1:], "--offline", "--no-cache", "--python", python, timeout=300)
    assert ran.returncode == 0, ran.stderr
    use = "import hiredis, lupa, greenlet, fakeredis; print(fakeredis.FakeRedis().incr('n'))"
    ran = subprocess.run([python, "-I", "-c", use], capture_output=True, text=True)
    assert ran.stdout == "1\n", ran.stderr


def empty_environment(folder: Path) -> str:
    """The Python of a new environment without any package, pip included."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
