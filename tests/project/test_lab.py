"""lab.py: what it says, which Python it takes, how it starts Jupyter, when it sets up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lab
from tests.project.source import ROOT


def run_main(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lab.py", *arguments])
    return lab.main()


@pytest.fixture
def no_set_up(monkeypatch):
    monkeypatch.setattr(lab, "set_up", lambda: 0)


@pytest.fixture
def calls(monkeypatch, no_set_up) -> list[tuple[str, ...]]:
    """What lab.py would run in the project's Python, or become."""
    made: list[tuple[str, ...]] = []
    monkeypatch.setattr(lab, "python", lambda *arguments: made.append(arguments) or 0)
    monkeypatch.setattr(lab, "hand_over", lambda command: made.append(tuple(command)) or 0)
    monkeypatch.chdir(ROOT)
    return made


def test_help_names_every_command(monkeypatch, capsys):
    assert run_main(monkeypatch, "--help") == 0
    shown = capsys.readouterr().out
    assert [name for name in lab.COMMANDS if f"python3 lab.py {name}".rstrip() not in shown] == []


def test_an_unknown_command_is_answered_with_the_known_ones(monkeypatch, capsys, calls):
    assert run_main(monkeypatch, "tset") == 1
    said = capsys.readouterr().err
    assert "no command 'tset'" in said
    assert "reset, notebooks, test" in said
    assert calls == []


def test_a_superfluous_word_is_refused(monkeypatch, capsys, calls):
    assert run_main(monkeypatch, "--edit", "01") == 1
    assert "'--edit' takes nothing after it, but got '01'" in capsys.readouterr().err
    assert calls == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["reset", "01"], ("-m", "labkit.workbook", "reset", "01")),
        (["notebooks"], ("-m", "labkit.workbook", "regenerate")),
        (["notebooks", "01", "02"], ("-m", "labkit.workbook", "regenerate", "01", "02")),
        (["check"], ("-m", "labkit")),
        (["test"], ("-m", "tests")),
        (["test", "--fast"], ("-m", "tests", "--fast")),
        (["test", "tests/sim", "-k", "replay"], ("-m", "tests", "tests/sim", "-k", "replay")),
    ],
)
def test_each_command_runs_the_right_thing(monkeypatch, calls, typed, expected):
    assert run_main(monkeypatch, *typed) == 0
    assert calls == [expected]


def test_readers_get_their_copy_before_jupyter_opens_it(monkeypatch, calls, fake_project):
    assert run_main(monkeypatch) == 0
    copy, jupyter = calls
    assert copy == ("-m", "labkit.workbook", "copy")
    assert "--LabApp.default_url=/lab/tree/my-notebooks/01-first.ipynb" in jupyter


def test_edit_opens_the_originals_says_so_and_copies_nothing(
    monkeypatch, capsys, calls, fake_project
):
    assert run_main(monkeypatch, "--edit") == 0
    assert "an update stops at it" in capsys.readouterr().out
    (jupyter,) = calls
    assert "--LabApp.default_url=/lab/tree/notebooks/01-first.ipynb" in jupyter


def test_jupyter_notebook_opens_the_same_copy(monkeypatch, calls, fake_project):
    assert run_main(monkeypatch, "--notebook") == 0
    wanted = "--JupyterNotebookApp.default_url=/notebooks/my-notebooks/01-first.ipynb"
    assert wanted in calls[-1]


