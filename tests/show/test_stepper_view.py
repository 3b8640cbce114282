"""Be the scheduler: the widget, used as the browser uses it."""

import asyncio
import re

import ipywidgets as widgets
import pytest

from labkit.cases import every, named
from labkit.draw.svg import escape
from labkit.scheduler import view
from labkit.show import be_the_scheduler
from labkit.sim.errors import LabkitError
from labkit.sim.invariants import mutual_exclusion
from tests.show.traces import account, ask_twice, constant_value, look_then_take, nasty

VIEW = "application/vnd.jupyter.widget-view+json"


class Screen:
    """What is on the page: buttons and fields by their name."""

    def __init__(self, twin):
        self.twin = twin
        first, second, self.messages, self.report = twin.children
        present = isinstance(second, widgets.VBox)  # for a room, the controls come first
        self.moves, self.controls = (second, first) if present else (first, second)

    @property
    def named(self):
        return {one.description: one for one in self.controls.children}

    @property
    def lines(self):
        return [[button.description for button in box.children] for box in self.moves.children]

    def move(self, start):
        buttons = [button for box in self.moves.children for button in box.children]
        return next(button for button in buttons if button.description.startswith(start))

    def click(self, start):
        """As a browser does: a button that is disabled cannot be clicked."""
        button = self.named.get(start) or self.move(start)
        assert not button.disabled, button.description
        button.click()

    @property
    def schedule(self):
        return self.named["Schedule"].value

    def says(self, text):
        return escape(text) in self.messages.value


def screen(schedule="", worker=look_then_take, **settings):
    if worker is look_then_take:
        settings = {"setup": account, "check": mutual_exclusion} | settings
    return Screen(be_the_scheduler(worker, schedule, **settings))


def test_it_is_stored_as_text():
    bundle = screen("A B A").twin._repr_mimebundle_()
    assert VIEW in bundle
    assert bundle["text/plain"] == (
        "be the scheduler: A B A; A is about to: GET balance · B is about to: SET lock B"
    )
    assert "<svg" not in bundle["text/html"]  # an untrusted notebook would show its words only
    for text in ("SET lock A", "Run this cell", "What is stored", "<caption", 'scope="col"'):
        assert text in bundle["text/html"]
    assert bundle == {**screen("A B A").twin._repr_mimebundle_(), VIEW: bundle[VIEW]}


def test_the_stored_text_of_a_wrong_beginning_says_so():
    assert "Not possible." in screen("A B t").twin._repr_mimebundle_()["text/html"]


def test_buttons_show_what_each_move_does():
    s = screen("A B A")
    assert s.lines[0] == ["A: GET balance"] and s.lines[1] == ["B: SET lock B"]
    assert s.move("t").disabled and "no key expires" in s.move("t").description
    s.click("B")
    assert s.schedule == "A B A B" and s.says("A and B are both inside. You broke the rule")
    assert s.says("in 4 moves: no schedule is shorter.")
    assert "<svg" in s.report.value
    s.click("Undo")
    assert s.schedule == "A B A" and not s.says("broke the rule")
    s.click("Restart")
    assert s.schedule == "" and s.named["Undo"].disabled and s.named["Restart"].disabled
    s.click("Redo")
    assert s.schedule == "A"


def test_a_line_for_each_worker_and_one_for_the_world():
    s = screen("A", constant_value, faults="?!")
    assert [[text.split(":")[0] for text in line] for line in s.lines] == [
        ["A", "A?", "A!"], ["B", "B?", "B!"], ["t"]
    ]  # fmt: skip
    assert s.move("A?").tooltip == "the server executes the command, the reply is lost"
    a = s.move("A:")
    s.click("A!")
    assert s.lines[0] == ["A: A has ended (crashed)"]
    assert s.move("A:") is a, "a new button would lose the keyboard's focus"


def test_a_pasted_mistake_stays_to_be_corrected_and_nothing_is_lost():
    s = screen("A B A")
    s.named["Schedule"].value = "A B <b>"
    assert s.schedule == "A B <b>" and s.says("Not possible.") and "<b>&quot;" not in s.report.value
    assert s.lines[0] == ["A: GET balance"], "still after A B A"
    s.named["Schedule"].value = "AB"
    assert s.schedule == "A B" and not s.says("Not possible.")
    s.named["Schedule"].value = "what"
    s.click("A")  # goes on from the last good one
    assert s.schedule == "A B A" and not s.says("Not possible.")


def test_hint_and_counts_come_when_they_are_asked_for():
    s = screen()
    assert not s.says("Hint:") and not s.says("Counts:")
    s.click("Hint")
    assert s.says("From here 4 moves can break the rule: A B B A. First A: GET lock.")
    s.click("Counts")
    assert s.says("schedules break the rule (2 workers, 1 pause, no faults)")
    assert not s.says("Hint:"), "the hint was for the click before"
    s.click("A")
    assert s.says("Counts:"), "counts are the same everywhere"


def test_the_search_runs_between_two_clicks(monkeypatch):
    monkeypatch.setattr(view, "_SEARCH_S", 0.001)

    async def play():
        s = screen(pauses=2)
        s.click("Counts")
        assert s.says("Looking at every schedule: 0 states so far. You can go on.")
        s.click("A")
        s.click("Hint")
        assert s.schedule == "A" and s.says("Looking at every schedule")
        while s.says("Looking"):
            await asyncio.sleep(0.001)
        return s

    s = asyncio.run(play())
    assert s.schedule == "A" and s.says("From here 3 moves can break the rule: B B A.")


