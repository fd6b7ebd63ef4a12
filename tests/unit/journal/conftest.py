from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overtone.core.messages import Record
from overtone.testing.scripted_records import Story


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def told(n_trials: int = 2, n_results: int = 3) -> list[Record]:
    """The records of a small experiment, numbered behind a header."""
    story = Story()
    story.capacity(cpu=2)
    for index in range(n_trials):
        trial = story.add({"lr": 0.1 * index})
        story.start(trial)
        for t in range(n_results):
            story.time += 0.5
            story.report(trial, loss=1 / (t + 1))
        story.end(trial)
    return [replace(record, n=record.n + 1) for record in story.records]


@pytest.fixture
def records() -> list[Record]:
    return told()
