"""One search over five estimators ends with the best of them, and docs/conditional-spaces.md shows what runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "five_estimators.py"
PAGE = (ROOT / "docs" / "conditional-spaces.md").read_text("utf-8")
NAMES = ["SVM", "extra trees", "k-neighbours", "logistic regression", "MLP"]


def test_the_search_ends_with_the_best_estimator(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), "--trials", "8", "--storage", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=800)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = re.findall(rf"^({'|'.join(NAMES)}) +(\d+) +(\d+) +(-|0\.\d+)$", run.stdout, re.M)
    assert [name for name, *_ in rows] == NAMES
    assert sum(int(trials) for _, trials, *_ in rows) == 8
    best = re.search(r"^Best: \{'name': '([^']+)', ", run.stdout, re.M)
    accuracy = re.search(r"^Test accuracy: (0\.\d+)$", run.stdout, re.M)
    assert best
    assert best[1] in NAMES
    assert accuracy
    assert float(accuracy[1]) > 0.9


def test_the_listings_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    *listings, space = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope: dict[str, Any] = {"__name__": "conditional_page"}
    for listing in listings:
        exec(listing, scope)
    assert capsys.readouterr().out.splitlines() == re.findall(r"^```\n([^$].*)\n```$", PAGE, re.M)
    assert space in EXAMPLE.read_text("utf-8")
