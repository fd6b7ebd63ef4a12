"""The page as a wheel has it: scripts with short names, compressed by Brotli when the wheel was built."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from overtone.ui import bundle
from overtone.ui.compact import compact_style
from overtone.ui.server.assets import PARTS
from tests.ui.harness import WITHIN_S

brotli = pytest.importorskip("brotli", reason="a wheel with its page needs the group page: make ui")
ROOT = Path(__file__).parents[2]
MOST_OWN_BYTES = 90_000
SCRIPTS = {"main.js": "", "plots/worker.js": "", **{f"parts/{name}": "main.js" for name in PARTS}}
VIEWS = {
    "overview": "30 of 30 trials ended",
    "trials": "activation",
    "history": "Best",
    "parallel": "activation",
    "importance": "lr",
    "relations": "lr",
    "timeline": "Timeline",
    "rungs": "Rungs",
    "decisions": "Decisions",
    "machines": "Machines",
    "compare": "Compare",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel of this checkout; return the folder that it is unpacked to."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=WITHIN_S)
    (file,) = folder.glob("*.whl")
    with ZipFile(file) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


@pytest.fixture
def web(wheel, monkeypatch) -> Path:
    """Take the wheel's modules for those that the bundler reads."""
    folder = wheel / "overtone" / "ui" / "web"
    monkeypatch.setattr(bundle, "WEB", folder)
    return folder


def test_own_code_is_small(web):
    """All own scripts and styles, each file compressed as it is sent."""
    texts = [own_modules(bundle.script(entry, after)) for entry, after in SCRIPTS.items()]
    texts.append("\n".join(compact_style(path.read_text("utf-8")) for path in web.glob("css/*.css")))
    assert sum(len(brotli.compress(text.encode())) for text in texts) <= MOST_OWN_BYTES


def own_modules(text: str) -> str:
    modules = re.split(r"(?m)^(?=const \[[^]\n]*\]=\(\([^)\n]*\) => \{)", text)
    own = [module for module in modules if ", (c) " not in module.partition("\n")[0]]
    assert len(own) in (len(modules), len(modules) - 6)  # scripts that come after another have none vendored
    return "".join(own)


def test_only_names_and_breaks_differ_from_the_repository(monkeypatch, wheel):
    """Parsed, with its variables numbered, each script is the same."""

    def scripts() -> dict[str, str]:
        texts = {entry: bundle.script(entry, after) for entry, after in {**SCRIPTS, "report.js": ""}.items()}
        texts["widget.js"] = f"make = {bundle.factory('widget.js')};"
        return {name: re.sub('"[0-9a-f]{16}"', '""', text) for name, text in texts.items()}  # the version

    written = scripts()
    monkeypatch.setattr(bundle, "WEB", wheel / "overtone" / "ui" / "web")
    made = scripts()
    assert sum(map(len, made.values())) < 0.9 * sum(map(len, written.values()))
    pairs = json.dumps({name: [text, made[name]] for name, text in written.items()})
    script = Path(__file__).parent / "js" / "same_code.mjs"
    if not (script.parents[1] / "node_modules" / "eslint-scope").is_dir():
        pytest.skip("needs the packages of tests/ui/package.json")
    done = subprocess.run(
        ["node", str(script)], input=pairs, capture_output=True, text=True, timeout=WITHIN_S
    )
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr[-4000:]


def test_the_page_of_the_wheel_is_what_is_served(page, serve, finished, wheel):
    """Every view, and the Chinese texts; Brotli is what a browser is sent."""
    server = serve(finished, PYTHONPATH=str(wheel))
    sent = {}
    page.on("response", lambda answer: sent.update({answer.url.removeprefix(server.origin): answer}))
    page.goto(server.at("asha"))
    for view, text in VIEWS.items():
        page.goto(f"{server.origin}/#/e/asha/{view}")
        page.get_by_role("main").get_by_text(text).first.wait_for()
    page.get_by_label("Language").select_option("zh")
    page.get_by_role("heading", name="对比").first.wait_for()
    for path in ("/app.js", "/worker.js", "/zh.js", "/app.css"):
        assert sent[path].headers["content-encoding"] == "br", path
        assert (wheel / "overtone/ui/web/packed" / f"{sent[path].headers['etag'][1:-4]}.br").is_file()
    assert "// js/" not in sent["/app.js"].text()
