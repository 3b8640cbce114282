"""The grammar of schedules: what can be written, and what is said about everything else."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Schedule, ScheduleError
from labkit.sim.schedule import KINDS, Move

letters = st.sampled_from(string.ascii_uppercase)
threads = st.integers(1, 30)
moves = st.one_of(
    st.builds(Move, st.sampled_from(["", "?", "~", "^", "-"]), letters, threads),
    st.builds(Move, st.just("!"), letters),
    st.builds(Move, st.sampled_from("tfedu")),
)
quick = settings(derandomize=True, max_examples=200, deadline=None)


@quick
@given(st.lists(moves))
def test_every_schedule_reads_back_as_it_was_written(made):
    schedule = Schedule(made)
    assert Schedule.parse(str(schedule)) == schedule
    assert Schedule.parse(schedule) == schedule


@quick
@given(st.lists(moves), st.sampled_from(["", " ", "\t", "  \n ", " # A! comment t\n"]))
def test_spaces_and_comments_change_nothing(made, between):
    text = between.join(map(str, made)) + between
    assert Schedule.parse(text) == Schedule(made)


def test_moves_print_with_one_space_between_them():
    assert str(Schedule.parse("AB?A2~t\nC!  A12-")) == "A B? A2~ t C! A12-"
    assert str(Schedule.parse("")) == ""


def test_a_comment_ends_with_its_line():
    text = "A B  # both look: A and B\n# nothing here\nA B#both take"
    assert Schedule.parse(text) == Schedule.parse("ABAB")


def test_every_kind_of_move_can_be_read():
    assert [move.kind for move in Schedule.parse("A A- A^ A? A~ A! t f e d u")] == list(KINDS)


def test_moves_are_ranked_in_the_order_that_decides_ties():
    text = "A B Z A2 B2 A3 A- A2- A^ A? B? A2? A~ A! t f e d u"
    assert [move.rank for move in Schedule.parse(text)] == sorted(
        move.rank for move in Schedule.parse(text)
    )


def test_switches_count_changes_of_worker_and_look_through_time():
    assert Schedule.parse("A A t A B! t f B A2").switches == 2
    assert Schedule.parse("A? t B~ A!").faults == 3


@pytest.mark.parametrize(
    "text, what, where",
    [
        ("A b", '"b"', "line 1, character 3"),
        ("A B\n  A x", '"x"', "line 2, character 5"),
        ("A ?", '"?"', "line 1, character 3"),
        ("A1", '"A1"', "the main thread is written A"),
        ("B A2!", '"A2!"', "Write A!."),
        ("A0", '"0"', "line 1, character 2"),
        ("Ä", '"Ä"', "line 1, character 1"),
        ("A⏱B", '"⏱"', "line 1, character 2"),
        ("t?", '"?"', "line 1, character 2"),
        ("A, B", '","', "line 1, character 2"),
    ],
)
def test_what_is_no_move_is_shown_with_its_place(text, what, where):
    with pytest.raises(ScheduleError) as caught:
        Schedule.parse(text)
    assert what in str(caught.value)
    assert where in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert caught.value.move_number is None


def test_the_error_says_what_a_move_is():
    with pytest.raises(ScheduleError, match=r"Workers are capital letters.*one of t f e d u"):
        Schedule.parse("a")


@pytest.mark.parametrize("made", [None, 3, ["A", "B"], [None]])
def test_only_text_and_moves_make_a_schedule(made):
    with pytest.raises(ScheduleError, match='such as "A B A B"'):
        Schedule.parse(made)
