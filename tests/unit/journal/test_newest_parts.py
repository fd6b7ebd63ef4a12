import pytest

from overtone.journal.newest_parts import newest_parts
from overtone.journal.writer import JournalWriter

HEADER = {"format": 1, "parts": {"name": "first"}}


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    writer = JournalWriter(path, HEADER)
    for name in ("second", "third", None):
        writer.note("driver", {"pid": 1, **({"parts": {"name": name}} if name else {})})
    writer.close()
    return path


def test_the_newest_note_that_has_parts_counts(journal):
    assert newest_parts(journal, HEADER) == {"name": "third"}


def test_a_damaged_note_is_passed_over(journal):
    journal.write_bytes(journal.read_bytes().replace(b"third", b"thirf"))
    assert newest_parts(journal, HEADER) == {"name": "second"}


@pytest.mark.parametrize("text", [b"", b'{"n":1,"e":"header"}\n', b'{"n":2,"e":"driver"'])
def test_without_notes_it_is_the_header(tmp_path, text):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    assert newest_parts(path, HEADER) == {"name": "first"}
    assert newest_parts(tmp_path / "none", HEADER) == {"name": "first"}


@pytest.mark.parametrize("block", [13, 64, 1000])
def test_a_note_may_lie_across_blocks(journal, monkeypatch, block):
    monkeypatch.setattr("overtone.journal.newest_parts._BLOCK_BYTES", block)
    assert newest_parts(journal, HEADER) == {"name": "third"}
