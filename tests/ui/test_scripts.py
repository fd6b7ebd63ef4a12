"""The scripts that the server makes of the page's modules, in Chromium."""

from __future__ import annotations

import re

from overtone.ui import bundle
from overtone.ui.server.assets import PARTS

EXPORTS = re.compile(r"(?m)^const \[([^]\n]*)\]=\(")


def test_no_export_has_the_name_of_a_global_of_the_browser(page):
    """In the script of all modules, another module that means the global would get the export."""
    scripts = [bundle.script(entry) for entry in ("main.js", "report.js", "widget.js", "plots/worker.js")]
    scripts += [bundle.script(f"parts/{name}", after="main.js") for name in PARTS]
    names = {name for text in scripts for match in EXPORTS.finditer(text) for name in match[1].split(",")}
    assert {"html", "bytesOf$", "t"} <= names
    found = page.evaluate(
        "names => names.filter(name => name in window && !(name in {}))", sorted(names - {""})
    )
    assert not found, found


def test_the_first_view_is_sent_compressed(page, served):
    """The page, its scripts and styles: all that comes before the data. From a wheel it is less: test_wheel.py."""
    sent = {}

    def count(answer):
        if answer.url.removeprefix(served.origin) in ("/", "/app.js", "/app.css", "/worker.js"):
            sent[answer.url] = answer

    page.on("response", count)
    page.goto(served.at("asha"))
    page.get_by_role("heading", name="asha").first.wait_for()
    assert {answer.headers["content-encoding"] for answer in sent.values()} == {"gzip"}
    assert sum(answer.request.sizes()["responseBodySize"] for answer in sent.values()) < 145_000