def test_an_exception_that_nobody_expects_is_shown(monkeypatch):
    s = screen()
    monkeypatch.setattr(view, "report", lambda *_: 1 / 0)
    s.click("A")
    assert s.says("ZeroDivisionError: division by zero")


def test_everything_is_escaped():
    s = screen("A", nasty, check=mutual_exclusion)
    everything = s.messages.value + s.report.value + s.twin._repr_mimebundle_()["text/html"]
    assert "<b>&quot;" not in everything and "<i>]]" not in everything
    assert "&lt;b&gt;" in everything and "\x01" not in everything


# -- cases ----------------------------------------------------------------------------------------


def test_a_case_brings_its_worker_rule_and_bounds():
    case = named("late-delete")
    s = Screen(be_the_scheduler(case, case.shortest))
    assert s.says("in 5 moves: no schedule is shorter.")
    s = Screen(be_the_scheduler(case, instead=case.right))
    s.click("Hint")
    assert s.says("Explored to the end: this one holds (2 workers, 1 pause, no faults).")
    s = Screen(be_the_scheduler(case, faults="!"))
    assert any("A!" in text for text in s.lines[0])


@pytest.mark.parametrize("case", list(every()), ids=lambda case: case.name)
def test_every_case_can_be_shown(case):
    s = Screen(be_the_scheduler(case))
    s.named["Schedule"].value = case.shortest
    assert s.says("no schedule is shorter."), s.messages.value
    assert len(repr(s.twin)) <= 110


# -- a room ---------------------------------------------------------------------------------------


def test_one_key_for_each_move_in_a_room():
    s = screen(worker=constant_value, check=mutual_exclusion, faults="?", present=True)
    assert s.lines == [["[a] A: SET lock 1 NX PX 100", "[1] A?"],
                       ["[b] B: SET lock 1 NX PX 100", "[2] B?"],
                       ["[t] t: no key expires and nobody sleeps"]]  # fmt: skip
    assert "so there is nothing that time could change" in s.move("[t]").tooltip
    assert "<b>?</b> the server executes the command, the reply is lost" in s.messages.value
    keys = s.named["Keys"]
    keys.value = "a"
    assert s.schedule == "A"
    keys.value = "at2"  # two keys that came in one message
    assert s.schedule == "A t B?"
    keys.value = "at"
    assert s.schedule == "A t"
    keys.value = "atb"
    assert s.schedule == "A t B" and s.says("A and B are both inside.")
    keys.value = "atbx"
    assert s.says('"x" is the key of no move. Keys: a = A, b = B, t = t, 1 = A?, 2 = B?.')
    keys.value = "at"  # takes back one move for each: x was none
    assert s.schedule == "A" and not s.says("Not possible.")
    keys.value = "ath"
    assert s.says("From here 2 moves can break the rule: t B.")
    assert s.schedule == "A"


def test_a_key_whose_move_is_not_possible_says_why():
    s = screen(present=True)
    s.named["Keys"].value = "t"
    assert s.schedule == "" and s.says("no key expires")


def test_a_room_has_large_type():
    s = screen("A B A B A A A", present=True)
    assert "font-size:26px" in s.messages.value and "font-size:20px" in s.report.value
    assert all(b.style.font_size == "26px" for box in s.moves.children for b in box.children)
    assert "Trace, the last 6 steps" in s.report.value
    assert len(re.findall("<tr>", s.report.value.split("</table>")[0])) == 7


# -- hidden lanes ---------------------------------------------------------------------------------


def test_the_lane_of_the_server_is_shown_on_demand():
    for fault in ("?", "~"):
        s = screen(f"A{fault}", ask_twice, faults="?~", hide="server", check=mutual_exclusion)
        seen = (s.messages.value, s.report.value, s.schedule, repr(s.twin),
                s.twin._repr_mimebundle_()["text/html"])  # fmt: skip
        assert "(no answer)" in s.report.value and "<svg" not in s.report.value
        assert "What is stored" not in s.report.value and s.says("server. What can be known")
        assert not re.search(r"lost|A[?~]", "".join(seen))
        s.click("Reveal")
        assert f"A{fault}" in s.report.value and "What is stored" in s.report.value
        assert s.schedule == f"A{fault}"
        s.click("Hide again")
        assert (s.messages.value, s.report.value, s.schedule) == seen[:3]


def test_a_hidden_worker_keeps_its_command_to_itself():
    s = screen("A", hide="B")
    assert s.lines[1] == ["B: (hidden)"]
    s.click("B")
    assert "<td" in s.report.value and ">B<" not in s.report.value
    assert s.named["Hint"].disabled and s.named["Counts"].disabled


def test_lanes_and_settings_that_do_not_exist():
    with pytest.raises(LabkitError, match='hide="C": there is no lane "C"'):
        screen(hide="C")
    with pytest.raises(LabkitError, match="no setting hid="):
        screen(hid="server")
    with pytest.raises(LabkitError, match="not a function"):
        be_the_scheduler(3)
