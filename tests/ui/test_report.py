"""overtone report in Chromium: opened from disk, without a network, with and without script."""

from __future__ import annotations

import re

import pytest

from overtone.cli import main

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")


@pytest.fixture(scope="module")
def report(finished, tmp_path_factory):
    """Return a function that writes a report of finished experiments and returns its address."""
    folder = tmp_path_factory.mktemp("reports")

    def write(*names):
        path = folder / f"{'-'.join(names)}.html"
        if not path.exists():
            assert main(["report", *(str(finished / name) for name in names), "-o", str(path)]) == 0
        return path.as_uri()

    return write


def shown(page, text):
    return page.get_by_text(text).first.wait_for()


def test_the_first_screen_tells_what_was_searched_and_found(new_page, report):
    page = new_page(offline=True)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report("asha"))
    shown(page, "30 configurations were tried to make loss as small as possible.")
    first = page.locator(".report-first")
    for text in (
        "What was searched",
        "lr: ",
        "on a logarithmic scale",
        "The best configuration",
        "How sure is this?",
        "What the words mean",
    ):
        sync_api.expect(first).to_contain_text(text)
    sync_api.expect(page.locator("#still")).to_be_hidden()
    assert requests == [page.url]


VIEWS = [
    "trials",
    "history",
    "parallel",
    "importance",
    "relations",
    "timeline",
    "rungs",
    "decisions",
    "machines",
]


def test_each_view_is_there(new_page, report):
    page = new_page(offline=True)
    page.goto(f"{report('asha')}#/e/asha/{VIEWS[0]}")
    for view in VIEWS:
        page.evaluate("hash => { location.hash = hash }", f"#/e/asha/{view}")
        page.locator(f".nav a[aria-current=page][href='#/e/asha/{view}']").wait_for()
        main = page.locator("main")
        sync_api.expect(main).to_contain_text(re.compile(r"\S"))
        sync_api.expect(main.locator(".spinner")).to_have_count(0)
        sync_api.expect(main.locator("[role=alert]")).to_have_count(0)


def test_a_trial_has_its_curve_and_story(new_page, report):
    page = new_page(offline=True)
    page.goto(report("asha"))
    page.get_by_role("link", name="Curve and story of this trial").click()
    page.locator("main canvas").first.wait_for()
    sync_api.expect(page).to_have_url(re.compile("/trial/"))
    assert page.locator("main [role=alert]").count() == 0


def test_nothing_can_be_asked_of_the_run(new_page, report):
    page = new_page(offline=True)
    page.goto(report("pbt"))
    page.locator(".report-first").wait_for()
    names = page.get_by_role("button").all_inner_texts()
    assert not [name for name in names if re.search("stop|pause|resume|clone|add", name, re.IGNORECASE)]


def test_several_experiments_are_listed_and_compared(new_page, report):
    page = new_page(offline=True)
    page.goto(report("asha", "failing"))
    page.locator("main").get_by_text("failing").first.wait_for()
    sync_api.expect(page.locator("main")).to_contain_text("asha")


def test_without_script_the_still_page_is_there(new_page, report):
    page = new_page(java_script_enabled=False, offline=True)
    page.goto(report("asha"))
    assert page.locator("#still h1").inner_text() == "asha"
    sync_api.expect(page.locator("#still svg").first).to_be_visible()
    assert not page.locator("#app").inner_text()


def test_an_older_browser_keeps_the_still_page(new_page, report):
    page = new_page(offline=True)
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(report("asha"))
    sync_api.expect(page.locator("#still svg").first).to_be_visible()
