"""Every prediction can be answered as soon as it is asked, and the run gives one of the choices."""

import json
from pathlib import Path

import pytest

from labkit.show.models import PREDICTIONS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(path):
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code" and not cell["metadata"].get("tags"):
            yield "".join(cell["source"])


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_prediction_is_answered_by_a_run_before_any_later_cell(path, monkeypatch, capsys):
    monkeypatch.setattr(PREDICTIONS, "_asked", {})
    space = {"__name__": "notebook"}
    answered = 0
    for source in code_cells(path):
        exec(compile(source, f"{path.name}", "exec"), space)
        for prediction in PREDICTIONS.asked[answered:]:
            prediction.choose(next(iter(prediction.choices)))
            assert prediction.right in prediction.choices
            assert prediction.verdict.startswith(f"You said {prediction.chosen}")
            answered += 1
    assert answered == len(PREDICTIONS.asked)


def test_there_are_notebooks_with_predictions():
    assert any("predict(" in source for path in NOTEBOOKS for source in code_cells(path))
