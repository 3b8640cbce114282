"""Bad answers: a clear sentence says which answer and what is possible; nothing typed is lost."""

import json
import math

import pytest

from labkit.decision import AnswerError, decide
from labkit.decision.answers import check, duration_from, number_from
from labkit.decision.records import FORMAT
from labkit.decision.saved import CHANGED, UNCHANGED, UNREADABLE, changes, check_file, load
from labkit.sim.errors import LabkitError

POSSIBLE_TIME = "Possible: a number above 0 up to 31,622,400,000 (ms)."


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"gaol": "correct"}, "There is no answer called 'gaol'. Did you mean 'goal'? Possible:"),
        ({"goal": "corect"}, "goal: 'corect' is not possible. Did you mean 'correct'? "
                             "Possible: correct, effic, unknown."),
        ({"goal": None}, "goal: None is not possible. Possible: correct, effic, unknown."),
        ({"goal": ["correct"]}, "goal: ['correct'] is not possible."),
        ({"redis": "Single"}, "redis: 'Single' is not possible. Did you mean 'single'?"),
        ({"persistence": "aof"}, "Possible: none, rdb, aof_everysec, aof_always, unknown."),
        ({"work_p99_ms": "soon"}, f"work_p99_ms: 'soon' is not a number. {POSSIBLE_TIME}"),
        ({"work_p99_ms": True}, "work_p99_ms: True is not a number."),
        ({"work_p99_ms": -5}, f"work_p99_ms: -5 makes no sense. {POSSIBLE_TIME}"),
        ({"work_p99_ms": math.nan}, "work_p99_ms: nan makes no sense."),
        ({"work_p99_ms": math.inf}, "work_p99_ms: inf makes no sense."),
        ({"work_p99_ms": 10**400}, "makes no sense."),
        ({"work_p99_ms": 10**5_000}, "work_p99_ms: a very long number makes no sense."),
        ({"hard_cap_ms": 0}, "hard_cap_ms: 0 makes no sense."),
        ({"workers": 2.5}, "workers: 2.5 is not a whole number."),
        ({"controls": "metrics"}, "controls: 'metrics' is not a list. Possible entries:"),
        ({"controls": ["metric"]}, "controls: 'metric' is not possible. Did you mean 'metrics'?"),
        ({"controls": [["metrics"]]}, "controls: ['metrics'] is not possible."),
        ({"confidence": "measured"}, "confidence: 'measured' is not a mapping"),
        ({"confidence": {"goals": "measured"}}, "there is no answer called 'goals'"),
        ({"confidence": {"goal": "sure"}}, "Possible: measured, looked_up, assumed."),
        ({"work_p50_ms": 30, "work_p99_ms": 20},
         "work_p99_ms: 20 is below work_p50_ms, which is 30. Half of the runs take longer than 99 "
         "of 100 do: correct one of the two."),
        ({"redis_p999_ms": 5, "recover_ms": 4},
         "A lock would have to end before Redis has answered once"),
        ({"redis_p999_ms": 5, "caller_deadline_ms": 4}, "The caller gives up before Redis has"),
        ({"final_write_p99_ms": 50, "recover_ms": 40}, "before the last write is done"),
        ({"goal": "<script>x</script>"}, "goal: '<script>x</script>' is not possible."),
        ({3: "x"}, "There is no answer called 3."),
    ],
)  # fmt: skip
def test_a_bad_answer_is_named_with_what_is_possible(answers, sentence):
    with pytest.raises(AnswerError) as caught:
        decide(answers)
    assert sentence in str(caught.value)
    assert caught.value.answers is answers
    assert isinstance(caught.value, LabkitError)


@pytest.mark.parametrize("answers", [None, "goal", 3, ["goal"]])
def test_answers_that_are_no_mapping(answers):
    with pytest.raises(AnswerError, match="Answers are a mapping such as"):
        decide(answers)


def test_all_bad_answers_are_named_at_once():
    good, problems = check({"goal": "x", "scope": "one_db", "work_p50_ms": "y"})
    assert good == {"scope": "one_db"}
    assert [problem.key for problem in problems] == ["goal", "work_p50_ms"]


@pytest.mark.parametrize(
    ("typed", "number"),
    [("12", 12), (" 0,5 ", 0.5), ("0.5", 0.5), ("1500", 1500), ("1e3", 1000), ("1,25", 1.25),
     ("1.500", "1.500"), ("1,500", "1,500"), ("1.500.000", "1.500.000"), ("", ""), ("ten", "ten"),
     ("1 500", "1 500"), ("0.25", 0.25)],
)  # fmt: skip
def test_numbers_as_people_type_them(typed, number):
    assert number_from(typed) == number


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "1e999"])
def test_numbers_that_are_none_make_no_sense(typed):
    assert check({"work_p99_ms": number_from(typed)})[1]


