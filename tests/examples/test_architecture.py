"""ARCHITECTURE.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from overtone.core.trial import TRANSITIONS, Status

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
_WORDS = {status.value for status in Status}


def test_the_table_of_statuses_is_the_controllers() -> None:
    table = PAGE.split("\n## A trial's status\n")[1].split("\n## ")[0]
    told: dict[Status, set[Status]] = {}
    sources: list[Status] = []
    for row in re.findall(r"^\|([^|]*)\|([^|]*)\|[^|]*\|$", table, re.MULTILINE):
        source, target = ([Status(one) for one in re.findall(r"\w+", cell) if one in _WORDS] for cell in row)
        sources = source or sources
        for one in sources:
            told.setdefault(one, set()).update(target)
    assert told == {status: set(targets) for status, targets in TRANSITIONS.items()}


def test_the_files_it_names_are_there() -> None:
    named = re.findall(r"`([a-z_/]+\.py)`", PAGE)
    assert len(named) > 15
    missing = [
        name for name in named if not any((at / name).exists() for at in (ROOT / "src/overtone", ROOT))
    ]
    assert not missing


def test_the_folders_of_the_map_are_there() -> None:
    for folder in re.findall(r"(src/overtone/\w+/)", PAGE):
        assert (ROOT / folder).is_dir(), folder
