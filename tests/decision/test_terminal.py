"""The conversation in a terminal."""

import json
import re
from itertools import pairwise

import pytest

from labkit.decision import Page
from labkit.decision.page import OWN
from labkit.decision.questions import BY_KEY, CHOICES, ORDER
from labkit.decision.saved import UNCHANGED, load
from labkit.decision.scenarios import SCENARIOS
from labkit.decision.terminal import recheck, run


class Talk:
    """Types the lines it is given, then only Enter; remembers what was said."""

    def __init__(self, *lines, then="", name=""):
        self.lines, self.then, self.said, self.name = list(lines), then, [], name
        self.saved = None

    def ask(self, prompt):
        self.said.append(prompt)
        if prompt == "What is protected: ":
            return self.name.pop(0) if isinstance(self.name, list) else self.name
        line = self.lines.pop(0) if self.lines else self.then
        if isinstance(line, BaseException):
            raise line
        return line

    def save(self, page, path):
        self.saved = page.record()
        return (f"{path}.md", f"{path}.json")

    def hold(self, **more):
        self.code = run(self.ask, self.said.append, save=self.save, **more)
        return self

    @property
    def text(self):
        return "\n".join(self.said)


class Answering(Talk):
    """Answers each question as a scenario does."""

    def __init__(self, answers):
        super().__init__()
        self.answers, self.asked = answers, []

    def ask(self, prompt):
        self.said.append(prompt)
        for line in reversed(self.said[:-1]):
            for key in ORDER:
                if prompt == "> " and line.startswith(f"{BY_KEY[key].id} "):
                    self.asked.append(key)
                    return str(CHOICES[key].index(self.answers[key]) + 1)
            if line == "":
                return ""
        return ""


@pytest.mark.parametrize("id", SCENARIOS)
def test_the_same_questions_lead_to_the_same_record_as_the_page(id):
    talk = Answering(SCENARIOS[id]).hold()
    page = Page(OWN)
    for key in dict.fromkeys(talk.asked):
        page.set(key, SCENARIOS[id][key])
    assert talk.code == 0
    assert load(talk.saved.json).decision.design == Page(id).state.decision.design
    places = [ORDER.index(key) for key in dict.fromkeys(talk.asked)]
    assert sum(b < a for a, b in pairwise(places)) <= 1  # what matters late comes in a second round
    assert talk.saved.markdown.count("\n## ") == page.record().markdown.count("\n## ")


def test_what_would_not_matter_is_not_asked():
    talk = Answering(SCENARIOS["S08"]).hold()
    assert "lookup" not in talk.asked
    assert "does not change the result: Asking afterwards" in talk.text


def test_help_and_wrong_input():
    talk = Talk("?", "9", "x", "1", "q").hold()
    assert "Imagine it happened last night, and nobody noticed." in talk.text
    assert '"9" is not possible here. Type a number from 1 to 3' in talk.text
    assert '"x" is not possible here.' in talk.text


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "m", "²", "9" * 5_000, "1mm", "<b>"])
def test_senseless_choices(typed):
    talk = Talk(typed, "q").hold()
    assert "is not possible here." in talk.text


def test_back_goes_to_the_question_before_and_keeps_its_answer():
    talk = Talk("1", "2", "b", "b", "", "1", "q").hold()
    assert "now: someone would have to repair data, money or trust" in talk.text
    answers = json.loads(talk.said[-1])["answers"]
    assert answers == {"goal": "correct", "scope": "one_db"}


def test_back_at_the_first_question():
    assert "This is the first question." in Talk("q", name=["b", "stock"]).hold().text


def test_save_and_stop():
    talk = Talk("1", "1", "s").hold(date="2026-11-30")
    assert talk.code == 0
    assert load(talk.saved.json).answers == {"goal": "correct", "scope": "one_db"}
    assert 'date: "2026-11-30"' in talk.saved.markdown
    assert "Saved: decision.md, decision.json" in talk.text


@pytest.mark.parametrize("end", ["q", EOFError(), KeyboardInterrupt()])
def test_stopping_loses_nothing(end):
    talk = Talk("2", "1", end).hold()
    assert talk.code == 1
    assert load(talk.said[-1]).answers == {"goal": "effic", "scope": "one_db"}


def test_an_answer_that_does_not_fit_is_asked_again():
    # goal: only time is wasted; effect: cannot be taken back
    talk = Talk("2", "2", "7", "3", "1", "q").hold()
    assert "which of the two is right? Asked again; Enter keeps the answer." in talk.text
    assert json.loads(talk.said[-1])["answers"]["effect"] == "undoable"
    kept = Talk("2", "2", "7", "3", "", "q").hold()
    assert json.loads(kept.said[-1])["answers"]["effect"] == "final_must"


def test_how_an_answer_is_known():
    talk = Talk("1m", "2l", "q").hold()
    assert json.loads(talk.said[-1])["answers"]["confidence"] == {
        "goal": "measured", "scope": "looked_up"}  # fmt: skip


def test_numbers_and_controls_are_asked_and_checked():
    page = Page("S01")
    talk = Talk(*[""] * 11, then="").hold(page=page)
    asked = [line for line in talk.said if line.startswith("half of the runs")]
    assert len(asked) == 1

    class Numbers(Talk):
        def ask(self, prompt):
            self.said.append(prompt)
            if prompt.startswith("99 of 100 runs"):
                return "0,04" if "is not a number" in self.text else "soon"
            if prompt.startswith("every attempt"):
                return "e" if '"x" is not possible' in self.text else "x"
            return "stock" if prompt.startswith("What is protected") else ""

    talk = Numbers().hold(page=Page("S01"))
    again = load(talk.saved.json)
    assert again.answers["work_p99_ms"] == 40
    assert again.answers["controls"] == ["unique_token"]
    assert again.typed["name"] == "stock"


