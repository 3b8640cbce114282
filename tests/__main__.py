"""All checks, one after the other: `python3 lab.py test` runs `python -m tests`.

`--fast` leaves out what takes long; with any other arguments only pytest runs, with those.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
ON_LINUX = sys.platform == "linux"
ALWAYS = {"ruff": ["ruff", "check", "."], "mypy": ["mypy"]}
FAST = {"tests": ["pytest", "-q", "-m", "not browser and not slow"]}
#: Folders that start servers, kernels or environments: in the full run beside the others.
BESIDE = ["tests/notebooks", "tests/project", "tests/servers"]
FULL = {
    "tests": ["pytest", "-q", "-m", "not browser", *(f"--ignore={folder}" for folder in BESIDE)],
}
FULL_BESIDE = {
    "tests beside": ["pytest", "-q", "-m", "not browser", *BESIDE],
    "notebooks": ["pytest", "-q", "--nbval", "notebooks"],
    "browser": ["pytest", "-q", "-m", "browser"],
}
INSTALL = "on Debian and Ubuntu: sudo apt-get install chromium redis-server php-cli php-redis"


def main(arguments: list[str]) -> int:
    """Run the checks; a failing one does not keep the others from running."""
    fast = arguments == ["--fast"]
    if arguments and not fast:
        return _module(["pytest", *arguments])
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        gaps = Path(folder, "gaps")  # conftest.py writes into it what could not be tested
        # Two processors are used: what is beside is shown when it has ended.
        output = Path(folder, "output")
        beside = pool.submit(_beside, {} if fast else FULL_BESIDE, gaps, output)
        steps = ALWAYS | (FAST if fast else FULL)
        failed = [name for name, step in steps.items() if not _passes(name, step, gaps)]
        failed += beside.result()
        print(output.read_text("utf-8"), end="")
        missing = sorted(set(gaps.read_text("utf-8").splitlines())) if gaps.exists() else []
    lines, code = verdict(failed, missing, nothing_may_be_missing=ON_LINUX and not fast)
    print("", *lines, sep="\n")
    return code


def verdict(
    failed: list[str], missing: list[str], nothing_may_be_missing: bool
) -> tuple[list[str], int]:
    """The closing lines and the exit code. What could not be tested is always the last line."""
    lines = [f"FAILED: {', '.join(failed)}" if failed else "All checks passed."]
    if missing and nothing_may_be_missing:
        lines = [
            *(lines if failed else []),
            f"FAILED: a part was not tested, and on Linux all can be ({INSTALL})",
        ]
    if missing:
        lines.append(f"not tested here: {'; '.join(missing)}")
    return lines, int(bool(failed or (missing and nothing_may_be_missing)))


def _beside(steps: dict[str, list[str]], gaps: Path, output: Path) -> list[str]:
    """Run steps with their output in a file, and name those that failed."""
    with output.open("w", encoding="utf-8") as file:
        return [name for name, step in steps.items() if not _passes(name, step, gaps, file)]


def _passes(name: str, step: list[str], gaps: Path, output: TextIO | None = None) -> bool:
    print(f"\n--- {name}: {' '.join(step)}", flush=True, file=output)
    started = time.monotonic()
    good = _module(step, output, LABKIT_GAPS=str(gaps)) == 0
    took = time.monotonic() - started
    print(f"--- {name} {'passed' if good else 'FAILED'} in {took:.0f} s", flush=True, file=output)
    return good


def _module(command: list[str], output: TextIO | None = None, **environment: str) -> int:
    return subprocess.call(
        [sys.executable, "-m", *command], cwd=ROOT, env=dict(os.environ, **environment),
        stdout=output, stderr=output and subprocess.STDOUT,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
