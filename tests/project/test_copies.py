"""The readers' copy follows the originals, and never loses what a reader made."""

import json
from pathlib import Path

import pytest

from labkit.workbook import copies
from labkit.workbook.__main__ import main
from labkit.workbook.files import WorkbookError, number_of, numbered, originals
from tests.project.source import ROOT

NAME = "01-break-it.ipynb"


def notebook(code: str, *outputs: str) -> str:
    shown = [{"output_type": "stream", "name": "stdout", "text": [text]} for text in outputs]
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": [code],
        "execution_count": 1,
        "outputs": shown,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


class Project:
    """A folder with one original and, after `update`, the reader's copy of it."""

    def __init__(self, folder: Path) -> None:
        self.source, self.copies = folder / "notebooks", folder / "my-notebooks"
        self.source.mkdir()
        self.original, self.mine = self.source / NAME, self.copies / NAME
        self.publish("print(1)")

    def publish(self, code: str) -> None:
        self.original.write_text(notebook(code, "stored\n"))

    def update(self) -> list[str]:
        return copies.update(self.source, self.copies)

    def reset(self, number: str = "01") -> list[str]:
        return copies.reset(number, self.source, self.copies)

    def code(self) -> str:
        return json.loads(self.mine.read_text())["cells"][0]["source"][0]

    def aside(self) -> dict[str, str]:
        """What was set aside: name -> text."""
        return {path.name: path.read_text() for path in sorted(self.copies.glob("*.old-*.ipynb"))}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_reader_starts_without_outputs_and_counts(project):
    assert project.update() == []
    (cell,) = json.loads(project.mine.read_text())["cells"]
    assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert (cell["source"], cell["id"]) == (["print(1)"], "a")


def test_a_second_update_changes_nothing(project):
    project.update()
    before = {path: path.read_bytes() for path in project.copies.iterdir()}
    assert project.update() == []
    assert {path: path.read_bytes() for path in project.copies.iterdir()} == before


def test_an_untouched_copy_follows_its_original(project):
    project.update()
    project.publish("print(2)")
    assert project.update() == [f"{NAME} has a new version; your copy has it now."]
    assert project.code() == "print(2)"
    assert project.aside() == {}


def test_a_copy_that_was_only_run_follows_and_its_results_are_set_aside(project):
    project.update()
    ran = notebook("print(1)", "my result\n")
    project.mine.write_text(ran)
    project.publish("print(2)")
    lines = project.update()
    assert project.code() == "print(2)"
    assert project.aside() == {"01-break-it.old-1.ipynb": ran}
    assert lines[-1] == "What you had is in 01-break-it.old-1.ipynb."


def test_an_edited_copy_is_kept(project):
    project.update()
    edited = notebook("print('mine')")
    project.mine.write_text(edited)
    assert project.update() == []
    project.publish("print(2)")
    for _ in range(2):  # it is said every time, until the reader decides
        (line,) = project.update()
        assert "yours is kept" in line
        assert "python3 lab.py reset 01" in line
        assert project.mine.read_text() == edited


def test_a_copy_is_kept_when_nobody_knows_what_was_handed_out(project):
    project.update()
    edited = notebook("print('mine')")
    project.mine.write_text(edited)
    for lost in ("", "not json", "[1]"):
        (project.copies / copies.RECORD).write_text(lost)
        (line,) = project.update()
        assert "yours is kept" in line
        assert project.mine.read_text() == edited


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": 3}', "\x00\xff"])
def test_a_file_that_is_no_notebook_any_more_is_the_readers_too(project, broken):
    project.update()
    project.mine.write_text(broken, encoding="utf-8")
    project.publish("print(2)")
    project.update()
    assert project.mine.read_text(encoding="utf-8") == broken
    project.reset()
    assert list(project.aside().values()) == [broken]
    assert project.code() == "print(2)"


def test_other_files_of_the_reader_are_left_alone(project):
    project.update()
    (project.copies / "notes.ipynb").write_text("mine")
    project.publish("print(2)")
    project.update()
    project.reset()
    assert (project.copies / "notes.ipynb").read_text() == "mine"


def test_a_deleted_copy_comes_back(project):
    project.update()
    project.mine.unlink()
    project.update()
    assert project.code() == "print(1)"


def test_reset_sets_every_old_version_aside_under_its_own_name(project):
    project.update()
    for version in ("first", "second"):
        project.mine.write_text(notebook(version))
        assert "What you had is in" in project.reset()[-1]
        assert project.code() == "print(1)"
    assert list(project.aside()) == ["01-break-it.old-1.ipynb", "01-break-it.old-2.ipynb"]
    assert "first" in project.aside()["01-break-it.old-1.ipynb"]
    assert project.update() == []


def test_reset_of_an_untouched_copy_leaves_nothing_behind(project):
    project.update()
    assert project.reset() == [f"my-notebooks/{NAME} is fresh."]
    assert project.aside() == {}


def test_reset_works_before_there_is_a_copy(project):
    project.reset()
    assert project.code() == "print(1)"


@pytest.mark.parametrize("name", ["01", "1", NAME, "01-break-it"])
def test_a_notebook_is_found_by_number_or_name(project, name):
    assert numbered(name, originals(project.source)) == project.original


def test_an_unknown_number_is_answered_with_the_known_ones(project):
    with pytest.raises(WorkbookError, match=r"no notebook '7'. Possible: 01\."):
        project.reset("7")


def test_the_command_line_says_what_is_wrong_without_a_traceback(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["copy"]) == 1
    assert "Run this in the project's own folder" in capsys.readouterr().err


def test_reset_without_a_number_is_answered_with_the_known_ones(project, monkeypatch, capsys):
    monkeypatch.chdir(project.source.parent)
    assert main(["reset"]) == 1
    assert "which notebook? Possible: 01." in capsys.readouterr().err


def test_the_command_line_copies_and_resets(project, monkeypatch, capsys):
    monkeypatch.chdir(project.source.parent)
    assert main(["copy"]) == 0
    project.mine.write_text(notebook("mine"))
    assert main(["reset", "1"]) == 0
    assert "01-break-it.old-1.ipynb" in capsys.readouterr().out


def test_the_copies_of_the_real_notebooks_have_the_same_cells(tmp_path):
    source = ROOT / "notebooks"
    copies.update(source, tmp_path)
    assert [number_of(path) for path in originals(tmp_path)]
    for original in originals(source):
        mine = (tmp_path / original.name).read_text("utf-8")
        assert copies.fingerprint(mine) == copies.fingerprint(original.read_text("utf-8"))
        assert '"output_type"' not in mine
