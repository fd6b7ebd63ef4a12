"""The listings of docs/ask-and-tell.md run, one after the other, and print what the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ask-and-tell.md"


def test_the_listings_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "ask_and_tell_page"}
    listings = re.findall(r"```(python)?\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    for language, listing in listings:
        if language:
            exec(listing, scope)
    assert capsys.readouterr().out == "".join(text for language, text in listings if not language)
