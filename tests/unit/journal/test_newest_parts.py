import pytest

from overtone.core.limits import Limits
from overtone.core.messages import Record, Resumed
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


@pytest.mark.parametrize("has_parts", [True, False])
def test_limits_are_those_of_the_newest_resume(tmp_path, has_parts):
    path = tmp_path / "journal.jsonl"
    header = {"format": 1, "parts": {"name": "first", "limits": {"total": 2}}}
    writer = JournalWriter(path, header)
    noted = {"parts": {"name": "second"}} if has_parts else {}
    for total in (3, 4, None):
        writer.note("driver", noted)
        if total is not None:
            writer.append([Record(writer.next_n, Resumed(1.0, Limits(total, max_failures=1)))])
    writer.close()
    found = newest_parts(path, header)
    assert found["name"] == ("second" if has_parts else "first")
    assert Limits.of(found["limits"]) == Limits(4, max_failures=1)
    assert found["limits"]["fail_fast"] is False  # whole, as in a header
    assert header["parts"]["limits"] == {"total": 2}
