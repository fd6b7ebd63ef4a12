"""The page's modules as one script."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess

import pytest

from overtone.ui import bundle
from overtone.ui.compact import compact, compact_style
from overtone.ui.server.assets import PARTS

HTML = """import { h } from "preact";
import htm from "htm";
import uPlot from "uplot";
export {
  useMemo as memo,
  useState,
} from "preact/hooks";
export { signal, useSignal } from "@preact/signals";
export const html = htm.bind(h);
export { uPlot as Plot };
"""

MAIN = """import { html, memo, Plot, signal } from "./html.js";
import { twice } from "./data/twice.js";

/** @typedef {import("./data/twice.js").Twice} Twice */
// import("./nothing.js") is not supported
export function shown() {
  return [twice(signal(3).value), html`<p>text</p>`.type, typeof memo, typeof Plot].join(" ");
}
console.log(shown());
"""


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Return a function that writes the page's modules, and takes them for the page's."""
    monkeypatch.setattr(bundle, "WEB", tmp_path)
    shutil.copytree(bundle.Path(bundle.__file__).parent / "web" / "vendor", tmp_path / "vendor")

    def write(**modules):
        for name, text in {"html": HTML, **modules}.items():
            path = tmp_path / "js" / f"{name.replace('__', '/')}.js"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    return write


def run(text, tmp_path, suffix=".cjs"):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    path = tmp_path / f"bundle{suffix}"
    path.write_text(text, "utf-8")
    return subprocess.run([node, str(path)], check=True, capture_output=True, text=True, timeout=60).stdout


def test_runs_own_and_vendored_modules(web, tmp_path):
    web(main=MAIN, data__twice="export const twice = (n) => n * 2;\n")
    assert run(bundle.script("main.js"), tmp_path) == "6 p function function\n"


def test_modules_name_imports_and_exports_as_they_like(web, tmp_path):
    """Several modules export one name, and a module exports what it imports by another name."""
    web(
        main="""import { render as draw, text } from "./a.js";
import { render, text as inner } from "./b.js";
export { render as text };
export const drawn = [draw(), render(), text, inner];
const value = "main";
console.log(...drawn, value);
""",
        a="""import { render as within, text as value } from "./b.js";
export function render() {
  return `${within()}+${value}`;
}
export const text = "a";
""",
        b='const value = "inside b";\nexport const render = () => value;\nexport const text = "b";\n',
        last='import { drawn, text } from "./main.js";\nconsole.log(drawn.length, text());\n',
    )
    assert run(bundle.script("last.js"), tmp_path) == "inside b+b inside b a b main\n4 inside b\n"


def test_a_factory_makes_modules_anew_each_time(web, tmp_path):
    web(main="const made = [];\nexport const add = () => made.push(1);\n")
    text = f"const make = {bundle.factory('main.js')};\nconst [a, b] = [make(), make()];\n"
    assert run(text + "a.add();\nconsole.log(a.add(), b.add());\n", tmp_path) == "2 1\n"


def test_keeps_the_lines_of_modules(web):
    web(main=MAIN, data__twice="export const twice = (n) => n * 2;\n")
    lines = bundle.script("main.js").splitlines()
    first = next(number for number, line in enumerate(lines) if line.endswith("// js/main.js"))
    for number, line in enumerate(MAIN.splitlines(), 1):
        if line.startswith(("export", "  return", "console")):
            assert lines[first + number].startswith(compact(line.removeprefix("export ").strip()))


