"""Every notebook keeps the rules of `rules.py`."""

import json
import re
from pathlib import Path

import pytest

from tests.notebooks.rules import RULES, live_links, small_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"


@pytest.fixture(scope="module")
def notebooks() -> dict[str, dict]:
    found = {
        path.name: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.ipynb"))
    }
    assert found, f"there are no notebooks in {FOLDER}: these tests would check nothing"
    return found


def test_the_readme_names_exactly_these_notebooks(notebooks):
    named = re.findall(r"notebooks/([\w-]+\.ipynb)", (ROOT / "README.md").read_text("utf-8"))
    assert sorted(set(named)) == sorted(notebooks)


def test_names_are_a_number_and_a_verb_phrase(notebooks):
    odd = [name for name in notebooks if not re.fullmatch(r"\d\d[a-z]?(-[a-z]+)+\.ipynb", name)]
    assert not odd


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule(rule, notebooks):
    findings = [f"{name}: {line}" for name, nb in notebooks.items() for line in rule(nb)]
    assert not findings, "\n" + "\n".join(findings)


def test_links_lead_somewhere(notebooks):
    findings = [f"{n}: {line}" for n, nb in notebooks.items() for line in live_links(nb, FOLDER)]
    assert not findings, "\n" + "\n".join(findings)


def test_files_are_small(notebooks):
    sizes = {name: (FOLDER / name).stat().st_size for name in notebooks}
    findings = [f"{name}: {line}" for name, size in sizes.items() for line in small_file(size)]
    assert not findings, "\n" + "\n".join(findings)
