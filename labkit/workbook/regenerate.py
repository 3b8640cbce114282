"""Run a notebook again and store what it shows, so that a second run changes no byte.

Three things would otherwise differ from run to run: the times of execution, the ids of widgets,
and the version of Python in the notebook's metadata. None of them is kept.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

from labkit.workbook.files import WorkbookError, write_whole

# A widget's view is an id that changes with every run; its text and HTML stay.
NOT_STORED = ("application/vnd.jupyter.widget-view+json",)
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS_PER_CELL = 120


def regenerate(path: Path) -> bool:
    """Run one notebook and store its outputs; whether the file changed."""
    before = path.read_text(encoding="utf-8")
    after = rerun(before, path)
    if after == before:
        return False
    write_whole(path, after)
    return True


def rerun(text: str, path: Path) -> str:
    """The text of the notebook with the outputs of a run in its own folder."""
    notebook = nbformat.reads(text, as_version=4)
    _forget_results(notebook)
    try:
        with TemporaryDirectory() as sockets:
            _execute(notebook, path.parent, sockets)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise WorkbookError(f"{path.name} was left as it is: a cell failed.\n{error}") from error
    _keep_what_repeats(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def _execute(notebook: nbformat.NotebookNode, folder: Path, sockets: str) -> None:
    NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # how prints are cut into messages depends on timing
        resources={"metadata": {"path": str(folder)}},
        config=_kernel_settings(sockets),
    ).execute()


def _forget_results(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def _keep_what_repeats(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for mime in NOT_STORED:
                output.get("data", {}).pop(mime, None)
    # Also drops the state of widgets, which nbclient puts here.
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def _kernel_settings(sockets: str) -> Config:
    """Reach the kernel through files where that is possible: over TCP it prints a warning."""
    settings = Config()
    if os.name == "posix":
        settings.KernelManager.transport = "ipc"
        settings.KernelManager.ip = os.path.join(sockets, "kernel")
    return settings
