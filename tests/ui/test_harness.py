"""The harness itself: Chromium starts, and what goes wrong on a page fails its test."""

import pytest


def test_a_page_is_drawn(page):
    page.set_content("<h1>Overtone</h1>")
    assert page.get_by_role("heading").inner_text() == "Overtone"


@pytest.mark.parametrize(
    "script",
    ["console.error('lost')", "setTimeout(() => { throw new Error('lost') })"],
    ids=["console", "thrown"],
)
def test_an_error_on_the_page_is_a_fault(page, script):
    with page.expect_event("console" if "console" in script else "pageerror"):
        page.evaluate(script)
    assert "lost" in page.faults[0]
    page.faults.clear()
