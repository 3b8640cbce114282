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
    opened.page.get_by_label("Scenario", exact=True).select_option("A payment file to the bank, without a receipt")
    result(opened).filter(has_text="D14 Change the receiver").wait_for()
    opened.page.get_by_role("button", name="Run the evidence now").press("Enter")
    opened.page.get_by_text("The danger: a pause outlives the lease").last.wait_for()
    opened.page.get_by_role("button", name="Show the record").click()
    opened.page.get_by_role("link", name="decision.md").wait_for()
    opened.screenshot(f"{NAME}-{theme.lower()}-refused")
    assert complaints == [] and opened.page_errors == []
