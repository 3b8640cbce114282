"""The files of the project, and what the modules of labkit import and hold."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LABKIT = ROOT / "labkit"


def project_files() -> list[Path]:
    """What git keeps or would keep: everything that is not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[Path]:
    return sorted(LABKIT.rglob("*.py"))


def part_of(module: Path) -> str:
    """The subpackage or top module of labkit that a file belongs to: `sim`, `locks`, ..."""
    return module.relative_to(LABKIT).parts[0].removesuffix(".py")


def import_table(docstring: str) -> dict[str, set[str]]:
    """The table of allowed imports: lines like `cases -> locks resources sim`."""
    lines = re.findall(r"(?m)^[ \t]+(\w+)[ \t]*->[ \t]*([\w \t]*)$", docstring)
    return {part: set(allowed.split()) for part, allowed in lines}


def imported_parts(code: str, package: str) -> Iterator[str]:
    """The parts of labkit that this code imports; `package` is where its dots start from."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{_base(node, package)}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "labkit":
                yield rest.partition(".")[0]


def _base(node: ast.ImportFrom, package: str) -> str:
    """The module that `from ... import` names, its leading dots resolved."""
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def lines_of_code(code: str) -> set[int]:
    """The numbers of the lines that hold code: no blank lines, comments or docstrings.

    Explaining is never a reason for being too long.
    """
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
              tokenize.ENDMARKER}  # fmt: skip
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type not in layout:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(code)):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def long_functions(code: str, most: int) -> Iterator[str]:
    """Functions of more than so many lines of code, as `name (lines)`."""
    counted = lines_of_code(code)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = len(counted & set(range(node.lineno, (node.end_lineno or 0) + 1)))
            if lines > most:
                yield f"{node.name} ({lines})"
