from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading

import pytest

from overtone.errors import StorageError
from overtone.journal.header import driver_facts, new_header
from overtone.journal.reader import read, scan
from overtone.journal.writer import JournalWriter


def begin(path, **options) -> JournalWriter:
    return JournalWriter(path, new_header(1, {}), **options)


def test_what_is_appended_is_read(path, records) -> None:
    writer = begin(path)
    writer.append(records[:1])
    writer.append(records[1:])
    assert list(read(path)) == records  # also while it is open
    assert (writer.next_n, writer.last_time) == (records[-1].n + 1, records[-1].event.time)
    writer.close()
    writer.close()
    assert list(read(path)) == records


def test_a_batch_is_one_write(path, records, monkeypatch) -> None:
    writer = begin(path)
    writes = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append(len(data)) or real(fd, data))
    writer.append(records)
    writer.append([])
    assert len(writes) == 1
    writer.close()


def test_records_must_follow_one_another(path, records) -> None:
    writer = begin(path)
    with pytest.raises(ValueError, match="record 3 cannot follow record 1"):
        writer.append(records[1:])
    writer.close()


@pytest.mark.parametrize("written", [0, 1, 100])
def test_a_full_disk_leaves_nothing_half_written_and_may_be_tried_again(
    path, records, monkeypatch, written
) -> None:
    writer = begin(path)
    writer.append(records[:2])
    good = path.read_bytes()
    real = os.write

    def full(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", no_room)
        return real(fd, data[:written]) if written else no_room(fd, data)

    def no_room(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageError, match=r"journal\.jsonl cannot be written: No space left.*Make room"):
        writer.append(records[2:])
    assert path.read_bytes() == good
    monkeypatch.setattr(os, "write", real)
    writer.append(records[2:])
    writer.close()
    assert list(read(path)) == records


def test_a_torn_end_that_could_not_be_cut_is_cut_before_the_next_append(path, records, monkeypatch) -> None:
    writer = begin(path)
    real_write, real_cut = os.write, os.ftruncate

    def half(fd: int, data: bytes) -> int:
        real_write(fd, data[:10])
        raise OSError(errno.EIO, "Input/output error")

    def no_cut(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "write", half)
    monkeypatch.setattr(os, "ftruncate", no_cut)
    with pytest.raises(StorageError, match="Input/output"):
        writer.append(records)
    with pytest.raises(StorageError, match="Input/output"):
        writer.append(records)
    monkeypatch.setattr(os, "write", real_write)
    monkeypatch.setattr(os, "ftruncate", real_cut)
    writer.append(records)
    writer.close()
    assert list(read(path)) == records


def test_an_interrupted_append_is_taken_back(path, records, monkeypatch) -> None:
    writer = begin(path)
    good, real = path.read_bytes(), os.write

    def interrupted(fd: int, data: bytes) -> int:
        real(fd, data)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.append(records)
    assert path.read_bytes() == good
    writer.close()


def test_sync_means_at_each_append(path, records, monkeypatch) -> None:
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(threading.current_thread()) or real(fd))
    writer = begin(path, durability="sync")
    writer.append(records[:1])
    writer.append(records[1:])
    assert synced == [threading.main_thread()] * 3
    writer.close()


def test_interval_syncs_at_the_end_and_not_in_append(path, records, monkeypatch) -> None:
    synced = []
    real = os.fsync
    monkeypatch.setattr("overtone.journal.writer._SYNC_EVERY_S", 3600)
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(fd) or real(fd))
    writer = begin(path)
    writer.append(records)
    assert synced == []
    writer.close()
    assert len(synced) == 1


def test_a_failed_sync_is_told_at_the_next_append(path, records, monkeypatch) -> None:
    writer = begin(path)
    real = os.fsync

    def fails(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    writer._sync()
    monkeypatch.setattr(os, "fsync", real)
    with pytest.raises(StorageError, match="Input/output"):
        writer.append(records)
    writer.append(records)
    writer.close()
    assert list(read(path)) == records


def test_an_experiment_is_not_overwritten(path) -> None:
    begin(path).close()
    with pytest.raises(StorageError, match="exists already: resume"):
        begin(path)


def test_half_a_header_is_overwritten(path, records) -> None:
    begin(path).close()
    path.write_bytes(path.read_bytes()[:-5])
    writer = begin(path)
    writer.append(records)
    writer.close()
    assert list(read(path)) == records


def test_a_damaged_header_before_records_is_not_overwritten(path, records) -> None:
    writer = begin(path)
    writer.append(records)
    writer.close()
    data = b"X" + path.read_bytes()[1:]
    path.write_bytes(data)
    with pytest.raises(StorageError, match="exists already"):
        begin(path)
    assert path.read_bytes() == data


def test_one_writer(path) -> None:
    writer = begin(path)
    for opened in (lambda: begin(path), lambda: JournalWriter.open_for_append(path, driver_facts())):
        with pytest.raises(
            StorageError, match=rf"written by process {os.getpid()} on .*, since 0 s ago: .*stop it"
        ):
            opened()
    writer.close()
    JournalWriter.open_for_append(path, driver_facts()).close()


def test_a_missing_folder_is_named(tmp_path) -> None:
    with pytest.raises(StorageError, match=r"nowhere/journal\.jsonl cannot be written: No such file"):
        begin(tmp_path / "nowhere" / "journal.jsonl")


def test_open_for_append_goes_on(path, records) -> None:
    writer = begin(path)
    writer.append(records[:5])
    writer.close()
    writer = JournalWriter.open_for_append(path, driver_facts(["train.py"]))
    assert (writer.next_n, writer.last_time, writer.dropped_bytes) == (8, records[4].event.time, 0)
    from dataclasses import replace

    more = [replace(record, n=record.n + 1) for record in records[5:]]
    writer.append(more)
    writer.close()
    assert list(read(path)) == records[:5] + more
    drivers = [fact for kind, fact in scan(path) if kind == "driver"]
    assert [(one["command"], one["pid"]) for one in drivers] == [(["train.py"], os.getpid())]


def test_open_for_append_cuts_a_torn_end(path, records) -> None:
    writer = begin(path)
    writer.append(records)
    writer.close()
    with path.open("ab") as file:
        file.write(b'{"n":99,"e":"rep')
    writer = JournalWriter.open_for_append(path, driver_facts())
    assert writer.dropped_bytes == 16
    assert writer.next_n == records[-1].n + 2
    writer.close()
    assert list(read(path)) == records


def test_open_for_append_needs_a_header(path) -> None:
    path.write_bytes(b'{"n":1')
    with pytest.raises(StorageError, match="no complete header"):
        JournalWriter.open_for_append(path, driver_facts())
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        JournalWriter.open_for_append(path.with_name("none"), driver_facts())


def test_a_forked_child_does_not_keep_the_lock(path) -> None:
    """Else trials that outlive a killed driver would keep the next one out."""
    program = f"""
import os, signal, sys, time
from overtone.journal.writer import JournalWriter
writer = JournalWriter({str(path)!r}, {{"format": 1}})
go, done = os.pipe()
if os.fork() == 0:
    os.close(done)
    os.read(go, 1)
    os._exit(0)
print(done, flush=True)
os.close(go)
child_keeps_reading = os.dup(done)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    JournalWriter.open_for_append(path, driver_facts()).close()
