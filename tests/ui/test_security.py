"""The page's security in a real browser: what other pages, other tabs and frames can reach."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

ATTACK = """
async (origin) => {
  const seen = {};
  const tried = async (name, work) => {
    try { seen[name] = await work(); } catch (error) { seen[name] = "refused"; }
  };
  const action = JSON.stringify({verb: "stop", trial: null, args: {}, id: "attack-12345678"});
  const path = `${origin}/api/experiments/asha/actions`;
  await tried("read", async () => (await fetch(`${origin}/api/experiments`, {credentials: "include"})).status);
  await tried("opaque", async () => (await fetch(`${origin}/api/me`, {credentials: "include", mode: "no-cors"})).type);
  await tried("act", async () => (await fetch(path, {method: "POST", credentials: "include", body: action,
    headers: {"Content-Type": "application/json"}})).status);
  await tried("act simply", async () => (await fetch(path, {method: "POST", credentials: "include", body: action,
    mode: "no-cors", headers: {"Content-Type": "text/plain"}})).type);
  await tried("delete", async () => (await fetch(path, {method: "DELETE", credentials: "include"})).status);
  await tried("stream", () => new Promise((resolve) => {
    const stream = new EventSource(`${origin}/api/experiments/asha/stream`, {withCredentials: true});
    stream.onerror = () => { stream.close(); resolve("refused"); };
    stream.onmessage = stream.onopen = () => { stream.close(); resolve("open"); };
  }));
  await tried("script", () => new Promise((resolve) => {
    const script = document.createElement("script");
    script.onload = () => resolve("loaded");
    script.onerror = () => resolve("refused");
    script.src = `${origin}/app.js`;
    document.head.append(script);
  }));
  return seen;
}
"""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A page of another program on this machine: the same site, another origin."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<!doctype html><title>elsewhere</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def logged_in(page, server):
    page.goto(server.address)
    page.get_by_text("asha").first.wait_for()


def test_the_token_leaves_the_address_and_no_script_sees_the_session(served, page):
    logged_in(page, served)
    assert served.token not in page.url
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert served.token not in cookie["value"]
    assert cookie["name"] == f"overtone_{served.origin.rpartition(':')[2]}"
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert served.token not in kept
    assert cookie["value"] not in kept


def test_a_tab_without_a_login_sees_no_data(served, page):
    page.expected.append("401")
    page.goto(f"{served.origin}/#/e/asha/overview")
    page.wait_for_selector("input[type=password]")
    assert "loss" not in page.content()


def test_another_page_of_this_machine_reaches_nothing(served, finished, elsewhere, page):
    logged_in(page, served)
    records = (finished / "asha" / "journal.jsonl").read_bytes()
    other = page.context.new_page()
    other.goto(elsewhere)
    seen = other.evaluate(ATTACK, served.origin)
    assert seen == dict.fromkeys(
        ("read", "opaque", "act", "act simply", "delete", "stream", "script"), "refused"
    ) | {
        "act simply": seen["act simply"]  # The answer cannot be read, so the browser does not tell.
    }
    assert (finished / "asha" / "journal.jsonl").read_bytes() == records


def test_the_page_cannot_be_framed_or_steered_by_its_opener(served, elsewhere, page):
    logged_in(page, served)
    other = page.context.new_page()
    other.goto(elsewhere)
    framed = other.evaluate(
        """async (url) => {
          const frame = document.createElement("iframe");
          frame.src = url;
          const loaded = new Promise((resolve) => { frame.onload = resolve; });
          document.body.append(frame);
          await loaded;
          try { return frame.contentDocument?.title ?? "another origin"; } catch { return "another origin"; }
        }""",
        served.origin,
    )
    assert framed == "another origin"
    assert not any(frame.url.startswith(served.origin) for frame in other.frames)
    with page.context.expect_page() as opened:
        other.evaluate("(url) => { window.opened = window.open(url); }", f"{served.origin}/")
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("window.opener") is None


def test_the_policy_stops_inline_scripts_and_other_origins(served, elsewhere, page):
    logged_in(page, served)
    refused = "Content Security Policy"
    page.expected.append(refused)
    with page.expect_console_message(lambda message: refused in message.text):
        done = page.evaluate(
            """async (elsewhere) => {
          const script = document.createElement("script");
          script.textContent = "window.wasRun = true";
          document.head.append(script);
          const holder = document.createElement("div");
          holder.setAttribute("onclick", "window.wasRun = true");
          document.body.append(holder);
          holder.click();
          let text = "";
          try { await fetch(elsewhere, {mode: "no-cors"}); text = "fetched"; } catch { text = "refused"; }
          return [window.wasRun ?? false, text];
        }""",
            elsewhere,
        )
    assert done == [False, "refused"]
