"""Rows and a service that refuse: what they accept, what they answer, and that nothing leaks."""

import pytest

from labkit import LabkitError, explore, replay
from labkit.resources import ConnectionLost, ServiceTimeout, fenced_row, service, versioned_row


def told(function, setup, moves, **more):
    return replay(function, moves, workers="A", setup=setup, **more).pending["A"].value


def declare(**resources):
    def setup(lab):
        for name, resource in resources.items():
            setattr(lab.shared, name, resource)

    return setup


@pytest.mark.parametrize(
    ("compare", "accepted"),
    [
        ("<", [True, True, False, False]),
        ("<=", [True, True, True, False]),
        ("nothing", [True, True, True, True]),
    ],
)
def test_a_fenced_row_accepts_by_its_comparison(compare, accepted):
    def writes(me):
        return [me.shared.row.write(f"v{n}", n) for n in (33, 34, 34, 33)]

    assert told(writes, declare(row=fenced_row(0, compare)), "A A A A") == accepted


def test_a_row_starts_with_its_value_and_keeps_what_was_accepted():
    def writes(me):
        row = me.shared.row
        return row.read(), row.write("it's new", 1), row.write("late", 0), row.read()

    answer = told(writes, declare(row=fenced_row("it's old")), "A A A A")
    assert answer == ("it's old", True, False, "it's new")


def test_who_raises_first_shuts_out_older_numbers_and_may_write_as_often_as_it_likes():
    def raises(me):
        row = me.shared.row
        return [row.raise_to(2), row.raise_to(1), row.raise_to(2), row.write("late", 1),
                row.write_as("a", 2), row.write_as("b", 2), row.write_as("c", 1),
                row.read()]  # fmt: skip

    assert told(raises, declare(row=fenced_row(0)), "A " * 8) == [
        True, False, False, False, True, True, False, "b",
    ]  # fmt: skip


def test_a_versioned_row_accepts_a_write_with_the_version_that_was_read():
    def writes(me):
        row = me.shared.row
        value, version = row.read()
        return value, version, row.write("a", version), row.write("b", version), row.read()

    answer = told(writes, declare(row=versioned_row(5)), "A " * 4)
    assert answer == (5, 0, True, False, ("a", 1))


def test_compare_and_set_loses_no_update_and_reading_without_comparing_does():
    def adds(me):
        value, version = me.shared.row.read()
        return me.shared.row.write(value + 1, version)

    def adds_blindly(me):
        value, _ = me.shared.row.read()
        me.shared.row.execute("UPDATE data SET value = ? WHERE id = 1", value + 1)
        return True

    def all_there(lab):
        added, left = sum(lab.returned.values()), lab.shared.row.read()[0]
        return None if left == added else f"{added} were added, and it is {left}"

    setup = declare(row=versioned_row(0))
    assert explore(adds, check=all_there, setup=setup).verdict == "holds within bounds"
    found = explore(adds_blindly, check=all_there, setup=setup)
    assert str(found.counterexample.schedule) == "A B B A"


def test_the_statement_is_shown_as_a_person_would_write_it():
    def writes(me):
        me.shared.row.write(70, 3)

    trace = replay(writes, "A", workers="A", setup=declare(row=fenced_row(100)))
    said = "UPDATE data SET value = 70, fence = 3 WHERE id = 1 AND fence < 3"
    assert trace.steps[0].command == said
    assert trace.steps[0].transition.after["row.data 1"].text == "value 70, fence 3"


@pytest.mark.parametrize("move", ["A?", "A~"])
def test_a_lost_answer_of_a_row_is_a_lost_connection(move):
    def writes(me):
        try:
            me.shared.row.write(70, 3)
        except ConnectionLost:
            return me.shared.row.read()

    left = told(writes, declare(row=fenced_row(100)), f"{move} A")
    assert left == (70 if move == "A?" else 100)


@pytest.mark.parametrize("row", [fenced_row, versioned_row])
@pytest.mark.parametrize("value", [None, [1], 1.5])
def test_a_row_says_what_it_can_start_with(row, value):
    with pytest.raises(LabkitError, match="it takes a number or text"):
        row(value)


def test_a_row_says_how_it_can_compare():
    with pytest.raises(LabkitError, match='it is "<", "<=" or "nothing"'):
        fenced_row(0, compare=">")


# -- the service -----------------------------------------------------------------------------------


def sends(me):
    mail = me.shared.mail
    return [mail.send("a", 2), mail.send("b", 2), mail.send("c", 1), mail.done()]


def test_a_service_refuses_lower_numbers_and_not_the_same_one_again():
    """Fencing orders writers. It does not notice a repetition: that takes an idempotency key."""
    answer = told(sends, declare(mail=service()), "A A A A")
    assert answer == [True, True, False, [("a", 2), ("b", 2)]]


def test_most_services_refuse_nothing():
    answer = told(sends, declare(mail=service(refuses=False)), "A A A A")
    assert answer == [True, True, True, [("a", 2), ("b", 2), ("c", 1)]]


def test_each_request_is_one_step_and_can_be_read():
    trace = replay(sends, "A A A A", workers="A", setup=declare(mail=service()))
    assert [step.command for step in trace.steps][0] == 'SEND "a" with number 2'
    texts = [step.transition.after["mail.done"].text for step in trace.steps]
    assert texts == ["a (2)", "a (2), b (2)", "a (2), b (2)", "a (2), b (2)"]
    assert trace.start["mail.done"].text == "nothing"


@pytest.mark.parametrize(("move", "done"), [("A?", [("a", 1)]), ("A~", [])])
def test_a_lost_answer_of_a_service_is_a_timeout_that_says_nothing_about_the_effect(move, done):
    def asks(me):
        try:
            me.shared.mail.send("a", 1)
        except ServiceTimeout as error:
            assert "it may have done it" in str(error)
            return me.shared.mail.done()

    assert told(asks, declare(mail=service()), f"{move} A") == done


def test_what_a_service_has_done_is_put_back_with_the_state():
    """Otherwise one schedule would see the requests of another."""

    def once(me):
        return me.shared.mail.send(me.name, 1)

    found = explore(once, check=lambda lab: None if len(lab.shared.mail.done()) == 2 else "no",
                    setup=declare(mail=service()))  # fmt: skip
    assert (found.schedules, found.violating) == (2, 0)


@pytest.mark.parametrize("what", [(1, 1), ("a", "1"), ("a", None)])
def test_a_request_takes_text_and_a_number(what):
    with pytest.raises(LabkitError, match="it takes text, and a whole number"):
        replay(lambda me: me.shared.mail.send(*what), "A", workers="A",
               setup=declare(mail=service()))  # fmt: skip
