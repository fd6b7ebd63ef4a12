"""The listings of docs/reproducibility.md run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reproducibility.md").read_text("utf-8")


def test_the_listings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "reproducibility_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(listing, scope)
    assert scope["found"].n_suggestions == 4
