"""The listings of docs/searching.md run, one after the other."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not (find_spec("optuna") and find_spec("cmaes")), reason="needs optuna and cmaes")
PAGE = Path(__file__).parents[2] / "docs" / "searching.md"


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "search_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(listing, scope)
    assert scope["analysis"].best_config["layers"] >= 3
    assert len(scope["both"].pareto_front()) >= 2
    assert "'lr': 0." in capsys.readouterr().out
