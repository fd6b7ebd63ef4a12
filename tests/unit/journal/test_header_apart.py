"""A header whose driver's facts lie beside the journal."""

from __future__ import annotations

from overtone.journal.header import DRIVER, new_header, set_apart
from overtone.journal.lines import header
from overtone.journal.writer import JournalWriter


def test_what_differs_between_machines_lies_beside_the_journal_and_is_read_with_it(tmp_path) -> None:
    whole = {**new_header(7, {"name": "curve", "main": "/home/ada/search.py"}), "nth": 2}
    kept = set_apart(whole, tmp_path)
    assert kept == {
        "format": whole["format"], "overtone": whole["overtone"], "seed": 7, "parts": {"name": "curve"},
    }  # fmt: skip
    JournalWriter(tmp_path / "journal.jsonl", kept).close()
    found = header(tmp_path / "journal.jsonl")
    assert {name: found[name] for name in whole} == whole


def test_a_copy_of_the_journal_alone_still_has_a_header(tmp_path) -> None:
    kept = set_apart(new_header(7, {"name": "curve", "main": "x"}), tmp_path)
    (tmp_path / DRIVER).unlink()
    JournalWriter(tmp_path / "journal.jsonl", kept).close()
    assert header(tmp_path / "journal.jsonl")["parts"] == {"name": "curve"}
