"""The frame of the page: the list of experiments, the overview of a run, controls and the connection."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from tests.ui.harness import WITHIN_S, full, read_records

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")
expect = sync_api.expect

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

# The trials report until a file is there.
RUN = """
import pathlib, sys, time
from overtone import tune

def train(config):
    t = 0
    while not pathlib.Path(sys.argv[2]).exists():
        t += 1
        time.sleep(0.02)
        tune.report({"loss": config["lr"] + 1 / t})

tune.run(train, name="live", storage_path=sys.argv[1], num_samples=3, metric="loss", mode="min", verbose=0, seed=3,
         config={"lr": tune.uniform(0, 1), "net": {"act": tune.choice(["relu", "tanh"])}},
         resources_per_trial={"cpu": 0.1}, max_concurrent_trials=2)
"""


@pytest.fixture
def run(start_run, tmp_path):
    """A run with two trials at a time that end once `end` is there: (folder, end)."""
    folder, end = tmp_path / "results", tmp_path / "end"
    folder.mkdir()
    process = start_run(RUN, str(folder), str(end))
    journal = folder / "live" / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.02)
    yield folder, end
    end.touch()
    process.wait(WITHIN_S)


def records(folder: Path, what: str = "") -> list[dict]:
    """Return the requests in the journal of "live"."""
    found = [one for one in read_records(folder / "live" / "journal.jsonl") if one["e"] == "requested"]
    return [one for one in found if one["what"] == what or not what]


def check_accessibility(page) -> None:
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(one["id"], one["nodes"][0]["target"]) for one in found["violations"]] == []


def test_all_experiments_are_listed_filtered_and_compared(page, served):
    page.goto(served.address)
    names = page.locator(".name-link")
    expect(names).to_have_count(3)
    row = page.locator("tr", has=page.get_by_role("link", name="failing"))
    expect(row).to_contain_text("8 of 8 trials ended")
    expect(row).to_contain_text(re.compile(r"\d failed"))
    check_accessibility(page)
    page.get_by_label("Compare asha").check()
    page.get_by_label("Compare pbt").check()
    expect(page.get_by_role("link", name="Compare 2")).to_have_attribute(
        "href", "#/e/asha/compare?experiments=asha%2Cpbt"
    )
    page.get_by_label("Filter by name").fill("as")
    expect(names).to_have_count(1)
    names.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("asha")
    expect(page.locator(".progress-text")).to_contain_text("30 of 30 trials ended. Finished after")
    expect(page).to_have_title("Overview · asha · Overtone")


def test_a_folder_without_experiments_says_how_a_run_is_started(page, serve, tmp_path):
    (tmp_path / "empty").mkdir()
    page.goto(serve(tmp_path / "empty").address)
    expect(page.get_by_text("No experiment is here yet")).to_be_visible()
    expect(page.locator("pre")).to_contain_text(f'storage_path="{tmp_path / "empty"}"')


# A label that is there for 2 s, which is less than a busy machine may need to look twice.
SEEN = """text => globalThis.seen = new Promise((done) => new MutationObserver(() => {
    if (document.body.innerText.includes(text)) done(true);
}).observe(document.body, {subtree: true, childList: true, characterData: true}))"""


def test_the_best_configuration_can_be_copied(new_page, served):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(served.at("asha"))
    copy = page.get_by_role("button", name="Copy as JSON")
    copy.wait_for()
    page.evaluate(f"text => void ({SEEN})(text)", "Copied")
    copy.click()
    assert page.evaluate("globalThis.seen")
    config = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert set(config) == {"lr", "width", "activation"}
    shown = page.locator(".config div", has_text="lr").locator("dd").inner_text()
    assert shown == f"{config['lr']:g}"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=full)])
def test_the_overview_moves_with_the_run_and_is_accessible(new_page, serve, run, scheme):
    folder, end = run
    page = new_page(color_scheme=scheme)
    page.goto(serve(folder).address)
    expect(page.get_by_role("heading", level=1)).to_have_text("live")
    expect(page.locator(".progress-text")).to_contain_text("0 of 3 trials ended. Running for")
    running = page.get_by_role("heading", name="2 trials run now")
    expect(running).to_be_visible()
    check_accessibility(page)
    page.keyboard.press(".")
    expect(page.get_by_role("combobox", name="Type a command")).to_be_focused()
    check_accessibility(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add a trial").click()
    check_accessibility(page)
    page.keyboard.press("Escape")
    end.touch()
    expect(page.locator(".progress-text")).to_contain_text("3 of 3 trials ended")
    expect(page.locator(".progress-text")).to_contain_text("Finished after")


def test_a_request_that_is_sent_twice_is_one_record(page, serve, run):
    folder, _ = run
    page.goto(serve(folder).at("live"))
    page.get_by_role("button", name="Add a trial").click()
    form = page.get_by_role("dialog")
    form.get_by_label("lr").fill("0.5x")
    expect(form.get_by_text("Must be a number")).to_be_visible()
    expect(form.get_by_role("button", name="Add the trial")).to_be_disabled()
    form.get_by_label("lr").fill("0.25")
    form.get_by_label("net/act").select_option('"tanh"')
    form.get_by_label("Reason").fill("from a <b>test</b>")
    form.get_by_role("button", name="Add the trial").dblclick()
    expect(form).to_have_count(0)
    toast = page.locator(".toast")  # it goes after 10 s
    href = toast.get_by_role("link").get_attribute("href")
    expect(toast).to_contain_text(re.compile(r"Added trial \w+: done in [\d.]+ (m?s|min), record [\d,]+"))
    (record,) = records(folder, "add")
    assert record["config"] in ({"lr": 0.25, "net/act": "tanh"}, {"lr": 0.25, "net": {"act": "tanh"}})
    assert record["note"] == "from a <b>test</b>"
    assert "dashboard" in record["who"]
    assert href == f"#/e/live/decisions?n={record['n']}"


def test_limits_are_changed_and_the_search_is_stopped_after_a_question(page, serve, run):
    folder, _ = run
    page.goto(serve(folder).at("live"))
    page.get_by_role("button", name="Limits").first.click()
    page.get_by_label("Trials at the same time").fill("1")
    page.get_by_role("button", name="Set").click()
    expect(page.locator(".toast")).to_contain_text("Changed the limits")
    assert records(folder, "set_limits")[0]["limits"] == {"max_concurrent": 1}
    page.keyboard.press(".")
    page.keyboard.type("stop the s")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Stop the search?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert records(folder, "stop") == []
    page.get_by_role("button", name="Stop ...").click()
    dialog.get_by_role("button", name="Stop the search").click()
    expect(page.locator(".progress-text")).to_contain_text(re.compile("Interrupted|Finished"))
    assert len(records(folder, "stop")) == 1


def test_a_trial_is_paused_resumed_noted_ranked_and_stopped(page, serve, run):
    folder, _ = run
    page.goto(serve(folder).at("live"))
    page.locator(".table a").first.click()
    page.wait_for_url("**/trial/*")
    trial = page.url.rpartition("/")[2]
    actions = page.get_by_role("group", name=f"Actions on trial {trial}")
    actions.get_by_role("button", name="Pause").dblclick()
    toasts = page.locator(".toasts")
    expect(toasts).to_contain_text("to pause: done")
    actions.get_by_role("button", name="Resume").click()
    expect(toasts).to_contain_text("to resume: done")
    for verb in ("pause_trial", "resume_trial"):
        assert [one["trial_id"] for one in records(folder, verb)] == [trial]
    actions.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Priority").click()
    page.get_by_label("Priority", exact=True).fill("7")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press(".")
    page.keyboard.type("note on trial")
    page.keyboard.press("Enter")
    page.get_by_label("Note", exact=True).fill("looks odd")
    page.get_by_role("button", name="Write the note").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert [one["priority"] for one in records(folder, "set_priority")] == [7]
    assert [one["note"] for one in records(folder, "note")] == ["looks odd"]
    actions.get_by_role("button", name="Stop ...").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop the trial").click()
    expect(actions.get_by_role("button", name="Stop ...")).to_have_count(0)
    expect(actions.get_by_role("button", name="Clone")).to_be_visible()
    assert len(records(folder, "stop_trial")) == 1


def test_what_is_typed_after_a_command_s_key_goes_to_what_it_opens(page, served):
    page.goto(served.at("asha"))
    expect(page.locator(".progress-text")).to_be_visible()
    # the field has the focus before the browser paints, and the next key comes at once
    assert page.evaluate("""async () => {
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: ".", bubbles: true, cancelable: true}));
        for (let i = 0; i < 10; i++) await null;
        return document.activeElement.getAttribute("role");
    }""") == "combobox"  # fmt: skip
    page.keyboard.type("note")
    page.keyboard.press("Enter")
    page.keyboard.press("e")  # shows the list of experiments, but not where a dialog opens
    expect(page.get_by_role("dialog")).to_contain_text("Note")
    assert page.url.endswith("/e/asha/overview")


def test_a_page_goes_on_after_its_server_was_killed_and_started_again(page, serve, run, tmp_path):
    folder, end = run
    secret = tmp_path / "token"
    secret.write_text("t" * 43)
    secret.chmod(0o600)
    server = serve(folder, "--token-file", str(secret))
    page.expected += ["ERR_", "Failed to"]  # requests that are refused meanwhile
    page.goto(server.at("live"))
    expect(page.get_by_role("heading", name="2 trials run now")).to_be_visible()
    server.kill()
    expect(page.locator(".note-quiet")).to_contain_text("Connection lost for")
    stop = page.get_by_role("group", name="Actions on the experiment").get_by_role("button", name="Stop")
    expect(stop).to_be_disabled()
    serve(folder, "--token-file", str(secret), "--port", server.origin.rpartition(":")[2])
    expect(page.locator(".note-quiet")).to_have_count(0)
    expect(stop).to_be_enabled()
    end.touch()
    expect(page.locator(".progress-text")).to_contain_text("3 of 3 trials ended")


def test_a_page_says_how_much_of_a_long_journal_was_read(page, serve, finished):
    held = []
    page.route("**/api/experiments/asha/columns", lambda route: held.append(route))
    page.route("**/api/experiments/asha/reading", lambda route: route.fulfill(json={"n_bytes": 379, "of_bytes": 1000}))
    page.goto(serve(finished).at("asha"))
    expect(page.locator(".spinner")).to_have_text("Reading the journal: 37 %")
    held[0].continue_()
    expect(page.locator(".progress-text")).to_contain_text("30 of 30 trials ended")


def test_a_hidden_tab_asks_for_nothing_and_catches_up(page, serve, run):
    folder, end = run
    page.goto(serve(folder).at("live"))
    expect(page.locator(".pulse-live")).to_be_visible()
    hide = "Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})"
    changed = "document.dispatchEvent(new Event('visibilitychange'))"
    with page.expect_event("requestfailed", lambda request: "/stream" in request.url):
        page.evaluate(f"{hide}; {changed}")
    end.touch()
    with page.expect_request(lambda request: "/stream" in request.url) as asked:
        page.evaluate(f"delete document.hidden; {changed}")
    assert int(asked.value.headers["last-event-id"]) > 0
    expect(page.locator(".progress-text")).to_contain_text("3 of 3 trials ended")


def test_without_the_token_the_page_says_how_to_get_it(page, served):
    page.expected.append("401")
    page.goto(served.origin)
    expect(page.get_by_role("heading", name="Open the dashboard by its address")).to_be_visible()
    check_accessibility(page)
    page.get_by_label("Address or token").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("The token is wrong")
    page.get_by_label("Address or token").fill(served.address)
    page.get_by_role("button", name="Open").click()
    expect(page.locator(".name-link")).to_have_count(3)
    assert "token" not in page.url


def test_an_experiment_that_does_not_exist_yet_is_shown_once_it_does(page, serve, experiments, tmp_path):
    page.expected.append("404")
    later = tmp_path / "later"
    (experiments / "asha").rename(later)
    page.goto(serve(experiments).at("asha"))
    expect(page.get_by_role("alert")).to_contain_text("asha cannot be shown")
    expect(page.get_by_role("alert")).to_contain_text("has no experiment of this name")
    later.rename(experiments / "asha")
    expect(page.locator(".progress-text")).to_contain_text("30 of 30 trials ended")


def test_a_read_only_page_offers_no_action(page, serve, experiments):
    page.goto(serve(experiments, "--read-only").at("asha"))
    expect(page.get_by_text("Read-only")).to_be_visible()
    expect(page.get_by_role("button", name="Add a trial")).to_have_count(0)
    expect(page.get_by_role("button", name="Clone")).to_have_count(0)
    page.keyboard.press(".")
    expect(page.get_by_role("option", name="Trials")).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("Stop|Limits|note", re.I))).to_have_count(0)


def test_the_page_in_chinese_and_dark_and_its_keys(new_page, served):
    page = new_page(locale="zh-CN", color_scheme="dark")
    page.goto(served.at("asha"))
    expect(page.locator(".progress-text")).to_contain_text("30 个试验中已结束 30 个")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.locator(".choice select").first.select_option("light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.locator(".choice select").last.select_option("en")
    expect(page.locator(".progress-text")).to_contain_text("30 of 30 trials ended")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("5")
    page.wait_for_url("**/#/e/asha/history")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    assert page.url.endswith("/history")


def test_nothing_is_wider_than_the_window(page, served):
    page.goto(served.at("asha"))
    for address, awaited in (("#/e/asha/overview", ".progress-text"), ("#/", ".name-link")):
        page.evaluate("hash => { location.hash = hash }", address)
        expect(page.locator(awaited).first).to_be_visible()
        for width in (390, 899, 1024, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function(
                "width => innerWidth === width && document.documentElement.scrollWidth <= width", arg=width
            )
