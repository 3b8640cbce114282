"""A real process that is stopped past its lease: the late write arrives, or is refused."""

import signal

import pytest

from labkit import LabkitError
from labkit.servers import late_write
from labkit.servers.starting import available, running


@pytest.fixture(scope="module")
def server():
    if not available():
        pytest.skip("Redis or Valkey: no server")
    if not hasattr(signal, "SIGSTOP"):
        pytest.skip("stopping a process: no SIGSTOP on this system")
    with running() as server:
        yield server


@pytest.mark.server
@pytest.mark.parametrize(("checked", "answer", "value"), [(False, "accepted", "A"),
                                                          (True, "refused", "B")])  # fmt: skip
def test_the_number_refuses_the_late_write_where_it_is_checked(server, checked, answer, value):
    found = late_write(server, checked=checked)
    assert found.lines == (
        "A takes the lock: number 1",
        "A is stopped (SIGSTOP). Its lease of 300 ms ends.",
        "B takes the lock: number 2",
        "B writes: accepted",
        f"A goes on (SIGCONT), and writes: {answer}",
    )
    assert found.value == value


def test_where_nothing_can_be_stopped_it_says_so(monkeypatch):
    monkeypatch.delattr(signal, "SIGSTOP", raising=False)
    with pytest.raises(LabkitError, match="Linux and macOS can"):
        late_write(None, checked=True)
