"""The same schedules in the simulation and on servers: same steps, same replies, same verdict."""

import functools
import signal
import time

import pytest

from labkit import LabkitError, NotModelled, ScheduleError, replay
from labkit.servers import Disagreement, ServerGone, agreement, pair, replay_on
from labkit.servers.agreement import follow
from labkit.sim.commands import Command
from labkit.sim.store import FakeRedis
from tests.servers.programs import (
    CASES,
    account,
    asks_again,
    enumerated_traces,
    money_is_right,
    naive,
    no_lock,
    random_traces,
    takes_then_expires,
)

RANDOM = 200  # random schedules in all


@functools.cache
def traces_of(name):
    """Simulated once for all kinds of server."""
    case = CASES[name]
    named = [replay(case.worker, schedule, setup=case.setup, check=case.check, partial=True)
             for schedule in case.named]  # fmt: skip
    each = -(-RANDOM // len(CASES))
    return [*named, *enumerated_traces(case), *random_traces(case, each, seed=7)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_server_does_what_the_simulation_does(server, name):
    traces = traces_of(name)
    assert len(traces) > RANDOM // len(CASES)
    for simulated in traces:
        real = follow(server, CASES[name].program, simulated)
        assert (real, str(real)) == (simulated, str(simulated))


def test_the_schedules_cover_every_kind_of_move_and_both_verdicts():
    traces = [trace for name in CASES for trace in traces_of(name)]
    assert {step.move.kind for trace in traces for step in trace.steps} == {
        *("", "-", "^", "?", "~", "!", "t", "e"),
    }
    assert {trace.broken is None for trace in traces} == {True, False}
    assert {trace.complete for trace in traces} == {True, False}


@pytest.mark.parametrize(
    ("name", "schedule", "broken"),
    [
        ("LookThenTake", "A B A B", "A and B are both inside"),
        ("ConstantValue", "A A t B A", "A's DEL lock removed what B had set"),
        ("takes then expires", "A A!", "lock has no expiry, and A, who set it, has crashed"),
        ("asks again", "A? A", "A is told that lock is taken, and the one who took it is A"),
        ("naive", "A B A B A A B B A B A B", "the balance is 70, not 40"),
    ],
)
def test_the_known_counterexamples_break_the_same_rule(server, name, schedule, broken):
    case = CASES[name]
    trace = replay_on(
        server, case.worker, schedule, setup=case.setup, check=case.check, partial=True
    )
    assert trace.broken == broken
    assert str(trace.schedule) == schedule


def test_the_check_at_the_end_reads_the_server(server):
    asked = []

    def check(lab):
        asked.append(lab.redis.get("balance"))
        return f"{lab.outcome['B']} {lab.returned} {lab.now_ms}"

    trace = replay_on(server, naive, "A A A A A A B!", setup=account, check=check)
    assert trace.broken == "crashed {'A': 1} 0"
    assert asked == ["70", "70"]  # the simulation's, then the server's


def test_lost_requests_never_reach_the_server_and_lost_replies_do(server):
    trace = replay_on(server, asks_again, "A~ A? B", partial=True)
    assert [step.reply for step in trace.steps] == ["(request lost)", "(reply lost)", "(nil)"]
    with server.client() as client:
        assert client.get("lock") == "A"


def test_a_crash_ends_the_connections_of_that_worker_only(server):
    def count():
        with server.client() as client:
            return len([one for one in client.client_list() if one["cmd"] == "get"])

    before = count()
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        class Watched(pair.Pair):
            def crash(self, worker):
                seen.append(sorted(self._wires))
                super().crash(worker)
                seen.append(sorted(self._wires))
                deadline = time.monotonic() + 5
                while count() - before > 1 and time.monotonic() < deadline:
                    time.sleep(0.002)
                seen.append(count() - before)

        patch.setattr(agreement, "Pair", Watched)
        replay_on(server, no_lock, "A B A!", setup=account, partial=True)
    assert seen == [["A1", "B1", "lab"], ["B1", "lab"], 1]


def test_a_mapping_and_three_workers(server):
    pair_of = {"A": naive, "B": takes_then_expires}
    both = replay_on(server, pair_of, "B A", setup=account, partial=True)
    assert both.about_to == "B is about to: EXPIRE lock 10"
    assert str(both.pending["A"]) == "returned 0"
    three = replay_on(server, asks_again, "C A B", workers="ABC")
    assert [step.reply for step in three.steps] == ["OK", "(nil)", "(nil)"]


def test_schedules_are_as_strict_as_in_the_simulation(server):
    with pytest.raises(ScheduleError, match='Move 2, "t", .* Possible: A B'):
        replay_on(server, naive, "A t", setup=account)
    with pytest.raises(ScheduleError, match="stops before everybody has ended"):
        replay_on(server, naive, "A", setup=account)
    with pytest.raises(NotModelled, match='"f"'):
        replay_on(server, naive, "A A f", setup=account, partial=True)


# -- what differs is found ------------------------------------------------------------------------


def sabotage(monkeypatch, change):
    """Let every simulated Redis of the pair answer `change(words, reply)`."""
    execute = FakeRedis.execute

    class Wrong(FakeRedis):
        def execute(self, command, now_ms):
            return change(command.words[-1], execute(self, command, now_ms))

    monkeypatch.setattr(pair, "FakeRedis", Wrong)


@pytest.mark.parametrize(
    ("command", "answer", "said"),
    [
        (b"GET", b"$1\r\nx\r\n", 'Step 1, A GET lock: the reply to GET lock .*"x".*(nil)'),
        (b"SET", b"$2\r\nOK\r\n", 'Step 2, A SET lock A: the reply .*"OK".*OK'),
        (b"PEXPIRE", b":0\r\n", "Step 3, A PEXPIRE lock 100: the reply .*0.*1"),
    ],
)
def test_another_reply_is_named_with_its_step(server, monkeypatch, command, answer, said):
    sabotage(monkeypatch, lambda words, reply: answer if words[0] == command
             and words[1] == b"lock" else reply)  # fmt: skip
    with pytest.raises(Disagreement, match=f"(?s){said}".replace("(nil)", r"\(nil\)")) as caught:
        replay_on(server, naive, "A A A", setup=account, partial=True)
    assert server.name in str(caught.value)
    assert caught.value.simulated != caught.value.real


@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        (("DEL", "other"), 'KEYS .*: \\["ends", "other"\\]\n .*: \\["ends"\\]'),
        (("SET", "more", "9"), 'KEYS .*: \\["ends", "other"\\]\n .*"more"'),
        (("SET", "other", "9"), 'the answer to GET other .*"1"\n .*"9"'),
        (("PERSIST", "ends"), "the answer to PTTL ends .*10\n .*-1"),
    ],
)
def test_other_contents_are_found_after_every_command(server, hidden, said):
    """Somebody changes the server behind our back, while only A's GET runs."""

    def meddles(lab):
        lab.redis.mset({"other": 1})
        lab.redis.set("ends", 1, px=10)

    class Meddled(pair.Pair):
        def execute(self, command):
            if command.name == "GET":
                self._admin.exchange([tuple(word.encode() for word in hidden)])
            return super().execute(command)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Disagreement, match=f"(?s){said}"):
        patch.setattr(agreement, "Pair", Meddled)
        replay_on(server, naive, "A", setup=meddles, partial=True)


