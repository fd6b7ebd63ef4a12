"""The errors of docs/errors.md exist: each example raises the error of its heading, with the text below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from overtone import tune

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
ENTRY = re.compile(
    r"^### (\w+): ([^\n]*)\n\n((?:> [^\n]*\n)+)(.*?)```python\n(.*?)```", re.MULTILINE | re.DOTALL
)
ENTRIES = ENTRY.findall(PAGE.read_text("utf-8"))


def test_each_heading_has_an_entry():
    headings = re.findall(r"^### (.*)", PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == [f"{kind}: {text}" for kind, text, *_ in ENTRIES]
    assert len(headings) > 15


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry[0]}: {entry[1]}")
def test_the_example_raises_it(entry, tmp_path, monkeypatch):
    kind, text, quoted, about, code = entry
    assert "**Cause:**" in about
    assert "**Fix:**" in about
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name == "ax" or name.startswith("ax.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ax", sys.modules.get("ax"))  # undoes what an example does to it
    with pytest.raises(tune.TuneError) as raised:
        exec(code, scope())
    assert kind in [each.__name__ for each in type(raised.value).__mro__]
    message = str(raised.value)
    assert text in message
    shown = " ".join(line.removeprefix("> ") for line in quoted.splitlines())
    # the machine, folders and ids differ
    pieces = re.split(r"\d[\w.]*_\d+|gpu \d, .*|/\S+", shown)
    assert [piece for piece in pieces if piece.strip() not in message] == []


def scope() -> dict[str, Any]:
    """Return the names that the examples use, with a `tune.run` that is quiet and quick."""

    def train(config):
        tune.report(loss=config.get("x", 0))

    def run(*args: Any, **options: Any) -> Any:
        return tune.run(*args, **{"engine": "inline", "verbose": 0, **options})

    names = {
        name: getattr(tune, name)
        for name in ("choice", "loguniform", "space", "uniform", "ExperimentAnalysis")
    }
    quiet = type("tune", (), {**{name: staticmethod(value) for name, value in names.items()}, "run": staticmethod(run),
                              "report": staticmethod(tune.report)})  # fmt: skip
    return {"__name__": "errors_page", "tune": quiet, "train": train, "space": {"x": tune.uniform(0, 1)}}
