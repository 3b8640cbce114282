"""One server of each kind for all tests. On Linux both are needed: a missing one is a failure."""

import sys

import pytest

from labkit.servers import available, running

KINDS = ["valkey", "redis"] if sys.platform == "linux" else sorted(available().keys() - {"url"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/servers/" in item.path.as_posix():
            item.add_marker("server")


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
