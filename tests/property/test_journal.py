"""A journal opens wherever it was cut, and names the line where it was damaged otherwise."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overtone.core.messages import Record, Reported, Tick
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.header import driver_facts, new_header
from overtone.journal.reader import read
from overtone.journal.seals import unsealed
from overtone.journal.text import dumps
from overtone.journal.writer import JournalWriter
from overtone.testing.scripted_records import Story

fresh = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def told() -> list[Record]:
    story = Story()
    for index in range(2):
        trial = story.add({"lr": 0.1 * index, "text": 'a"\n'})
        story.start(trial)
        story.report(trial, loss=0.5)
        story.end(trial, error="x" * index)
    return [replace(record, n=record.n + 1) for record in story.records]


RECORDS = told()
LINES = [
    Codec().encode_fact(1, "header", new_header(1, {}, ["train.py"])),
    *(Codec().encode(record) for record in RECORDS),
]
DATA = b"".join(LINES)


@fresh
@given(cut=st.integers(0, len(DATA)), garbage=st.binary(max_size=40))
def test_cut_at_any_byte_and_followed_by_anything(tmp_path, cut, garbage) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(DATA[:cut] + garbage)
    whole, end = 0, 0
    for line in LINES:
        # what follows the cut may happen to complete the line
        if not (DATA[:cut] + garbage).startswith(line, end):
            break
        whole, end = whole + 1, end + len(line)
    rest = (DATA[:cut] + garbage)[end:]
    if (
        b"\n" in rest or unsealed(rest[:-1]) is not None
    ):  # no crash writes the end of a line, or what follows it
        with pytest.raises(StorageError, match=f"line {whole + 1} "):
            list(read(path))
        return
    reader = read(path)
    assert list(reader) == RECORDS[: max(0, whole - 1)]
    assert reader.lines.offset == end
    assert reader.lines.dropped_bytes == cut + len(garbage) - end
    if whole:
        writer = JournalWriter.open_for_append(path, driver_facts(["train.py"]))
        assert writer.next_n == whole + 2
        writer.append([Record(whole + 2, Tick(9.0))])
        writer.close()
        assert list(read(path)) == [*RECORDS[: whole - 1], Record(whole + 2, Tick(9.0))]


@fresh
@given(data=st.data())
def test_any_flipped_bit_is_told_with_its_line(tmp_path, data) -> None:
    whole = data.draw(st.integers(1, len(LINES)))
    line = data.draw(st.integers(0, whole - 1))
    at = data.draw(st.integers(0, len(LINES[line]) - 1))
    text = bytearray(b"".join(LINES[:whole]))
    text[sum(map(len, LINES[:line])) + at] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    with pytest.raises(StorageError, match=f"line {line + 1}"):
        list(read(path))


floats = st.floats(allow_nan=False)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    trial=st.text(),
    time=st.floats(0, 1e9),
    t=st.integers(1),
    metrics=st.dictionaries(st.text(), data, max_size=5),
    has_raw=st.booleans(),
)
def test_every_report_comes_back(trial, time, t, metrics, has_raw) -> None:
    raw = dumps(metrics) if has_raw else ""
    record = Record(5, Reported(time, trial, 0, t, metrics, None, raw))
    line = Codec().encode(record)
    assert line.index(b"\n") == len(line) - 1
    body = unsealed(line[:-1])
    assert body is not None
    assert Codec().decode(body) == record
    assert Codec().decode(body, lazy=True) == record


@given(value=st.sampled_from([math.nan, math.inf, -math.inf]), depth=st.integers(0, 3))
def test_floats_that_json_lacks_come_back(value, depth) -> None:
    metrics: dict = {"loss": value}
    for _ in range(depth):
        metrics = {"inner": [metrics]}
    body = unsealed(Codec().encode(Record(5, Reported(0.0, "t", 0, 1, metrics)))[:-1])
    assert body is not None
    found = Codec().decode(body)
    assert found is not None
    assert repr(found.event.metrics) == repr(metrics)
