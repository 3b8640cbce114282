"""The table of other people's locks."""

import re

import pytest

from labkit import LabkitError
from labkit.show import known_locks, traps
from labkit.show.libraries import FREES, LOCKS


def test_every_line_has_all_its_columns_and_a_source_with_a_file():
    for lock in LOCKS:
        assert all(lock), lock
        assert re.match(r"\S+/\S+: \S+\.\w+", lock.source), lock.source


def test_every_line_names_a_rung_and_only_low_rungs_free_a_successors_lock():
    for lock in LOCKS:
        rungs = re.findall(r"(?<!\d)[1-6](?!\d)", lock.rung)
        assert rungs, lock
        if lock.late_release.startswith(FREES):
            assert min(map(int, rungs)) <= 3


def test_those_that_people_ask_for_are_there():
    text = str(known_locks())
    for name in ("Laravel", "Symfony", "Celery", "Django", "Spring", "redis-py", "ShedLock"):
        assert name in text


def test_one_of_them_can_be_asked_for_in_any_case_of_letters():
    assert [line[0].split()[0] for line in known_locks("laravel").lines] == ["Laravel"] * 4


def test_html_has_the_same_cells_and_headings_for_columns():
    shown = known_locks("symfony")._repr_html_()
    assert shown.count("<th ") == 6
    assert "symfony/lock: Store/RedisStore.php" in shown


def test_an_unknown_name_is_an_error_that_lists_them():
    with pytest.raises(LabkitError, match='No lock here is called "hibernate". There are: Laravel'):
        known_locks("hibernate")


def test_each_trap_is_a_line_and_says_what_to_do_instead():
    shown = traps()
    assert len(shown.lines) == 9
    assert all(all(line) for line in shown.lines)
    assert "    schedule       A A!" in str(shown)
    assert "<td" in shown._repr_html_()
