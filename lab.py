#!/usr/bin/env python3
"""Lock Lab: one script that sets up what is needed and runs it.

    python3 lab.py              open your copy of the notebooks in JupyterLab
    python3 lab.py --notebook   the same in Jupyter Notebook (works better with a screen reader)
    python3 lab.py --edit       open the originals, with their outputs, instead of your copy
    python3 lab.py reset 01     a fresh copy of notebook 01; your old one stays beside it
    python3 lab.py check        is this machine ready? One screen to mail before a training
    python3 lab.py test         all checks: ruff, mypy, tests, notebooks, browser
    python3 lab.py test --fast  ruff, mypy and the quick tests, in under a minute
    python3 lab.py test ARGS    only pytest, with these arguments (paths, -k, -x, ...)
    python3 lab.py notebooks    run the originals again and store what they show
    python3 lab.py lock         renew requirements.lock after a change in pyproject.toml

On Windows type "py" instead of "python3". Everything is installed into .venv, in this folder.
"""
# Only the standard library, and only syntax that Python 3.6 can read: an old Python has to get
# as far as the sentence that says which one is needed.

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "lock-lab.stamp"
LOCK = ROOT / "requirements.lock"
SETTINGS = ROOT / "labkit" / "workbook" / "jupyter"  # no question about news, no look for updates
UV = "uv==0.13.9"
SUPPORTED = ((3, 13), (3, 12), (3, 11))
ON_LINUX = sys.platform.startswith("linux")


def main() -> int:
    name, arguments = (sys.argv + [""])[1], sys.argv[2:]
    if name in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    if name not in COMMANDS:
        known = ", ".join(filter(None, COMMANDS))
        return complain(f"there is no command '{name}'. Possible: {known}, or nothing at all.")
    if arguments and name not in ("reset", "notebooks", "test"):
        return complain(f"'{name}' takes nothing after it, but got '{arguments[0]}'.")
    return use_supported_python() or set_up() or COMMANDS[name](*arguments)


def complain(message: str) -> int:
    print("lab.py: " + message, file=sys.stderr)
    return 1


# --- set-up: each step is 0 when done, like the exit code of a program ---------------------------


def use_supported_python() -> int:
    """Go on in this Python if it will do, otherwise in one from PATH that will."""
    if sys.version_info[:2] in SUPPORTED:
        return 0
    for version in SUPPORTED:
        other = shutil.which("python{}.{}".format(*version))
        # What is on PATH may be a launcher for a version that is not there: ask it.
        if other and subprocess.call([other, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return hand_over([other, str(ROOT / "lab.py"), *sys.argv[1:]])
    have = "{}.{}".format(*sys.version_info)
    return complain(f"Python 3.11, 3.12 or 3.13 is needed; this is {have}, and PATH has no other.")


def set_up() -> int:
    """Make .venv as the lock says, unless it is like that already."""
    wanted = fingerprint()
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return 0
    if importlib.util.find_spec("ensurepip") is None:
        return complain("this Python cannot make a virtual environment. On Debian and Ubuntu:"
                        " sudo apt-get install python3-venv, then run this again.")
    print("Bringing .venv up to date ..." if PYTHON.exists() else
          "Setting up .venv: about a minute, some 700 MB, only this once ...", flush=True)
    make_venv = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if not PYTHON.exists() and subprocess.call(make_venv):
        return complain(f"{VENV} could not be made; the reason stands above.")
    if install_with_uv() and install_with_pip():
        return complain("the packages could not be installed; the reason stands above. This step"
                        " needs the network. When that works, run the same command again.")
    # At first use matplotlib looks at all fonts, and says so in the middle of a notebook.
    python("-c", "import matplotlib.font_manager")
    STAMP.write_text(wanted)
    return 0


def fingerprint() -> str:
    """What .venv is made from. The folder counts too: labkit is installed by its path."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def install_with_uv() -> int:
    return python("-m", "pip", "install", "--quiet", UV) or install("-m", "uv", "pip", "install")


def install_with_pip() -> int:
    print("uv could not do it; trying pip, which takes longer ...", flush=True)
    return install("-m", "pip", "install")


def install(*installer: str) -> int:
    """The packages of the lock, then labkit itself, built by the hatchling that the lock names."""
    return (python(*installer, "--quiet", "--require-hashes", "-r", str(LOCK))
            or python(*installer, "--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT)))


def python(*arguments: str) -> int:
    """Run the project's own Python in the project's folder; on Windows too it writes UTF-8."""
    environment = dict(
        os.environ, VIRTUAL_ENV=str(VENV), UV_PYTHON_DOWNLOADS="never", PYTHONUTF8="1")
    return subprocess.call([str(PYTHON), *arguments], cwd=str(ROOT), env=environment)


def hand_over(command: "list[str]") -> int:
    """Become this program, so that Ctrl-C and signals reach it and nothing else."""
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], command)
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the program got the same Ctrl-C: let it end in its own way


# --- the commands -------------------------------------------------------------------------------


def open_notebooks(folder: str = "my-notebooks", program: str = "jupyterlab") -> int:
    if folder == "my-notebooks" and python("-m", "labkit.workbook", "copy"):
        return 1
    if folder == "notebooks":
        print("These are the originals: git sees what you save there, and an update stops at it.")
    print(f"Opening {folder}/ at the address below. Ctrl-C ends it.", flush=True)
    os.chdir(str(ROOT))
    return hand_over(jupyter_command(folder, program))


def jupyter_command(folder: str, program: str = "jupyterlab") -> "list[str]":
    """Start Jupyter on the first notebook, reachable from this machine only, quiet."""
    app, view = {"jupyterlab": ("LabApp", "/lab/tree"),
                 "notebook": ("JupyterNotebookApp", "/notebooks")}[program]
    first = min((path.name for path in (ROOT / folder).glob("*.ipynb")), default="")
    command = [str(PYTHON), "-m", program, "--ServerApp.ip=127.0.0.1",
               f"--ServerApp.root_dir={ROOT}", f"--{app}.default_url={view}/{folder}/{first}",
               f"--{app}.app_settings_dir={SETTINGS}", "--Application.log_level=ERROR"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    if ON_LINUX and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        command.append("--no-browser")
    return command


def lock() -> int:
    return python(
        "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", "--all-extras", "--universal",
        "--python-version=3.11", "--generate-hashes", "--no-annotate", "--no-emit-index-url",
        "--no-emit-find-links", "--custom-compile-command=python3 lab.py lock",
        "--output-file=requirements.lock")


COMMANDS = {
    "": open_notebooks,
    "--edit": lambda: open_notebooks("notebooks"),
    "--notebook": lambda: open_notebooks(program="notebook"),
    "check": lambda: python("-m", "labkit"),
    "reset": lambda *numbers: python("-m", "labkit.workbook", "reset", *numbers),
    "notebooks": lambda *numbers: python("-m", "labkit.workbook", "regenerate", *numbers),
    "test": lambda *arguments: python("-m", "tests", *arguments),
    "lock": lock,
}

if __name__ == "__main__":
    sys.exit(main())
