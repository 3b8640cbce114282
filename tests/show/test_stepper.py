"""Be the scheduler, without a browser: the schedule being written, and what can come of it."""

import random
import time

import pytest

from labkit.cases import every
from labkit.scheduler import words
from labkit.scheduler.lanes import hidden_lanes, rows
from labkit.scheduler.model import Stepper
from labkit.scheduler.options import Keys, Option
from labkit.sim.errors import LabkitError
from labkit.sim.exploration import explore
from labkit.sim.invariants import mutual_exclusion
from labkit.sim.replaying import replay
from labkit.sim.schedule import MEANING, Move, Schedule
from tests.show.traces import account, ask_twice, constant_value, look_then_take

CASES = list(every())
MOVES = 25  # random moves for each worker of a case


def stepper(schedule="", **settings):
    return Stepper(look_then_take, schedule, setup=account, check=mutual_exclusion, **settings)


def of_case(case, worker=None, schedule=""):
    return Stepper(worker or case.wrong, schedule, setup=case.setup, check=case.check,
                   workers=case.workers, pauses=case.pauses, faults=case.faults)  # fmt: skip


def search(model):
    while not model.search(0.05):
        pass
    return model


def offered(model):
    return {str(option.move): (option.text, option.enabled) for option in model.options}


# -- options --------------------------------------------------------------------------------------


def test_it_offers_every_move_with_its_command_or_the_reason_against_it():
    found = offered(stepper("A B"))
    assert found["A"] == ("SET lock A", True)
    assert found["B"] == ("SET lock B", True)
    assert found["t"][1] is False and "no key expires" in found["t"][0]
    assert str(stepper().options[0]) == "A: GET lock"


def test_time_and_faults_can_be_chosen():
    model = Stepper(constant_value, "A", faults="?~!")
    found = {move: text for move, (text, _) in offered(model).items()}
    assert found["t"] == "time passes to 101 ms"
    assert found["A?"] == "the reply is lost"
    assert found["A~"] == MEANING["~"]
    assert found["A!"] == "the process crashes here and never runs again"
    model.play(Move("!", "A"))
    assert model.schedule == "A A!" and not model.options[0].enabled


def test_a_reason_is_said_once_for_each_worker():
    found = offered(Stepper(constant_value, "A!", faults="?~!"))
    assert found["A"] == ("A has ended (crashed)", False)
    assert not {"A?", "A~", "A!"} & set(found) and "B?" in found


def test_faults_that_are_not_allowed_are_neither_offered_nor_possible():
    model = stepper(faults={"?": 1, "!": 0})
    assert set(offered(model)) == {"A", "A?", "B", "B?", "t"}
    model.write("A!")
    assert model.schedule == "" and "is not possible" in model.error


def test_it_ends_when_all_have_ended():
    model = stepper("A A A A A B B B B B")
    assert model.trace.complete and model.trace.broken is None
    assert not any(option.enabled for option in model.options)
    assert model.options[0].text == "A has ended (returned)"


def test_every_move_keeps_a_key_of_its_own():
    letters = [Move("", letter) for letter in "ABTH"]
    faults = [Move(kind, letter) for letter in "ABTH" for kind in "?~"]
    keys = Keys()
    keys.give([*faults, *letters, Move("t")])
    found = [keys.of(move) for move in (*letters, Move("t"), *faults)]
    assert found[:2] == ["a", "b"] and found[2] == "t" and len(set(found)) == 13
    assert "h" not in found and "" not in found, "h asks for a hint"
    assert keys.move("A") == letters[0] and keys.move("#") is None
    keys.give(Move(kind, chr(letter)) for kind in "?~!-^" for letter in range(65, 91))
    assert [keys.of(move) for move in (*letters, Move("t"), *faults)] == found
    assert keys.of(Move("^", "Z")) == "", "there are more moves than keys"


# -- the schedule ---------------------------------------------------------------------------------


