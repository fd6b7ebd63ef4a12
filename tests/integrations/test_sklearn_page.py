"""The listing of docs/scikit-learn.md prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


def test_the_listing_runs(capsys: pytest.CaptureFixture) -> None:
    text = PAGE.read_text("utf-8")
    (listing,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(listing, {"__name__": "page"})
    first, second = capsys.readouterr().out.splitlines()
    assert first == "True"
    fits = re.fullmatch(r"(\d+) fits instead of 100", second)
    assert fits is not None
    assert int(fits[1]) < 80
