"""Every notebook runs to its end in a real JupyterLab, as a reader runs it."""

import pytest

from tests.project.source import ROOT

pytestmark = pytest.mark.browser
NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
NO_WIDGET = ("Error displaying widget", "Loading widget", "Error creating widget")


def check(opened) -> None:
    cells = opened.cells()
    assert [error for cell in cells for error in cell["errors"]] == []
    assert [cell["count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert opened.requests, "no request was seen at all, so none can be judged"
    assert opened.requests_elsewhere() == []
    assert opened.page_errors == []
    for text in NO_WIDGET:
        assert opened.page.get_by_text(text).count() == 0
    assert opened.page.locator(".Toastify__toast").count() == 0, "something pops up over the page"


@pytest.mark.parametrize("name", NAMES)
def test_runs_to_the_end(open_notebook, name):
    opened = open_notebook(name)
    opened.screenshot(f"{name}-light")
    check(opened)


def test_the_first_notebook_runs_in_the_dark_theme(open_notebook):
    opened = open_notebook(NAMES[0], theme="JupyterLab Dark")
    opened.screenshot(f"{NAMES[0]}-dark")
    check(opened)
    assert opened.page.locator("body").get_attribute("data-jp-theme-light") == "false"