def test_moves_are_added_taken_back_and_made_again():
    model = stepper("A B A")
    model.play(Move("", "B"))
    assert model.schedule == "A B A B" and model.trace.broken == "A and B are both inside"
    model.undo()
    assert model.schedule == "A B A" and model.trace.broken is None and model.can_redo
    model.restart()
    model.undo()  # nothing left: nothing happens
    assert model.schedule == "" and model.trace.about_to.startswith("A is about to: GET lock")
    for _ in range(4):
        model.redo()
    assert model.schedule == "A B A B" and not model.can_redo
    model.redo()
    assert model.schedule == "A B A B" and model.error == ""


def test_a_new_move_forgets_what_was_taken_back():
    model = stepper("A B A")
    model.undo()
    model.play(Move("", "B"))
    assert model.schedule == "A B B" and not model.can_redo


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("A B t A", 'Move 3, "t", is not possible after A B: no key expires'),
        ("A B what", '"w" is not a move'),
        ("A C", "there is no worker C, only A, B"),
        ("A1", "the main thread is written A"),
        ("<b>", '"<" is not a move'),
        ("A? B", "is not possible"),
        ("A " * 300, "is not possible"),
    ],
)
def test_a_wrong_schedule_is_a_sentence_and_nothing_is_lost(text, error):
    model = stepper("A B A")
    model.undo()
    before = (model.schedule, model.trace, model.options, model.contents)
    model.write(text)
    assert error in model.error
    assert (model.schedule, model.trace, model.options, model.contents) == before
    assert model.can_redo
    model.write("A B A B")
    assert model.schedule == "A B A B" and model.error == ""


def test_a_schedule_that_does_not_fit_at_the_beginning_is_said():
    model = stepper("A B t")
    assert model.schedule == "" and model.error.startswith('Move 3, "t"')


def test_the_contents_are_those_after_the_last_move():
    model = stepper()
    assert {key: value.text for key, value in model.contents.items()} == {"balance": "100"}
    model.write("A A")
    assert model.contents["lock"].text == "A"


# -- workers that a reader writes -----------------------------------------------------------------


def raises_at_once(me):
    raise ValueError("no <b>such</b> thing")


def raises_later(me):
    me.redis.get("lock")
    return 1 / 0


def not_modelled(me):
    me.redis.get("lock")
    me.redis.wait(1, 10)


def for_ever(me):
    me.redis.get("lock")
    while True:
        pass


def spins(me):
    while me.redis.get("lock") is None:
        pass


def test_a_worker_that_raises_is_a_sentence():
    model = Stepper(raises_at_once)
    assert "raised ValueError" in model.options[0].text and model.trace.complete
    model = Stepper(raises_later, "A")
    assert "raised ZeroDivisionError" in words.spoken(model) and model.error == ""


def test_a_worker_that_never_comes_back_is_a_sentence(monkeypatch):
    monkeypatch.setattr("labkit.sim.watchdog.LIMIT_S", 0.3)
    with pytest.raises(LabkitError, match="without sending a command or sleeping") as raised:
        Stepper(for_ever)
    assert len(raised.value._render_traceback_()) == 1


def test_a_command_that_is_not_modelled_is_a_sentence_and_nothing_is_lost():
    model = Stepper(not_modelled, check=mutual_exclusion)
    model.play(Move("", "A"))
    assert "WAIT" in model.error and model.schedule == ""
    model.undo()
    model.write("")
    assert model.error == "" and model.schedule == ""


def test_a_search_that_meets_an_error_says_so():
    model = search(Stepper(not_modelled, check=mutual_exclusion))
    assert "stopped at an error: " in words.hint(model) and "WAIT" in words.hint(model)


def test_a_worker_that_spins_makes_the_search_give_up():
    model = search(Stepper(spins, workers="A", check=mutual_exclusion))
    assert model.whole.stopped == "200 moves"
    assert "does not mean that there is none" in words.hint(model)
    assert words.counts(model).startswith("At least 0 of at least 0")


