"""Conformance tests for stores: subclass the test class and define `make_store`.

class TestMyStore(StoreConformance):
    def make_store(self, folder):
        return MyStore(folder / "store")
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from pathlib import Path

import pytest

from overtone.core.store import Store
from overtone.errors import StorageError

KEY = "358bb_00000/checkpoint_000010"


class StoreConformance(ABC):
    """The contract of a store."""

    @abstractmethod
    def make_store(self, folder: Path) -> Store:
        """Return a store that is empty, and keeps what it is given in `folder` if it needs one."""

    def test_what_was_put_is_got(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        found = store.get(store.put(model(tmp_path / "source"), KEY))
        assert contents(found) == {"weights": b"\0\1\2", "inner/meta.json": b"{}", "empty": b""}

    def test_the_source_stays_and_may_change_afterwards(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        source = model(tmp_path / "source")
        uri = store.put(source, KEY)
        (source / "weights").write_bytes(b"changed")
        assert contents(store.get(uri))["weights"] == b"\0\1\2"

    def test_what_was_got_can_be_put_again(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        first = store.get(store.put(model(tmp_path / "source"), KEY))
        second = store.get(store.put(first, "358bb_00001/checkpoint_000010"))
        assert contents(second) == contents(first)

    def test_a_key_holds_what_was_put_last(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        source = model(tmp_path / "source")
        store.put(source, KEY)
        (source / "weights").write_bytes(b"new")
        (source / "empty").unlink()
        found = contents(store.get(store.put(source, KEY)))
        assert found == {"weights": b"new", "inner/meta.json": b"{}"}

    def test_deleting(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        uri = store.put(model(tmp_path / "source"), KEY)
        store.delete(uri)
        store.delete(uri)
        assert store.list() == []
        with pytest.raises(StorageError):
            store.get(uri)

    def test_listing(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        assert store.list() == []
        keys = ["a/checkpoint_000001", "a/checkpoint_000002", "b/checkpoint_000001"]
        source = model(tmp_path / "source")
        for key in reversed(keys):
            store.put(source, key)
        assert store.list() == keys
        assert store.list("a/") == keys[:2]
        assert store.list("a/checkpoint_000002") == keys[1:2]
        assert store.list("c") == []

    def test_a_source_that_is_no_directory_leaves_nothing(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        (tmp_path / "file").write_bytes(b"x")
        for source in (tmp_path / "file", tmp_path / "nowhere"):
            with pytest.raises(StorageError, match=source.name):
                store.put(source, KEY)
        assert store.list() == []

    @pytest.mark.parametrize("key", ["", "..", "../x", "a/../../x", "/a", "a//b", "a/.", "a\\b"])
    def test_keys_stay_inside(self, tmp_path: Path, key: str) -> None:
        store = self.make_store(tmp_path)
        with pytest.raises(StorageError, match="key"):
            store.put(model(tmp_path / "source"), key)
        assert store.list() == []

    def test_it_travels_to_workers(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        uri = store.put(model(tmp_path / "source"), KEY)
        there: Store = pickle.loads(pickle.dumps(store))
        assert contents(there.get(uri)) == contents(store.get(uri))
        assert there.list() == [KEY]


def model(folder: Path) -> Path:
    """Return a directory such as a trial would save."""
    (folder / "inner").mkdir(parents=True)
    (folder / "weights").write_bytes(b"\0\1\2")
    (folder / "inner" / "meta.json").write_text("{}")
    (folder / "empty").touch()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file's contents by its name, except the store's own (hidden) files."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
