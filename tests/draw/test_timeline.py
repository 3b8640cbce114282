"""Timelines: what is drawn, that it can be read, and that it is the same on every machine."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from labkit.draw.svg import COLOURS, HATCHES, THEMES, wrap
from labkit.draw.timeline import timeline
from tests.show.traces import TRACES

SVG = "{http://www.w3.org/2000/svg}"
MONO = {"code", "number"}


@pytest.fixture(params=sorted(TRACES))
def trace(request):
    return TRACES[request.param]()


def drawn(name, **settings):
    return ET.fromstring(timeline(TRACES[name](), **settings).svg)


def words(picture):
    return [text.text for text in picture.iter(f"{SVG}text")]


def with_class(picture, *classes):
    return [e for e in picture.iter() if set(classes) <= set(e.get("class", "").split())]


# -- every picture --------------------------------------------------------------------------------


def test_it_is_an_image_with_a_name_and_a_description(trace):
    picture = timeline(trace)
    root = ET.fromstring(picture.svg)
    named = {e.get("id"): e.text for e in root if e.get("id")}
    title, description = root.get("aria-labelledby").split()
    assert root.get("role") == "img"
    assert named[title] == picture.alt == repr(picture)
    assert trace.spoken.replace("\x01", "\\x01") == named[description]


def test_every_step_shows_its_letter_and_its_command(trace):
    root = ET.fromstring(timeline(trace).svg)
    moves = [e.text for e in with_class(root, "move") if e.text not in "?~"]
    assert moves == [str(step.move) for step in trace.steps]
    hints = " ".join(e.text for e in root.iter(f"{SVG}title"))
    for step in trace.steps:
        if step.transition.command is not None:
            assert step.command.replace("\x01", "\\x01") in hints


def test_numbers_have_at_most_one_decimal(trace):
    body = timeline(trace).svg.split("</style>")[1].split("<text")[0]
    assert not re.search(r"\d\.\d\d", body)


def test_it_is_the_same_each_time(trace):
    assert timeline(trace).svg == timeline(trace).svg


def test_no_text_lies_on_another(trace):
    for one, other in combinations(list(_boxes(ET.fromstring(timeline(trace).svg))), 2):
        apart = (one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1]
                 or other[3] <= one[1])  # fmt: skip
        assert apart, (one[4], other[4])


def _boxes(root):
    for text in root.iter(f"{SVG}text"):
        classes = set(text.get("class", "").split())
        size = 18 if "move" in classes else 15 if classes & {"name", "head"} else 13
        width = len(text.text) * size * (0.602 if classes & MONO else 0.5)
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - width * (0 if "start" in classes else 1 if "end" in classes else 0.5)
        yield left, y - size * 0.72, left + width, y + 1, text.text


def test_nothing_is_drawn_outside(trace):
    root = ET.fromstring(timeline(trace).svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    assert all(x1 >= 0 and x2 <= width and y2 <= height for x1, _, x2, y2, _ in _boxes(root))


# -- the vocabulary -------------------------------------------------------------------------------


def test_an_overlap_is_framed_and_said():
    root = drawn("overlap")
    assert len(with_class(root, "clash")) == 1
    assert "A and B inside" in words(root)
    assert "A and B are both inside." in words(root)


def test_three_workers_can_be_inside():
    assert "A and B inside" in words(drawn("three"))
    assert "A, B and C inside" in words(drawn("three"))


def test_the_broken_rule_is_marked_at_its_step():
    marked = with_class(drawn("overlap"), "move", "said")
    assert [e.text for e in marked] == ["B"]
    assert not with_class(drawn("partial"), "said")


def test_a_lease_is_a_bar_with_its_holder_and_its_time():
    said = words(drawn("expiry"))
    assert "A: 1 · 100 ms" in said
    assert {"expires", "deleted by A"} <= set(said)
    assert "A · no TTL" in words(drawn("crash"))
    assert with_class(drawn("expiry"), "hatch", "hA")


def test_a_refused_write_is_hollow_with_a_cross():
    refused = [e for e in drawn("lost reply").iter(f"{SVG}g") if "(nil)" in e[0].text]
    circle, cross = refused[0][1:]
    assert "open" in circle.get("class") and cross.tag == f"{SVG}path"


def test_an_accepted_write_is_filled_and_a_read_is_small_and_hollow():
    marks = {e[0].text: e[1] for e in drawn("overlap").iter(f"{SVG}g")}
    assert "full" in marks["SET lock A → OK"].get("class")
    read = marks["GET lock → (nil)"]
    assert "open" in read.get("class") and float(read.get("r")) < 8


def test_a_pause_is_a_gap_and_a_wait_is_dotted():
    said = words(drawn("token"))
    assert said.count("waits") == 1 and said.count("pause") == 1
    assert with_class(drawn("token"), "wait", "wA")


def test_a_worker_that_has_not_moved_yet_has_no_pause():
    assert words(drawn("expiry")).count("pause") == 1  # A's; B comes later


def test_faults_have_their_signs():
    assert with_class(drawn("crash"), "crash") and "dies before" in words(drawn("crash"))
    assert with_class(drawn("lost reply"), "arrow") and "?" in words(drawn("lost reply"))
    assert with_class(drawn("lost request"), "arrow") and "~" in words(drawn("lost request"))
    assert with_class(drawn("lost request"), "open", "wait")


def test_values_are_shown_at_their_writes():
    assert "100 → 70" in words(drawn("long"))
    assert "70 → 70" in words(drawn("long"))  # the lost update can be seen


def test_fencing_numbers_are_shown_where_they_are_granted_and_accepted():
    assert [e.text for e in with_class(drawn("token"), "number")] == ["33", "33"]


def test_time_is_written_where_it_advances():
    said = words(drawn("expiry"))
    assert said.count("0 ms") == 1 and said.count("101 ms") == 1


def test_what_comes_next_is_shown_while_it_is_open():
    assert {"next", "SET lock A", "SET lock B"} <= set(words(drawn("partial")))
    assert "next" not in words(drawn("overlap"))
    assert words(drawn("nothing")).count("GET lock") == 2


def test_a_long_schedule_is_cut_into_rows():
    circles = [e for e in drawn("long").iter(f"{SVG}circle") if e.get("r") == "12"]
    assert len(circles) == 2 * 2  # two workers in two rows


def test_another_key_can_be_the_lock():
    trace = TRACES["overlap"]()
    assert "A · no TTL" not in words(ET.fromstring(timeline(trace, lock="nothing").svg))
    assert "(none) → A" in words(ET.fromstring(timeline(trace, lock="nothing").svg))


# -- text, ids, colours ---------------------------------------------------------------------------


def test_everything_is_escaped():
    svg = timeline(TRACES["nasty"](), caption="<script>alert(1)</script>").svg
    assert "<script" not in svg and "<b>" not in svg and "<i>" not in svg and "\x01" not in svg
    assert "<script>alert(1)</script>" in words(ET.fromstring(svg))


def test_two_pictures_on_one_page_share_no_id_and_no_rule():
    found = []
    for name in ("overlap", "crash"):
        svg = timeline(TRACES[name]()).svg
        found.append(set(re.findall(r' id="([^"]+)"', svg)))
        own = ET.fromstring(svg).get("id")
        rules = re.search(r"<style>(.*)</style>", svg)[1]
        for selectors in re.findall(r"([^{}]+)\{", rules):
            assert all(one.startswith(f"#{own} ") for one in selectors.split(","))
        assert set(re.findall(r"url\(#([^)]+)\)", rules)) <= found[-1]
    assert not found[0] & found[1]


def test_the_mimebundle_has_the_picture_and_one_line_of_text():
    bundle = timeline(TRACES["overlap"]())._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"image/svg+xml", "text/plain"}
    assert bundle["text/plain"] == "timeline of A B A B: A and B are both inside"
    assert repr(timeline(TRACES["lost request"]())) == "timeline of A~ B A: all have ended"


def test_a_live_picture_takes_the_colours_of_its_page():
    assert "var(--jp-ui-font-color1" in timeline(TRACES["overlap"](), theme="live").svg
    assert "var(" not in timeline(TRACES["overlap"]()).svg


def test_colours_can_be_told_from_the_card():
    card = THEMES["card"]
    assert _contrast(card["ink"], card["ground"]) >= 7
    assert _contrast(card["quiet"], card["ground"]) >= 4.5
    assert all(_contrast(worker, card["ground"]) >= 3 for worker in COLOURS)
    assert len(set(HATCHES)) == len(HATCHES) > len(COLOURS)


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("content", "characters", "lines"),
    [
        ("SET lock 1 NX PX 100", 12, ["SET lock 1", "NX PX 100"]),
        ("GET stock:42", 8, ["GET", "stock:42"]),
        ("stock:42:lock", 8, ["stock:", "42:lock"]),
        ("abcdefghijklmnop", 10, ["abcdefgh", "ijklmnop"]),
        ("one two three four five six", 8, ["one two", "three", "four…"]),
        ("", 8, []),
    ],
)
def test_text_is_cut_into_even_lines(content, characters, lines):
    assert wrap(content, characters * 10, 10, em=1.0) == tuple(lines)
