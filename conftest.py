"""For every pytest run: cells that need a server, and the list of what could not be tested.

A notebook cell tagged `needs-server` or `needs-postgres` is compared where such a server exists
and steps aside where none does, so that `pytest --nbval notebooks` passes on any machine. Nothing
is left out quietly: whatever is skipped, here or in a test, is named at the end of the run.
"""

import functools
import os
import sys
from typing import NoReturn

import pytest

# tag -> what it needs, and the kinds of `labkit.servers` of which any will do
SERVERS = {
    "needs-server": ("Redis or Valkey", {"url", "valkey", "redis"}),
    "needs-postgres": ("PostgreSQL", {"postgres"}),
}

ELSEWHERE = "only elsewhere: "


def pytest_configure(config: pytest.Config) -> None:
    """At first use matplotlib looks at all fonts, and would say so inside a notebook."""
    if config.getoption("nbval", default=False):
        import matplotlib.font_manager  # noqa: F401


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a tagged cell step aside when its server is missing; in CI on Linux that is an error."""
    lacking = missing_server(tags_of(item))
    if not lacking:
        return
    if os.environ.get("CI") == "true" and sys.platform == "linux":
        pytest.fail(f"{lacking}; in CI on Linux every cell is compared", pytrace=False)
    pytest.skip(lacking)


#: Folders that take long as a whole: `lab.py test --fast` leaves them to the full run.
SLOW_FOLDERS = {"decision", "servers", "resources", "cases", "locks"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


def tags_of(item: pytest.Item) -> list[str]:
    """The tags of a notebook cell; an ordinary test has none."""
    cell = getattr(item, "cell", None)
    return list(cell.metadata.get("tags", [])) if cell else []


def missing_server(tags: list[str]) -> str:
    """Which server a cell with these tags needs and does not find; empty when all is well."""
    for tag, (name, kinds) in SERVERS.items():
        if tag in tags and not kinds & servers_here():
            return f"cells tagged {tag} are not compared: no {name} server"
    return ""


@functools.cache
def servers_here() -> frozenset[str]:
    from labkit import servers

    return frozenset(servers.available())


def only_elsewhere(what: str) -> NoReturn:
    """Let a test step aside that no server which can be had here could pass.

    It is named at the end of the run, but it is no gap: the run is green, on Linux too. In the one
    job that has such a server, LABKIT_ELSEWHERE=fail makes stepping aside a failure.
    """
    if os.environ.get("LABKIT_ELSEWHERE") == "fail":
        pytest.fail(f"{what}: this job is there to test it", pytrace=False)
    pytest.skip(ELSEWHERE + what)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was skipped, for the reader and, through a file, for `lab.py test`."""
    skipped = {reason_of(report) for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reason for reason in skipped if reason.startswith(ELSEWHERE)):
        terminalreporter.write_line(f"tested {reason}", yellow=True)
    reasons = sorted(reason for reason in skipped if not reason.startswith(ELSEWHERE))
    for reason in reasons:
        terminalreporter.write_line(f"not tested here: {reason}", yellow=True)
    if reasons and (path := os.environ.get("LABKIT_GAPS")):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(reason + "\n" for reason in reasons)


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it was skipped, on one line."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(reason.removeprefix("Skipped: ").split())
