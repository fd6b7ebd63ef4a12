"""Tables of trials, the page of a trial, decisions, machines and comparisons, in Chromium."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from overtone.tune import ExperimentAnalysis
from tests.ui.harness import WITHIN_S, full
from tests.ui.slow_machine import Slowness

sync_api = pytest.importorskip("playwright.sync_api")

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

NOISY = """
import sys
from overtone import tune

def train(config):
    print("\\x1b[31mred\\x1b[0m <img src=x onerror=alert(1)> \\u202egpj.exe")
    print("x" * 1_000_000)
    tune.report({"loss": config["x"]})

tune.run(train, name="noisy", metric="loss", mode="min", verbose=0, storage_path=sys.argv[1],
         config={"x": tune.uniform(0, 1), "<b>odd</b> name/é": tune.grid_search(["<i>1</i>", "\\u202e2"])})
"""


@pytest.fixture
def shown(served, page):
    """Return a function that shows a view of "asha" or another experiment."""
    page.goto(served.at("asha", "trials"))
    sync_api.expect(page.get_by_role("grid")).to_be_visible()

    def show(view, experiment="asha"):
        page.evaluate("hash => { location.hash = hash }", f"#/e/{experiment}/{view}")
        return page

    return show


def ids_in_view(page):
    """Return the trials that are drawn, by their position."""
    rows = page.locator(".grid-body .grid-row")
    found = rows.evaluate_all(
        "rows => rows.map(row => [+row.getAttribute('aria-rowindex'), row.querySelector('a').innerText])"
    )
    return [trial for _, trial in sorted(found)]


def test_trials_are_sorted_by_the_goal_and_the_best_is_marked(shown, page, finished):
    analysis = ExperimentAnalysis(str(finished / "asha"))
    trials = sorted(analysis.trials, key=lambda trial: trial.last_result["loss"])
    assert ids_in_view(page)[:10] == [trial.trial_id for trial in trials[:10]]
    best = page.locator(".grid-row", has=page.locator(".best-mark"))
    sync_api.expect(best.get_by_role("link")).to_have_text(analysis.best_trial.trial_id)
    sync_api.expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "31")


def test_the_table_is_sorted_by_click_and_read_by_keyboard(shown, page):
    page.get_by_role("button", name="Results").click()
    sync_api.expect(page.get_by_role("columnheader", name="Results")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_role("grid").focus()
    for key in ("End", "Home", "ArrowDown", "Space", "ArrowRight"):
        page.keyboard.press(key)
    grid = page.get_by_role("grid")
    sync_api.expect(grid).to_have_attribute("aria-activedescendant", re.compile("."))
    active = grid.get_attribute("aria-activedescendant")
    sync_api.expect(page.locator(f"[id='{active}']")).to_have_attribute("aria-colindex", "2")
    sync_api.expect(page.locator(".grid-row[aria-selected=true]")).to_have_attribute("aria-rowindex", "3")
    second = ids_in_view(page)[1]
    page.keyboard.press("Enter")
    sync_api.expect(page.get_by_role("heading", level=1)).to_have_text(second)


def test_a_filter_is_completed_corrected_and_kept_in_the_address(shown, page):
    field = page.get_by_role("combobox", name="Filter trials")
    field.press_sequentially("activ")
    page.get_by_role("option", name="activation").click()
    field.press_sequentially("== rel")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    count = page.get_by_text(re.compile(r"\d+ of 30 trials"))
    sync_api.expect(count).to_be_visible()
    sync_api.expect(field).to_have_value(re.compile(r"^activation == relu\s*$"))
    field.fill("los < 1")
    page.get_by_role("button", name="Use loss").click()
    sync_api.expect(field).to_have_value("loss < 1")
    sync_api.expect(page).to_have_url(re.compile("filter=loss"))
    field.fill("loss < -1")
    sync_api.expect(page.get_by_text("No trial matches the filter")).to_be_visible()


@pytest.mark.parametrize("slowness", [Slowness(late_frames=1000)], ids=["late frames"], indirect=True)
def test_what_is_typed_before_the_next_frame_goes_behind_a_completion(shown, page):
    field = page.get_by_role("combobox", name="Filter trials")
    field.press_sequentially("activ")
    page.get_by_role("option", name="activation").click()
    page.keyboard.type("== rel")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("and loss < 9")
    sync_api.expect(field).to_have_value("activation == relu and loss < 9")


def test_a_trial_says_what_overtone_why_says(shown, page, finished):
    trial = page.locator(".grid-row", has_text="stopped early").first.get_by_role("link").inner_text()
    page.locator(".grid-row", has_text="stopped early").first.get_by_role("link").click()
    verdict = page.locator(".verdict-text")
    sync_api.expect(verdict).to_contain_text("was stopped by asha at rung")
    command = [sys.executable, "-m", "overtone", "why", str(finished / "asha"), trial]
    told = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=True).stdout
    sync_api.expect(verdict).to_have_text(told.splitlines()[0])
    for step in page.locator(".story-what").all():
        assert " ".join(step.inner_text().split("\n")[0].split()) in " ".join(told.split())
    competitor = page.locator(".story a").first
    name = competitor.inner_text()
    competitor.click()
    sync_api.expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_chosen_trials_are_compared(shown, page):
    boxes = page.locator(".grid-row input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("link", name="Compare (2)").click()
    table = page.get_by_role("table", name="Results and config")
    sync_api.expect(table.get_by_role("columnheader")).to_have_count(3)
    sync_api.expect(table.get_by_text("lr", exact=True).first).to_be_visible()
    shown("compare?experiments=asha,failing")
    sync_api.expect(page.get_by_role("table", name="Experiments")).to_contain_text("failing")


def test_decisions_are_filtered_by_trial(shown, page):
    shown("decisions")
    lines = page.locator(".ruling")
    sync_api.expect(lines.first).to_be_visible()
    name = lines.first.get_by_role("link").first.inner_text()
    page.get_by_role("searchbox", name="Trial").fill(name)
    page.wait_for_function("""name => {
        const lines = [...document.querySelectorAll(".ruling")];
        return lines.length > 0 && lines.every((line) => line.querySelector("a").innerText === name);
    }""", arg=name)  # fmt: skip


def test_an_answer_about_decisions_that_comes_too_late_is_not_shown(shown, page):
    held = []

    def hold_the_first(route):
        if held or "trial=" in route.request.url:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile("/decisions\\?"), hold_the_first)
    trial = page.locator(".grid-row", has_text="stopped early").first.get_by_role("link").inner_text()
    shown(f"decisions?trial={trial}")  # has this trial's, and asks for all once the field is empty
    lines = page.locator(".ruling")
    sync_api.expect(lines.first).to_be_visible()
    field = page.get_by_role("searchbox", name="Trial")
    with page.expect_request(re.compile("/decisions\\?limit=[0-9]+$")):
        field.fill("")
    field.fill(trial)
    sync_api.expect(lines.first).to_be_visible()
    with page.expect_response(re.compile("/decisions\\?limit=[0-9]+$")):
        held[0].continue_()
    page.evaluate("async () => void await fetch('/api/me')")  # the page has read the answer
    sync_api.expect(lines.first.get_by_role("link").first).to_have_text(trial)


def machine(name, use, slowness):
    """Return the answer about a machine with a GPU."""
    return {
        "name": name, "time": [1e9, 1e9 + 5, 1e9 + 10], "cpu": [0.2, None, use], "n_cpus": 64,
        "memory_used": [1e9, 2e9, 99e9], "memory_total": 100e9, "disk_used": [1e9] * 3, "disk_total": 4e9,
        "gpus": [{"use": [0.5, 0.9, use], "memory_used": [1e9] * 3, "memory_total": 80e9}],
        "trials": [{"trial_id": f"t_{i}", "row": i} for i in range(30)], "n_trials": 40, "ended": 10, "failed": 2,
        "results": 400, "results_per_minute": 12.5, "seconds_per_iteration": 0.2 * slowness, "slowness": slowness,
    }  # fmt: skip


def test_machines_say_which_is_slow(shown, page):
    nodes = [machine("gpu-1", 0.7, 1.0), machine("gpu-2", 0.2, 1.8), machine("<b>3</b>", 0.9, 0.9)]
    page.route("**/machines", lambda route: route.fulfill(json={"nodes": nodes, "slowest": "gpu-2"}))
    shown("machines")
    text = "gpu-2 is slow: an iteration takes 360 ms there, 1.8 times as long as on the other machines."
    sync_api.expect(page.locator(".verdict-text")).to_have_text(text)
    slow = page.locator(".machine", has_text="gpu-2")
    sync_api.expect(slow.get_by_role("heading")).to_contain_text("slow")
    sync_api.expect(slow.get_by_role("img", name="GPU 0: 20 %")).to_have_count(1)
    sync_api.expect(slow).to_contain_text("99 GB of 100 GB")
    sync_api.expect(slow).to_contain_text("and 6 more")


def test_a_failed_trial_shows_its_traceback(shown, page):
    shown("trials", "failing")
    page.locator(".grid-row", has_text="failed").first.get_by_role("link").click()
    sync_api.expect(page.locator(".traceback")).to_contain_text("ValueError: the value x is too large")


def test_output_and_names_are_inert(serve, start_run, tmp_path, page):
    run = start_run(NOISY, str(tmp_path / "results"))
    output, _ = run.communicate(timeout=WITHIN_S)
    assert run.returncode == 0, output[-2000:]
    page.goto(serve(tmp_path / "results").at("noisy", "trials"))
    sync_api.expect(page.get_by_role("grid")).to_contain_text("<i>1</i>")
    page.locator(".grid-first a").first.click()
    lines = page.locator(".log-line")
    sync_api.expect(lines.first).to_be_attached()
    sync_api.expect(lines.first).to_contain_text("red <img src=x onerror=alert(1)> \\u202egpj.exe")
    sync_api.expect(page.locator(".log-red")).to_have_text("red")
    assert page.locator(".log img, .panel i, .panel b").count() == 0
    assert max(len(text) for text in lines.all_text_contents()) < 10_000


@pytest.mark.parametrize("theme", [pytest.param("light", marks=full), "dark"])
def test_views_are_accessible(served, new_page, theme):
    page = new_page(color_scheme=theme, bypass_csp=True)
    page.goto(served.at("asha", "trials"))
    sync_api.expect(page.get_by_role("grid")).to_be_visible()
    trial = page.locator(".grid-first a").first.inner_text()
    page.evaluate(AXE.read_text())
    views = {
        "trials": ".grid-row", f"trial/{trial}": ".story", "decisions": ".ruling", "machines": ".machine",
        "compare": ".empty", "compare?experiments=asha,failing": ".table",
    }  # fmt: skip
    for view, awaited in views.items():
        page.evaluate("hash => { location.hash = hash }", f"#/e/asha/{view}")
        sync_api.expect(page.locator(awaited).first).to_be_visible()
        found = page.evaluate("axe.run(document)")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] != "minor"] == [], view


def test_trials_are_cards_on_a_narrow_page(served, new_page):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(served.at("asha", "trials"))
    sync_api.expect(page.locator(".grid-card").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_label("Sort by").select_option("param:lr")
    page.locator(".grid-card a").first.click()
    sync_api.expect(page.locator(".verdict-text")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
