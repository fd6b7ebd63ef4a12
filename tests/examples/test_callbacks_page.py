"""The listings of docs/callbacks.md run, and its table has every hook."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from overtone.observers.callbacks.callback import HOOKS

PAGE = (Path(__file__).parents[2] / "docs" / "callbacks.md").read_text("utf-8")


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "callbacks_page"}
    for listing in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(listing, scope)
    assert re.search(r"train_\w+_00000: 0\.\d{3}", capsys.readouterr().out)
    (trial,) = scope["analysis"].trials
    with open(f"{trial.local_path}/progress.csv", newline="") as file:
        assert [round(float(row["loss"])) for row in csv.DictReader(file)] == [100, 50, 33]


def test_the_table_has_every_hook() -> None:
    assert set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE)) == {*HOOKS, "setup", "get_state", "set_state"}
