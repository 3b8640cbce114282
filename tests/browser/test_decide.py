"""The decision page in a real browser: a change of an answer is seen, by keyboard and by mouse."""

import pytest

pytestmark = pytest.mark.browser
NAME = "10-decide.ipynb"


def result(opened):
    return opened.page.get_by_role("status").filter(has_text="Recommended:")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_an_answer_changed_by_keyboard_changes_the_result(open_notebook, theme):
    opened = open_notebook(NAME, theme=f"JupyterLab {theme}")
    complaints = []
    opened.page.on("console", lambda said: complaints.append(said.text)
                   if said.type == "error" else None)  # fmt: skip
    assert "D02 One statement" in result(opened).inner_text()

    shape = opened.page.get_by_label("Kind of change", exact=True)
    shape.focus()
    for key in ("Space", "ArrowUp", "Enter"):  # with a closed list, JupyterLab takes the arrow keys
        opened.page.keyboard.press(key)
    result(opened).filter(has_text="D01 A unique key").wait_for()
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Shift+Tab")
    assert shape.evaluate("element => element === document.activeElement")
    opened.screenshot(f"{NAME}-{theme.lower()}-changed")

    assert opened.page.get_by_label("Asking afterwards", exact=True).is_disabled()
    opened.page.get_by_label("Scenario", exact=True).select_option(
        "A payment file to the bank, without a receipt"
    )
    result(opened).filter(has_text="D14 Change the receiver").wait_for()
    opened.page.get_by_role("button", name="Run the evidence now").press("Enter")
    opened.page.get_by_text("The danger: a pause outlives the lease").last.wait_for()
    opened.page.get_by_role("button", name="Show the record").click()
    opened.page.get_by_role("link", name="decision.md").wait_for()
    opened.screenshot(f"{NAME}-{theme.lower()}-refused")
    assert complaints == [] and opened.page_errors == []


CHANGE = """async value => {
    const label = [...document.querySelectorAll('label')].find(
        label => label.textContent.trim() === 'Kind of change' && label.offsetParent);
    const list = document.getElementById(label.htmlFor);
    const shown = [...document.querySelectorAll('[role=status]')].find(
        part => part.textContent.startsWith('Recommended')).parentElement;
    const start = performance.now();
    const drawn = new Promise(done => new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => done(performance.now() - start));
    }).observe(shown, {childList: true, subtree: true}));
    list.selectedIndex = value;
    list.dispatchEvent(new Event('change', {bubbles: true}));
    return await drawn;
}"""


def test_a_change_is_drawn_soon(open_notebook):
    """Within 100 ms (p95) where nothing else runs; the limit here is wide, for busy machines."""
    page = open_notebook(NAME).page
    page.wait_for_timeout(1_000)
    times = []
    for number in range(42):
        times.append(page.evaluate(CHANGE, 1 + number % 7))
        page.wait_for_timeout(100)
    times = sorted(times[2:])
    print(f"\ndrawn after {times[20]:.0f} ms (p50), {times[38]:.0f} ms (p95), 40 changes")
    assert times[20] < 500
