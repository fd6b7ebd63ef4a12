"""The page on simulated searches: its listings run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "simulation.md"


def test_the_listings_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    names = {"__name__": "__main__"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(listing, PAGE, "exec"), names)
    assert names["found"].best_config == {"row": 1}
    assert names["answer"].n_trials == 100
