"""Which notebooks there are, which one a number means, and how a file is written."""

import os
from pathlib import Path


class WorkbookError(Exception):
    """Something the person at the keyboard can put right; the text says how."""


def originals(folder: Path) -> list[Path]:
    """The notebooks of the workbook, in reading order."""
    found = sorted(folder.glob("[0-9][0-9]*-*.ipynb"))
    if not found:
        raise WorkbookError(
            f"there are no notebooks in {folder.resolve()}. Run this in the project's own folder,"
            " the one that holds lab.py and notebooks/."
        )
    return found


def number_of(notebook: Path) -> str:
    """`01` of `01-break-a-naive-lock.ipynb`."""
    return notebook.name.split("-")[0]


def numbered(number: str, notebooks: list[Path]) -> Path:
    """The notebook with this number: `01`, `1` and the file's name all mean the same one."""
    known = {number_of(path): path for path in notebooks}
    wanted = number_of(Path(number)).removesuffix(".ipynb")
    for name in (wanted, "0" + wanted):
        if name in known:
            return known[name]
    said = f"there is no notebook '{number}'." if number else "which notebook?"
    raise WorkbookError(f"{said} Possible: {', '.join(known)}.")


def write_whole(path: Path, text: str) -> None:
    """Write all of it or nothing: a notebook cut off in the middle would be lost work."""
    half = path.with_name(path.name + ".part")
    half.write_text(text, encoding="utf-8", newline="\n")
    os.replace(half, path)
