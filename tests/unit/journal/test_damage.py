"""To the letter: every byte of a journal is cut at, and damaged, in turn."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from overtone.core.messages import Added, Ended, Moved, Record, Reported, Started, Suggested, Tick
from overtone.core.resources import Resources
from overtone.core.types import Checkpoint
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.lines import header
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter

TRIAL = "358bb_00000"
EVENTS = [
    (Suggested(0.0, 0, {"lr": 0.1}), Added(TRIAL, 0, {"lr": 0.1}, Resources.of({"cpu": 1}), "0")),
    (Started(0.5, TRIAL, 0, "127.0.0.1", 7), Moved(TRIAL, "RUNNING", 0)),
    (Reported(1.0, TRIAL, 0, 1, {"loss": 0.5}, None, '{"loss":0.5}'),),
    (Reported(2.0, TRIAL, 0, 2, {"text": 'a"\n\u20ac'}, Checkpoint(TRIAL, 2, "/c"), ""),),
    (Ended(3.0, TRIAL, 0, "raised", "ValueError: no"), Moved(TRIAL, "ERROR", 1, error="ValueError: no")),
]
RECORDS = [Record(n, event, tuple(choices)) for n, (event, *choices) in enumerate(EVENTS, 2)]
LINES = [Codec().encode_fact(1, "header", {"format": FORMAT}), *map(Codec().encode, RECORDS)]
DATA = b"".join(LINES)
ENDS = [len(b"".join(LINES[:count])) for count in range(1, len(LINES) + 1)]


@pytest.fixture(autouse=True)
def no_sync(monkeypatch) -> None:
    """Thousands of journals are opened: none of them has to survive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr("overtone.journal.writer.JournalWriter._sync_now_and_then", lambda self: None)


@pytest.fixture
def path(tmp_path):
    """In memory where that is possible: a disk takes a millisecond to make a file shorter."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path / "journal.jsonl"
        return
    with TemporaryDirectory(prefix="overtone-", dir=memory) as folder:
        yield Path(folder, "journal.jsonl")


def opens_and_goes_on(path, kept: int, dropped: int) -> None:
    """It has the first `kept` lines, and takes another record behind them."""
    writer = JournalWriter.open_for_append(path, {})
    assert (writer.next_n, writer.dropped_bytes) == (kept + 2, dropped)
    more = Record(kept + 2, Tick(9.0))
    writer.append([more])
    writer.close()
    assert list(read(path)) == [*RECORDS[: kept - 1], more]


def flipped(data: bytes, at: int) -> bytes:
    """`data` with one bit of the byte at `at` turned: another one at each place."""
    return data[:at] + bytes([data[at] ^ 1 << Random(at).randrange(8)]) + data[at + 1 :]


def test_cut_at_every_byte(path) -> None:
    for size in range(len(DATA) + 1):
        path.write_bytes(DATA[:size])
        kept = sum(end <= size for end in ENDS)
        if kept == 0:  # nothing was recorded yet
            with pytest.raises(StorageError, match="no complete header"):
                JournalWriter.open_for_append(path, {})
            JournalWriter(path, {"format": FORMAT}).close()
            assert header(path)["format"] == FORMAT
        else:
            opens_and_goes_on(path, kept, size - ENDS[kept - 1])


def is_told(path, data: bytes, line: int) -> None:
    """Reading and resuming name the line, and nothing is cut."""
    path.write_bytes(data)
    with pytest.raises(StorageError, match=rf"line {line} .*damaged"):
        list(read(path))
    with pytest.raises(StorageError, match=f"line {line}"):
        JournalWriter.open_for_append(path, {})
    assert path.read_bytes() == data


@pytest.mark.parametrize("last", range(len(LINES)))
def test_a_flipped_bit_at_every_byte_of_the_last_record_is_told(path, last) -> None:
    """Whatever kind of record it is: it had been written to its end."""
    data = DATA[: ENDS[last]]
    for at in range(len(data) - len(LINES[last]), len(data)):
        is_told(path, flipped(data, at), last + 1)


@pytest.mark.parametrize("line", range(len(LINES) - 1))
def test_a_flipped_bit_at_every_byte_further_up_is_told_with_its_line(path, line) -> None:
    for at in range(ENDS[line] - len(LINES[line]), ENDS[line]):
        is_told(path, flipped(DATA, at), line + 1)


def test_pages_lost_in_a_power_cut_are_a_torn_end(path) -> None:
    """Pages of the last lines read as zeros, wherever they begin and end."""
    begin = ENDS[2]
    for start in range(begin, len(DATA) - 20, 7):
        for end in (start + 16, len(DATA) - 1, len(DATA)):
            if any(start < one <= end for one in ENDS[:-1]) or DATA[end:].count(b"\n") > 1:
                continue  # whole records follow, see below
            path.write_bytes(DATA[:start] + bytes(end - start) + DATA[end:])
            kept = sum(one <= start for one in ENDS)
            opens_and_goes_on(path, kept, len(DATA) - ENDS[kept - 1])


@pytest.mark.parametrize("end", [ENDS[3] - 40, ENDS[3] - 1, ENDS[3]])
def test_lost_pages_before_a_whole_record_are_told(path, end) -> None:
    data = DATA[: ENDS[2]] + bytes(end - ENDS[2]) + DATA[end : ENDS[4]]
    is_told(path, data, 4)


def test_the_remedy_names_what_it_gives_up(path) -> None:
    data = flipped(DATA, ENDS[2] + 3)
    path.write_bytes(data)
    remedy = rf"truncate -s {ENDS[2]} {path}\), which gives up .*, {len(data) - ENDS[2]} bytes"
    with pytest.raises(StorageError, match=remedy):
        list(read(path))


@pytest.mark.parametrize("data", [flipped(DATA, 3), DATA[ENDS[0] :]], ids=["damaged", "missing"])
def test_nobody_is_advised_to_cut_at_the_beginning(path, data) -> None:
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"line 1.*Restore .* another name") as told:
        list(read(path))
    assert "truncate" not in str(told.value)


def test_a_line_that_is_there_twice_is_told(path) -> None:
    path.write_bytes(DATA + LINES[-1])
    with pytest.raises(StorageError, match=f"line {len(LINES) + 1}: record {len(LINES) + 1} is missing"):
        list(read(path))
