"""The tools of this folder see what they are there to see."""

import json

import pytest

pytestmark = pytest.mark.browser


def test_a_failing_cell_and_a_request_elsewhere_are_seen(open_notebook, tmp_path):
    sources = [
        "from IPython.display import HTML\nHTML('<img src=\"http://127.0.0.2:9/elsewhere.png\">')",
        "1 / 0",
        "print('never run')",
    ]
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "source": source,
            "execution_count": None,
            "outputs": [],
        }
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}}
    path = tmp_path / "broken.ipynb"
    path.write_text(json.dumps(notebook | {"nbformat": 4, "nbformat_minor": 5}))

    opened = open_notebook(path)

    assert opened.cells() == [
        {"count": 1, "errors": []},
        {"count": 2, "errors": ["ZeroDivisionError: division by zero"]},
        {"count": None, "errors": []},
    ]
    assert opened.requests_elsewhere() == ["http://127.0.0.2:9/elsewhere.png"]
