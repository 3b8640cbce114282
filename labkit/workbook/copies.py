"""The readers' copy: the notebooks without outputs, in a folder that git does not see.

Stored outputs would give every prediction away, and a reader's edits must never stand in the way
of an update. So readers work on a copy. It follows the originals as long as the reader has not
edited it; what a reader wrote or ran is never overwritten: it is kept, or set aside beside it.
"""

import hashlib
import json
from itertools import count
from pathlib import Path

from labkit.workbook.files import number_of, numbered, originals, write_whole

RECORD = ".handed-out.json"  # notebook -> fingerprint of the text that was last handed out


def update(source: Path, copies: Path) -> list[str]:
    """Bring the readers' copy up to date; one line for each thing the reader should know."""
    copies.mkdir(parents=True, exist_ok=True)
    record = _read_record(copies)
    lines = []
    for original in originals(source):
        lines += _update_one(original, copies / original.name, record)
    _write_record(copies, record)
    return lines


def reset(number: str, source: Path, copies: Path) -> list[str]:
    """Put a fresh notebook into the readers' copy; the reader's old one stays beside it."""
    copies.mkdir(parents=True, exist_ok=True)
    record = _read_record(copies)
    original = numbered(number, originals(source))
    lines = _hand_out(original, copies / original.name, record)
    _write_record(copies, record)
    return [f"{copies.name}/{original.name} is fresh.", *lines]


def bare(notebook: str) -> str:
    """The text of a notebook as a reader starts it: nothing has been run yet."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def fingerprint(notebook: str) -> str:
    """Equal for two notebooks with the same cells, whether or not they have been run."""
    try:
        cells = json.loads(notebook)["cells"]
        parts = [[c["cell_type"], "".join(c["source"]), c.get("attachments")] for c in cells]
    except (ValueError, KeyError, TypeError):
        parts = [["not a notebook", notebook, None]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _update_one(original: Path, mine: Path, record: dict[str, str]) -> list[str]:
    """Hand out one notebook, unless the reader's has edits."""
    new, last = fingerprint(_read(original)), record.get(mine.name)
    have = fingerprint(_read(mine)) if mine.exists() else None
    if have == new:
        record[mine.name] = new
        return []
    if have in (None, last):
        news = f"{mine.name} has a new version; your copy has it now."
        return ([news] if have else []) + _hand_out(original, mine, record)
    if last == new:
        return []
    return [
        f"{mine.name} has a new version; yours is kept, because you edited it. To get the new one"
        f" (yours stays beside it): python3 lab.py reset {number_of(mine)}"
    ]


def _hand_out(original: Path, mine: Path, record: dict[str, str]) -> list[str]:
    """Write a fresh notebook. What the reader made of the old one is set aside first."""
    lines = []
    if mine.exists() and _is_theirs(_read(mine), record.get(mine.name)):
        aside = _free_name(mine)
        mine.rename(aside)
        lines = [f"What you had is in {aside.name}."]
    write_whole(mine, bare(_read(original)))
    record[mine.name] = fingerprint(_read(original))
    return lines


def _is_theirs(notebook: str, last: str | None) -> bool:
    """Whether it holds anything that we did not hand out: edited cells, or results."""
    return fingerprint(notebook) != last or any(
        cell.get("outputs") for cell in json.loads(notebook)["cells"]
    )


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.stem}.old-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())


def _read_record(copies: Path) -> dict[str, str]:
    """What was handed out. Without a readable record every differing file counts as edited."""
    try:
        return dict(json.loads(_read(copies / RECORD)))
    except (OSError, ValueError, TypeError):
        return {}


def _write_record(copies: Path, record: dict[str, str]) -> None:
    write_whole(copies / RECORD, json.dumps(record, indent=1, sort_keys=True) + "\n")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
