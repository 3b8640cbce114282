"""A choice of workers, each explored when it is asked for."""

import pytest

from labkit import LabkitError, mutual_exclusion
from labkit.show import select
from labkit.show.selecting import Selection


def without_a_lock(me):
    with me.critical_section():
        me.redis.incr("<work>")


def with_a_lock(me):
    if me.redis.set("lock", me.name, nx=True):
        with me.critical_section():
            me.redis.incr("work")


CHOICES = {"no lock": without_a_lock, "a <lock>": with_a_lock}


def controls(twin):
    question, row, shown = twin.children
    dropdown, button = row.children
    return question, dropdown, button, shown


def test_nothing_is_tried_before_it_is_asked_for():
    _, dropdown, button, shown = controls(select("Which?", CHOICES, check=mutual_exclusion))
    assert "def without_a_lock" in shown.value
    assert "Verdict" not in shown.value
    button.click()
    assert "violated" in shown.value
    assert "<svg" in shown.value
    dropdown.value = "a <lock>"
    assert "def with_a_lock" in shown.value
    assert "Verdict" not in shown.value
    button.click()
    assert "holds within bounds" in shown.value


def test_each_is_explored_once():
    selection = Selection(CHOICES, make=lambda worker: worker, check=mutual_exclusion)
    assert selection.explore("no lock") is selection.explore("no lock")


def test_what_a_reader_writes_is_escaped():
    twin = select("<Which>?", CHOICES, check=mutual_exclusion)
    question, _, button, shown = controls(twin)
    button.click()
    assert "&lt;Which&gt;?" in question.value
    assert "<work>" not in shown.value
    html = twin._repr_mimebundle_()["text/html"]
    assert "<li>a &lt;lock&gt;</li>" in html


def test_its_text_names_the_choices():
    assert repr(select("Which?", CHOICES, check=mutual_exclusion)) == (
        "select: Which? (no lock | a <lock>)"
    )


def test_a_worker_that_cannot_be_explored_is_a_sentence():
    def refused(me):
        me.redis.execute_command("MONITOR")

    _, _, button, shown = controls(select("Which?", {"it": refused}, check=mutual_exclusion))
    button.click()
    assert "Not possible." in shown.value
    assert "MONITOR" in shown.value


def test_without_choices_it_says_what_to_give():
    with pytest.raises(LabkitError, match="Give label: worker"):
        select("Which?", {}, check=mutual_exclusion)


def test_a_choice_may_be_the_part_that_differs():
    def work(me):
        me.redis.incr("work")

    def inside(part):
        def worker(me):
            with me.critical_section():
                part(me)

        return worker

    twin = select("Which?", {"it": work}, make=inside, check=mutual_exclusion)
    _, _, button, shown = controls(twin)
    assert "def work(me)" in shown.value
    button.click()
    assert "violated" in shown.value
