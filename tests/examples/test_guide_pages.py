"""The listings of the guides run, one after the other, each page by itself."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import overtone
from overtone import tune
from overtone.tune.schedulers import ASHAScheduler

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = (
    "trainables",
    "search-spaces",
    "metrics",
    "checkpoints",
    "resources",
    "stopping",
    "choosing-algorithms",
    "monitoring",
)
COMING_FROM = ("coming-from-optuna", "coming-from-syne-tune", "coming-from-wandb-sweeps")


@pytest.mark.parametrize("page", GUIDES + COMING_FROM)
def test_the_listings_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "coming-from-optuna":
        pytest.importorskip("optuna")
    monkeypatch.setenv("HOME", str(tmp_path))
    blocks = re.findall(r"```(\w*)\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL)
    listings = [text for language, text in blocks if language == "python"]
    script = tmp_path / f"{page.replace('-', '_')}_page.py"
    script.write_text("\n\n".join(listings), "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    assert "warning" not in run.stderr.lower(), run.stderr
    shown = "".join(text for language, text in blocks if not language)
    if shown:
        assert run.stdout == shown


def names(page: str) -> list[str]:
    """Return the names of this package in the last column of a page's tables."""
    rows = re.findall(r"^\|.*\| (.*) \|$", (DOCS / f"{page}.md").read_text("utf-8"), re.MULTILINE)
    spans = (span for row in rows for span in re.findall(r"`([^`]+)`", row))
    return sorted(
        {found[0] for span in spans if (found := re.match(r"(?:tune|overtone)\.[a-zA-Z_.]+", span))}
    )


@pytest.mark.parametrize("page", COMING_FROM)
def test_the_names_of_a_table_exist(page: str) -> None:
    stated = names(page)
    assert len(stated) >= 2
    for name in stated:
        value: object = overtone
        for part in name.removeprefix("overtone.").rstrip(".").split("."):
            value = getattr(value, part)


@pytest.mark.parametrize("page", COMING_FROM)
def test_the_arguments_of_a_table_exist(page: str) -> None:
    rows = re.findall(r"^\|.*\| (.*) \|$", (DOCS / f"{page}.md").read_text("utf-8"), re.MULTILINE)
    spans = (span for row in rows for span in re.findall(r"`([^`]+)`", row))
    arguments = {found[1] for span in spans if (found := re.fullmatch(r"([a-z_]+)=[^(]*", span))}
    known = {*inspect.signature(tune.run).parameters, *inspect.signature(ASHAScheduler).parameters}
    assert arguments
    assert arguments <= known
