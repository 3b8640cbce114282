"""Durations from what people paste and load; and the sentence for each thing that goes wrong."""

import time
from pathlib import Path

import numpy as np
import pytest

from labkit.sim.errors import LabkitError
from labkit.ttl.example import RUNS, example_csv
from labkit.ttl.reading import example_durations, read_durations

FIVE = [280, 290, 300, 305, 310]


@pytest.mark.parametrize(
    "text",
    [
        "300 280 310 290 305",
        "300,280,310,290,305",
        "300, 280,\n310;290\t305\n",
        "300\r\n280\r\n\r\n# a comment\r\n310\r\n290\r\n305",
        "300|280|310|290|305",
        "0.3s 280ms 0.31 s 290 ms 305ms",
        "took\n300\n280\n310\n290\n305",
        "took (ms)\n300\n280\n310\n290\n305",
        "took_s\n.3\n.28\n.31\n.29\n.305",
        "job,took_ms\na,300\nb,280\nc,310\nd,290\ne,305",
        "job;took_s\na;0,3\nb;0,28\nc;0,31\nd;0,29\ne;0,305",
        '"job, its name"\ttook_ms\n"a\tb"\t300\nb\t280\nc\t310\nd\t290\ne\t305',
        "10:00:01,300,ok\n10:00:02,280,ok\n10:00:03,310,ok\n10:00:04,290,ok\n10:00:05,305,ok",
    ],
)
def test_any_sensible_form_is_read(text):
    assert read_durations(text).ordered.tolist() == pytest.approx(FIVE)


def test_a_unit_that_is_stated_counts():
    assert read_durations("0.3 0.28 0.31 0.29 0.305", unit="s").ordered.tolist() == FIVE
    assert read_durations([0.3, 0.28, 0.31, 0.29, 0.305], unit="s").ordered[0] == 280


def test_a_column_is_found_by_its_name_or_its_number():
    rows = "\n".join(f"{n},{ms}" for n, ms in enumerate(FIVE))
    assert read_durations(f"id, Took\n{rows}", column="took").ordered.tolist() == FIVE
    assert read_durations(rows, column=2).ordered.tolist() == FIVE


def test_a_file_is_read(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("\ufeffjob,took_ms\r\n" + "".join(f"a,{ms}\r\n" for ms in FIVE), "utf-8")
    found = read_durations(path)
    assert found.ordered.tolist() == FIVE
    assert repr(found) == "5 durations from 280 to 310 ms (column took_ms of runs.csv)"
    assert read_durations(found) is found


OK = "300 280 310 290 305"


@pytest.mark.parametrize(
    ("source", "settings", "parts"),
    [
        ("", {}, ["empty", "Paste numbers such as"]),
        (" \n# only a comment", {}, ["empty"]),
        ("300", {}, ["1 duration", "too few", "5 on"]),
        (f"{OK}\n0", {}, ["Line 2 is 0", "above 0"]),
        (f"{OK}\n\n-5\n-6", {}, ["Line 3 is -5", "1 more"]),
        (f"{OK} nan", {}, ["Line 1 is nan"]),
        (f"{OK}\nsoon", {}, ['Line 2, "soon", is no duration', "a space or a new line"]),
        ("soon", {}, ['Line 1, "soon"']),
        ("300ms 280 310ms", {}, ['Line 1, "280", has no unit', "with every value, or with none"]),
        ("312,5\n290,1\n300,0", {}, ["decimal comma, or two values", "Line 1"]),
        (OK, {"unit": "h"}, ["unit='h'", "ms, s"]),
        ("a,b\n1,2\n3,4", {}, ["Several columns", "a, b", "column="]),
        ("a,b\n1,2\n3,4", {"column": "c"}, ['No column "c"', "a, b"]),
        ("a,b\nx,y\nx,y", {}, ["No column holds numbers", "a, b"]),
        ("a,ms\nx,1\nx,2\nx,\nx,4", {}, ['Line 4, column ms, "": no number']),
        ("a,ms\nx,1\nx,2\nx\nx,4", {}, ["Line 4"]),
        ("a,ms\nx,1\nx,2\nx,0\nx,4", {}, ["Line 4, column ms, is 0"]),
        ([], {}, ["0 durations"]),
        ([300, None, 1], {}, ["Value 2 of 3 is None"]),
        ([300, "x", 1], {}, ["Value 2 of 3 is 'x'"]),
        ([300, float("inf"), 1], {}, ["Value 2 of 3 is inf"]),
        (5, {}, ["5 is no list of durations"]),
        (Path("no such file.csv"), {}, ["no such file.csv cannot be read", "present folder"]),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(source, settings, parts):
    with pytest.raises(LabkitError) as error:
        read_durations(source, **settings)
    assert [part for part in parts if part not in str(error.value)] == [], str(error.value)


@pytest.mark.parametrize(
    ("content", "part"),
    [(b"PK\x03\x04\x00\x00", "no text file"), ("a\nb\nDauer 3 µs".encode("latin-1"), "line 3")],
)
def test_a_file_that_is_no_text_is_named(tmp_path, content, part):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(LabkitError, match=part):
        read_durations(path)


def test_values_that_look_like_seconds_are_doubted_not_refused():
    assert 'say unit="s"' in repr(read_durations("0.3 0.28 0.31 0.29 0.305"))
    assert read_durations("0.3 0.28 0.31 0.29 0.305", unit="ms").doubts == ()
    (doubt,) = read_durations(f"{OK}\n0.31").doubts
    assert "Line 2 is 0.31" in doubt and "a thousandth" in doubt
    (doubt,) = read_durations(f"0.3 0.28 0.31 0.29\n{305}", unit="s").doubts
    assert "Line 2 is 305" in doubt and "a thousand times" in doubt
    assert read_durations(f"{OK} 50000").doubts == (), "a run may take very long"


def test_a_million_values_take_less_than_a_second():
    values = np.random.default_rng(5).lognormal(5, 1, 1_000_000)
    for source in (values, values.tolist(), "187.5\n" * 1_000_000):
        began = time.process_time()
        assert len(read_durations(source)) == 1_000_000
        assert time.process_time() - began < 3, "0.2 to 0.5 s on an idle machine"


def test_the_example_is_what_its_generator_makes():
    from importlib.resources import files

    stored = (files("labkit.ttl") / "data/durations.csv").read_text("utf-8")
    assert stored == example_csv()
    found = example_durations()
    assert len(found) == RUNS and found.doubts == ()
    assert 170 < np.median(found.ordered) < 200 and found.ordered[-1] > 3_000
