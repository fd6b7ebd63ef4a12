"""The README's listing runs as it stands, and is the same wherever it is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def listing(page: str) -> str:
    """The first Python listing of a page."""
    found = re.search(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert found, f"{page} has no Python listing"
    return found[1]


def test_the_listing_has_at_most_eight_lines() -> None:
    lines = [line for line in listing("README.md").splitlines() if line.strip()]
    assert len(lines) <= 8
    assert "torch" not in listing("README.md")


@pytest.mark.parametrize("place", ["README.zh-CN.md", "examples/quickstart.py"])
def test_the_listing_is_the_same_everywhere(place: str) -> None:
    shown = (ROOT / place).read_text("utf-8") if place.endswith(".py") else listing(place)
    assert shown == listing("README.md")


def test_the_listing_runs(tmp_path: Path) -> None:
    script = tmp_path / "quickstart.py"
    script.write_text(listing("README.md"), "utf-8")
    environment = {**os.environ, "HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    last = run.stdout.splitlines()[-1]
    assert last.startswith("{"), run.stdout
    assert "'x'" in last
    assert list(tmp_path.glob("overtone_results/train_*/journal.jsonl"))


def test_links_lead_to_files_that_exist() -> None:
    for page in ("README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text("utf-8")):
            if "://" not in target:
                assert (ROOT / target).exists(), f"{page} links to {target}"