def test_a_worker_without_commands_and_a_check_that_fails_itself():
    assert Stepper(lambda me: None).trace.complete

    def nonsense(lab):
        return 1 / 0

    model = Stepper(look_then_take, setup=account, check=nonsense, workers="A")
    model.write("A A A A A")
    assert model.schedule == "" and "ZeroDivisionError" in model.error


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"pauses": -1}, "pauses=-1: it must be a whole number"),
        ({"pauses": "1"}, "pauses='1': it must be a whole number"),
        ({"faults": "x"}, '"x" is not a kind of fault'),
        ({"faults": 3}, "faults=3"),
        ({"workers": ""}, "write a letter for each worker"),
        ({"fault": "?"}, "be_the_scheduler has no setting fault=. It has: check, "),
        ({"check": 3}, "check=3 is neither"),
    ],
)
def test_settings_that_make_no_sense(settings, error):
    with pytest.raises(LabkitError) as raised:
        Stepper(look_then_take, **({"setup": account} | settings))
    assert error in str(raised.value)


# -- every case -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_search_of_a_case_agrees_with_explore(case):
    model = search(of_case(case))
    assert (model.whole.violating, model.whole.schedules) == case.broken
    assert str(model.shortest) == case.shortest
    model.write(case.shortest)
    assert words.score(model).endswith(": no schedule is shorter.")
    right = search(of_case(case, case.right))
    assert right.shortest is None and right.whole.schedules == case.met[1]
    assert words.hint(right).startswith("Explored to the end: this one holds (")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_random_moves_never_raise_undo_is_exact_and_hints_are_true(case):
    choose = random.Random(case.name)
    for worker in (case.wrong, case.right):
        model = search(of_case(case, worker))
        seen = []
        while len(seen) < MOVES and (possible := [o for o in model.options if o.enabled]):
            seen.append((model.schedule, model.trace, model.options, model.contents))
            search(model)
            check_hint(model, case)
            model.play(choose.choice(possible).move)
            assert model.error == ""
        while seen:
            model.undo()
            assert (model.schedule, model.trace, model.options, model.contents) == seen.pop()


def check_hint(model, case):
    """The way to a violation violates, and no shorter one does."""
    path, stopped = model.from_here
    assert not stopped
    if path is None or model.trace.broken is not None:
        return
    there = of_case(case, model._program.worker, " ".join([model.schedule, str(path)]))
    assert there.error == "" and there.trace.broken is not None
    assert there.trace.broken_at == len(there.trace.schedule)
    while path:  # from each next place, it is one move less
        there.undo()
        path = path[:-1]
        assert there.trace.broken is None


# -- hints, counts, score -------------------------------------------------------------------------


def test_a_hint_names_the_shortest_way_from_here():
    model = search(stepper("A B"))
    assert words.hint(model) == "From here 2 moves can break the rule: A B. First A: SET lock A."
    assert model.from_here[0] == Schedule.parse("A B")


def test_a_hint_takes_back_moves_that_lead_nowhere():
    model = search(stepper("A A A A A"))
    assert words.hint(model) == (
        "Explored to the end: from here every schedule keeps the rule (2 workers, 1 pause, no "
        "faults, counted from the start). Take moves back: from the start, 4 moves can break it."
    )


def test_what_holds_is_said_with_what_was_not_tried():
    model = search(Stepper(look_then_take, setup=account, check=mutual_exclusion, workers="A"))
    assert words.hint(model) == (
        "Explored to the end: this one holds (1 worker, 1 pause, no faults). Try a fault. "
        "Not tried: lost replies, lost requests, crashes, failover, a second worker."
    )