def test_each_module_is_there_once_and_after_what_it_needs(web):
    web(
        main='import { b } from "./b.js";\nimport { a } from "./a.js";\n',
        a="export const a = 1;\n",
        b='import { a } from "./a.js";\nexport const b = a + 1;\n',
    )
    titles = [
        line.rpartition("// ")[2] for line in bundle.script("main.js").splitlines() if "=> { //" in line
    ]
    assert titles == ["js/a.js", "js/b.js", "js/main.js"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('\nimport { a } from "./a";\n', r'js/main.js:2: import from a relative path with "\.js"'),
        ('import { a } from "./gone.js";\n', r"js/main.js:1: no such file"),
        ('import { gone } from "./html.js";\n', r"js/main.js:1: no export is named gone"),
        ('import all from "./html.js";\n', r"js/main.js:1: no export is named default"),
        ('import { a } from "react";\n', r"js/main.js:1: import from a relative path"),
        ('import "./html.js";\n', r"js/main.js:1: this form is not supported"),
        ('/* 1\n2 */\nimport * as a from "./html.js";\n', r"js/main.js:3: this form is not supported"),
        ('export * from "./html.js";\n', r"js/main.js:1: this form is not supported"),
        ("export default 3;\n", r"js/main.js:1: this form is not supported: export default 3"),
        ("export let a = 3;\n", r"js/main.js:1: this form is not supported: export let"),
        ("export const { a } = {};\n", r"js/main.js:1: this form is not supported"),
        ('const a = 1;\nconst b = () => import("./html.js");\n', r"js/main.js:2: this form is not supported"),
        ("const a = import.meta.url;\n", r"js/main.js:1: this form is not supported"),
        ('import { a } from "./main.js";\n', r"in a circle: js/main.js -> js/main.js"),
    ],
)
def test_says_where_a_form_stands_that_is_not_supported(web, text, error):
    web(main=text)
    with pytest.raises(bundle.BundleError, match=error):
        bundle.script("main.js")


def test_a_part_shares_the_modules_of_the_script_before_it(web, tmp_path):
    web(
        main='import { add } from "./a.js";\nadd(1);\n',
        a="const seen = [];\nexport const add = (n) => seen.push(n);\n",
        b="export const b = 2;\n",
        part='import { add } from "./a.js";\nimport { b } from "./b.js";\nconsole.log(add(b));\n',
    )
    first, part = bundle.script("main.js"), bundle.script("part.js", after="main.js")
    assert run(first + part, tmp_path) == "2\n"
    reload = "globalThis.location = { reload: () => console.log('again') };\n"
    web(a="const seen = [1];\nexport const add = (n) => seen.push(n);\n")
    assert run(reload + bundle.script("main.js") + part, tmp_path) == "again\n"


named = pytest.mark.skipif(
    (bundle.WEB / bundle.PACKED).is_dir(), reason="the scripts of a wheel do not name their modules"
)


@named
def test_parts_of_the_page_share_no_modules_but_those_of_its_script():
    def titles(text):
        return {line.rpartition("// ")[2] for line in text.splitlines() if "=> { //" in line}

    parts = [titles(bundle.script(f"parts/{name}", after="main.js")) for name in PARTS]
    assert all(parts)
    assert len(set().union(*parts)) == sum(map(len, parts))


def compressed(text):
    return len(gzip.compress(text.encode(), 9))


@named
def test_the_page_is_small():
    """Own scripts and style sheets are 123 kB at most as a checkout has them; a wheel: tests/ui/test_wheel.py."""
    bundles = [bundle.script(entry) for entry in ("main.js", "plots/worker.js")]
    own = [own_modules(text) for text in bundles]
    parts = [own_modules(bundle.script(f"parts/{name}", after="main.js")) for name in PARTS]
    style = "\n".join(compact_style(path.read_text("utf-8")) for path in (bundle.WEB / "css").glob("*.css"))
    assert compressed(style) + sum(map(compressed, own + parts)) <= 123_000


def own_modules(text):
    modules = re.split(r"(?m)^(?=const \[[^]\n]*\]=\(\([^)\n]*\) => \{ // )", text)
    return "".join(module for module in modules if "// js/" in module.partition("\n")[0])


def test_style_begins_with_what_others_build_on(web, tmp_path):
    (tmp_path / "css").mkdir()
    for name in ("tables", "base", "guide", "layout"):
        (tmp_path / "css" / f"{name}.css").write_text(f".{name} {{}}\n")
    text = bundle.style()
    places = [
        text.index(f"/* {name}.css */")
        for name in ("vendor/uplot", "css/base", "css/layout", "css/guide", "css/tables")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("entry", sorted(path.name for path in (bundle.WEB / "js").glob("*.js")))
def test_every_entry_of_the_page_is_valid(entry, tmp_path):
    text = bundle.script(entry)
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    path = tmp_path / "bundle.cjs"
    path.write_text(text, "utf-8")
    subprocess.run([node, "--check", str(path)], check=True, timeout=60)
