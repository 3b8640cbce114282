"""The whole answer space.

The proof that `decide` is total, by blocks:

1. Thirteen normalised answers: all 1,935,360 combinations are judged here, one bit each, with the
   same compiled conditions that `route` uses. In each exactly one block and one rule applies.
2. `route` and the bits agree, because they run the same functions on the same atoms; that is
   compared on random combinations as well.
3. "unknown" or no answer: `normalise` replaces each answer on its own by a fixed value of its
   question, so each of the 93,312,000 combinations with "unknown" lands on one of step 1.
   Numbers and details replace `dur`, `cont`, `coord` and `reject`, by values of the same questions.
4. What follows from a design (mode, warnings, controls, parameters, texts) is total because each
   table ends in "otherwise" or may be empty; it is tried on random answers, numbers and details.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.decision import decide
from labkit.decision.answers import normalise
from labkit.decision.conditions import EVERYTHING, condition
from labkit.decision.designs import DESIGN, DESIGNS
from labkit.decision.engine import route
from labkit.decision.questions import (
    BY_KEY,
    CHOICES,
    CONTROLS,
    DETAILS,
    NUMBERS,
    ORDER,
    QUESTIONS,
    UNKNOWN,
)
from labkit.decision.rules import BLOCKS, RULES
from labkit.decision.space import all_answers, fired, matters, table

ALL = 1_935_360

# Copied from the model: how many combinations each rule takes.
COUNTS = {
    "A01": 55296, "A02": 55296, "A03": 13824, "A04": 13824, "A05": 9216, "A06": 18432,
    "A07": 9216, "A08": 46080, "A09": 36864, "A10": 36864, "A11": 18432, "A12": 9216, "A13": 9216,
    "A14": 17280, "A15": 960, "A16": 27840, "B01": 18432, "B02": 46080, "B03": 8640, "B04": 864,
    "B05": 18144, "B06": 34560, "B07": 69120, "B08": 23040, "B09": 17280, "B10": 132480,
    "C01": 184320, "C02": 28800, "C03": 8640, "C04": 4320, "C05": 4320, "C06": 144000,
    "C07": 43200, "C08": 4320, "C09": 38880, "C10": 46080, "C11": 155520, "C12": 38400,
    "C13": 1920, "C14": 18240, "C15": 12160, "C16": 3800, "C17": 11520, "C18": 7680, "C19": 1920,
    "C20": 38000, "C21": 93600, "C22": 6360, "C23": 12480, "C24": 1600, "C25": 11520,
    "E01": 27648, "E02": 9216, "E03": 43008, "E04": 18432, "E05": 39168, "E06": 21888,
    "E07": 1920, "E08": 2880, "E09": 12672, "E10": 56064, "E11": 21008, "E12": 6680, "E13": 920,
    "E14": 5760,
}  # fmt: skip
TOTALS = {"D00": 5760, "D01": 117504, "D02": 110592, "D03": 9216, "D04": 226992, "D05": 41472,
          "D06": 74920, "D07": 9216, "D08": 444960, "D09": 56064, "D10": 12672, "D11": 19840,
          "D12": 464336, "D13": 66200, "D14": 275616}  # fmt: skip


def of(text):
    """The combinations in which a condition holds."""
    return condition(text)(all_answers())


def designs():
    """Design -> the combinations in which it is recommended."""
    found = dict.fromkeys(DESIGN, 0)
    for rule in RULES:
        found[rule.design] |= fired()[rule.id]
    return found


def test_every_rule_takes_as_many_combinations_as_the_model_says():
    assert {id: mask.bit_count() for id, mask in fired().items()} == COUNTS


def test_every_combination_has_exactly_one_block_and_one_rule():
    for masks in ([of(text) for text in BLOCKS.values()], list(fired().values())):
        assert sum(mask.bit_count() for mask in masks) == ALL
        together = 0
        for mask in masks:
            together |= mask
        assert together == all_answers()[EVERYTHING] == (1 << ALL) - 1


def test_the_totals_of_the_designs():
    assert {short: mask.bit_count() for short, mask in designs().items()} == TOTALS


def number_of(values):
    """The number of a combination in the space."""
    number = 0
    for key in ORDER:
        number = number * len(BY_KEY[key].values) + BY_KEY[key].values.index(values[key])
    return number


def test_route_and_the_space_agree():
    chance = random.Random(1)
    for _ in range(5_000):
        values = {key: chance.choice(BY_KEY[key].values) for key in ORDER}
        rule, number = route(values), number_of(values)
        assert fired()[rule.id] >> number & 1
        assert DESIGNS[table()[number]].short == rule.design


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_unknown_and_no_answer_count_as_the_careful_answer(question):
    for answers in ({question.key: UNKNOWN}, {}):
        used = normalise(answers)
        # with scope unknown (db_ext) a database is there, whatever was said about coordinators
        careful = "db" if question.key == "coord" else question.unknown
        assert used.values[question.key] == careful
        assert question.key in used.unknown
    assert set(normalise({}).values) == set(ORDER)


# Invariants of section 3.2 of the model: none of these combinations exists.
NEVER = {
    "a lock alone, where the result must be right": ("correct", ("D00", "D09", "D10")),
    "Redis where there is none": ("redis=none", ("D09", "D10", "D11")),
    "a consensus store where there is none": ("not has_cons", ("D13",)),
    "a database lock without a database": ("not has_db", ("D06",)),
    "transactions outside one database": ("not one_db", ("D03", "D05", "D07")),
    "a fenced lease that nobody checks": ("correct and not ver", ("D11",)),
    "one database refused": ("one_db", ("D14",)),
    "one database sent elsewhere": ("one_db and (correct or not section)",
                                    ("D08", "D09", "D10", "D11", "D13")),
    "a queue that may not be used": ("not can_queue", ("D12",)),
    "renewal in a request": ("runtime=request", ("D10",)),
    "row locks for long work": ("not short", ("D05", "D03", "D07")),
    "efficiency refused": ("not correct", ("D14",)),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER)
def test_invariants(name):
    when, never = NEVER[name]
    for short in never:
        assert of(when) & designs()[short] == 0, short


def also_hold(short):
    """The combinations in which a design is an alternative to the recommended one."""
    facts = all_answers() | {f"design={one}": mask for one, mask in designs().items()}
    facts |= {f"{detail.key}={value}": 0 for detail in DETAILS for value in detail.values}
    return condition(DESIGN[short].also_holds)(facts) & ~designs()[short]


@pytest.mark.parametrize("name", NEVER)
def test_the_invariants_hold_for_alternatives_too(name):
    when, never = NEVER[name]
    for short in never:
        assert of(when) & also_hold(short) == 0, short


def test_where_a_design_is_refused_nothing_else_holds():
    for short in DESIGN:
        assert also_hold(short) & designs()["D14"] == 0, short
    assert also_hold("D00") == also_hold("D14") == 0


@pytest.mark.parametrize(
    "when",
    [
        "none and lookup=no and effect=final_must and correct and not one_db",
        "none and final and not dups and not one_db",
    ],
)
def test_a_final_effect_that_nobody_refuses_is_always_refused(when):
    refused = designs()["D14"]
    hazard = of(when)
    assert hazard & refused == hazard


def test_in_one_database_looking_up_and_refusing_change_nothing():
    for mask in designs().values():
        inside = mask & of("one_db and correct")
        for key in ("lookup", "reject"):
            parts = [_moved(inside, key, place) for place in range(len(BY_KEY[key].values))]
            assert len(set(parts)) == 1


def _moved(mask, key, place):
    stride = 1
    for later in ORDER[ORDER.index(key) + 1 :]:
        stride *= len(BY_KEY[later].values)
    return (mask & all_answers()[f"{key}={BY_KEY[key].values[place]}"]) >> (stride * place)


UPGRADES = """reject none dedup; reject none version; reject none both; reject dedup both;
reject version both; lookup no yes; effect final_must final_skip_ok; effect final_skip_ok undoable;
effect final_must undoable; redis none single; redis none failover; coord none db; coord none cons;
coord none both; coord db both; coord cons both; cont high low; dur long bounded;
dur bounded short"""


@pytest.mark.parametrize("upgrade", UPGRADES.replace("\n", " ").split("; "))
def test_more_is_never_worse(upgrade):
    """A better receiver, more to coordinate with, less at stake: nothing accepted gets refused."""
    key, *places = upgrade.split()
    refused = designs()["D14"]
    before, after = (_moved(refused, key, BY_KEY[key].values.index(value)) for value in places)
    assert after & ~before == 0


@pytest.mark.slow
def test_every_refusal_has_a_way_out_with_one_answer():
    chance, refused = random.Random(2), 0
    while refused < 1_000:
        values = {key: chance.choice(BY_KEY[key].values) for key in ORDER}
        decision = decide(values)
        if decision.card.short == "D14":
            refused += 1
            assert decision.ways_out, values


def test_what_matters_is_what_brute_force_says():
    """Compared where brute force is possible: all but the last seven questions are answered."""
    chance = random.Random(3)
    for _ in range(10):
        said = {key: chance.choice(BY_KEY[key].values) for key in ORDER[:7]}
        number, size = 0, ALL
        for key in ORDER[:7]:
            size //= len(BY_KEY[key].values)
            number += BY_KEY[key].values.index(said[key]) * size
        rest = table()[number : number + size]
        live, possible = matters(said)
        assert possible == tuple(DESIGNS[place].id for place in sorted(set(rest)))
        stride = size
        for key in ORDER[7:]:
            count, stride = len(BY_KEY[key].values), stride // len(BY_KEY[key].values)
            differs = any(
                rest[at] != rest[at + stride * other]
                for at in range(size)
                if at // stride % count == 0
                for other in range(1, count)
            )
            assert live[key] == differs, (said, key)


numbers = {
    number.key: st.integers(1, 10_000_000) if not number.unit else st.floats(0.001, 1e9)
    for number in NUMBERS
}
anything = st.fixed_dictionaries(
    {},
    optional={key: st.sampled_from(values) for key, values in CHOICES.items()}
    | {key: strategy for key, strategy in numbers.items() if not key.startswith(("work", "hard"))}
    | {"controls": st.lists(st.sampled_from(CONTROLS)), "work_p50_ms": st.floats(0.001, 1e6),
       "work_p99_ms": st.floats(1e6, 1e7), "work_max_ms": st.floats(1e7, 1e8)},
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(anything)
def test_everything_that_follows_can_be_said_for_any_answers(answers):
    from labkit.decision import AnswerError, record

    try:
        decision = decide(answers)
    except AnswerError as error:
        assert error.problems
        return
    assert decision.design in {design.id for design in DESIGNS}
    assert len(decision.explanation.answers) == 6
    assert len(decision.explanation.failures) == 7
    assert set(decision.explanation.why_not) == {d.id for d in DESIGNS} - {decision.design}
    assert decision.used.values["effect"] == "undoable" or decision.card.short not in (
        "D00", "D09", "D10")  # fmt: skip
    for form, most in (("adr", 1_000), ("pr", 25)):
        assert len(record(decision, form=form).markdown.splitlines()) <= most
