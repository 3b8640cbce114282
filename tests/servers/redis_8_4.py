"""DELEX on the server that LABKIT_REDIS_URL names; it must be Redis 8.4 or later.

Its name does not begin with test_, so it runs only where it is asked for: no package brings such a
server, and everywhere else it would be a gap that nobody can close.

    LABKIT_REDIS_URL=redis://localhost:6379/9 python3 lab.py test tests/servers/redis_8_4.py
"""

import pytest

from labkit.servers import replay_on, running
from tests.servers.programs import account, asks_again, naive


@pytest.fixture
def client():
    with running("url") as server, server.client(decode_responses=True) as client:
        yield client
        client.delete("lock")


def test_it_is_a_redis_that_has_delex(client):
    info = client.info("server")
    version = tuple(int(part) for part in info["redis_version"].split(".")[:2])
    assert "valkey_version" not in info
    assert version >= (8, 4)


def test_delex_removes_the_lock_of_its_owner_and_no_other(client):
    client.set("lock", "A", nx=True, px=60_000)
    assert client.execute_command("DELEX", "lock", "IFEQ", "B") == 0
    assert client.get("lock") == "A"
    assert client.execute_command("DELEX", "lock", "IFEQ", "A") == 1
    assert client.get("lock") is None
    assert client.execute_command("DELEX", "lock", "IFEQ", "A") == 0


def test_set_ifeq_renews_for_the_owner_and_never_resurrects(client):
    renew = ("SET", "lock", "A", "IFEQ", "A", "PX", "60000")
    assert client.execute_command(*renew) is None
    assert client.get("lock") is None
    client.set("lock", "A", px=1_000)
    assert client.execute_command(*renew)
    assert client.pttl("lock") > 50_000
    client.set("lock", "B", px=1_000)
    assert client.execute_command(*renew) is None
    assert client.get("lock") == "B"


def test_schedules_of_the_notebooks_are_the_same_there():
    with running("url") as server:
        assert replay_on(server, asks_again, "A B").complete
        assert replay_on(server, naive, "A B A B A B", setup=account, partial=True).steps
