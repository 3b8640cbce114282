"""What a notebook of this workbook may and may not contain, one small function for each rule.

A rule takes the notebook as the dict that its file holds and returns findings, one sentence each.
nbval checks that the stored outputs are right; these rules check that nbval has something to
check, that a reader can follow, and that a second run changes nothing. `RULES` lists them all;
`test_policy.py` applies them, `test_policy_rules.py` shows each of them a notebook that breaks it.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Notebook = dict[str, Any]
Cell = dict[str, Any]
Findings = Iterator[str]

CODE_LINES, PROSE_WORDS, ALL_WORDS, CELLS, FIGURES, BYTES = 20, 60, 1_500, 60, 5, 300_000
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
TAGS = {"needs-server", "needs-postgres"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

FORBIDDEN = {
    r";\s*\Z": "ends with ';', which does not hide the output under nbval: assign to _",
    r"\bOutput\(|\binteract\(|\binteractive\(|\binteractive_output\b": (
        "uses an Output widget, which nbval cannot compare: set the value of an HTML widget"
    ),
    r"\bclear_output\b|\bdisplay_id\b": "changes an output afterwards, which nbval cannot compare",
    r"\bsys\.path\b": "changes sys.path: labkit is installed",
    r"(?m)^\s*!\w|^\s*%pip\b|^\s*%conda\b": "runs a shell command or installs something",
    r"\btime\.time\(|\bdatetime\.now\b|\bdatetime\.utcnow\b|\bdate\.today\b": (
        "reads the clock, so every run differs"
    ),
    r"\brandom\.(?!Random\([^)]|seed\([^)]|default_rng\([^)])": (
        "uses randomness without a seed: rng = random.Random(7)"
    ),
    r"__version__|\bsys\.version|\bplatform\.|\bimportlib\.metadata\b": (
        "shows a version, which differs between lock, conda and Binder"
    ),
    r"(?m)^\s*#+\s*NBVAL_": "exempts itself from nbval",
}


def run_in_order(notebook: Notebook) -> Findings:
    """Every code cell was run, once, from top to bottom: nbval compares no cell without a count."""
    counts = [cell.get("execution_count") for _, cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"the code cells have the counts {counts}, not 1 to {len(counts)} in order"


def plain_metadata(notebook: Notebook) -> Findings:
    """The notebook says which kernel it wants and nothing that differs between machines."""
    expected = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for name in sorted(expected.keys() | notebook["metadata"].keys()):
        if notebook["metadata"].get(name) != expected.get(name):
            yield f"the notebook's metadata '{name}' is {notebook['metadata'].get(name)}"


def format_with_ids(notebook: Notebook) -> Findings:
    """Format 4.5, in which every cell has an id of its own."""
    version = (notebook.get("nbformat"), notebook.get("nbformat_minor"))
    if version != (4, 5):
        yield f"the format is {version}, not (4, 5)"
    ids = [cell.get("id") for cell in notebook["cells"]]
    if None in ids or len(set(ids)) != len(ids):
        yield "some cells have no id, or share one"


def nothing_volatile(notebook: Notebook) -> Findings:
    """No times of execution and no ids of live widgets are stored."""
    for where, cell in cells(notebook):
        if "execution" in cell["metadata"]:
            yield f"{where} stores when it was run"
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.get("outputs", [])):
            yield f"{where} stores the id of a widget"


def no_forbidden_code(notebook: Notebook) -> Findings:
    """Nothing that nbval cannot compare or that gives another result in every run."""
    for where, cell in code_cells(notebook):
        for pattern, why in FORBIDDEN.items():
            if re.search(pattern, source(cell).rstrip()):
                yield f"{where} {why}"


def only_known_tags(notebook: Notebook) -> Findings:
    """No cell is exempt from the comparison, but for the two tags that name a server."""
    for where, cell in cells(notebook):
        for tag in set(cell["metadata"].get("tags", [])) - TAGS:
            yield f"{where} has the tag '{tag}'; possible: {', '.join(sorted(TAGS))}"


def short_cells(notebook: Notebook) -> Findings:
    """Code fits on a projector; prose is read, not skimmed. Folded text does not count."""
    for where, cell in code_cells(notebook):
        lines = len(source(cell).splitlines())
        if lines > CODE_LINES:
            yield f"{where} has {lines} lines of code, more than {CODE_LINES}"
    for where, cell in prose_cells(notebook):
        words = count_words(source(cell))
        if words > PROSE_WORDS:
            yield f"{where} has {words} words, more than {PROSE_WORDS}"


def short_notebook(notebook: Notebook) -> Findings:
    """A notebook is one sitting."""
    sizes = {
        "cells": (len(notebook["cells"]), CELLS),
        "words": (sum(count_words(source(c)) for _, c in prose_cells(notebook)), ALL_WORDS),
        "figures": (len([o for _, c in code_cells(notebook) for o in images(c)]), FIGURES),
    }
    for name, (have, most) in sizes.items():
        if have > most:
            yield f"the notebook has {have} {name}, more than {most}"


def orderly_headings(notebook: Notebook) -> Findings:
    """One title, at the top, and no level left out: headings are the table of contents."""
    levels = [len(hashes) for hashes, _ in headings(notebook)]
    if levels.count(1) != 1 or levels[0] != 1:
        yield f"the headings have the levels {levels}: exactly one must be 1, the first"
    for (before, _), (after, text) in pairwise(headings(notebook)):
        if len(after) > len(before) + 1:
            yield f"the heading '{text}' goes from level {len(before)} to {len(after)}"


def described_pictures(notebook: Notebook) -> Findings:
    """Pictures in the text say in words what they show."""
    for where, cell in prose_cells(notebook):
        text = without_code(source(cell))
        if re.search(r"!\[\s*\]\(", text):
            yield f"{where} has a picture without alternative text"
        for tag in re.findall(r"<img\b[^>]*>", text):
            if not re.search(r"""\balt=["'][^"']""", tag):
                yield f"{where} has a picture without alternative text"


def facts_beside_figures(notebook: Notebook) -> Findings:
    """nbval never compares PNG, and not everybody sees a figure: its fact is printed too."""
    for where, cell in code_cells(notebook):
        if images(cell) and not any(map(is_fact, texts(cell))):
            yield f"{where} shows a figure and prints nothing: print the fact it shows"


def no_addresses(notebook: Notebook) -> Findings:
    """No object's address in memory, which differs in every run."""
    for where, cell in code_cells(notebook):
        if re.search(r"\bat 0x[0-9a-fA-F]+", json.dumps(cell["outputs"])):
            yield f"{where} prints the address of an object"


def no_complaints(notebook: Notebook) -> Findings:
    """No stored traceback and no warning: a reader would think that something is broken."""
    for where, cell in code_cells(notebook):
        for output in cell["outputs"]:
            if output["output_type"] == "error" or output.get("name") == "stderr":
                yield f"{where} stores an error or a warning"


RULES: tuple[Callable[[Notebook], Findings], ...] = (
    run_in_order,
    plain_metadata,
    format_with_ids,
    nothing_volatile,
    no_forbidden_code,
    only_known_tags,
    short_cells,
    short_notebook,
    orderly_headings,
    described_pictures,
    facts_beside_figures,
    no_addresses,
    no_complaints,
)


def live_links(notebook: Notebook, folder: Path) -> Findings:
    """Relative links lead somewhere, from the originals and from the readers' copy alike.

    The copy holds notebooks only, so a link leads to another notebook or out of the folder.
    """
    for where, cell in prose_cells(notebook):
        for target in re.findall(r"\]\(([^)\s]+)", without_code(source(cell))):
            path = unquote(target.partition("#")[0])
            if not path or re.match(r"[a-z]+:", path):
                continue
            if not (folder / path).exists():
                yield f"{where} links to {target}, which does not exist"
            elif not path.startswith("../") and not path.endswith(".ipynb"):
                yield f"{where} links to {target}, which the readers' copy does not have"


def small_file(size: int) -> Findings:
    """Code hosts show it, and a slow line loads it."""
    if size >= BYTES:
        yield f"the file has {size:,} bytes, not less than {BYTES:,}"


# --- reading a notebook ---------------------------------------------------------------------------


def cells(notebook: Notebook) -> Iterator[tuple[str, Cell]]:
    """Every cell, with a name that a person can find."""
    for number, cell in enumerate(notebook["cells"], start=1):
        first = source(cell).strip().partition("\n")[0][:40]
        yield f"cell {number} ({first})", cell


def code_cells(notebook: Notebook) -> Iterator[tuple[str, Cell]]:
    return ((where, cell) for where, cell in cells(notebook) if cell["cell_type"] == "code")


def prose_cells(notebook: Notebook) -> Iterator[tuple[str, Cell]]:
    return ((where, cell) for where, cell in cells(notebook) if cell["cell_type"] == "markdown")


def source(cell: Cell) -> str:
    return "".join(cell["source"])


def without_blocks(text: str) -> str:
    """Markdown without its code blocks."""
    return re.sub(r"(?ms)^\s*```.*?^\s*```|<pre\b.*?</pre>", " ", text)


def without_code(text: str) -> str:
    """Markdown without any code, in which a # is a comment and a link is a string."""
    return re.sub(r"`[^`\n]*`", " ", without_blocks(text))


def count_words(text: str) -> int:
    """The words that a reader meets: not in folded parts, code blocks, tags or addresses."""
    text, folded = without_blocks(text), 1
    while folded:
        text, folded = re.subn(r"(?s)<details\b(?:(?!<details\b).)*?</details>", " ", text)
    text = re.sub(r"<[^>]*>|\]\([^)]*\)", " ", text)
    return len(re.findall(r"[^\W_](?:\S*[^\W_])?", text))


def headings(notebook: Notebook) -> list[tuple[str, str]]:
    """(hashes, text) of every heading, in order."""
    return [
        heading
        for _, cell in prose_cells(notebook)
        for heading in re.findall(r"(?m)^(#{1,6})[ \t]+(.*)$", without_code(source(cell)))
    ]


def images(cell: Cell) -> list[dict[str, Any]]:
    """The outputs that hold a picture."""
    return [
        output
        for output in cell["outputs"]
        if any(mime.startswith("image/") for mime in output.get("data", {}))
    ]


def texts(cell: Cell) -> list[str]:
    """What the cell printed or showed as text."""
    streams = [output["text"] for output in cell["outputs"] if output.get("name") == "stdout"]
    shown = [output["data"].get("text/plain", "") for output in cell["outputs"] if "data" in output]
    return ["".join(text) for text in streams + shown]


def is_fact(text: str) -> bool:
    """Says something: not empty, not just `<Figure size ...>` or an object's name."""
    return bool(re.search(r"\w", re.sub(r"(?s)<[^<>]*>", "", text)))
