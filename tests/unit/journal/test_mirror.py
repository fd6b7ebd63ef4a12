"""A journal and its copy at a URL."""

import os
import shutil

import pytest

from overtone.errors import StorageError
from overtone.journal.fetching import fetch
from overtone.journal.header import driver_facts, new_header
from overtone.journal.lock import WriterLock
from overtone.journal.mirror import JournalMirror
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter
from overtone.store.cache import local_folder, origin
from overtone.store.files import RemoteFiles
from overtone.store.lease import Lease, LeaseLostError

pytest.importorskip("fsspec")


class Driver:
    """What writes one experiment and mirrors it, on a machine of its own."""

    def __init__(self, url, path, resumes=False):
        self.files, self.path = RemoteFiles(url), path
        if resumes:
            self.journal = JournalWriter.open_for_append(path, driver_facts())
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.journal = JournalWriter(path, new_header(1, {}))
        self.lease = Lease.acquire(self.files)
        self.mirror = self.mirrored()

    def mirrored(self):
        return JournalMirror(self.path, lambda: self.journal.written_bytes, self.files, self.lease)

    def append(self, records):
        from dataclasses import replace

        n = self.journal.next_n
        self.journal.append([replace(record, n=n + i) for i, record in enumerate(records)])


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    return f"memory:/{tmp_path}/exp"


@pytest.fixture
def there(url, tmp_path):
    """A driver on another machine."""
    driver = Driver(url, tmp_path / "there/journal.jsonl")
    yield driver
    driver.journal.close()


def names(driver):
    return list(driver.files.sizes("journal"))


def test_pieces_hold_whole_records_and_are_never_written_again(there, records):
    there.append(records[:4])
    assert there.mirror.push() == there.journal.written_bytes
    first = there.files.read("journal/000001-f1.jsonl")
    assert there.mirror.push() == 0
    there.append(records[4:])
    there.mirror.push()
    assert names(there) == ["journal/000001-f1.jsonl", "journal/000002-f1.jsonl"]
    assert there.files.read("journal/000001-f1.jsonl") == first
    assert b"".join(map(there.files.read, names(there))) == there.path.read_bytes()


def test_large_journals_make_several_pieces(there, records, monkeypatch):
    monkeypatch.setattr("overtone.journal.mirror.SEGMENT_BYTES", 300)  # less than the header takes
    there.append(records)
    there.mirror.push()
    pieces = list(map(there.files.read, names(there)))
    assert len(pieces) > 3
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert b"".join(pieces) == there.path.read_bytes()


def test_what_may_be_taken_back_is_not_copied(there, records):
    whole = there.path.read_bytes()
    with open(there.path, "ab") as file:
        file.write(whole)  # a batch that is being written
    there.mirror.push()
    assert there.files.read("journal/000001-f1.jsonl") == whole


