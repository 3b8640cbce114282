"""A real JupyterLab, started as `lab.py` starts it, in a real Chromium.

    def test_it(open_notebook):
        lab = open_notebook("01-break-a-naive-lock.ipynb")   # has been run to the end
        lab.page.get_by_role("button", name="Undo").click()  # a Playwright page
        lab.screenshot("after-undo")                         # into $LABKIT_SCREENSHOTS

Playwright drives the browser of the system; it never downloads one.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import lab
from labkit.checkup import chromium
from labkit.workbook.copies import bare
from tests.project.source import ROOT

TOKEN = "only-for-the-tests"
TALLEST = 16_000  # pixels; Chromium draws no taller picture
SECONDS = 90  # for a notebook to run to its end on a slow machine
QUIET = ["--disable-quic", "--disable-background-networking", "--disable-component-update"]
# In JupyterLab itself, since the kernel is attached some time after the notebook is shown.
READY = """() => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = context?.isReady && context.session?.kernel;
    return kernel && kernel.status === 'idle' && kernel.connectionStatus === 'connected';
}"""
RUN_ALL = "() => { void jupyterapp.commands.execute('notebook:run-all-cells'); }"
CELLS = """() => jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code')
    .map(cell => ({
        count: cell.model.executionCount,
        errors: cell.model.outputs.toJSON().filter(output => output.output_type === 'error')
            .map(output => `${output.ename}: ${output.evalue}`),
    }))"""


class OpenNotebook:
    """One notebook in one browser tab."""

    def __init__(self, page: Page, pictures: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.page_errors: list[str] = []
        self._pictures = pictures
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))

    def cells(self) -> list[dict]:
        """Every code cell: its `count` and the `errors` among its outputs."""
        return self.page.evaluate(CELLS)

    def run_all(self) -> None:
        """Run every cell and wait until the last has ended, or one has failed."""
        self.page.evaluate(RUN_ALL)
        end = time.monotonic() + SECONDS
        while not self._ended():
            assert time.monotonic() < end, f"still running after {SECONDS} s: {self.cells()}"
            self.page.wait_for_timeout(100)

    def requests_elsewhere(self) -> list[str]:
        """Addresses on other machines that the page asked for."""
        hosts = {url: urlsplit(url) for url in self.requests}
        return [
            url
            for url, parts in hosts.items()
            if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1"
        ]

    def screenshot(self, name: str) -> Path:
        """A picture of the whole notebook, as wide as the page is now."""
        path, size = self._pictures / f"{name}.png", self.page.viewport_size
        panel = self.page.locator(".jp-WindowedPanel-outer:visible")
        # Twice, because JupyterLab knows a cell's height only when it has come into view.
        for _ in range(2):
            hidden = panel.evaluate("panel => panel.scrollHeight - panel.clientHeight")
            height = min(self.page.viewport_size["height"] + hidden, TALLEST)
            self.page.set_viewport_size(size | {"height": height})
            panel.evaluate("panel => { panel.scrollTop = 0; }")
            self.page.wait_for_timeout(400)
        last = self.page.locator(".jp-Notebook:visible .jp-Cell").last.bounding_box()
        bottom = min(last["y"] + last["height"], TALLEST)
        self.page.screenshot(path=path, clip={"x": 0, "y": 0, **size, "height": bottom})
        self.page.set_viewport_size(size)
        return path

    def _ended(self) -> bool:
        """A cell gets its count with the reply, which comes after its outputs."""
        cells = self.cells()
        failed = any(cell["count"] and cell["errors"] for cell in cells)
        return failed or all(cell["count"] for cell in cells)


class Server:
    """A JupyterLab server on a folder of its own, with settings of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.root, self.settings = folder / "root", folder / "settings"
        self.address = f"http://127.0.0.1:{port}"
        self._opened = 0

    def add(self, notebook: str, name: str) -> str:
        """Put a notebook into a new folder and workspace; the address that opens it."""
        self._opened += 1
        path = self.root / f"w{self._opened}" / "notebooks" / name
        path.parent.mkdir(parents=True)
        path.write_text(notebook, encoding="utf-8")
        page = f"/lab/workspaces/w{self._opened}/tree/w{self._opened}/notebooks/{name}"
        return f"{self.address}{page}?reset&token={TOKEN}"

    def use_theme(self, theme: str) -> None:
        """JupyterLab Light or JupyterLab Dark, for the pages loaded from now on."""
        file = self.settings / "@jupyterlab/apputils-extension/themes.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"theme": theme}))

    def ask(self, path: str, method: str = "GET") -> object:
        """One request to the server's own interface."""
        request = urllib.request.Request(
            self.address + path, method=method, headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or "null")

    def end_kernels(self) -> None:
        for session in self.ask("/api/sessions"):
            self.ask(f"/api/sessions/{session['id']}", "DELETE")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; on Linux its absence is a failure, elsewhere a gap that is reported."""
    path = chromium()
    if not path and sys.platform == "linux":
        install = "no Chromium found. On Debian and Ubuntu: sudo apt-get install chromium"
        pytest.fail(install, pytrace=False)
    if not path:
        pytest.skip("notebooks in a browser (no Chromium, Chrome or Edge found)")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        flags = QUIET + ["--no-sandbox", "--disable-gpu"] * as_root
        with playwright.chromium.launch(executable_path=path, args=flags) as browser:
            yield browser


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("jupyter")
    server = Server(folder, port := free_port())
    server.root.mkdir()
    log = folder / "log"
    with running(server_command(server, port), folder, log) as process:
        end = time.monotonic() + 60
        while not answers(server):
            alive = process.poll() is None and time.monotonic() < end
            assert alive, f"JupyterLab did not start:\n{log.read_text()}"
            time.sleep(0.2)
        yield server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def server_command(server: Server, port: int) -> list[str]:
    """What `lab.py` would start, on our folder and port, and open to questions from the page."""
    ours = ("--ServerApp.root_dir", "--LabApp.default_url", "--no-browser")
    flags = [flag for flag in lab.jupyter_command("notebooks")[1:] if not flag.startswith(ours)]
    return [
        sys.executable,
        *flags,
        "--no-browser",
        f"--ServerApp.root_dir={server.root}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={TOKEN}",
        "--LabApp.expose_app_in_browser=True",
    ]


@contextmanager
def running(command: list[str], folder: Path, log: Path) -> Iterator[subprocess.Popen]:
    """The server, with nothing of the user's own Jupyter, until the tests are over."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(folder / name.lower()) for name in places}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "workspaces")
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)


def answers(server: Server) -> bool:
    try:
        return bool(server.ask("/api/status"))
    except OSError:
        return False


@pytest.fixture
def open_notebook(
    lab_server: Server, browser: Browser, tmp_path: Path
) -> Iterator[Callable[..., OpenNotebook]]:
    """Open a notebook as a reader gets it, by its name or its path, and run it to the end."""
    pictures = Path(os.environ.get("LABKIT_SCREENSHOTS") or tmp_path)
    pictures.mkdir(parents=True, exist_ok=True)
    contexts = []

    def open_one(notebook: str | Path, theme: str = "JupyterLab Light") -> OpenNotebook:
        path = ROOT / "notebooks" / notebook
        lab_server.use_theme(theme)
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        contexts.append(context)
        context.set_default_timeout(30_000)
        opened = OpenNotebook(context.new_page(), pictures)
        opened.page.goto(lab_server.add(bare(path.read_text("utf-8")), path.name))
        opened.page.wait_for_function(READY)
        opened.run_all()
        return opened

    yield open_one
    for context in contexts:
        context.close()
    lab_server.end_kernels()
