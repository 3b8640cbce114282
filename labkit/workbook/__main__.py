"""The commands: `python -m labkit.workbook copy | reset NN | regenerate [NN ...]`."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from labkit.workbook import copies
from labkit.workbook.files import WorkbookError, numbered, originals

SOURCE, COPIES = Path("notebooks"), Path("my-notebooks")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m labkit.workbook", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("copy", help=f"bring {COPIES}/ up to date with {SOURCE}/")
    reset = commands.add_parser("reset", help=f"fresh notebooks in {COPIES}/; the old ones stay")
    reset.add_argument("numbers", nargs="*", metavar="NN")
    again = commands.add_parser("regenerate", help=f"run {SOURCE}/ again and store the outputs")
    again.add_argument("numbers", nargs="*", metavar="NN")
    chosen = parser.parse_args(arguments)
    try:
        for line in _run(chosen):
            print(line, flush=True)
    except WorkbookError as error:
        print(f"labkit.workbook: {error}", file=sys.stderr)
        return 1
    return 0


def _run(chosen: argparse.Namespace) -> Iterable[str]:
    if chosen.command == "copy":
        yield from copies.update(SOURCE, COPIES)
    elif chosen.command == "reset":
        for number in chosen.numbers or [""]:
            yield from copies.reset(number, SOURCE, COPIES)
    else:
        yield from _regenerate(chosen.numbers)


def _regenerate(numbers: list[str]) -> Iterable[str]:
    from labkit.workbook.regenerate import regenerate  # loads Jupyter, which `copy` never needs

    notebooks = originals(SOURCE)
    for path in [numbered(number, notebooks) for number in numbers] or notebooks:
        yield f"{path}: {'changed' if regenerate(path) else 'the same'}"


if __name__ == "__main__":
    sys.exit(main())
