"""`python -m labkit decide`, as it is typed."""

import subprocess
import sys

from tests.project.source import ROOT


def labkit(*arguments, typed=""):
    return subprocess.run(
        [sys.executable, "-m", "labkit", *arguments], cwd=ROOT, input=typed, text=True,
        capture_output=True, timeout=60,
    )  # fmt: skip


def test_the_conversation_starts_and_ends_when_the_input_does():
    done = labkit("decide")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "?" in done.stdout


def test_a_record_that_is_not_there_is_answered_with_a_sentence(tmp_path):
    done = labkit("decide", "--check", str(tmp_path / "none.json"))
    assert done.returncode == 2
    assert "none.json" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
