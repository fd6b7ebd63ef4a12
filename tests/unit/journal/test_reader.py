from __future__ import annotations

import pytest

from overtone.core.messages import Record, Tick
from overtone.errors import StorageError
from overtone.journal import lines as module
from overtone.journal.codec import Codec
from overtone.journal.header import new_header
from overtone.journal.reader import follow, read, scan
from overtone.journal.seals import sealed
from overtone.journal.writer import JournalWriter


@pytest.fixture
def written(path, records):
    writer = JournalWriter(path, new_header(1, {}))
    writer.append(records)
    writer.close()
    return path


def test_reading_goes_on_from_an_offset(written, records) -> None:
    first = read(written)
    for record in first:
        if record.n == 5:
            break
    again = read(written, first.lines.offset)
    assert list(again) == [record for record in records if record.n > 5]
    assert again.lines.offset == written.stat().st_size
    assert list(read(written, again.lines.offset, n=again.lines.n)) == []


def test_chunks_may_end_anywhere(written, records, monkeypatch) -> None:
    for size in (1, 7, 100):
        monkeypatch.setattr(module, "_CHUNK_BYTES", size)
        assert list(read(written)) == records


def test_lazy_reading_decodes_on_demand(written, records) -> None:
    assert list(read(written, lazy=True)) == records


def test_a_torn_end_is_dropped_and_told(written, records) -> None:
    data = written.read_bytes()
    written.write_bytes(data[:-3])
    reader = read(written)
    assert list(reader) == records[:-1]
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    assert (reader.lines.offset, reader.lines.dropped_bytes) == (last, len(data) - 3 - last)
    with pytest.raises(StorageError, match=f"line {records[-1].n}"):
        list(read(written, tail="error"))


def test_pages_that_were_never_written_are_a_torn_end(written, records) -> None:
    """After a power cut a file may be long enough, and hold zeros."""
    with written.open("ab") as file:
        file.write(b"\0" * 4096)
    reader = read(written)
    assert list(reader) == records
    assert reader.lines.dropped_bytes == 4096


def test_damage_further_up_names_its_line(written, records) -> None:
    lines = written.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b'"time"', b'"tame"')
    written.write_bytes(b"\n".join(lines))
    found = []
    with pytest.raises(StorageError, match=rf"line 4 \(byte {len(b''.join(lines[:3])) + 3}\): damaged"):
        found.extend(iter(read(written)))
    with pytest.raises(StorageError, match="line 4"):
        list(scan(written))


def test_a_missing_line_is_noticed(written) -> None:
    lines = written.read_bytes().split(b"\n")
    del lines[3]
    written.write_bytes(b"\n".join(lines))
    with pytest.raises(StorageError, match="line 4: record 4 is missing"):
        list(read(written))


def test_a_newer_format_is_refused(path) -> None:
    path.write_bytes(Codec().encode_fact(1, "header", {"format": 3, "overtone": "9.0"}))
    with pytest.raises(StorageError, match=r"written by Overtone 9\.0 in format 3.*pip install -U"):
        list(read(path))


def test_a_file_of_another_kind_is_refused(path) -> None:
    path.write_bytes(sealed(b'{"n":1,"e":"tick","time":1.0'))
    with pytest.raises(StorageError, match="not a journal of Overtone"):
        list(read(path))


def test_a_file_that_is_not_there_is_named(path) -> None:
    with pytest.raises(StorageError, match=r"journal\.jsonl cannot be read: No such file"):
        list(read(path))


def test_scan_gives_kinds_and_plain_data(written, records) -> None:
    found = list(scan(written))
    assert [kind for kind, _ in found[:3]] == ["header", "capacity_changed", "suggested"]
    assert [document["n"] for _, document in found] == list(range(1, len(records) + 2))


class Beats:
    """Each sleep lets the experiment go on by one step."""

    def __init__(self, *steps) -> None:
        self._steps = list(steps)

    def sleep(self, _: float) -> None:
        self._steps.pop(0)()

    def is_over(self) -> bool:
        return not self._steps


def test_follow_yields_records_as_they_come(path, records) -> None:
    encode = Codec().encode
    header = Codec().encode_fact(1, "header", new_header(1, {}))
    lines = [encode(record) for record in records]

    def grow(data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)

    beats = Beats(
        lambda: grow(header),
        lambda: grow(lines[0] + lines[1][:20]),
        lambda: grow(lines[1][20:]),
        lambda: grow(b""),
        lambda: grow(b"".join(lines[2:])),
    )
    assert list(follow(path, beats.is_over, sleep=beats.sleep)) == records


def test_follow_survives_an_append_that_was_taken_back(path) -> None:
    encode = Codec().encode
    header = Codec().encode_fact(1, "header", new_header(1, {}))
    first, second = Record(2, Tick(1.0)), Record(3, Tick(2.0))
    beats = Beats(
        lambda: path.write_bytes(header + encode(first) + encode(second)),
        lambda: path.write_bytes(header + encode(first)),
        lambda: path.write_bytes(header + encode(first) + encode(second) + encode(Record(4, Tick(3.0)))),
    )
    assert [record.n for record in follow(path, beats.is_over, sleep=beats.sleep)] == [2, 3, 4]
