"""The listings of docs/plots.md run, and its tables name the plots that there are."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from overtone.tune import plots

pytestmark = pytest.mark.skipif(not find_spec("matplotlib"), reason="needs matplotlib")
PAGE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_the_listings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "plots_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(listing, names)
    assert (tmp_path / "importances.png").stat().st_size > 1_000


def test_the_page_names_every_plot() -> None:
    table = PAGE.read_text("utf-8").partition("## How to read them")[2].partition("**Importances.**")[0]
    named = {
        name
        for line in table.splitlines()
        for name in re.findall(r"`(\w+)`", line.partition("|")[2].partition("|")[0])
    }
    assert named == {name.removeprefix("plot_") for name in dir(plots) if name.startswith("plot_")}
