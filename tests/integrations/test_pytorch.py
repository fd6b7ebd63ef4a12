"""PyTorch: the page's search, in which the killed trial has the curve of an unbroken training."""

from __future__ import annotations

from pathlib import Path

import pytest
from training_runs import MOST_LINES, added_lines, check_page

pytest.importorskip("torch")


def test_the_page_shows_what_the_example_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"accuracy": "accuracy"}
    check_page("pytorch_digits", "pytorch", names, tmp_path, monkeypatch, capsys)


def test_few_lines_are_added() -> None:
    assert 0 < len(added_lines("pytorch_digits")) <= MOST_LINES
