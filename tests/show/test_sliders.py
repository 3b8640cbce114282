"""The lease sliders and the TTL chooser: thin views, and what a stored notebook keeps of them."""

import xml.etree.ElementTree as ET
from datetime import datetime

import pytest

import labkit.show
from labkit.show.charts import durations_chart
from labkit.sim.errors import LabkitError
from labkit.ttl import choose_ttl, example_durations, lease_run

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def sliders():
    return labkit.show.lease_sliders(ttl_ms=300, pause_ms=600, work_ms=200, workers=2)


@pytest.fixture
def chooser():
    return labkit.show.ttl_chooser()


def shown(widget):
    return widget.children[-1].value


def test_the_sliders_are_stored_as_a_sentence(sliders):
    bundle = sliders._repr_mimebundle_()
    assert VIEW in bundle
    said = "lease sliders: ttl_ms 300, pause_ms 600, work_ms 200, workers 2"
    assert bundle["text/plain"] == repr(sliders) == said
    assert "<svg" not in bundle["text/html"]  # an untrusted notebook would show its words only
    assert "A and B from 301 to 501 ms" in bundle["text/html"]
    assert "Run this cell" in bundle["text/html"]


def test_a_slider_redraws_picture_and_sentence_when_it_is_let_go(sliders):
    assert all(not slider.continuous_update for slider in sliders.sliders.values())
    assert "too late" in shown(sliders) and "<svg" in shown(sliders)
    sliders.sliders["ttl_ms"].value = 1_000
    assert "Every write is in time" in shown(sliders)
    assert sliders.run == lease_run(ttl_ms=1_000, pause_ms=600, work_ms=200, workers=2)


def test_a_ttl_below_the_round_trip_is_a_sentence_and_the_next_value_works(sliders):
    sliders.sliders["ttl_ms"].value = 0
    assert "Not possible." in shown(sliders) and "server&#x27;s answer" in shown(sliders)
    sliders.sliders["ttl_ms"].value = 50
    assert "<svg" in shown(sliders)


@pytest.mark.parametrize("given", [{"ttl_ms": "soon"}, {"ttl_ms": 0}, {"workers": 9}])
def test_a_bad_value_from_code_is_a_sentence(given):
    with pytest.raises(LabkitError, match="is a whole number from"):
        labkit.show.lease_sliders(**given)


def test_a_value_beyond_the_scale_widens_the_scale():
    sliders = labkit.show.lease_sliders(ttl_ms=3_600_000, pause_ms=10_000)
    assert sliders.run.ttl_ms == 3_600_000 and sliders.sliders["ttl_ms"].max == 3_600_000


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
@pytest.mark.parametrize("work_ms", [1, 50, 997])
def test_the_picture_is_sound_and_says_what_the_sentence_says(workers, work_ms):
    run = lease_run(ttl_ms=50, pause_ms=1_950, work_ms=work_ms, workers=workers)
    picture = labkit.show.lease_picture(run)
    root = ET.fromstring(picture.svg)
    words = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]
    assert "late" in words and "paused" in words and "0 ms" in words
    assert {"A", "B", "C", "D"} & set(words) == set("ABCD"[:workers])
    assert str(run) in "".join(root.itertext()), "as its description, for a screen reader"
    right = float(root.get("viewBox").split()[2])
    assert all(0 <= float(node.get("x", 0)) <= right for node in root.iter())


def test_time_is_to_scale():
    run = lease_run(ttl_ms=300, pause_ms=600, work_ms=200)
    nodes = ET.fromstring(labkit.show.lease_picture(run).svg).iter()
    dots = [float(n.get("cx")) for n in nodes if n.get("class", "").startswith("full")]
    b, a = sorted(set(dots))
    assert (b - 80) / (a - 80) == pytest.approx(501 / 800, abs=0.001)


def test_the_chooser_is_stored_as_its_result(chooser):
    bundle = chooser._repr_mimebundle_()
    assert VIEW in bundle and len(bundle["text/plain"]) <= 110
    assert bundle["text/plain"].startswith("TTL chooser: Recommended: TTL 3,7")
    assert "p99.9" in bundle["text/html"] and "Run this cell" in bundle["text/html"]


def test_what_is_typed_stays_and_is_answered(chooser):
    text, recover = chooser.controls["text"], chooser.controls["recover_ms"]
    text.value = "300 280 <soon>"
    assert text.value == "300 280 <soon>"
    assert "&lt;soon&gt;" in shown(chooser) and "last values that could be used" in shown(chooser)
    text.value = "300 280 310 290 305"
    assert "Not possible" not in shown(chooser) and "5 durations" in shown(chooser)
    recover.value = "100"
    assert "renewed every 33 ms" in shown(chooser)
    chooser.controls["harm"].value = False
    assert "Only waste" not in shown(chooser) and "No TTL makes" not in shown(chooser)


def test_a_file_is_loaded(chooser):
    upload = chooser.children[1]
    content = memoryview(b"job,took_s\na,0.3\nb,0.4\nc,0.5\nd,0.6\ne,0.7")
    upload.value = ({"name": "runs.csv", "type": "text/csv", "size": 1, "content": content,
                     "last_modified": datetime(2026, 1, 1)},)  # fmt: skip
    assert "5 durations from 300 to 700 ms (column took_s of runs.csv)" in shown(chooser)


def test_a_chooser_that_begins_with_a_mistake_says_so():
    widget = labkit.show.ttl_chooser(text="soon")
    assert repr(widget).startswith('TTL chooser: Line 1, "soon"')
    assert "Not possible." in shown(widget)


def test_the_chart_comes_with_its_facts():
    choice = choose_ttl(example_durations(), runs_per_day=20_000, recover_ms=5_000)
    chart = durations_chart(choice)
    assert chart.png.startswith(b"\x89PNG")
    assert repr(chart).startswith(choice.histogram)
    assert "p50 185 ms" in repr(chart) and f"TTL {choice.ttl_ms:,} ms" in repr(chart)
    counted = [int(line.split()[4].replace(",", "")) for line in choice.histogram.splitlines()[1:]]
    assert sum(counted) == 2_000
