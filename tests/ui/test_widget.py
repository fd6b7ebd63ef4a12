"""The notebook's widget in Chromium, with a stand-in for anywidget's model."""

from __future__ import annotations

import base64
import json

import pytest

from overtone.store.folder_mark import JOURNAL
from overtone.ui.data.experiment import Experiment
from overtone.ui.widget.live_state import LiveState
from overtone.ui.widget.module import module

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")


# What anywidget gives to render(): traits with change events, and messages.
MODEL = """
globalThis.model = {
  traits: {}, calls: [], asked: [],
  get(name) { return this.traits[name]; },
  on(event, call) { this.calls.push([event, call]); },
  off(event, call) { this.calls = this.calls.filter((one) => one[0] !== event || one[1] !== call); },
  send(content) { this.asked.push(content); },
  emit(event, ...given) { for (const [name, call] of [...this.calls]) if (name === event) call(...given); },
  set(values) {
    for (const [name, value] of Object.entries(values)) {
      const bytes = name === "whole" || name === "update";
      this.traits[name] = bytes ? new DataView(Uint8Array.from(atob(value), (c) => c.charCodeAt(0)).buffer) : value;
    }
    for (const name of Object.keys(values)) this.emit(`change:${name}`);
  },
};
globalThis.show = (id) => {
  const el = document.createElement("div");
  el.id = id;
  document.body.append(el);
  return globalThis.page.render({ model, el });
};
"""


@pytest.fixture
def widget(new_page, finished):
    """A notebook's page with the widget's module, and a function that sends the state of an experiment."""
    page = new_page()
    page.goto("about:blank")
    page.set_content(
        '<style>p { color: rgb(1, 2, 3) } .table { display: none }</style><body data-jp-theme-light="true"><p id="own">text</p>'
    )
    page.evaluate(f"() => {{ {MODEL} }}")
    page.evaluate(
        "async (text) => { const url = URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));"
        "globalThis.page = (await import(url)).default(); }",
        module(),
    )
    experiment = Experiment("asha", lambda: finished / "asha" / JOURNAL)
    state = LiveState(experiment)

    def send(**changes):
        state.refresh()
        overview = json.dumps({**json.loads(state.overview), **changes})
        whole, update = (base64.b64encode(one).decode() for one in (state.whole, state.update))
        page.evaluate(
            "(values) => model.set(values)",
            {"name": "asha", "whole": whole, "update": update, "overview": overview},
        )

    yield page, send, experiment
    experiment.close()


def text_of(page, name, text):
    page.locator(f"#{name} .widget").get_by_text(text).first.wait_for()


def test_a_display_shows_what_came_before_it_and_what_comes(widget):
    page, send, _ = widget
    send()
    page.evaluate("() => { globalThis.close = show('a') }")
    text_of(page, "a", "30 of 30 trials ended")
    page.evaluate("() => { globalThis.second = show('b') }")
    text_of(page, "b", "30 of 30 trials ended")
    sync_api.expect(page.locator("#b .widget-state")).to_contain_text("best loss = ")
    page.evaluate("() => close()")
    sync_api.expect(page.locator("#a *")).to_have_count(0)
    sync_api.expect(page.locator("#b .widget-state")).to_have_count(1)


def test_a_display_that_is_there_first_waits_for_the_run(widget):
    page, send, _ = widget
    page.evaluate("() => { model.traits = {name: 'asha'}; show('a') }")
    text_of(page, "a", "is starting")
    send()
    text_of(page, "a", "30 of 30 trials ended")


def test_the_still_picture_is_there_when_no_display_is(widget):
    page, send, _ = widget
    page.evaluate(
        "() => { const still = document.createElement('p'); still.id = 'still'; still.textContent = 'picture';"
        "still.dataset.overtoneStill = 'one'; document.body.append(still); model.traits.still = 'one' }"
    )
    send()
    still = page.locator("#still")
    page.evaluate("() => { globalThis.close = show('a'); globalThis.second = show('b') }")
    sync_api.expect(still).to_be_hidden()
    page.evaluate("() => close()")
    sync_api.expect(still).to_be_hidden()
    page.evaluate("() => second()")
    sync_api.expect(still).to_be_visible()


def test_tabs_change_the_view_and_not_the_address(widget):
    page, send, _ = widget
    send()
    page.evaluate("() => { show('a') }")
    page.locator("#a").get_by_role("link", name="Trials").click()
    page.locator("#a").get_by_role("grid").or_(page.locator("#a [role=table]")).first.wait_for()
    assert page.url == "about:blank"


def test_the_kernel_is_asked_for_what_it_computes(widget):
    page, send, experiment = widget
    send()
    page.evaluate("() => { show('a') }")
    page.locator("#a").get_by_role("link", name="Importance").click()
    text_of(page, "a", "Waiting for the kernel")
    (asked,) = page.evaluate("() => model.asked.filter((one) => one.ask === 'plot')")
    message = base64.b64encode(experiment.plot(*asked["args"], **asked["options"])).decode()
    page.evaluate(
        "([id, text]) => model.emit('msg:custom', {id}, [new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer)])",
        [asked["id"], message],
    )
    page.locator("#a .widget-view canvas, #a .widget-view svg").first.wait_for()
    text_of(page, "a", "lr")


def test_styles_do_not_cross_the_border(widget):
    page, send, _ = widget
    before = page.evaluate("() => JSON.stringify({...getComputedStyle(document.getElementById('own'))})")
    send()
    page.evaluate("() => { show('a') }")
    text_of(page, "a", "30 of 30 trials ended")
    after = page.evaluate("() => JSON.stringify({...getComputedStyle(document.getElementById('own'))})")
    assert after == before
    assert page.locator("#a .widget-state").evaluate("(one) => getComputedStyle(one).color") != "rgb(1, 2, 3)"


def test_the_theme_is_the_notebooks(widget):
    page, send, _ = widget
    send()
    page.evaluate("() => { show('a') }")
    sync_api.expect(page.locator("#a .widget")).to_have_attribute("data-theme", "light")
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    page.locator("#a .widget[data-theme=dark]").wait_for()


def test_keys_in_the_widget_are_not_the_notebooks(widget):
    page, send, _ = widget
    send()
    page.evaluate(
        "() => { show('a'); globalThis.keys = []; document.addEventListener('keydown', (event) => keys.push(event.key)) }"
    )
    page.locator("#a").get_by_role("link", name="Trials").click()
    page.locator("#a input").first.press("d")
    assert page.evaluate("() => keys") == []
