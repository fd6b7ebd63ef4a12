"""The listings of docs/first-search.md run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from overtone import tune

PAGE = Path(__file__).parents[2] / "docs" / "first-search.md"


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "first_search_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(listing, scope)
    assert capsys.readouterr().out.splitlines()[-1] == "20"
    assert (tmp_path / "overtone_results" / "first" / "journal.jsonl").is_file()
    saved = tune.run(
        scope["train_and_save"], config=scope["space"], num_samples=1, metric="loss", mode="min", verbose=0
    )
    assert saved.best_trial.checkpoint.to_dict()["step"] == 20
