"""How much is done for each byte of a journal, and what is too long."""

from __future__ import annotations

import io

import pytest

from overtone.core.messages import Record, Reported, Tick
from overtone.errors import OvertoneError, StorageError
from overtone.journal import lines, seals, text, writer
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.lines import Lines, has_records, header
from overtone.journal.reader import follow, read
from overtone.journal.seals import sealed
from overtone.journal.writer import JournalWriter

HEAD = Codec().encode_fact(1, "header", {"format": FORMAT})
SIZE = 400_000


class Counted:
    """A function whose arguments' lengths are added up."""

    def __init__(self, function) -> None:
        self._function = function
        self.calls = self.total = 0

    def __call__(self, data, *rest):
        self.calls += 1
        self.total += len(data) - (rest[0] if rest else 0)
        return self._function(data, *rest)


@pytest.fixture
def checksums(monkeypatch) -> Counted:
    counted = Counted(seals.crc32)
    monkeypatch.setattr(seals, "crc32", counted)
    return counted


BEGINNINGS = b'{"n":' * (SIZE // 5)
HOLES = (b"\0" * 20 + b'{"n":2,"e":"\n') * (SIZE // 33)


@pytest.mark.parametrize(
    "tail", [b'{"n":2,"e' + b"x" * SIZE, BEGINNINGS, HOLES, bytes(20) + BEGINNINGS, bytes(SIZE)]
)
def test_a_torn_end_is_checked_once(path, checksums, tail) -> None:
    path.write_bytes(HEAD + tail)
    found = Lines(path)
    assert len(list(found)) == 1
    assert found.dropped_bytes == len(tail)
    assert checksums.total <= 2.1 * (len(HEAD) + len(tail))


def test_a_damaged_line_full_of_beginnings_is_checked_once(path, checksums) -> None:
    path.write_bytes(HEAD + BEGINNINGS + b"\n" + BEGINNINGS)
    with pytest.raises(StorageError, match="line 2 .*damaged"):
        list(Lines(path))
    assert checksums.total <= len(HEAD) + len(BEGINNINGS)


@pytest.mark.parametrize("config", [
    b'{"metrics":1,"metrics":2}', b'[%b]' % b",".join([b'{"x":1,"metrics":{}}'] * 20_000),
    b'{"a":"%b","b":1,"metrics":2}' % (b',\\"metrics\\":' * 20_000),
])  # fmt: skip
def test_a_config_full_of_metrics_is_parsed_once(monkeypatch, config) -> None:
    body = (
        b'{"n":7,"e":"reported","time":1.0,"trial_id":"358bb_00000","attempt":0,"t":3,"choices":[{"c":"ruled",'
        b'"trial_id":"358bb_00000","what":"restart","t":3,"config":%b}],"metrics":{"loss":0.5}' % config
    )
    parsed = Counted(text._untagged)
    monkeypatch.setattr(text, "_untagged", parsed)
    record = Codec().decode(body)
    assert record is not None
    assert dict(record.event.metrics) == {"loss": 0.5}
    assert parsed.calls < 30


def test_metrics_are_found_behind_what_is_not_ascii() -> None:
    text = '{"n":7,"e":"reported","time":1.0,"trial_id":"a","attempt":0,"t":3,"x":{"\u20ac":1,"metrics":2},"metrics":{"y":"\U0001f600"}'
    record = Codec().decode(text.encode())
    assert record is not None
    assert record.event.metrics == {"y": "\U0001f600"}


@pytest.mark.parametrize("body", [
    b'{"n":7,"e":"reported","t":12', b'{"n":7,"e":"reported","t":[{"x":1,"metrics":2}', b'{"n":7,"e":"reported",,"metrics":{}',
    b'{"n":7,"e":"reported","x":' + b"[" * 100_000 + b',"metrics":{}',
])  # fmt: skip
def test_a_report_without_metrics(body) -> None:
    with pytest.raises(StorageError, match="made by something else"):
        Codec().decode(body)


class CountingFile(io.FileIO):
    total = 0

    def read(self, size=-1):
        data = super().read(size)
        type(self).total += len(data)
        return data

    def readinto(self, buffer):
        count = super().readinto(buffer)
        type(self).total += count
        return count


def test_half_a_line_in_small_pieces_is_read_twice_at_most(path, monkeypatch) -> None:
    record = Record(2, Reported(1.0, "358bb_00000", 0, 1, {"text": "x" * SIZE}))
    line = Codec().encode(record)
    path.write_bytes(HEAD)
    pieces = [line[at : at + 1000] for at in range(0, len(line), 1000)]
    monkeypatch.setattr(CountingFile, "total", 0)
    monkeypatch.setattr(lines, "open_for_reading", lambda path: io.BufferedReader(CountingFile(path)))

    def grow(_: float) -> None:
        with path.open("ab") as file:
            file.write(pieces.pop(0))

    assert list(follow(path, lambda: not pieces, sleep=grow)) == [record]
    assert CountingFile.total < 3 * len(line) + len(pieces) * 10_000


def test_a_line_that_was_written_anew_while_it_had_no_end_is_found(path) -> None:
    first, second = (Codec().encode(Record(2, Tick(float(time)))) for time in (1, 2))
    long = Codec().encode(Record(2, Reported(1.0, "a", 0, 1, {"text": "x" * 5000})))
    steps = [HEAD + long[:3000], HEAD + long[:4000], HEAD + second + b" " * 5000, HEAD + second + b" " * 5001]

    def write(_: float) -> None:
        path.write_bytes(steps.pop(0))

    path.write_bytes(HEAD + first[:5])
    seen = []
    for record in follow(path, lambda: not steps, sleep=write):
        seen.append((record.event.time, len(steps)))
    assert seen == [(2.0, 1)]


@pytest.mark.parametrize("end", [b"\n", b""], ids=["with", "without"])
def test_a_line_beyond_the_limit_is_told_with_its_place(path, monkeypatch, end) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    monkeypatch.setattr(lines, "_CHUNK_BYTES", 100)
    line = Codec().encode(Record(2, Reported(1.0, "a", 0, 1, {"text": "x" * 2000})))
    path.write_bytes(HEAD + line.rstrip(b"\n") + end)
    with pytest.raises(StorageError, match=rf"line 2 \(byte {len(HEAD)}\): damaged, it is longer than"):
        list(read(path))


def test_a_line_as_long_as_the_limit_is_read(path, monkeypatch) -> None:
    record = Record(2, Reported(1.0, "a", 0, 1, {"text": "x" * 2000}))
    line = Codec().encode(record)
    path.write_bytes(HEAD + line)
    monkeypatch.setattr(lines, "_CHUNK_BYTES", 100)
    monkeypatch.setattr(lines, "LONGEST_LINE", len(line))
    assert list(read(path)) == [record]
    monkeypatch.setattr(lines, "LONGEST_LINE", len(line) - 1)
    with pytest.raises(StorageError, match="longer"):
        list(read(path))


def test_a_file_without_newlines_is_not_read_whole(path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    with pytest.raises(StorageError, match=r"line 1 \(byte 0\): damaged, it is longer than 64 MB"):
        header(path)
    assert has_records(path)


def test_the_writer_refuses_what_no_reader_takes(path, monkeypatch) -> None:
    made = JournalWriter(path, {"format": FORMAT})
    monkeypatch.setattr(writer, "LONGEST_LINE", 1000)
    before = path.read_bytes()
    short = [Record(n, Tick(float(n))) for n in range(2, 22)]
    with pytest.raises(OvertoneError, match="up to 1,000 bytes") as told:
        made.append([*short, Record(22, Reported(1.0, "a", 0, 1, {"text": "x" * 1000}))])
    assert not isinstance(told.value, StorageError), "which would be tried again"
    assert path.read_bytes() == before
    made.append(short)
    made.close()
    assert list(read(path)) == short


@pytest.mark.parametrize(("data", "holds"), [
    (b"", False), (HEAD[:-1], False), (HEAD, True), (HEAD[:9] + b"X" + HEAD[10:], True), (bytes(4096), False),
    (bytes(4096) + b'x"}\n', False), (bytes(4096) + HEAD, True), (b"hello\n", True), (b"hello", False),
    (sealed(b'{"n":1,"e":"header","format":9'), True),
])  # fmt: skip
def test_whether_anything_was_recorded(path, data, holds) -> None:
    path.write_bytes(data)
    assert has_records(path) is holds


def test_the_newest_time(path) -> None:
    made = JournalWriter(path, {"format": FORMAT})
    assert made.newest_time() == 0.0
    made.append([Record(2, Tick(1.5)), Record(3, Reported(2.5, "a", 0, 1, {"text": "x" * 1_000_000}))])
    assert made.newest_time() == 2.5
    with path.open("ab") as file:
        file.write(b'{"n":4,"e":"tick","time":9.0')
    assert made.newest_time() == 2.5
    made.close()


def numbered(last: int) -> list[bytes]:
    """The lines of a journal with `last` records."""
    return [HEAD, *(Codec().encode(Record(n, Tick(float(n)))) for n in range(2, last + 1))]


@pytest.mark.parametrize("chunk_bytes", [1, 40, 200, 1 << 18])
def test_batches_are_the_lines_with_their_places(path, monkeypatch, chunk_bytes) -> None:
    monkeypatch.setattr(lines, "_CHUNK_BYTES", chunk_bytes)
    written = numbered(120)  # the numbers have one, two and three digits
    path.write_bytes(b"".join(written))
    whole, found, ends = Lines(path), Lines(path), []
    bodies = [body for batch in whole.batches() for body in batch]
    assert bodies == [seals.unsealed(line[:-1]) for line in written]
    for n, body in enumerate(found, 1):
        assert (found.n, body) == (n, bodies[n - 1])
        ends.append(found.offset)
    assert ends == [sum(map(len, written[:n])) for n in range(1, 121)]
    assert (whole.n, whole.offset) == (120, ends[-1])


@pytest.mark.parametrize("bad", [2, 10, 60, 120])
@pytest.mark.parametrize("what", ["damaged", "missing", "short"])
def test_batches_end_before_the_first_line_that_is_wrong(path, bad, what) -> None:
    written = numbered(120)
    line = written[bad - 1]
    written[bad - 1] = {"damaged": line.replace(b'"e"', b'"f"'), "missing": b"", "short": b"{}\n"}[what]
    more = Codec().encode(Record(121, Tick(1.0)))
    path.write_bytes(b"".join([*written, more]))
    found, bodies = Lines(path), []
    with pytest.raises(
        StorageError, match=rf"line {bad}\b.*truncate -s {sum(map(len, written[: bad - 1]))} "
    ):
        bodies.extend(found)
    assert (len(bodies), found.n) == (bad - 1, bad - 1)