def test_a_file_that_exists_is_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    (tmp_path / "decision.md").write_text("mine", encoding="utf-8")
    lines = iter(["s", "", "other"])
    assert run(lambda prompt: next(lines), said.append) == 0
    assert (tmp_path / "decision.md").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "other.json").exists()
    assert any("exists already" in line for line in said)
    assert recheck(tmp_path / "other.json", said.append) == UNCHANGED
    assert said[-1].startswith("Unchanged: D14_REDESIGN")


# -- what the reader is told on the way ------------------------------------------------------------


def choose(**answers):
    """What to type for these answers, in the order in which they are asked."""
    return [str(CHOICES[key].index(answers[key]) + 1) for key in ORDER if key in answers]


def test_the_name_is_asked_first():
    talk = Talk("s", name="the stock").hold()
    assert talk.said[1] == "What is protected: "
    assert load(talk.saved.json).typed["name"] == "the stock"


def test_no_verdict_before_the_first_questions_are_answered():
    talk = Talk("1", "q").hold()
    assert re.search(r"Too early to say: \d+ designs are still possible\.", talk.text)
    assert "So far" not in talk.text
    typed = choose(goal="correct", scope="db_ext", shape="unique", effect="final_must",
                   reject="none", lookup="no")  # fmt: skip
    assert "So far" not in Talk(*typed[:-1], "q").hold().text


def test_it_is_said_at_once_when_nothing_can_change_the_design_any_more():
    talk = Talk(*choose(goal="correct", scope="one_db", shape="guard"), "", "", "q").hold()
    settled = [line for line in talk.said if line.startswith("Nothing that is still open can")]
    assert [line.replace("\n   ", " ") for line in settled] == [
        "Nothing that is still open can change the design: One statement that changes only if the "
        "condition holds. What follows sets details."
    ]
    assert "So far" not in talk.text


def test_words_that_a_reader_may_not_know_stand_below_the_question():
    talk = Talk(*choose(goal="correct", scope="db_ext", shape="unique", effect="final_must"),
                "q").hold()  # fmt: skip
    assert "The receiver is whoever accepts the write at the end" in talk.text


def test_help_says_something_about_each_choice():
    talk = Talk("1", "?", "q").hold()
    assert "  5  The only arrow leaves." in talk.text


def test_where_only_work_is_wasted_the_question_is_another_one():
    typed = choose(goal="effic", scope="one_store", shape="section")
    assert "If it ran twice, would anything be wrong afterwards?" in Talk(*typed, "q").hold().text
    typed = choose(goal="correct", scope="one_store", shape="section")
    assert "can it be taken back?" in Talk(*typed, "q").hold().text


def test_a_space_before_the_letter_is_no_mistake():
    talk = Talk("1 m", "2 l", "q").hold()
    assert json.loads(talk.said[-1])["answers"]["confidence"] == {
        "goal": "measured", "scope": "looked_up"}  # fmt: skip


class Numbers(Talk):
    """Answers the prompts that begin with a text."""

    def __init__(self, **typed):
        super().__init__()
        self.typed = {key.replace("_", " "): value for key, value in typed.items()}

    def ask(self, prompt):
        self.said.append(prompt)
        return next((v for k, v in self.typed.items() if prompt.startswith(k)), "")


@pytest.mark.parametrize(("typed", "ms"), [("40", 40_000), ("1.5 s", 1_500), ("200ms", 200),
                                           ("2 min", 120_000), ("2 m", 120_000)])  # fmt: skip
def test_times_are_asked_in_seconds_and_may_carry_a_unit(typed, ms):
    talk = Numbers(**{"99 of 100 runs": typed}).hold(page=Page("S01"))
    assert load(talk.saved.json).answers["work_p99_ms"] == ms
    assert "99 of 100 runs are done within (seconds): " in talk.said
    assert talk.text.count("a number with its unit: 200 ms, 1.5 s, 2 min, 3 h") == 1


def test_where_nothing_is_held_nobody_is_asked_how_long_it_may_block():
    question = "how long others may stay blocked after a crash"
    assert question in Talk().hold(page=Page("S01")).text
    assert question not in Talk().hold(page=Page("S03")).text


def test_what_exists_is_asked_in_words():
    talk = Talk().hold(page=Page("S01"))
    assert talk.text.count("What does this design need, and what is there already?") == 1
    assert " (e = exists, p = planned, Enter = not yet): " in talk.text


def test_the_end_shows_ways_out_companions_and_words():
    refused = Talk().hold(page=Page("X3")).text
    assert "Any of these answers would make it possible:\n* " in refused
    assert "Goes with it:\n* Let the receiver accept a key per operation" in refused
    assert "* receiver: whoever accepts the write at the end" in refused
    report = Talk().hold(page=Page("S01")).text
    assert "Answers that would change this:\n* " in report
    assert "* TTL: the time after which Redis deletes a key by itself; for a lock: " in report


def test_what_matters_only_after_later_answers_is_asked_in_a_second_round():
    talk = Answering(SCENARIOS["S12"]).hold()
    assert "does not change the result: Refusing" in talk.text
    assert talk.asked.index("reject") > talk.asked.index("cont")
    given = load(talk.saved.json).answers
    assert all(given[key] == SCENARIOS["S12"][key] for key in ORDER if key in given)
