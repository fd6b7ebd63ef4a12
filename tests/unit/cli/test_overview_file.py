"""The overview that a driver keeps is used only with the journal that it was made from."""

from __future__ import annotations

import json
import os
import shutil
from zlib import crc32

import pytest

from overtone.errors import StorageError
from overtone.journal import lines
from overtone.reading.experiment_summary import ExperimentSummary
from overtone.reading.overview_file import NAME, OverviewFile
from overtone.reading.summary_cache import SummaryCache


def folded(journal) -> dict:
    fold = ExperimentSummary()
    fold.read(journal)
    return fold.data


@pytest.fixture
def kept(tell):
    """A finished experiment with an overview."""
    told = tell("exp")
    told.run({"x": 1}, 3.0, 2.0)
    told.run({"x": 2}, 5.0)
    told.close()
    OverviewFile(told.journal).write()
    return told.journal


def read_from(monkeypatch) -> list[int]:
    """Where each reading of lines begins."""
    begun: list[int] = []
    batches = lines.Lines.batches

    def watched(self):
        begun.append(self.offset)
        return batches(self)

    monkeypatch.setattr(lines.Lines, "batches", watched)
    return begun


def test_it_knows_what_a_reading_finds(kept):
    fold = OverviewFile(kept).load()
    assert fold is not None
    assert fold.data == folded(kept)


def test_a_first_look_reads_no_line_that_it_covers(kept, monkeypatch):
    begun = read_from(monkeypatch)
    with SummaryCache() as index:
        assert index.summary(kept)["best"] == {"trial_id": "358bb_00000", "value": 2.0}
    assert begun == [kept.stat().st_size]


def test_what_was_recorded_later_is_read(tell, monkeypatch):
    told = tell("exp")
    told.run({"x": 1}, 3.0)
    told.write()
    overview = OverviewFile(told.journal)
    overview.write()
    covered = told.journal.stat().st_size
    told.run({"x": 2}, 1.0)
    told.write()
    begun = read_from(monkeypatch)
    with SummaryCache() as index:
        assert index.summary(told.journal)["best"]["value"] == 1.0
    overview.write()
    told.run({"x": 3}, 0.5)
    told.close()
    OverviewFile(told.journal).write()  # of the driver of a resume
    assert begun[:2] == [covered, covered]
    assert OverviewFile(told.journal).load().data == folded(told.journal)


def test_a_copied_experiment_keeps_it(kept, tmp_path):
    shutil.copytree(kept.parent, tmp_path / "copy")
    assert OverviewFile(tmp_path / "copy" / "journal.jsonl").load() is not None


def test_a_damaged_journal_is_found_although_its_times_are_the_same(kept):
    times, data = os.stat(kept), kept.read_bytes()
    middle = data.index(b'"loss":3.0')
    kept.write_bytes(data.replace(b'"loss":3.0', b'"loss":3.1'))
    os.utime(kept, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert OverviewFile(kept).load() is None
    with SummaryCache() as index, pytest.raises(StorageError, match="damaged"):
        index.summary(kept)
    assert middle > 0


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_journal_that_was_cut_is_read_from_its_beginning(kept, keep):
    written = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(written[: int(len(written) * keep)]))
    assert OverviewFile(kept).load() is None
    with SummaryCache() as index:
        assert index.summary(kept)["results"] == folded(kept)["results"]


def changed(**fields) -> bytes:
    """A well-formed overview whose data has other fields."""

    def write(text: bytes) -> bytes:
        head, body, _ = text.split(b"\n")
        data = json.dumps({**json.loads(body), **fields}).encode()
        return b"%b\n%b\n" % (json.dumps({**json.loads(head), "body": crc32(data)}).encode(), data)

    return write


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: text[:-10],
        lambda text: text.replace(b"TERMINATED", b"PENDINGxxx"),
        lambda text: b"[" * 100_000,
        lambda text: b"{}\n{}\n",
        lambda text: text.replace(b'"version": ', b'"version": 9'),
        changed(offset=0),
        changed(offset="7"),
        changed(trials=[1]),
        changed(trials={"a": 1}),
        changed(trials={"a": ["PENDING", "x"]}),
        changed(trials={"a": [["PENDING"], None]}),
        changed(goal=["loss"]),
        changed(goal=7),
        changed(goal=None),
        changed(time=float("inf")),
        changed(time=float("nan")),
        changed(started=float("nan")),
        changed(planned="x"),
        changed(started=[]),
        changed(results="many"),
    ],
)
def test_what_is_no_overview_is_not_used(kept, damage):
    path = kept.with_name(NAME)
    path.write_bytes(damage(path.read_bytes()))
    assert OverviewFile(kept).load() is None
    with SummaryCache() as index:
        assert index.summary(kept)["results"] == 3


def test_a_link_or_a_pipe_in_its_place_is_not_opened(kept, tmp_path):
    path = kept.with_name(NAME)
    path.rename(tmp_path / "aside")
    path.symlink_to(tmp_path / "aside")
    assert OverviewFile(kept).load() is None
    path.unlink()
    os.mkfifo(path)
    assert OverviewFile(kept).load() is None


def test_a_full_disk_leaves_the_old_one(kept, monkeypatch):
    before = kept.with_name(NAME).read_bytes()

    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(kept), "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        OverviewFile(kept).write()
    assert kept.with_name(NAME).read_bytes() == before
    assert not kept.with_name(f"{NAME}.new").exists()
