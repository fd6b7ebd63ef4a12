"""The notebook's widget as notebooks without a Jupyter server show it, over a stand-in for their comms.

VS Code and Colab, which cannot be run here, have managers of their own: they make models of the kernel's comms, and
load anywidget's module by AMD. Jupyter's html-manager does the same, and is the nearest that runs in Chromium. It
compiles schemas by eval when it is loaded; from then on the policy of the page forbids eval.
"""

from __future__ import annotations

import base64
import queue
import tarfile
import time
from pathlib import Path

import pytest

from overtone.store.folder_mark import JOURNAL
from overtone.ui.data.experiment import Experiment
from tests.ui.harness import WITHIN_S

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")
anywidget = pytest.importorskip("anywidget", reason="needs the extra notebook")

MODULES = Path(__file__).parent / "node_modules"
ORIGIN = "http://notebook.example"
WITHOUT_EVAL = "script-src 'self' blob:"  # anywidget imports its module from a blob
POLICY = "; ".join(
    [
        "default-src 'none'",
        f"{WITHOUT_EVAL} 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",  # html-manager's
        "img-src data: blob:",
        "font-src 'self' data:",
        "worker-src blob:",
    ]
)
PAGE = '<!doctype html><script src="require.js"></script><script src="embed-amd.js"></script><script src="page.js"></script>'
SCRIPT = f"""
const POLICY = "{WITHOUT_EVAL}";
"""
SCRIPT += """
define("anywidget", ["anywidget.js"], (made) => made);
globalThis.faults = [];
document.addEventListener("securitypolicyviolation", (event) => faults.push(`${event.violatedDirective} ${event.blockedURI}`));
const comms = new Map();
const buffersOf = (texts) => texts.map((text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer));
require(["@jupyter-widgets/html-manager"], ({ HTMLManager, requireLoader }) => {
  const manager = new HTMLManager({ loader: requireLoader });
  // what a test evaluates may use eval, and what its timers run may not
  const later = (call) => (...given) => new Promise((resolve) => setTimeout(() => resolve(call(...given))));
  globalThis.deliver = later(async (kind, id, data, metadata, texts) => {
    const message = { content: { comm_id: id, target_name: "jupyter.widget", data }, metadata, buffers: buffersOf(texts) };
    if (kind === "comm_msg") return comms.get(id)(message);
    const comm = {
      comm_id: id, target_name: "jupyter.widget", open() {}, close() {}, on_close() {},
      on_msg(call) { comms.set(id, call); },
      send(data) { toKernel(id, data); return "message"; },
    };
    await manager.handle_comm_open(comm, message);
  });
  globalThis.show = later(async (id, place) => {
    const el = document.createElement("div");
    el.id = place;
    document.body.append(el);
    const view = await manager.create_view(await manager.get_model(id));
    await manager.display_view(view, el);
  });
  const policy = document.createElement("meta");
  policy.httpEquiv = "content-security-policy";
  policy.content = POLICY;
  document.head.append(policy);
  try {
    new Function("");
  } catch (error) {
    document.documentElement.dataset.ready = error.name;
  }
});
"""


def html_manager() -> bytes:
    """Return html-manager with all that it needs as one script, from the package that `make ui` fetches."""
    found = sorted(MODULES.glob("jupyter-widgets-html-manager-*.tgz"))
    if not found or not (MODULES / "requirejs").is_dir():
        pytest.skip("needs html-manager: make ui")
    with tarfile.open(found[-1]) as archive:
        return archive.extractfile("package/dist/embed-amd.js").read()


@pytest.fixture
def kernel(monkeypatch):
    """The messages that widgets send from now on: kind, comm, data, metadata, buffers."""
    from comm.base_comm import BaseComm

    sent = queue.Queue()

    class Comm(BaseComm):
        def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            texts = [base64.b64encode(one).decode() for one in buffers or []]
            sent.put((msg_type, self.comm_id, data, metadata or {}, texts))

    monkeypatch.setattr("comm.create_comm", lambda *args, **keys: Comm(*args, **keys))
    return sent


@pytest.fixture
def notebook(new_page, kernel, finished):
    """A page with html-manager, the widget of an experiment, and a function that delivers until a text is there."""
    from overtone.ui.widget.model import ExperimentWidget

    manager = html_manager()
    files = {
        "/": (PAGE.encode(), "text/html"),
        "/require.js": ((MODULES / "requirejs" / "require.js").read_bytes(), "text/javascript"),
        "/embed-amd.js": (manager, "text/javascript"),
        "/anywidget.js": (
            (Path(anywidget.__file__).parent / "nbextension" / "index.js").read_bytes(),
            "text/javascript",
        ),
        "/page.js": (SCRIPT.encode(), "text/javascript"),
    }
    page = new_page()
    page.expected.append("Content Security Policy")  # collected by page.js

    def answer(route):
        body, kind = files.get(route.request.url.removeprefix(ORIGIN), (b"", "text/plain"))
        headers = {"content-security-policy": POLICY, "content-type": f"{kind}; charset=utf-8"}
        route.fulfill(status=200, body=body, headers=headers)

    page.route("**/*", answer)
    experiment = Experiment("asha", lambda: finished / "asha" / JOURNAL)
    widget = ExperimentWidget(experiment, lambda: None, lambda: False)
    page.expose_function(
        "toKernel",
        lambda _, data: widget.comm.handle_msg({"content": {"data": data}, "buffers": []}),
    )
    page.goto(f"{ORIGIN}/")
    page.locator("html[data-ready=EvalError]").wait_for()

    def deliver(place, text):
        shown = page.locator(f"#{place} .widget").get_by_text(text).first
        until = time.monotonic() + WITHIN_S
        while not shown.is_visible():
            assert time.monotonic() < until, page.locator("body").inner_text()
            try:
                page.evaluate("(message) => deliver(...message)", kernel.get(timeout=0.1))
            except queue.Empty:
                pass

    yield page, widget, deliver
    widget.close()
    assert len(page.evaluate("() => faults")) == 1  # the attempt in page.js


def test_a_widget_is_live_without_ports_and_without_eval(notebook, kernel):
    page, widget, deliver = notebook
    while not kernel.empty():  # the models are made before a display is
        page.evaluate("(message) => deliver(...message)", kernel.get())
    page.evaluate("(id) => show(id, 'a')", widget.comm.comm_id)
    deliver("a", "is starting")
    widget.pushing.start()
    deliver("a", "30 of 30 trials ended")
    page.locator("#a").get_by_role("link", name="Importance").click()  # computed by the kernel
    deliver("a", "lr")
    page.locator("#a .widget-view svg, #a .widget-view canvas").first.wait_for()
    page.evaluate("(id) => show(id, 'b')", widget.comm.comm_id)
    deliver("b", "30 of 30 trials ended")
