"""Keras: the page's search, in which the killed trial has the curve of an unbroken training."""

from __future__ import annotations

from pathlib import Path

import pytest
from training_runs import MOST_LINES, added_lines, check_page

pytest.importorskip("keras")


def test_the_page_shows_what_the_example_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"val_accuracy": "val_accuracy", "loss": "loss"}
    check_page("keras_digits", "keras", names, tmp_path, monkeypatch, capsys)


def test_few_lines_are_added() -> None:
    assert 0 < len(added_lines("keras_digits")) <= MOST_LINES
