"""Locks of open files, between descriptors as between processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from overtone import file_lock
from overtone.file_lock import locked, open_locked, try_lock, unlock


def test_one_holds_it_alone_or_several_share_it(tmp_path):
    first = open_locked(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    assert first is not None
    assert open_locked(tmp_path / "lock") is None
    assert open_locked(tmp_path / "lock", is_shared=True) is None
    unlock(first)
    shared = [open_locked(tmp_path / "lock", is_shared=True) for _ in range(2)]
    assert None not in shared
    assert not try_lock(first)
    for one in (first, *shared):
        os.close(one)
    assert os.close(open_locked(tmp_path / "lock")) is None


def test_what_is_not_locked_is_closed(tmp_path, monkeypatch):
    holder = open_locked(tmp_path)
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
    assert open_locked(tmp_path) is None
    monkeypatch.setattr(file_lock, "HAS_LOCKS", False)
    with pytest.raises(OSError, match="not supported"):
        open_locked(tmp_path)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before
    os.close(holder)


def test_a_lock_ends_with_its_block_although_a_child_has_inherited_it(tmp_path):
    path = tmp_path / "lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    with locked(fd):
        code = "import sys; print(flush=True); sys.stdin.read()"
        child = subprocess.Popen(
            [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[fd]
        )
        child.stdout.readline()
        assert open_locked(path) is None
    again = open_locked(path)
    assert again is not None
    os.close(again)
    child.communicate()


def test_a_block_that_raises_lets_go(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(KeyError), locked(os.open(path, os.O_RDWR | os.O_CREAT)):
        raise KeyError
    os.close(open_locked(path))
