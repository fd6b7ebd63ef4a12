"""The listings of docs/distributed-training.md run, one after the other."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "distributed-training.md"


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    import torch

    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "training_page"}
    listings = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(listings) == 5
    for listing in listings:
        exec(listing, scope)
    printed = capsys.readouterr().out
    assert printed.count("True\n") == 2
    # the learning rates are drawn without a seed: a search of two or four may find no good one
    assert math.isfinite(scope["best"].metrics["loss"])
    assert math.isfinite(scope["analysis"].best_result["loss"])
    assert {trial.status for trial in scope["analysis"].trials} == {"TERMINATED"}
