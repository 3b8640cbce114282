"""Running the notebooks again stores what repeats, and only that."""

import nbformat
import pytest

from labkit.workbook.__main__ import main
from labkit.workbook.files import WorkbookError
from labkit.workbook.regenerate import regenerate

CELLS = {
    "text": "for i in range(3):\n    print(i, flush=True)\ni",
    "widget": "import ipywidgets\nipywidgets.IntSlider(value=3, description='n', max=10)",
    "folder": "from pathlib import Path\nprint(Path.cwd().name)",
}


@pytest.fixture
def path(tmp_path):
    """A notebook as JupyterLab leaves it: with ids, times and the Python version."""
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in CELLS.items()]
    cells[0].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    cells[0].execution_count = 9
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "mine", "language": "python"},
        "language_info": {"name": "python", "version": "3.12.1"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
    }
    folder = tmp_path / "notebooks"
    folder.mkdir()
    path = folder / "01-run-it.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.mark.slow
def test_a_second_run_changes_no_byte(path, monkeypatch, capfd):
    monkeypatch.chdir(path.parents[1])
    assert main(["regenerate"]) == 0
    first = path.read_bytes()
    assert main(["regenerate", "01"]) == 0
    assert path.read_bytes() == first
    out, err = capfd.readouterr()
    assert [line.partition(": ")[2] for line in out.splitlines()] == ["changed", "the same"]
    assert "WARNING" not in err
    check_what_is_stored(nbformat.read(path, as_version=4))


def check_what_is_stored(notebook) -> None:
    text, widget, folder = notebook.cells
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3]
    assert notebook.metadata["language_info"] == {"name": "python"}
    assert "widgets" not in notebook.metadata
    assert "execution" not in text.metadata
    assert [o.get("text") or o["data"]["text/plain"] for o in text.outputs] == ["0\n1\n2\n", "2"]
    assert list(widget.outputs[0]["data"]) == ["text/plain"]
    assert folder.outputs[0]["text"] == "notebooks\n"


@pytest.mark.slow
def test_a_failing_cell_leaves_the_file_as_it_is(path):
    text = path.read_text().replace("print(Path.cwd().name)", "1 / 0")
    path.write_text(text)
    with pytest.raises(WorkbookError, match=r"(?s)01-run-it.ipynb was left as it is.*1 / 0"):
        regenerate(path)
    assert path.read_text() == text