@pytest.mark.parametrize(
    ("typed", "ms"),
    [("12", 12), ("12 ms", 12), ("1.5 s", 1_500), ("0,5s", 500), ("2 min", 120_000),
     ("2 m", 120_000), ("3h", 10_800_000), ("1 d", 86_400_000), ("-1 s", -1_000), ("", ""),
     ("soon", "soon"), ("2 weeks", "2 weeks"), ("1.500 s", "1.500 s"), ("s", "s"),
     ("1 2 s", "1 2 s")],
)  # fmt: skip
def test_times_as_people_type_them(typed, ms):
    assert duration_from(typed) == ms
    assert duration_from("7", "s") == 7_000


# -- saved records ---------------------------------------------------------------------------------


def saved(**changes_):
    data = {"format": FORMAT, "model": 2, "answers": {"goal": "correct", "scope": "one_db"}}
    return json.dumps(data | changes_)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "This is not readable JSON (line 1, column 1"),
        ('{"format": "lock lab', "This is not readable JSON (line 1, column 12"),
        ("[" * 100_000, "This is not readable JSON"),
        ("# ADR 7", "Load the JSON file that was saved beside the record."),
        ("[]", "This JSON is not a saved decision: \"format\" is 'list', not"),
        ("{}", '"format" is None, not "lock lab decision".'),
        ('{"format": {"a": 1}}', "This JSON is not a saved decision"),
        (saved(model=0), '"model" is 0. Possible: a whole number from 1 to 2.'),
        (saved(model="2"), "\"model\" is '2'. Possible"),
        (saved(model=True), '"model" is True. Possible'),
        (saved(model=3), "written by model 3; this labkit knows up to 2. Update labkit"),
        (saved(answers=None), 'no usable "answers"'),
        (saved(answers=["goal"]), 'no usable "answers"'),
    ],
)
def test_a_file_that_cannot_be_read(source, sentence):
    found = load(source)
    assert found.decision is None
    assert sentence in found.problems[0]
    assert found.source == source  # nothing typed is lost
    assert changes(found) == (UNREADABLE, found.problems)


def test_unknown_keys_and_values_are_left_out_and_kept():
    found = load(saved(answers={"goal": "correct", "scope": "two_db", "colour": "red"}))
    assert found.decision is not None
    assert found.answers == {"goal": "correct"}
    assert found.unused == {"scope": "two_db", "colour": "red"}
    assert len(found.problems) == 2
    assert "Left out, and counted as unknown: scope: 'two_db' is not possible." in found.problems[0]


def test_a_text_that_is_none_is_kept_too():
    found = load(saved(name=7, because="we know it"))
    assert found.typed == {"because": "we know it"}
    assert found.unused == {"name": 7}
    assert found.problems == ['"name" is not text and was left out.']


def test_an_older_model_counted_in_seconds():
    found = load(saved(model=1, answers={"goal": "effic", "work_p99_s": 1.5, "arrivals_per_s": 2}))
    assert found.answers == {"goal": "effic", "work_p99_ms": 1_500, "arrivals_per_s": 2}
    assert found.problems == ["This record was written by model 1; it was read as model 2: times "
                              "are in milliseconds now."]  # fmt: skip


def test_an_older_model_with_text_instead_of_seconds():
    found = load(saved(model=1, answers={"work_p99_s": "long"}))
    assert found.unused == {"work_p99_ms": "long"}


def test_a_record_without_a_result_counts_as_changed():
    code, sentences = changes(load(saved()))
    assert code == CHANGED
    assert sentences == ["The record holds no result to compare with."]


@pytest.mark.parametrize("result", [3, {"design": 5}, {"blockers": "x"}, []])
def test_a_damaged_result_counts_as_changed(result):
    assert changes(load(saved(result=result)))[0] == CHANGED


def test_a_result_that_is_odd_but_readable():
    odd = {"design": "D99", "rule": None, "blockers": [1], "to_build": {}, "answers_used": [1]}
    code, sentences = changes(load(saved(result=odd)))
    assert code == CHANGED
    assert sentences[0].startswith("The design changes from D99 to D06_DB_LOCK")


@pytest.mark.parametrize("number", ["recover_ms", "work_max_ms", "pause_ms", "redis_p999_ms"])
@pytest.mark.parametrize("value", [0.001, 1, 1e10])
def test_numbers_at_their_limits_never_end_in_an_error(number, value):
    given = {"work_max_ms": 1e7, "recover_ms": 5_000, "arrivals_per_s": 1, "work_p50_ms": 0.0005}
    for dur in ("short", "bounded", "long"):
        answers = given | {"reject": "version", "effect": "undoable", "dur": dur, number: value}
        try:
            decision = decide(answers)
        except AnswerError as error:
            assert "correct one of the two" in str(error)
        else:
            assert decision.parameters and str(decision)


def test_check_file_says_what_cannot_be_read(tmp_path):
    assert check_file(tmp_path / "no.json") == (
        UNREADABLE,
        [f"{tmp_path / 'no.json'} cannot be read: No such file or directory. Give the saved JSON "
         "file."],
    )  # fmt: skip
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe{")
    code, sentences = check_file(tmp_path / "latin.json")
    assert (code, "it is not UTF-8 text" in sentences[0]) == (UNREADABLE, True)
    assert check_file(tmp_path)[0] == UNREADABLE
    assert UNCHANGED == 0