@pytest.fixture
def fake_project(tmp_path, monkeypatch) -> Path:
    for folder in ("notebooks", "my-notebooks"):
        (tmp_path / folder).mkdir()
        for name in ("02-second.ipynb", "01-first.ipynb"):
            (tmp_path / folder / name).touch()
    (tmp_path / "requirements.lock").write_text("one==1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(lab, "ROOT", tmp_path)
    monkeypatch.setattr(lab, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(lab, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(lab, "PYTHON", tmp_path / ".venv" / "python")
    monkeypatch.setattr(lab, "STAMP", tmp_path / ".venv" / "stamp")
    return tmp_path


@pytest.mark.parametrize(
    ("display", "wayland", "linux", "opens"),
    [
        ("", "", True, False),
        (":0", "", True, True),
        ("", "wayland-0", True, True),
        ("", "", False, True),
    ],
)
def test_a_browser_is_opened_only_where_there_is_a_desktop(
    monkeypatch, fake_project, display, wayland, linux, opens
):
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setenv("WAYLAND_DISPLAY", wayland)
    monkeypatch.setattr(lab, "ON_LINUX", linux)
    assert ("--no-browser" not in lab.jupyter_command("notebooks")) == opens


@pytest.mark.skipif(os.name == "nt", reason="Windows has no root user")
@pytest.mark.parametrize("user", [0, 1000])
def test_jupyter_may_run_as_root_and_only_on_this_machine(monkeypatch, fake_project, user):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = lab.jupyter_command("notebooks")
    assert ("--allow-root" in command) == (user == 0)
    assert "--ServerApp.ip=127.0.0.1" in command


# --- which Python -------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_a_supported_python_is_used_as_it_is(monkeypatch, calls, version):
    monkeypatch.setattr(sys, "version_info", (*version, 1))
    assert lab.use_supported_python() == 0
    assert calls == []


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_any_other_python_is_one_clear_line(monkeypatch, capsys, calls, version):
    monkeypatch.setattr(sys, "version_info", (*version, 1))
    monkeypatch.setenv("PATH", "")
    assert lab.use_supported_python() == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Python 3.11, 3.12 or 3.13 is needed; this is {}.{}".format(*version) in said


@pytest.mark.skipif(os.name == "nt", reason="Windows finds programs in another way")
def test_a_supported_python_on_the_path_takes_over_if_it_runs(monkeypatch, calls, tmp_path):
    for name, code in (("python3.13", 1), ("python3.12", 0)):  # the first one is only a launcher
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    monkeypatch.setattr(sys, "argv", ["lab.py", "test", "--fast"])
    monkeypatch.setenv("PATH", str(tmp_path))
    lab.use_supported_python()
    assert calls == [(str(tmp_path / "python3.12"), str(ROOT / "lab.py"), "test", "--fast")]


# --- set-up -------------------------------------------------------------------------------------


@pytest.fixture
def installs(monkeypatch, fake_project) -> list[str]:
    """A set-up in which nothing is installed; what it tried, in order."""
    tried: list[str] = []

    def call(command: list[str], **_: object) -> int:
        tried.append(" ".join(command[1:]))
        if "venv" in command:
            lab.VENV.mkdir()
            lab.PYTHON.touch()
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    return tried


def test_set_up_installs_the_lock_and_then_labkit_once(installs):
    assert lab.set_up() == 0
    assert installs[0].startswith("-m venv")
    assert installs[1].endswith(lab.UV)
    assert "--require-hashes" in installs[2]
    assert "--no-deps" in installs[3]
    del installs[:]
    assert lab.set_up() == 0
    assert installs == []


@pytest.mark.parametrize("changed", ["requirements.lock", "pyproject.toml"])
def test_set_up_runs_again_when_what_is_wanted_changes(installs, fake_project, changed):
    lab.set_up()
    del installs[:]
    (fake_project / changed).write_text("two==2\n")
    assert lab.set_up() == 0
    assert installs
    assert "venv" not in installs[0]


def test_set_up_runs_again_in_a_folder_that_was_moved(installs, fake_project, monkeypatch):
    lab.set_up()
    del installs[:]
    monkeypatch.setattr(lab, "ROOT", fake_project.parent)
    monkeypatch.setattr(lab, "fingerprint", lambda: "other place")
    lab.set_up()
    assert installs


def test_pip_helps_out_when_uv_cannot(installs, monkeypatch):
    monkeypatch.setattr(lab, "install_with_uv", lambda: 1)
    assert lab.set_up() == 0
    assert any(line.startswith("-m pip install --quiet --require-hashes") for line in installs)


def test_a_failed_set_up_says_so_and_is_tried_again(installs, monkeypatch, capsys):
    monkeypatch.setattr(lab, "install", lambda *_: 1)
    assert lab.set_up() == 1
    assert "could not be installed" in capsys.readouterr().err
    assert not lab.STAMP.exists()


def test_a_python_without_venv_says_which_package_brings_it(installs, monkeypatch, capsys):
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    assert lab.set_up() == 1
    assert "python3-venv" in capsys.readouterr().err
    assert installs == []
