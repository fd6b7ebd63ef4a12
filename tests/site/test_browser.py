"""Pages in Chromium, in both themes: no error, no violation that axe-core calls serious, and a search without network."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.site.conftest import ROOT, SITE

AXE = ROOT / "tests" / "ui" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = [
    name for name, there in (("Chromium", CHROMIUM), ("axe-core (make ui)", AXE.is_file())) if not there
]
SAMPLE = ["index", "first-search", "journal-and-resume", "errors", "api/overtone.tune.stopper", "learn/early_stopping",
          "learn/pytorch", "comparison", "tutorial-dashboard", "zh/index", "zh/troubleshooting", "search"]  # fmt: skip


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that writes no log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def address():
    if MISSING:
        assert os.environ.get("CI") != "true", f"missing: {MISSING}"
        pytest.skip(f"missing: {', '.join(MISSING)}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser(address):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def new_page(browser, address):
    """Opens pages that record errors, and requests to other places."""
    contexts = []

    def open_page(name: str, theme: str, width: int = 1440):
        context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.faults = []
        page.on("console", lambda told: page.faults.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda one: None if _is_own(one.url, address) else page.faults.append(one.url))
        page.goto(f"{address}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def _is_own(url: str, address: str) -> bool:
    return url.startswith(address) or urlsplit(url).scheme in ("data", "blob")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", SAMPLE)
def test_axe_finds_nothing_serious(name, theme, new_page):
    page = new_page(f"{name}.html", theme)
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (one["id"], node["target"], node["failureSummary"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
    assert serious == []
    assert page.faults == []


@pytest.mark.parametrize("name", ["index", "errors", "api/overtone.tune.stopper"])
def test_a_page_fits_a_telephone(name, new_page):
    page = new_page(f"{name}.html", "light", 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_pages(new_page):
    page = new_page("search.html?q=checkpoint", "light")
    page.wait_for_selector("ul.search li a")
    links = page.eval_on_selector_all("ul.search li a", "all => all.map(one => one.href)")
    assert any("checkpoint" in link for link in links)
    assert page.faults == []
