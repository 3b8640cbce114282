"""The conversation in a terminal."""

import json

import pytest

from labkit.decision import Page
from labkit.decision.page import OWN
from labkit.decision.questions import CHOICES, ORDER
from labkit.decision.saved import UNCHANGED, load
from labkit.decision.scenarios import SCENARIOS
from labkit.decision.terminal import recheck, run


class Talk:
    """Types the lines it is given, then only Enter; remembers what was said."""

    def __init__(self, *lines, then=""):
        self.lines, self.then, self.said = list(lines), then, []
        self.saved = None

    def ask(self, prompt):
        self.said.append(prompt)
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
        texts = Page().t
        for line in reversed(self.said[:-1]):
            for key in ORDER:
                if prompt == "> " and line.endswith(f" {texts(f'{key}.ask')}"):
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
    assert list(dict.fromkeys(talk.asked)) == [key for key in ORDER if key in talk.asked]
    assert talk.saved.markdown.count("\n## ") == page.record().markdown.count("\n## ")


def test_what_would_not_matter_is_not_asked():
    talk = Answering(SCENARIOS["S08"]).hold()
    assert "lookup" not in talk.asked
    assert "does not change the result: Asking afterwards" in talk.text


def test_help_and_wrong_input():
    talk = Talk("?", "9", "x", "1", "q").hold()
    assert "Imagine that the lock silently failed last night." in talk.text
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
    assert "This is the first question." in Talk("b", "q").hold().text


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
                return "40,0" if "is not a number" in self.text else "soon"
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