def test_a_worker_that_does_something_else_is_found(server):
    runs = []

    def moody(me):
        runs.append(1)
        me.redis.get(f"k{len(runs) > 1}")

    with pytest.raises(LabkitError, match="pending command|not deterministic"):
        replay_on(server, moody, "A", workers="A")


def test_a_verdict_that_differs_is_found(server):
    answers = iter(["broken", None])
    with pytest.raises(Disagreement, match="the verdict"):
        replay_on(server, asks_again, "A", workers="A", check=lambda lab: next(answers))


# -- time -----------------------------------------------------------------------------------------


def test_a_real_ttl_does_not_run_out_while_the_schedule_has_not_said_t(server):
    """PX 1, and the schedule takes longer than that."""

    def short(me):
        me.redis.set("lock", me.name, px=1, nx=True)
        return me.redis.get("lock")

    def slow(lab):
        time.sleep(0.02)
        return lab.redis.get("lock")

    trace = replay_on(server, short, "A A B B", check=slow)
    assert [step.reply for step in trace.steps] == ["OK", '"A"', "(nil)", '"A"']
    assert trace.broken == "A"


def test_a_key_that_ran_out_all_the_same_gets_a_second_try(server, monkeypatch):
    """As on a machine that stood still between a command and the putting off."""
    put_off, tries = pair.Pair._put_off, []

    def late(self, db):
        tries.append(1)
        if len(tries) == 1:
            put_off(self, db)
            return [(b"PEXPIRE", b"lock", b"-1")]
        return put_off(self, db)

    monkeypatch.setattr(pair.Pair, "_put_off", late)
    assert replay_on(server, asks_again, "A", workers="A").complete
    tries[:] = []
    monkeypatch.setattr(pair.Pair, "_put_off", lambda self, db: [(b"PEXPIRE", b"lock", b"-1")])
    with pytest.raises(Disagreement, match="KEYS"):
        replay_on(server, asks_again, "A", workers="A")


