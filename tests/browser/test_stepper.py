"""Be the scheduler in a real browser: click, undo, paste, keyboard only, a room; and how fast."""

import json
import re
import statistics

import pytest

pytestmark = pytest.mark.browser

SCHEDULER = """
from labkit.cases import named
from labkit.show import be_the_scheduler

case = named("late-delete")
be_the_scheduler(case, faults="?~!"{settings})
"""
WORKER = """
from labkit import mutual_exclusion
from labkit.show import be_the_scheduler


def mine(me):
    if me.redis.get("lock") is None:
        me.redis.set("lock", me.name)
        with me.critical_section():
            me.redis.incr("n")
        me.redis.delete("lock")


be_the_scheduler(mine, check=mutual_exclusion{settings})
"""
#: From a press of the mouse or a key until the changed page has been drawn.
TIMED = """() => {
    window.drawn = [];
    const report = document.querySelectorAll('.jp-OutputArea-output .widget-html-content');
    const last = report[report.length - 1];
    let pressed = 0;
    const start = () => { pressed = performance.now(); };
    addEventListener('mousedown', start, true);
    addEventListener('keydown', start, true);
    new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
        if (pressed) window.drawn.push(performance.now() - pressed);
        pressed = 0;
    }, 0))).observe(last, {childList: true, subtree: true, characterData: true});
}"""
#: How long the kernel needs for each click, by the clock and of its processor's time.
KERNEL = """
import time
from labkit.scheduler import view
plain = view._View._after


def timed(self, change):
    begin, cpu = time.perf_counter(), time.process_time()
    plain(self, change)
    with open({path!r}, "a") as file:
        print(time.perf_counter() - begin, time.process_time() - cpu, file=file)


view._View._after = timed
"""


@pytest.fixture
def scheduler(open_notebook, tmp_path):
    """Open a notebook of one or more cells; the page of the widget in its first."""

    def open_it(*sources, theme="JupyterLab Light"):
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [
            {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source.strip(),
             "execution_count": None, "outputs": []}
            for n, source in enumerate(sources)
        ]  # fmt: skip
        notebook = {"cells": cells, "metadata": {"kernelspec": kernel}}
        path = tmp_path / "stepper.ipynb"
        path.write_text(json.dumps(notebook | {"nbformat": 4, "nbformat_minor": 5}))
        opened = open_notebook(path, theme=theme)
        assert [cell["errors"] for cell in opened.cells()] == [[]] * len(cells)
        opened.page.get_by_role("button", name="Undo").wait_for()
        return opened

    return open_it


def button(opened, name):
    """A button of the widget, by the beginning of its text; in a room a key stands before it."""
    pattern = re.compile(rf"^(\[.\] )?{re.escape(name)}")
    return opened.page.locator(".jp-OutputArea-output").get_by_role("button", name=pattern)


def field(opened, name):
    return opened.page.get_by_label(name, exact=True)


def says(opened, text):
    opened.page.get_by_role("status").filter(has_text=text).wait_for()


def shows(opened, schedule):
    """Wait until this is the schedule."""
    opened.page.wait_for_function(
        "text => [...document.querySelectorAll('input')].some(one => one.value === text)",
        arg=schedule,
    )


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_click_undo_paste_hint(scheduler, theme):
    opened = scheduler(SCHEDULER.format(settings=""), theme=theme)
    shade = theme.split()[-1].lower()
    for name in ("A: ", "A: ", "t: "):
        button(opened, name).click()
    shows(opened, "A A t")
    button(opened, "Hint").click()
    says(opened, "From here 2 moves can break the rule: B A. First B: SET lock")
    opened.screenshot(f"stepper-hint-{shade}")
    button(opened, "Undo").click()
    shows(opened, "A A")
    field(opened, "Schedule").fill("AAtBA")
    field(opened, "Schedule").press("Enter")
    says(opened, "You broke the rule in 5 moves: no schedule is shorter.")
    shows(opened, "A A t B A")
    opened.screenshot(f"stepper-broken-{shade}")
    field(opened, "Schedule").fill("A A t t t")
    field(opened, "Schedule").press("Enter")
    says(opened, 'Move 4, "t", is not possible after A A t: no key expires')
    button(opened, "B: ").click()
    shows(opened, "A A t B A B")
    button(opened, "Counts").click()
    says(opened, "schedules break the rule (2 workers, 1 pause, 1 lost reply")
    button(opened, "Restart").click()
    shows(opened, "")
    for _ in "AAtB":
        button(opened, "Redo").click()
    shows(opened, "A A t B")
    assert opened.page_errors == [] and opened.requests_elsewhere() == []


