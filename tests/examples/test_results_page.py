"""The listings of docs/results.md run, one after the other."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not find_spec("pandas"), reason="needs pandas")
PAGE = Path(__file__).parents[2] / "docs" / "results.md"


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "results_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(listing, scope)
    shown = capsys.readouterr().out
    assert shown.startswith("{'lr': 0.1}\n")
    assert "ValueError lr is too large" in shown
    assert scope["analysis"].best_config == {"lr": 0.1}
