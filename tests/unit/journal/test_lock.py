"""The lock of a journal."""

import os
import subprocess
import sys
import threading

import pytest

from overtone.errors import StorageError
from overtone.journal import lock as lock_module
from overtone.journal.lock import LockHeldError, WriterLock, is_locked, names


def test_who_is_refused_is_told_the_holder(tmp_path):
    lock = WriterLock(tmp_path / "lock")
    with pytest.raises(
        LockHeldError, match=rf"is being written by process {os.getpid()} on .*, since 0 s ago"
    ):
        WriterLock(tmp_path / "lock")
    lock.release()
    assert (tmp_path / "lock").read_bytes() == b""
    WriterLock(tmp_path / "lock").release()


def test_a_driver_waits_for_a_brief_holder_and_no_longer(tmp_path, monkeypatch):
    brief = WriterLock(tmp_path / "lock", is_brief=True)
    with pytest.raises(LockHeldError):  # Of two requests, the second tries again by itself.
        WriterLock(tmp_path / "lock", is_brief=True)
    monkeypatch.setattr(lock_module, "_BRIEF_S", 0.0)
    with pytest.raises(LockHeldError, match=f"process {os.getpid()}"):
        WriterLock(tmp_path / "lock")
    monkeypatch.undo()
    monkeypatch.setattr(lock_module.time, "sleep", lambda seconds: brief.release())
    driver = WriterLock(tmp_path / "lock")
    monkeypatch.undo()
    assert driver.is_at_path
    with pytest.raises(LockHeldError):
        WriterLock(tmp_path / "lock")
    driver.release()


def test_a_name_that_a_killed_driver_left_is_not_told(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "pass"]) as gone:
        gone.wait()
    lock = WriterLock(tmp_path / "lock")
    facts = (tmp_path / "lock").read_text().replace(str(os.getpid()), str(gone.pid))
    (tmp_path / "lock").write_text(facts)
    with pytest.raises(LockHeldError, match="another process, which has just begun"):
        WriterLock(tmp_path / "lock")
    lock.release()


def test_a_reader_that_looks_whether_it_is_held_refuses_nobody(tmp_path, monkeypatch):
    import fcntl

    reader = open(tmp_path / "lock", "w")  # noqa: SIM115
    fcntl.flock(reader, fcntl.LOCK_SH)
    monkeypatch.setattr("overtone.journal.lock.time.sleep", lambda _: reader.close())
    lock = WriterLock(tmp_path / "lock")
    assert reader.closed
    lock.release()


def test_the_locked_file_is_the_one_at_the_path(tmp_path, monkeypatch):
    import fcntl

    flock, calls = fcntl.flock, []

    def late(fd, how):
        if not calls:  # between opening and locking, the holder moves the folder and another begins
            (tmp_path / "exp").rename(tmp_path / "aside")
            (tmp_path / "exp").mkdir()
            (tmp_path / "exp/lock").touch()
        calls.append(how)
        flock(fd, how)

    (tmp_path / "exp").mkdir()
    monkeypatch.setattr(fcntl, "flock", late)
    lock = WriterLock(tmp_path / "exp/lock")
    assert lock.is_at_path
    assert not is_locked(tmp_path / "aside/lock")
    assert is_locked(tmp_path / "exp/lock")
    lock.release()


def test_the_holder_moves_the_folder_and_holds_the_new_one(tmp_path):
    folder = tmp_path / "exp"
    folder.mkdir()
    (folder / "x").touch()
    lock = WriterLock(folder / "lock")
    assert lock.move_folder(tmp_path / "aside")
    assert lock.is_at_path
    assert (os.listdir(folder), sorted(os.listdir(tmp_path / "aside"))) == (["lock"], ["lock", "x"])
    WriterLock(tmp_path / "aside/lock").release()
    (tmp_path / "exp").rename(tmp_path / "stolen")
    with pytest.raises(StorageError, match="was moved or deleted by another program"):
        lock.move_folder(tmp_path / "again")
    assert not is_locked(tmp_path / "stolen/lock")


def test_many_who_move_the_folder_leave_one_holder(tmp_path):
    folder, held, refused = tmp_path / "exp", [], []
    folder.mkdir()

    def drive(n):
        try:
            lock = WriterLock(folder / "lock")
            lock.move_folder(tmp_path / f"aside{n}")
            held.append(lock)
        except (LockHeldError, FileNotFoundError) as error:
            refused.append(error)

    threads = [threading.Thread(target=drive, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(held), len(refused)) == (1, 19)
    assert held[0].is_at_path
    held[0].release()


def test_what_is_not_a_regular_file_is_refused(tmp_path):
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="link"):
        WriterLock(tmp_path / "link")
    assert (tmp_path / "target").read_text() == "mine"
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(StorageError, match="is not a regular file"):
        WriterLock(tmp_path / "fifo")


def test_whether_a_path_names_an_open_file(tmp_path):
    path = tmp_path / "x"
    with open(path, "w") as file:
        assert names(path, file.fileno())
        path.rename(tmp_path / "y")
        assert not names(path, file.fileno())
        path.touch()
        assert not names(path, file.fileno())
        assert not names(path / "z", file.fileno())
