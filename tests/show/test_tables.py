"""Text tables and source code, as they are printed."""

import pytest

from labkit.locks import Busy
from labkit.show.tables import all_schedules, show_schedules, show_source
from labkit.sim.errors import LabkitError
from tests.show import traces
from tests.show.traces import account, money_is_right, withdraw

SIX = """\
schedule  1.           2.              3.              4.              balance
A A B B   GET balance  SET balance 70  GET balance     SET balance 40  40
A B A B   GET balance  GET balance     SET balance 70  SET balance 70  70       broken
A B B A   GET balance  GET balance     SET balance 70  SET balance 70  70       broken
B A A B   GET balance  GET balance     SET balance 70  SET balance 70  70       broken
B A B A   GET balance  GET balance     SET balance 70  SET balance 70  70       broken
B B A A   GET balance  SET balance 70  GET balance     SET balance 40  40
4 of 6 schedules break the rule.
"""


def test_two_workers_of_two_commands_have_six_schedules(capsys):
    found = all_schedules(withdraw, setup=account, check=money_is_right)
    show_schedules(found, column="balance")
    assert capsys.readouterr().out == SIX


def test_a_column_can_be_a_function(capsys):
    def moves(trace):
        return len(trace.steps)

    show_schedules(all_schedules(withdraw, workers="A", setup=account), column=moves)
    assert capsys.readouterr().out == (
        "schedule  1.           2.              moves\nA A       GET balance  SET balance 70  2\n"
    )


def test_without_a_column_the_broken_rule_is_said(capsys):
    show_schedules(all_schedules(withdraw, setup=account, check=money_is_right)[1:2])
    assert "70 is left\n1 of 1 schedules" in capsys.readouterr().out


def test_schedules_of_different_lengths_stand_in_one_table(capsys):
    found = all_schedules(traces.take_then_expire)
    assert sorted({len(trace.steps) for trace in found}) == [4, 6]
    show_schedules(found)
    assert len(capsys.readouterr().out.splitlines()) == len(found) + 1


def test_too_many_schedules_are_refused():
    with pytest.raises(LabkitError, match="more than limit=5"):
        all_schedules(withdraw, setup=account, limit=5)


def test_source_is_the_text_of_the_file():
    source = show_source(withdraw)
    assert repr(source).startswith("def withdraw(me):\n    me.redis.set(")
    assert source._repr_markdown_() == f"```python\n{source}\n```"
    assert repr(show_source(Busy)).startswith("@dataclass(frozen=True)\nclass Busy(_Answer):")


def test_source_of_a_nested_function_starts_at_the_margin():
    def inner(me):
        return "```"

    assert repr(show_source(inner)).startswith("def inner(me):\n    return")
    assert show_source(inner)._repr_markdown_().startswith("````python")


def test_what_has_no_source_is_an_error_that_says_so():
    with pytest.raises(LabkitError, match="source code of 3"):
        show_source(3)