def test_with_the_keyboard_only(scheduler):
    opened = scheduler(WORKER.format(settings=""))
    page = opened.page
    button(opened, "A: GET lock").focus()
    page.keyboard.press("Enter")
    shows(opened, "A")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shows(opened, "A B")
    page.keyboard.press("Space")
    shows(opened, "A B B")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    shows(opened, "A B B A")
    says(opened, "A and B are both inside. You broke the rule in 4 moves: no schedule is shorter.")
    for _ in range(10):  # on to the buttons behind the field
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Undo":
            break
    page.keyboard.press("Enter")
    shows(opened, "A B B")
    assert opened.cells()[0]["errors"] == [] and len(opened.cells()) == 1


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_in_a_room_one_key_is_one_move(scheduler, theme):
    opened = scheduler(SCHEDULER.format(settings=", present=True"), theme=theme)
    field(opened, "Keys").click()
    opened.page.keyboard.type("aatba", delay=5)
    shows(opened, "A A t B A")
    says(opened, "You broke the rule in 5 moves: no schedule is shorter.")
    opened.page.keyboard.press("Backspace")
    opened.page.keyboard.press("Backspace")
    shows(opened, "A A t")
    shade = theme.split()[-1].lower()
    opened.page.screenshot(path=opened._pictures / f"stepper-room-{shade}.png")
    opened.page.keyboard.press("h")
    says(opened, "From here 2 moves can break the rule: B A.")
    opened.page.screenshot(path=opened._pictures / f"stepper-room-hint-{shade}.png")
    opened.screenshot(f"stepper-room-all-{shade}")
    for name in ("[a] A: DEL lock", "[2] A~"):
        size = button(opened, name).evaluate("one => getComputedStyle(one).fontSize")
        assert size == "26px"


def test_the_server_is_revealed_on_demand(scheduler):
    opened = scheduler(SCHEDULER.format(settings=', schedule="A A~", hide="server"'))
    says(opened, "server. What can be known without?")
    opened.page.get_by_text("(no answer)").first.wait_for()
    assert opened.page.get_by_text("(no answer)").count() == 1
    opened.screenshot("stepper-hidden")
    button(opened, "Reveal").click()
    shows(opened, "A A~")
    opened.page.get_by_text("(request lost)").first.wait_for()  # it is drawn a moment later


@pytest.mark.slow
@pytest.mark.parametrize("present", [False, True])
def test_a_click_is_drawn_quickly(scheduler, present, tmp_path):
    path = tmp_path / "kernel.txt"
    widget = SCHEDULER.format(settings=f", present={present}")
    opened = scheduler(KERNEL.format(path=str(path)), widget)
    opened.page.evaluate(TIMED)
    for _ in range(9):
        for name in ("A: ", "B: ", "A~", "Undo", "Restart"):
            before = opened.page.evaluate("window.drawn.length")
            button(opened, name).click()
            opened.page.wait_for_function("n => window.drawn.length > n", arg=before)
    drawn = opened.page.evaluate("window.drawn")
    assert len(drawn) == 45
    kernel = [
        [1000 * float(word) for word in line.split()] for line in path.read_text().splitlines()
    ]
    report("drawn after", drawn)
    report("in the kernel, clock", [clock for clock, _ in kernel])
    processor = report("in the kernel, processor", [cpu for _, cpu in kernel])
    assert processor < 20, "the kernel may take some 20 ms for a click"


def report(name, times):
    """Print the figures; the median."""
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    print(f"\n{name}: p50 {p50:.0f} ms, p95 {p95:.0f} ms, n {len(times)}")
    return p50
