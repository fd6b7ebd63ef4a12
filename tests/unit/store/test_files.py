"""Files below a URL."""

import pickle

import pytest

from overtone.errors import MissingPackageError, StorageError
from overtone.store.files import RemoteFiles, is_url, joined

pytest.importorskip("fsspec")


@pytest.fixture(params=["memory:/", "file://"])
def files(request, tmp_path):
    return RemoteFiles(f"{request.param}{tmp_path}/x")


def test_urls():
    assert is_url("s3://bucket/x")
    assert is_url("memory://")
    assert not any(map(is_url, ["/a/b", "~/x", "C:\\x", "file:///x", "a:b", ""]))
    assert joined("s3://bucket/x/", "exp") == "s3://bucket/x/exp"
    assert joined("memory://", "exp") == "memory://exp"
    with pytest.raises(StorageError, match="'results' is not a URL"):
        RemoteFiles("results")


def test_reading_and_writing(files):
    assert files.read("a/b") is None
    files.write("a/b", b"1")
    files.write("a/b", b"22")
    files.write_all({"a/c": b"333", "d": b""})
    assert files.read("a/b") == b"22"
    assert files.read_all(["a/c", "a/b"]) == [b"333", b"22"]
    assert files.read_all(["a/c"]) == [b"333"]
    assert files.sizes() == {"a/b": 2, "a/c": 3, "d": 0}
    assert files.sizes("a") == {"a/b": 2, "a/c": 3}
    assert files.sizes("nowhere") == {}
    assert files.folders() == ["a"]
    assert files.below("a").read("b") == b"22"


def test_only_one_creates(files):
    assert files.is_exclusive
    assert files.create("lease/1", b"first")
    assert not files.create("lease/1", b"second")
    assert files.read("lease/1") == b"first"


def test_copying_and_deleting(files, tmp_path):
    files.write("a/b", b"1")
    files.copy(["a/b"], files.below("copy"))
    files.remove(["a/b", "not there"])
    assert files.sizes() == {"copy/a/b": 1}
    (tmp_path / "here").write_bytes(b"here")
    files.upload({"up/there": tmp_path / "here"})
    files.download({"up/there": tmp_path / "back"})
    assert (tmp_path / "back").read_bytes() == b"here"


def test_it_travels(files):
    files.write("a", b"1")
    assert pickle.loads(pickle.dumps(files)).read("a") == b"1"


def test_a_file_system_that_nobody_knows():
    with pytest.raises(StorageError, match="nosuch://x cannot be used: Protocol not known: nosuch"):
        RemoteFiles("nosuch://x").sizes()


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)
    with pytest.raises(MissingPackageError, match=r's3:// storage needs s3fs: pip install "overtone\[s3\]"'):
        RemoteFiles("s3://bucket").sizes()
