"""Lock Lab's helper package. Without a command: is this machine ready?"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable

from labkit import __version__, checkup


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m labkit", description=__doc__)
    parser.set_defaults(run=check)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, (run, text, add_arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        add_arguments(command)
    chosen = parser.parse_args(arguments)
    run_chosen: Run = chosen.run
    return run_chosen(chosen)


def check(chosen: argparse.Namespace) -> int:
    """The self-check."""
    lines, code = checkup.report(__version__)
    print("\n".join(lines))
    return code


def nothing(parser: argparse.ArgumentParser) -> None:
    """For a command that takes no arguments."""


def verified(chosen: argparse.Namespace) -> int:
    """Every rung of the ladder on the servers here, step by step as in the simulation."""
    from labkit.cases.ladder import RUNGS
    from labkit.servers import verified_on

    print(verified_on(RUNGS))
    return 0


def decide(chosen: argparse.Namespace) -> int:
    """The questions of the decision, one after the other; or a saved record, evaluated again."""
    from labkit.decision import terminal

    if chosen.check:
        return terminal.recheck(chosen.check)
    return terminal.run(date=datetime.date.today().isoformat())


def decide_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", metavar="FILE", help="evaluate the JSON of a saved record again")


Run = Callable[[argparse.Namespace], int]
#: Name -> (what runs it, one line of help, what adds its arguments). Let what runs it import what
#: it needs: this module has to be loaded where packages are missing.
COMMANDS: dict[str, tuple[Run, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": (check, "is this machine ready? (the same without a command)", nothing),
    "verified": (verified, "compare the locks with the servers of this machine", nothing),
    "decide": (decide, "answer questions, get a recommended design as a record", decide_arguments),
}

if __name__ == "__main__":
    sys.exit(main())
