"""Saved traces: a picture, a page, a block for a comment."""

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

import labkit.draw.saving  # noqa: F401  (adds the endings)
from labkit.sim.errors import LabkitError
from tests.show.traces import TRACES

EXPIRY_MD = """\
**Only the owner releases: broken**

Schedule `A A t B A`: A runs SET lock 1 NX PX 100; A runs INCRBY n 1; time passes to 101 ms \
(lock expires); B runs SET lock 1 NX PX 100; A runs DEL lock.

```text
{trace}
```

```python
replay(constant_value, "A A t B A", check=only_the_owner_releases)
```
"""


def saved(tmp_path, name, ending):
    return TRACES[name]().save(tmp_path / f"trace{ending}").read_text("utf-8")


def test_the_picture_says_rule_schedule_and_how_to_replay(tmp_path):
    root = ET.fromstring(saved(tmp_path, "overlap", ".svg"))
    said = " ".join(text.text for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "At most one worker is in the critical section: broken" in said
    assert "Schedule: A B A B" in said
    assert 'replay(look_then_take, "A B A B",' in said and "check=mutual_exclusion)" in said


def test_the_block_for_a_comment(tmp_path):
    assert saved(tmp_path, "expiry", ".md") == EXPIRY_MD.format(trace=TRACES["expiry"]())


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.addresses = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [v for k, v in attributes if k in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("name", ["expiry", "nasty", "partial"])
def test_the_page_is_whole_and_needs_nothing_else(tmp_path, name):
    text, trace = saved(tmp_path, name, ".html"), TRACES[name]()
    page = _Page()
    page.feed(text)
    assert text.startswith('<!doctype html>\n<html lang="en">') and not page.open
    assert page.tags.count("tr") == len(trace.steps) + 1 and "svg" in page.tags
    assert not page.addresses and "script" not in page.tags and "b" not in page.tags
    assert trace.call in page.text
    assert "prefers-color-scheme: dark" in text


def test_another_ending_is_refused_with_those_that_exist(tmp_path):
    with pytest.raises(LabkitError, match=r"saved as \.html, \.md, \.svg"):
        TRACES["expiry"]().save(tmp_path / "trace.png")
