"""One server of each kind for all tests. On Linux both are needed: a missing one is a failure.

On Windows there is none to be had, and these tests start programs and send signals as Unix does.
"""

import sys

import pytest

from labkit.servers import available, running

NOT_HERE = pytest.mark.skip("comparisons with real servers (there is no Redis for Windows)")
KINDS = ["valkey", "redis"] if sys.platform == "linux" else sorted(available().keys() - {"url"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/servers/" in item.path.as_posix():
            item.add_marker("server")
            if sys.platform == "win32":
                item.add_marker(NOT_HERE)


@pytest.fixture(params=KINDS or ["valkey"])
def kind(request):
    return request.param


@pytest.fixture(scope="session", params=KINDS or ["valkey"])
def server(request):
    with running(request.param) as one:
        yield one


@pytest.fixture
def own_server(kind):
    """A server that the test may harm."""
    with running(kind) as one:
        yield one
