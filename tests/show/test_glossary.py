import pytest

from labkit.show.glossary import Glossary, definitions
from labkit.sim.errors import LabkitError

#: The fixed words of the workbook.
WORDS = """worker, thread, command, pending command, move, step, schedule, trace, execution,
interleaving, enabled, blocked, deadline, virtual clock, simulation, strategy, replay, exploration,
bound, state, fingerprint, invariant, witness, counterexample, verdict, fault, indefinite result,
lease, owner token, fencing token, stale write, critical section, mutual exclusion"""


def test_every_word_of_the_workbook_is_defined_in_the_code():
    assert {" ".join(word.split()) for word in WORDS.split(",")} <= set(definitions())


def test_a_glossary_shows_the_words_asked_for():
    glossary = Glossary("move", "schedule")
    assert repr(glossary).splitlines()[1].startswith("schedule  the moves we ask for")
    assert "<details><summary>The 2 words" in glossary._repr_html_()


def test_an_unknown_word_is_answered_with_the_known_ones():
    with pytest.raises(LabkitError, match='No definition of "mutex". Known: .*worker'):
        Glossary("mutex")
