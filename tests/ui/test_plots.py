"""The plots of the page: what they say, brush and open, with a mouse and with a keyboard, and at any value."""

from __future__ import annotations

import re

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis
from tests.ui.slow_machine import Slowness

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")
expect = sync_api.expect

EXTREMES = [float("nan"), float("inf"), 1e300, -1e300, 0.0, -1.0, 1e-300, 3.0]


def open_view(page, server, view: str) -> None:
    experiment, _, view = view.partition("/")
    page.goto(server.at(experiment, view))


def show_view(page, view: str) -> None:
    """Show another view of the experiment, and wait until it is there."""
    path = re.sub(r"/[^/]+$", f"/{view}", page.evaluate("location.hash"))
    page.evaluate("hash => { location.hash = hash }", path)
    page.locator(f".nav a[aria-current=page][href$='/{view.partition('?')[0]}']").wait_for(state="attached")


def plot(page):
    return page.locator(".plot-body").first


def wait_drawn(page) -> None:
    """Wait until the first plot has pixels that are neither empty nor all the same."""
    page.wait_for_function("""() => {
        const canvas = document.querySelector('.plot-body canvas');
        if (!canvas || !canvas.width) return false;
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        return seen.size > 3;
    }""", polling=100)  # fmt: skip


def test_the_history_says_the_best_and_opens_a_trial_from_the_keyboard(page, served, finished):
    open_view(page, served, "asha/history")
    wait_drawn(page)
    best = ExperimentAnalysis(str(finished / "asha"), default_metric="loss", default_mode="min").best_trial
    expect(page.locator(".plot-says").first).to_contain_text(best.trial_id)
    plot(page).focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".plot-tip").inner_text().split(" ")[0]
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => !document.querySelector('.plot-tip').innerText.startsWith(before)", arg=first
    )
    trial = page.locator(".plot-tip").inner_text().split(" ")[0]
    page.keyboard.press("Enter")
    page.wait_for_function("id => location.hash.endsWith('/trial/' + id)", arg=trial)


def test_a_brush_in_the_history_filters_the_trials_and_shows_their_curves(page, served):
    open_view(page, served, "asha/history")
    wait_drawn(page)
    box = plot(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 120)
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] - 60)
    page.mouse.up()
    text = page.locator(".plot-says code")
    expect(text).to_contain_text("number >= ")
    expect(text).to_contain_text("loss <= ")
    page.locator(".curves .u-over").wait_for()
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.locator(".plot-says code")).to_have_count(0)


def test_an_axis_is_brushed_and_moved_with_the_keyboard(page, served):
    open_view(page, served, "asha/parallel")
    page.wait_for_selector(".axis-handle")
    names = page.locator(".axis-name").all_inner_texts()
    handle = page.locator(".axis-handle").nth(1)
    handle.focus()
    page.keyboard.press("ArrowUp")
    text = page.locator(".plot-says code")
    expect(text).to_contain_text(names[1])
    expect(handle).to_have_attribute("aria-valuetext", text.inner_text())
    page.keyboard.press("ArrowRight")
    expect(page.locator(".axis-name").nth(2)).to_have_text(names[1])
    page.keyboard.press("Escape")
    expect(text).to_have_count(0)


@pytest.mark.parametrize("slowness", [Slowness(late_frames=1000)], ids=["late frames"], indirect=True)
def test_brushes_that_come_before_the_next_frame_are_all_kept(page, served):
    open_view(page, served, "asha/parallel")
    handles = page.locator(".axis-handle")
    expect(handles.first).to_be_visible()
    names = page.locator(".axis-name").all_inner_texts()
    for i, keys in ((1, ["ArrowDown", "ArrowUp"]), (2, ["ArrowUp"])):
        handles.nth(i).focus()
        for key in keys:
            page.keyboard.press(key)
    text = page.locator(".plot-says code")
    expect(text).to_contain_text(names[2])
    expect(text).to_contain_text(names[1])
    expect(handles.nth(1).locator(".axis-brush")).to_be_visible()
    expect(handles.nth(1)).to_have_attribute("aria-valuenow", "30")  # 5 to 55 %


def test_importance_is_said_and_leads_to_the_slice(page, served):
    open_view(page, served, "asha/importance")
    lead = page.locator(".plot-lead")
    lead.wait_for()
    name = lead.inner_text().split(" explains most")[0]
    wait_drawn(page)
    plot(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('plot=slice')")
    page.wait_for_selector(f".figure-title:has-text('{name}')")


def test_rungs_and_their_table_have_the_same_numbers(page, served):
    open_view(page, served, "asha/rungs")
    wait_drawn(page)
    expect(page.locator(".plot-says").first).to_contain_text("Trials that reached each rung: ")
    page.get_by_role("button", name="Show as table").first.click()
    expect(page.locator(".table").first).to_contain_text("went further")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_extreme_values_are_drawn_and_no_page_is_wider_than_its_window(
    new_page, serve, tmp_path, theme, width
):
    space = {
        "i": tune.grid_search(list(range(16))),
        "level": tune.choice([f"level {i}" for i in range(9000)]),
    }
    tune.run(
        lambda config: tune.report({"loss": EXTREMES[config["i"] % len(EXTREMES)]}),
        name="extremes", config=space, metric="loss", mode="min", storage_path=str(tmp_path), verbose=0,
        engine=tune.Simulated(),
    )  # fmt: skip
    page = new_page(color_scheme=theme, viewport={"width": width, "height": 800})
    server = serve(tmp_path)
    open_view(page, server, "extremes/overview")
    page.locator("h1").wait_for()
    for view in ("history", "parallel", "relations", "relations?x=level", "timeline"):
        show_view(page, view)
        wait_drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
