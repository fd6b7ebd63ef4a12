"""What is peculiar to a store at a URL; what every store does is in the conformance suite."""

import json
import os
import time

import pytest

from overtone.errors import DamagedError, StorageError
from overtone.store.lease import Lease, LeaseLostError
from overtone.store.local import MANIFEST
from overtone.store.remote import KEPT_S, RemoteStore

pytest.importorskip("fsspec")

KEY = "a_00000/checkpoint_000001"


@pytest.fixture
def store(tmp_path):
    return RemoteStore(f"memory:/{tmp_path}/store", cache=tmp_path / "cache")


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/weights").write_bytes(b"0123")
    return tmp_path / "source"


def test_the_manifest_comes_last(store, source, monkeypatch):
    store.put(source, KEY)

    def fail(name, data):
        raise StorageError("away")

    monkeypatch.setattr("overtone.store.files.RemoteFiles.write", lambda self, name, data: fail(name, data))
    (source / "weights").write_bytes(b"other")
    with pytest.raises(StorageError, match="away"):
        store.put(source, KEY)
    assert store.list() == []  # not the old one, some of whose files may be replaced
    assert source.is_dir()
    with pytest.raises(DamagedError, match="is not there"):
        store.get(f"{store.url}/{KEY}")


def test_a_put_that_moves_takes_the_source(store, source):
    store.put(source, KEY, move=True)
    assert not source.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda files: files.write("weights", b"0124"), "the contents of weights changed"),
        (lambda files: files.write("weights", b"01"), "weights has 2 bytes, not 4"),
        (lambda files: files.remove(["weights"]), "is damaged: a file is missing"),
        (lambda files: files.write(MANIFEST, b"{"), "cannot be read"),
        (
            lambda files: files.write(MANIFEST, json.dumps({"files": {"../../x": [1, 0]}}).encode()),
            "not a file name",
        ),
    ],
)
def test_damage_is_found_and_names_the_url(store, source, change, says, tmp_path):
    uri = store.put(source, KEY)
    change(store.files.below(KEY))
    with pytest.raises(DamagedError, match=says) as caught:
        store.get(uri)
    assert str(caught.value).startswith(uri)
    assert not any((tmp_path / "cache").glob("*"))
    assert not (tmp_path / "x").exists()


def test_what_was_fetched_is_fetched_once(store, source, monkeypatch):
    uri = store.put(source, KEY)
    first = store.get(uri)
    monkeypatch.setattr("overtone.store.files.RemoteFiles.download", None)
    assert store.get(uri) == first
    monkeypatch.undo()
    (first / "weights").write_bytes(b"spoilt")
    assert (store.get(uri) / "weights").read_bytes() == b"0123"


def test_what_nobody_asked_for_lately_is_removed(store, source):
    old, new = store.put(source, KEY), store.put(source, "a_00000/checkpoint_000002")
    first = store.get(old)
    os.utime(first, (0, time.time() - 2 * KEPT_S))
    store.get(new)
    assert not first.exists()


def test_only_what_is_below_is_deleted(store):
    with pytest.raises(StorageError, match="is not below"):
        store.delete("memory://elsewhere/x")


def test_in_a_copied_experiment_its_own_copy_is_meant(store, source, tmp_path):
    uri = store.put(source, KEY)
    copied = RemoteStore(f"memory:/{tmp_path}/copy", cache=tmp_path / "copied")
    copied.put(source, KEY)
    copied.delete(uri)
    assert (store.list(), copied.list()) == ([KEY], [])
    copied.put(source, KEY)
    store.delete(uri)
    assert (copied.get(uri) / "weights").read_bytes() == b"0123"
    assert copied.get(str(tmp_path / "local" / KEY)).is_dir()  # of one that was brought here from a disk


def test_two_drivers_never_write_the_same_key(store, source, tmp_path):
    first = RemoteStore(store.url, fence=Lease.acquire(store.files).number)
    before = first.put(source, KEY)
    assert before.endswith("/checkpoint_000001")
    store.files.write("lease/000002.json", b"{}")  # another driver takes over
    second = RemoteStore(store.url, fence=2)
    after = second.put(source, KEY)
    assert after.endswith("/checkpoint_000001_f2")
    with pytest.raises(
        LeaseLostError, match="was taken over by another process, .*: the driver before writes"
    ):
        first.put(source, KEY)
    for uri in (before, after):
        with pytest.raises(LeaseLostError):
            first.delete(uri)
    assert store.list() == [KEY, f"{KEY}_f2"]
    second.delete(before)
    assert store.list() == [f"{KEY}_f2"]
