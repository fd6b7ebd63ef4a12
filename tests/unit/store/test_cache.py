"""Where the local part of a URL is."""

from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.store.cache import forget_origin, local_folder, note_origin, origin


def test_the_path_reads_like_the_url(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert local_folder("s3://bucket/x/exp 1") == Path("/c/overtone/s3/bucket/x/exp 1")
    assert local_folder("sftp://me:secret@host:22/x") == Path("/c/overtone/sftp/host_22/x")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert local_folder("gs://b") == Path("/home/me/.cache/overtone/gs/b")


@pytest.mark.parametrize("url", ["s3://b/../../x", "s3://./x"])
def test_nothing_climbs_out(url):
    with pytest.raises(StorageError, match="must not have"):
        local_folder(url)


def test_a_folder_knows_its_url(tmp_path):
    assert origin(tmp_path) is None
    note_origin(tmp_path, "s3://b/x")
    assert origin(tmp_path) == "s3://b/x"
    forget_origin(tmp_path)
    assert origin(tmp_path) is None