def test_nothing_is_said_before_the_search_is_over_nor_without_a_rule():
    model = stepper()
    assert words.hint(model).startswith("Looking at every schedule: 0 states")
    assert words.counts(model).startswith("Looking at every schedule")
    assert words.hint(Stepper(look_then_take)) == words.counts(Stepper(look_then_take))
    assert words.hint(Stepper(look_then_take)) == words.NO_RULE
    model.write("A B A B")
    assert words.score(model).endswith("in 4 moves; looking for the shortest schedule.")


def test_the_score_stands_beside_the_shortest():
    model = search(stepper("A A A B"))
    assert words.score(model) == ""
    model = search(Stepper(look_then_take, "A B B B A", setup=account, check=mutual_exclusion))
    assert words.score(model) == (
        "A and B are both inside. You broke the rule in 5 moves; the shortest schedule has 4."
    )
    assert "broken already" in words.hint(model)
    model.play(Move("", "A"))
    assert "in 5 moves" in words.score(model), "later moves do not count"


def expires(me):
    if me.redis.set("lock", me.name, nx=True, px=100):
        with me.critical_section():
            me.redis.get("x")
            me.redis.get("y")


def test_whoever_goes_beyond_the_bounds_is_told():
    model = search(Stepper(expires, check=mutual_exclusion, pauses=0))
    assert words.hint(model).startswith("Explored to the end: this one holds (2 workers, no pauses")
    model.write("A t")
    search(model)
    assert words.hint(model).startswith("From here 1 move can break the rule: B. First B: SET lock")
    model.play(Move("", "B"))
    assert words.score(model) == (
        "A and B are both inside. You broke the rule in 3 moves: no schedule within 2 workers, no "
        "pauses, no faults is as short."
    )


def test_counts_are_those_of_explore():
    settings = {"setup": account, "check": mutual_exclusion, "pauses": 2, "faults": "?~!"}
    found = explore(look_then_take, **settings)
    model = search(Stepper(look_then_take, **settings))
    assert (model.whole.violating, model.whole.schedules) == (found.violating, found.schedules)
    assert model.shortest == found.counterexample.schedule
    assert f"{found.violating:,} of {found.schedules:,} schedules" in words.counts(model)


def test_the_search_gives_way():
    model = Stepper(look_then_take, setup=account, check=mutual_exclusion, workers="ABC", pauses=2)
    took = []
    while not model.searched:
        before = time.process_time()
        model.search(0.010)
        took.append(time.process_time() - before)
        model.play(model.options[0].move)  # somebody clicks meanwhile
        model.undo()
    # Not the longest: Python may collect its garbage in any of them.
    assert sorted(took)[len(took) * 9 // 10] < 0.05
    assert str(model.shortest) == "A B B A"


# -- hidden lanes ---------------------------------------------------------------------------------


def test_with_the_server_hidden_a_lost_reply_and_a_lost_request_look_the_same():
    lost_reply = replay(ask_twice, "A?", partial=True)
    lost_request = replay(ask_twice, "A~", partial=True)
    assert rows(lost_reply, {"server"}) == rows(lost_request, {"server"})
    assert rows(lost_reply) != rows(lost_request)
    assert rows(lost_reply, {"server"})[0][1::3] == ("A", "(no answer)")


def test_a_hidden_worker_and_what_expires_cannot_be_seen():
    trace = replay(constant_value, "A A t B A", partial=True)
    assert [row[1] for row in rows(trace, {"B"})] == ["A", "A", "t", "A"]
    assert "lock expires" in rows(trace)[2][-1]
    assert rows(trace, {"server"})[2][-1] == ""
    assert not any("B " in cell for row in rows(trace, {"B"}) for cell in row)


def test_a_lane_that_does_not_exist():
    assert hidden_lanes("server B", "AB") == {"server", "B"}
    with pytest.raises(LabkitError, match='there is no lane "C". Possible: server, A, B'):
        hidden_lanes("C", "AB")


def test_an_option_knows_its_lane():
    assert Option(Move("?", "A"), "", True).lane == "A" and Option(Move("t"), "", True).lane == ""
