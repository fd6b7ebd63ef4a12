"""The guide on the page of `overtone demo`, against a real one."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ui.harness import WITHIN_S, closed, read_address, read_records

expect = pytest.importorskip(
    "playwright.sync_api", reason="tests of the page need playwright: make ui"
).expect

ROOT = Path(__file__).parents[2]
CODE = ROOT / "src" / "overtone" / "ui" / "web" / "js" / "guide" / "code.js"


@pytest.fixture
def demo(tmp_path):
    """The folder of results and the page's address of a demo that goes on for a while."""
    command = [sys.executable, "-m", "overtone", "demo", "--no-browser", "--dir", str(tmp_path)]
    command += ["--passes", "60"]  # a browser that is slow is not too late
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        yield tmp_path, read_address(process)
    finally:
        closed(process)


def journal(results: Path) -> list[dict]:
    (path,) = results.glob("*/journal.jsonl")
    return read_records(path)


def test_the_guide_leads_through_a_stop_a_kill_and_an_own_configuration(demo, page):
    results, address = demo
    while not list(results.glob("*/journal.jsonl")):  # the demo opens a browser then
        time.sleep(0.02)
    page.goto(address)
    guide = page.get_by_role("complementary", name="Try it")
    guide.get_by_text("0 of 3 done").wait_for()

    page.get_by_text("stopped by asha").first.wait_for()  # a decision in the overview
    guide.get_by_role("button", name="Show a stopped network").click()
    page.get_by_role("heading", name=re.compile("stopped by asha at rung")).or_(
        page.get_by_text(re.compile("was stopped by asha at rung"))
    ).first.wait_for()
    page.wait_for_url("**/trial/*")

    kill = guide.get_by_role("button", name=re.compile("Kill process"))
    name = kill.inner_text()
    kill.click()
    text = guide.get_by_text(re.compile("Resumed by process .* records are there"))
    text.wait_for()
    n_kept = int(re.search(r"All ([\d,]+) records", text.inner_text())[1].replace(",", ""))
    records = journal(results)
    (driver,) = (record["n"] for record in records if record["e"] == "driver")
    assert driver > n_kept - 1
    expect(guide.get_by_role("button", name=re.compile("Kill process"))).not_to_have_text(name)

    guide.get_by_label("momentum").fill("0.5")
    guide.get_by_label("hidden").fill("33")
    guide.get_by_role("button", name="Add it to the search").click()
    link = guide.get_by_role("link", name=re.compile("Added as"))
    link.wait_for()
    trial = re.search(r"Added as (\S+):", link.inner_text())[1]
    (request,) = (record for record in journal(results) if record["e"] == "requested")
    assert request["config"] == {**request["config"], "momentum": 0.5, "hidden": 33}
    link.click()
    page.wait_for_url(f"**/trial/{trial}")
    guide.get_by_text("3 of 3 done").wait_for()


def test_the_script_at_the_end_of_the_guide_runs(tmp_path):
    code = re.search(r"`(.*)`", CODE.read_text("utf-8"), re.DOTALL)[1]
    assert len(code.strip().splitlines()) <= 12
    script = tmp_path / "search.py"
    script.write_text(code.replace("ui=True", f"ui=False, storage_path={str(tmp_path)!r}"))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=WITHIN_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 trials" in done.stdout
