"""Every PHP block of the notebooks is correct PHP, and runs once on a real server."""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from labkit.servers import available, running

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"```php\n(.*?)```", re.S)
INLINE = re.compile(r'<code class="language-php">(.*?)</code>', re.S)
FUNCTION = re.compile(r"^function (\w+)\(([^)]*)\)", re.M)

PRELUDE = """<?php
declare(strict_types=1);
error_reporting(E_ALL);
set_error_handler(function ($_, $text) { throw new ErrorException($text); });
$r = new Redis();
$r->connect(getenv("LAB_HOST"), (int) getenv("LAB_PORT"));
"""


def blocks():
    found = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                found += [
                    pytest.param(code, id=f"{path.stem[:2]}-{cell['id']}-{number}")
                    for number, code in enumerate(
                        FENCED.findall(text) + [html.unescape(c) for c in INLINE.findall(text)]
                    )
                ]
    return found


def php():
    program = shutil.which("php")
    assert program, "php is missing; on Debian: apt-get install php-cli php-redis"
    return program


def nothing_to_run_it_with():
    """What is missing here; on Linux everything can be had, so there it is a failure instead."""
    if not shutil.which("php"):
        return "no php"
    modules = subprocess.run([php(), "-m"], capture_output=True, text=True).stdout.split()
    return "" if "redis" in modules and available() else "no phpredis or no server"


@pytest.fixture(scope="module")
def server():
    if sys.platform != "linux" and (lacking := nothing_to_run_it_with()):
        pytest.skip(f"the PHP examples ({lacking})")
    with running() as server:
        yield server


def address(server):
    """Where phpredis finds the server: it takes a socket's path for the host, with port 0."""
    url = urlsplit(server.url)
    return {"LAB_HOST": url.hostname or url.path, "LAB_PORT": str(url.port or 0)}


def test_there_are_php_blocks():
    assert len(blocks()) >= 4


@pytest.mark.server
@pytest.mark.parametrize("block", blocks())
def test_a_php_block_is_correct_and_withdraws_30(block, server, tmp_path):
    """A block is either lines that use $r, or a function ($r, $name) that returns true."""
    call = "".join(
        f"\nvar_dump({name}($r{', ' + chr(34) + 'A' + chr(34) if ',' in arguments else ''}));"
        for name, arguments in FUNCTION.findall(block)
    )
    script = tmp_path / "block.php"
    script.write_text(PRELUDE + block + call)
    assert subprocess.run([php(), "-l", script], capture_output=True).returncode == 0
    client = server.client()
    client.flushdb()
    client.set("balance", 100)
    run = subprocess.run(
        [php(), script], capture_output=True, text=True, timeout=20, env=address(server)
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip() in ("", "bool(true)")
    assert client.get("balance") in (b"70", "70")
    assert not client.exists("lock")
