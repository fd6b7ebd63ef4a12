from __future__ import annotations

import os
from pathlib import Path

import pytest

from overtone.worker.limits.limit_usage import TALLY, UsageFile


def test_what_is_written_is_read(tmp_path: Path) -> None:
    UsageFile(str(tmp_path)).write({3: (1.25, 0.5), 12: (0.0, 7.0)})
    assert UsageFile(str(tmp_path)).read() == {3: (1.25, 0.5), 12: (0.0, 7.0)}
    assert [path.name for path in tmp_path.iterdir()] == [TALLY]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "[" * 100_000, '{"x": [1, 2]}', '{"1": [1]}', '{"1": [-1, 2]}', '{"1": [NaN, 2]}', '{"1": ["a", 2]}'],
)  # fmt: skip
def test_what_somebody_else_wrote_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / TALLY).write_text(text)
    assert UsageFile(str(tmp_path)).read() == {}


def test_nothing_is_written_to_the_next_experiment_in_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "exp"
    folder.mkdir()
    tally = UsageFile(str(folder))
    folder.rename(tmp_path / "aside")
    tally.write({1: (1.0, 1.0)})
    folder.mkdir()
    tally.write({1: (1.0, 1.0)})
    assert list(folder.iterdir()) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    folder = tmp_path / "exp"
    folder.mkdir()
    for name in (TALLY, f"{TALLY}.{os.getpid()}"):
        (folder / name).symlink_to(elsewhere)
    UsageFile(str(folder)).write({1: (1.0, 1.0)})
    assert elsewhere.read_text() == "mine"
    assert UsageFile(str(folder)).read() == {1: (1.0, 1.0)}


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    tally = UsageFile(str(tmp_path / "none"))
    tally.write({1: (1.0, 1.0)})
    assert tally.read() == {}
