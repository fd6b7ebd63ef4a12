"""Files that a driver and its agents share."""

import errno
from pathlib import Path

import pytest

from overtone.program.shared_place import FolderFiles


def test_a_full_disk_leaves_no_draft(tmp_path, monkeypatch):
    files = FolderFiles(tmp_path)
    files.write("agents/state.json", b"old")

    def fill(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space left"):
        files.write("agents/state.json", b"new contents")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["state.json"]
    assert files.read("agents/state.json") == b"old"