def test_an_upload_that_failed_is_done_again_with_the_same_bytes(there, records, monkeypatch):
    there.append(records[:4])
    write, fails = RemoteFiles.write, [True]

    def failing(self, name, data):
        write(self, name, data[: len(data) // 2] if fails else data)
        if fails:
            fails.clear()
            raise TimeoutError

    size = there.journal.written_bytes
    monkeypatch.setattr(RemoteFiles, "write", failing)
    with pytest.raises(TimeoutError):
        there.mirror.push()
    there.append(records[4:])
    there.mirror.push()
    assert len(there.files.read("journal/000001-f1.jsonl")) == size
    assert b"".join(map(there.files.read, names(there))) == there.path.read_bytes()


def test_an_experiment_is_fetched_to_an_empty_disk(there, records, url):
    there.append(records)
    there.mirror.push()
    folder = fetch(url)
    assert folder == local_folder(url)
    assert origin(folder) == url
    assert list(read(folder / "journal.jsonl")) == records


def test_only_what_is_missing_is_fetched(there, records, url, monkeypatch):
    there.append(records[:4])
    there.mirror.push()
    fetch(url)
    there.append(records[4:])
    there.mirror.push()
    asked, read_all = [], RemoteFiles.read_all
    monkeypatch.setattr(
        RemoteFiles, "read_all", lambda self, names: asked.extend(names) or read_all(self, names)
    )
    folder = fetch(url)
    assert asked == ["journal/000002-f1.jsonl"]
    assert list(read(folder / "journal.jsonl")) == records
    asked.clear()
    fetch(url)
    assert asked == []


def test_a_crash_between_pieces_loses_what_was_not_copied_and_the_next_driver_goes_on(there, records, url):
    there.append(records[:5])
    there.mirror.push()
    there.append(records[5:])  # and the machine is gone
    there.lease.release()
    folder = fetch(url)
    assert list(read(folder / "journal.jsonl")) == records[:5]
    second = Driver(url, folder / "journal.jsonl", resumes=True)
    second.append(records[5:8])
    second.mirror.push()
    second.journal.close()
    assert names(second) == ["journal/000001-f1.jsonl", "journal/000002-f2.jsonl"]
    shutil.rmtree(folder)
    assert [record.event for record in read(fetch(url) / "journal.jsonl")] == [
        record.event for record in records[:8]
    ]


def test_records_that_are_only_here_stay(there, records, url):
    there.append(records[:5])
    there.mirror.push()
    folder = fetch(url)
    writer = JournalWriter.open_for_append(folder / "journal.jsonl", driver_facts())
    writer.close()
    size = os.path.getsize(folder / "journal.jsonl")
    assert fetch(url) == folder
    assert os.path.getsize(folder / "journal.jsonl") == size


def test_a_driver_that_comes_back_stops_and_what_it_wrote_late_does_not_count(there, records, url, tmp_path):
    there.append(records[:5])
    there.mirror.push()
    there.files.write("lease/000001.json", b'{"is_over": true}')  # as if it had expired
    second = Driver(url, fetch(url) / "journal.jsonl", resumes=True)
    second.append(records[5:7])
    second.mirror.push()
    there.append(records[5:])
    with pytest.raises(LeaseLostError, match="exp was taken over by process"):
        there.mirror.push()
    assert len(names(second)) == 2
    for name in ("000002-f1", "000003-f1"):  # on its way already when it was taken over
        there.files.write(f"journal/{name}.jsonl", b"late\n")
    second.append(records[7:8])
    second.mirror.push()
    second.journal.close()
    shutil.rmtree(local_folder(url))
    assert [record.event for record in read(fetch(url) / "journal.jsonl")] == [
        record.event for record in records[:8]
    ]


def test_a_folder_that_went_another_way_is_moved_aside(there, records, url):
    there.append(records[:5])
    there.mirror.push()
    folder = fetch(url)
    writer = JournalWriter.open_for_append(folder / "journal.jsonl", driver_facts())
    writer.close()
    there.append(records[5:])
    there.mirror.push()
    said = []
    fetch(url, say=said.append)
    assert list(read(folder / "journal.jsonl")) == records
    (aside,) = folder.parent.glob(f"{folder.name}.*")
    assert len(list(read(aside / "journal.jsonl"))) == 5
    (line,) = said
    assert f"process {os.getpid()} on " in line
    assert f"took over {url} and went on without the last records of the driver that wrote {folder}" in line
    assert f"that folder is now {aside}" in line
    assert origin(aside) is None  # it stands for itself: a resume of it does not touch the URL
    assert origin(folder) == url


def test_what_is_mirrored_is_read_from_the_open_file(there, records, url):
    there.append(records[:5])
    folder = there.path.parent
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    there.path.write_bytes(b"another journal")
    there.append(records[5:])
    there.mirror.push()
    assert list(read(fetch(url) / "journal.jsonl")) == records


def test_another_experiment_is_not_continued(there, records, url, tmp_path):
    there.append(records)
    there.mirror.push()
    there.lease.release()
    with pytest.raises(StorageError, match="exp holds another journal than"):
        Driver(url, tmp_path / "other/journal.jsonl")


def test_damage_is_found(there, records, url):
    there.append(records)
    there.mirror.push()
    data = there.files.read("journal/000001-f1.jsonl")
    there.files.write("journal/000001-f1.jsonl", data.replace(b"0.5", b"0.6", 1))
    with pytest.raises(StorageError, match="the journal at .*exp is damaged: .*checksum"):
        fetch(url)
    assert not (local_folder(url) / "journal.jsonl").exists()


def test_nothing_is_fetched_into_a_folder_that_is_being_written(there, records, url):
    there.mirror.push()
    folder = local_folder(url)
    folder.mkdir(parents=True)
    lock = WriterLock(folder / "journal.jsonl.lock")
    with pytest.raises(StorageError, match="is being written by"):
        fetch(url)
    lock.release()
    assert fetch(url) == folder


def test_a_url_without_an_experiment_says_what_is_there(url):
    RemoteFiles(url).write("exp_1/journal/000001-f1.jsonl", b"")
    with pytest.raises(StorageError, match="there is no experiment at .*exp: it holds exp_1"):
        fetch(url)


def test_a_journal_that_grows_stays_the_same_file(there, url, records):
    """New pieces are appended; after a process was killed within a piece, all is written anew."""
    there.append(records[:2])
    there.mirror.push()
    journal = fetch(url) / "journal.jsonl"
    begun, first = journal.stat().st_ino, journal.read_bytes()
    for i in range(2, len(records)):
        there.append(records[i : i + 1])
        there.mirror.push()
        assert fetch(url) / "journal.jsonl" == journal
        assert journal.stat().st_ino == begun
        assert journal.read_bytes() == there.path.read_bytes()
    journal.write_bytes(there.path.read_bytes()[: len(first) + 20])
    assert (fetch(url) / "journal.jsonl").read_bytes() == there.path.read_bytes()
    assert list(journal.parent.parent.glob(".exp-*")) == []


def test_a_damaged_piece_is_not_appended(there, url, records):
    there.append(records[:2])
    there.mirror.push()
    journal = fetch(url) / "journal.jsonl"
    whole = journal.read_bytes()
    there.append(records[2:])
    there.mirror.push()
    name = names(there)[-1]
    there.files.write(name, there.files.read(name).replace(b"time", b"tide", 1))
    with pytest.raises(StorageError, match="is damaged: "):
        fetch(url)
    assert journal.read_bytes() == whole