def test_keys_that_are_not_due_stay(server):
    def two_keys(me):
        me.redis.set("early", 1, px=100)
        me.redis.set("late", 1, px=200)
        return me.redis.exists("early", "late")

    trace = replay_on(server, two_keys, "A A t A", workers="A")
    assert [step.reply for step in trace.steps] == ["OK", "OK", "", "1"]
    assert trace.steps[2].notes == ("early expires",)


def test_a_server_without_gt_is_refused(server, monkeypatch):
    put_off = pair.Pair._put_off
    old = lambda self, db: [(*words[:-1], b"NEVER") for words in put_off(self, db)]  # noqa: E731
    monkeypatch.setattr(pair.Pair, "_put_off", old)
    with pytest.raises(LabkitError, match="refuses PEXPIREAT with GT"):
        replay_on(server, asks_again, "A", workers="A")


def test_a_true_deadline(server):
    """Without any help from labkit: PX 100 exists before 100 ms, and is gone soon after."""
    for _ in range(20):  # a machine that stands still for 100 ms says nothing; ask again
        with server.client() as client:
            before = time.monotonic()
            client.set("lock", "A", px=100)
            alive = client.get("lock")
            if time.monotonic() - before < 0.1:
                break
    else:
        pytest.fail("this machine never answered within 100 ms")
    assert alive == "A"
    with server.client() as client:
        while client.exists("lock"):
            assert time.monotonic() - before < 5
            time.sleep(0.002)
        assert time.monotonic() - before >= 0.1


# -- a server that stops --------------------------------------------------------------------------


class Deadly(pair.Pair):
    """Before the third command something happens to the server."""

    def execute(self, command: Command) -> bytes:
        type(self).count += 1
        if type(self).count == 3:
            type(self).happens(self._server.process)
        return super().execute(command)


def test_a_server_killed_half_way(own_server, monkeypatch):
    monkeypatch.setattr(agreement, "Pair", Deadly)
    Deadly.count, Deadly.happens = 0, staticmethod(lambda process: (process.kill(), process.wait()))
    with pytest.raises(ServerGone, match=r"has stopped \(exit code -9\).*Start another"):
        replay_on(own_server, naive, "A A A A A A B B B B B B", setup=account, check=money_is_right)
    with pytest.raises(ServerGone, match="has stopped"):
        replay_on(own_server, naive, "A", setup=account, partial=True)


def test_a_server_that_hangs(own_server, monkeypatch):
    monkeypatch.setattr(agreement, "Pair", Deadly)
    monkeypatch.setattr("labkit.servers.server.TIMEOUT_S", 0.2)
    Deadly.count = 0
    Deadly.happens = staticmethod(lambda process: process.send_signal(signal.SIGSTOP))
    with pytest.raises(ServerGone, match=r"hangs \(timed out\).*Start another"):
        replay_on(own_server, naive, "A A A", setup=account, partial=True)
