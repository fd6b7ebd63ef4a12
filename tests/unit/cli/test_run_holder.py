from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest

from overtone.control.holder import holder


def test_a_driver_that_lives_holds_it(tell):
    told = tell()
    found = holder(told.journal)
    assert (found.pid, found.hostname) == (os.getpid(), platform.node())
    assert str(found) == f"process {os.getpid()} on {platform.node()}"
    told.writer.close()
    assert holder(told.journal) is None


def test_nobody_holds_what_has_no_lock(tmp_path):
    assert holder(tmp_path / "journal.jsonl") is None


def test_the_lock_of_a_dead_process_is_not_even_tried(tell, monkeypatch):
    import fcntl

    told = tell()
    told.close()
    dead = subprocess.Popen([sys.executable, "-S", "-c", ""])
    dead.wait()
    lock = told.folder / "journal.jsonl.lock"
    lock.write_text(json.dumps({"hostname": platform.node(), "pid": dead.pid, "since": 1.0}))

    def refuse(*_):
        raise AssertionError("the lock was tried")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert holder(told.journal) is None


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"pid": "x"}', '{"pid": 1e999}', "[" * 5000])
def test_a_lock_that_says_nothing_sensible_still_tells_whether_it_is_held(tell, text):
    told = tell()
    (told.folder / "journal.jsonl.lock").write_text(text)
    assert str(holder(told.journal)) == "a process that has just begun"
    told.writer.close()
    assert holder(told.journal) is None


def test_a_pipe_in_the_place_of_the_lock_does_not_hold_anybody_up(tmp_path):
    os.mkfifo(tmp_path / "journal.jsonl.lock")
    assert holder(tmp_path / "journal.jsonl") is None


@pytest.mark.parametrize(
    ("lease", "pid"),
    [
        ({"pid": 7, "hostname": "far", "since": 1.0, "time": 1000.0}, 7),
        ({"pid": 7, "hostname": "far", "since": 1.0, "time": 1000.0, "is_over": True}, None),
        ({"pid": 7, "hostname": "far", "since": 1.0, "time": 900.0}, None),
        ([], None),
        ({}, None),
    ],
)
def test_at_a_url_the_newest_lease_tells(tmp_path, monkeypatch, lease, pid):
    pytest.importorskip("fsspec")
    from overtone.store.cache import note_origin
    from overtone.store.files import RemoteFiles

    url = f"memory://{tmp_path.name}"
    old = {"pid": 6, "hostname": "far", "since": 1.0, "time": 1000.0}
    RemoteFiles(url).write("lease/000001.json", json.dumps(old).encode())
    RemoteFiles(url).write("lease/000002.json", json.dumps(lease).encode())
    note_origin(tmp_path, url)
    monkeypatch.setattr("time.time", lambda: 1010.0)
    monkeypatch.setattr("overtone.store.lease.SEEN_WITHIN_S", 0.0)
    found = holder(tmp_path / "journal.jsonl")
    assert (None if found is None else found.pid) == pid
