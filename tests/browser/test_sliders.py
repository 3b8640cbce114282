"""The lease sliders in a real browser: by keyboard, drawn, and how long a change takes."""

import json
import statistics

import pytest

pytestmark = pytest.mark.browser

CELL = """
import time
import ipywidgets as widgets
from labkit.show import lease_sliders
from labkit.show.sliders import _drawn

sliders = lease_sliders(ttl_ms=300, pause_ms=600, work_ms=200, workers=3)
kernel_ms, draw = [], sliders._draw

def timed(change):
    _drawn.cache_clear()  # every picture is drawn, as for a reader who sees it first
    began = time.perf_counter()
    draw(change)
    kernel_ms.append((time.perf_counter() - began) * 1000)

for slider in sliders.sliders.values():
    slider.unobserve_all("value")
    slider.observe(timed, "value")
report, shown = widgets.Button(description="Kernel times"), widgets.HTML()
report.on_click(lambda _: setattr(shown, "value", f"<code>{kernel_ms}</code>"))
floor, text = widgets.IntSlider(50, continuous_update=False), widgets.HTML("<i>floor</i>")
floor.observe(lambda change: setattr(text, "value", f"<i>{change['new']}</i>"), "value")
widgets.VBox([sliders, report, shown, floor, text])
"""
# From the key to the first frame after what is shown has changed.
MEASURE = """async ([handle, inside]) => {
    const shown = inside.closest('.widget-html-content');
    const times = [];
    for (let n = 0; n < 45; n++) {
        handle.focus();
        const key = n % 30 < 15 ? 'ArrowRight' : 'ArrowLeft';
        times.push(await new Promise(done => {
            const began = performance.now();
            const seen = new MutationObserver(() => {
                seen.disconnect();
                requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
            });
            seen.observe(shown, {childList: true, subtree: true, characterData: true});
            handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
        }));
        await new Promise(done => setTimeout(done, 150));
    }
    return times;
}"""
CHOOSER = """
from labkit.show import durations_chart, ttl_chooser
chooser = ttl_chooser()
chooser
"""


def notebook(tmp_path, *sources):
    cells = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source,
         "execution_count": None, "outputs": []} for number, source in enumerate(sources)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = tmp_path / "sliders.ipynb"
    content = {"cells": cells, "metadata": {"kernelspec": kernel}}
    path.write_text(json.dumps(content | {"nbformat": 4, "nbformat_minor": 5}))
    return path


def measure(page, handle, inside):
    """Milliseconds, one for each change; the first ones warm up."""
    handles = [handle.element_handle(), inside.element_handle()]
    return page.evaluate(MEASURE, handles)[5:]


def summary(times):
    return f"p50 {statistics.median(times):.1f}, p95 {statistics.quantiles(times, n=20)[18]:.1f} ms"


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_sliders_are_moved_by_keyboard_and_drawn(open_notebook, tmp_path, theme):
    opened = open_notebook(notebook(tmp_path, CELL), theme=theme)
    page = opened.page
    ttl = page.locator(".widget-slider .noUi-handle").first
    page.locator("p", has_text="A writes at 800 ms: too late").wait_for()
    opened.screenshot(f"sliders-{theme[11:].lower()}")
    for _ in range(14):  # from 300 to 1000
        ttl.press("ArrowRight")
        page.wait_for_timeout(60)
    page.locator("p", has_text="Every write is in time").wait_for()
    floor = page.locator(".widget-slider .noUi-handle").last
    # Beside the time of a slider that draws nothing: the rest is what the picture costs.
    least = measure(page, floor, page.locator(".widget-html-content i"))
    times = measure(page, ttl, page.locator(".widget-html-content svg"))
    page.get_by_role("button", name="Kernel times").click()
    kernel = json.loads(page.locator(".widget-html code").inner_text())
    print(f"\nsliders, {theme}, {len(times)} changes: browser {summary(times)}, with text alone "
          f"{summary(least)}; kernel {summary(kernel[-40:])}")  # fmt: skip
    assert len(times) == 40 and len(kernel) >= 45
    ttl.press("Home")  # to 0
    page.locator("p", has_text="before the server's answer arrives").wait_for()
    opened.screenshot(f"sliders-impossible-{theme[11:].lower()}")
    assert opened.page_errors == [] and opened.requests_elsewhere() == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_chooser_keeps_what_is_typed(open_notebook, tmp_path, theme):
    opened = open_notebook(notebook(tmp_path, CHOOSER), theme=theme)
    page = opened.page
    text = page.get_by_label("Durations: paste numbers or a table")
    page.get_by_text("2,000 durations from").wait_for()
    opened.screenshot(f"chooser-{theme[11:].lower()}")
    text.fill("300 280 soon")
    text.press("Tab")
    page.get_by_text("is no duration").wait_for()
    assert text.input_value() == "300 280 soon"
    text.fill("300 280 310 290 305")
    text.press("Tab")
    page.get_by_text("5 durations from 280 to 310 ms").wait_for()
    csv = {"name": "runs.csv", "mimeType": "text/csv",
           "buffer": b"job,took_s\n" + b"a,0.3\nb,0.4\n" * 40}  # fmt: skip
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="or load a CSV file").press("Enter")
    chosen.value.set_files(csv)
    page.get_by_text("80 durations from 300 to 400 ms (column took_s of runs.csv)").wait_for()
    opened.screenshot(f"chooser-file-{theme[11:].lower()}")
    assert opened.page_errors == [] and opened.requests_elsewhere() == []
