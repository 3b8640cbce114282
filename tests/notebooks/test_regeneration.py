"""What is stored is, byte for byte, what `python3 lab.py notebooks` would store now."""

import json
import platform
import sys
from pathlib import Path

import pytest

import conftest
from labkit.workbook.regenerate import rerun
from tests.notebooks.rules import Notebook, cells

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
# Elsewhere a figure has other bytes, though it looks the same.
SAME_PNG = sys.platform == "linux" and platform.machine() == "x86_64"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_running_it_again_changes_no_byte(path):
    stored = path.read_text("utf-8")
    tags = [tag for _, c in cells(json.loads(stored)) for tag in c["metadata"].get("tags", [])]
    if lacking := conftest.missing_server(tags):
        pytest.skip(lacking)
    again = rerun(stored, path)
    if not SAME_PNG:
        stored, again = without_png(json.loads(stored)), without_png(json.loads(again))
    assert again == stored, f"run: python3 lab.py notebooks {path.name[:2]}"


def without_png(notebook: Notebook) -> Notebook:
    for _, cell in cells(notebook):
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("image/png", None)
    return notebook
