from __future__ import annotations

import io
import sys

import pytest

from overtone.reading import reading_progress
from overtone.reading.journal_index import JournalIndex
from overtone.reading.reading_progress import ReadingProgress
from overtone.reading.summary_cache import SummaryCache


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_and_removed(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(reading_progress, "_WAIT_S", 0.0)
    monkeypatch.setattr(sys, "stderr", kind())
    journal = tmp_path / "exp" / "journal.jsonl"
    journal.parent.mkdir()
    journal.write_bytes(b"x" * 200)
    with ReadingProgress(journal) as progress:
        progress(100)
    text = "\rreading exp: 50 %"
    assert sys.stderr.getvalue() == (f"{text}\r{' ' * (len(text) - 1)}\r" if kind is Terminal else "")


def test_a_short_reading_shows_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_progress, "_WAIT_S", 1e9)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ReadingProgress(tmp_path / "journal.jsonl") as progress:
        progress(100)
    assert sys.stderr.getvalue() == ""


def test_indexing_a_whole_journal_shows_progress(told, monkeypatch):
    for number in range(3):
        told.run({"x": number}, {"loss": 1.0})
    index = JournalIndex(told.write())
    monkeypatch.setattr(reading_progress, "_WAIT_S", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    index.refresh()
    assert sys.stderr.getvalue().startswith("\rreading ")
    assert sys.stderr.getvalue().endswith(" \r")


def test_the_first_summary_of_a_journal_shows_progress(told, monkeypatch):
    for number in range(3):
        told.run({"x": number}, {"loss": 1.0})
    journal = told.write()
    monkeypatch.setattr(reading_progress, "_WAIT_S", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with SummaryCache() as cache:
        cache.summary(journal)
    assert "\rreading " in sys.stderr.getvalue()
