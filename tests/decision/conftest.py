"""What the tests of the decision share."""

import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def scenarios():
    """The 21 scenarios of the model, as its authors wrote them."""
    return json.loads((HERE / "decision_scenarios.json").read_text(encoding="utf-8"))


def by_id(id):
    return next(scenario["answers"] for scenario in scenarios() if scenario["id"] == id)


@pytest.fixture
def answers():
    """The answers of a scenario, by its identifier; a copy to change."""
    return lambda id, **more: by_id(id) | more
