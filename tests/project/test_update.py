"""An update never collides with what a reader wrote: with a real clone and a real `git pull`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.source import ROOT

pytestmark = pytest.mark.slow

FIRST, OTHER = "01-break-a-naive-lock.ipynb", "01-another-name.ipynb"
# lab.py itself, with this Python instead of an installation.
LAB = "import lab, sys; lab.PYTHON = sys.executable; lab.set_up = lambda: 0; sys.exit(lab.main())"
PARTS = ("labkit", "notebooks", "lab.py", ".gitignore", ".gitattributes", "pyproject.toml")


def run(folder: Path, *command: str) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


class Upstream:
    """The project as others publish it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            folder.mkdir(exist_ok=True)
            copy(ROOT / part, folder / part)
        run(folder, "git", "init", "-q", "-b", "main")
        self.publish()

    def publish(self) -> None:
        run(self.folder, "git", "add", "--all")
        name = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
        run(self.folder, "git", *name, "commit", "-q", "-m", "news")

    def change(self, name: str, text: str) -> None:
        put_first(self.folder / "notebooks" / name, text)
        self.publish()


class Reader:
    """A clone, and what a reader does in it."""

    def __init__(self, folder: Path, upstream: Upstream) -> None:
        self.folder, self.mine = folder, folder / "my-notebooks"
        run(folder.parent, "git", "clone", "-q", str(upstream.folder), str(folder))
        self.copy()

    def copy(self) -> str:
        """What `python3 lab.py` does before it opens JupyterLab."""
        return run(self.folder, sys.executable, "-m", "labkit.workbook", "copy")

    def reset(self, number: str) -> str:
        return run(self.folder, sys.executable, "-c", LAB, "reset", number)

    def pull(self) -> None:
        run(self.folder, "git", "pull", "-q", "--no-rebase")

    def changes(self) -> str:
        return run(self.folder, "git", "status", "--porcelain", "--untracked-files=all")


def put_first(notebook: Path, text: str) -> None:
    """A new first line in the first cell, as an editor saves it."""
    content = json.loads(notebook.read_text("utf-8"))
    content["cells"][0]["source"] = [text + "\n", *content["cells"][0]["source"]]
    notebook.write_text(json.dumps(content, indent=1), encoding="utf-8")


def first_line(notebook: Path) -> str:
    return json.loads(notebook.read_text("utf-8"))["cells"][0]["source"][0].strip()


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return Upstream(tmp_path / "upstream")


@pytest.fixture
def reader(tmp_path: Path, upstream: Upstream) -> Reader:
    return Reader(tmp_path / "clone", upstream)


def test_git_never_sees_what_a_reader_does_in_the_copy(reader):
    put_first(reader.mine / FIRST, "mine")
    (reader.mine / "notes.ipynb").write_text("mine")
    (reader.mine / ".ipynb_checkpoints").mkdir()
    (reader.mine / ".ipynb_checkpoints" / FIRST).write_text("mine")
    reader.reset("01")
    assert reader.changes() == ""


def test_an_update_leaves_an_edited_copy_alone_and_reset_brings_the_new_one(reader, upstream):
    put_first(reader.mine / FIRST, "what I found out")
    mine = (reader.mine / FIRST).read_bytes()
    upstream.change(FIRST, "a better text")

    reader.pull()
    assert first_line(reader.folder / "notebooks" / FIRST) == "a better text"
    assert (reader.mine / FIRST).read_bytes() == mine
    said = reader.copy()
    assert "yours is kept" in said
    assert "python3 lab.py reset 01" in said
    assert (reader.mine / FIRST).read_bytes() == mine

    said = reader.reset("01")
    assert "my-notebooks/01-break-a-naive-lock.ipynb is fresh." in said
    assert first_line(reader.mine / FIRST) == "a better text"
    assert (reader.mine / FIRST.replace(".ipynb", ".old-1.ipynb")).read_bytes() == mine
    assert reader.changes() == ""


def test_an_untouched_copy_follows_an_update(reader, upstream):
    upstream.change(FIRST, "a better text")
    reader.pull()
    assert "your copy has it now" in reader.copy()
    assert first_line(reader.mine / FIRST) == "a better text"


@pytest.mark.parametrize("renamed", [True, False])
def test_work_in_a_notebook_that_is_renamed_or_removed_stays(reader, upstream, renamed):
    put_first(reader.mine / FIRST, "what I found out")
    old = upstream.folder / "notebooks" / FIRST
    old.rename(old.with_name(OTHER if renamed else "09-something-else.ipynb"))
    upstream.publish()
    reader.pull()
    reader.copy()
    assert first_line(reader.mine / FIRST) == "what I found out"
    assert (reader.mine / OTHER).exists() == renamed


def test_an_edited_original_is_the_one_thing_that_git_sees_and_does_not_overwrite(reader, upstream):
    """`--edit` is for authors. Git stops rather than lose anything, and lab.py says so before."""
    put_first(reader.folder / "notebooks" / FIRST, "mine")
    upstream.change(FIRST, "a better text")
    assert f"notebooks/{FIRST}" in reader.changes()
    with pytest.raises(AssertionError, match="would be overwritten"):
        reader.pull()
    assert first_line(reader.folder / "notebooks" / FIRST) == "mine"
