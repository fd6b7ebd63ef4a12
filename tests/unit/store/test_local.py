from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.store import local as module
from overtone.store.leftovers import LocalLeftovers
from overtone.store.local import LocalStore
from overtone.testing.store_conformance import KEY, contents, model


@pytest.fixture
def store(tmp_path) -> LocalStore:
    return LocalStore(tmp_path / "store", durable=False)


@pytest.fixture
def source(tmp_path) -> Path:
    return model(tmp_path / "source")


def everything(store: LocalStore) -> list[str]:
    return [name for _, folders, files in os.walk(store.root) for name in (*folders, *files)]


def test_the_uri_is_the_path_below_the_root(store, source) -> None:
    assert store.put(source, KEY) == str(store.root / KEY)


def test_a_relative_root_is_made_absolute(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert LocalStore("x").root == tmp_path / "x"


def test_moving_takes_the_source(store, source) -> None:
    expected = contents(source)
    inode = (source / "weights").stat().st_ino
    found = store.get(store.put(source, KEY, move=True))
    assert contents(found) == expected
    assert (found / "weights").stat().st_ino == inode
    assert not source.exists()


def test_moving_to_another_file_system_copies(store, source, monkeypatch) -> None:
    expected, real = contents(source), os.rename

    def rename(old, new) -> None:
        if Path(old) == source:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(old, new)

    monkeypatch.setattr(os, "rename", rename)
    assert contents(store.get(store.put(source, KEY, move=True))) == expected
    assert not source.exists()


def test_links_are_followed(store, source, tmp_path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"far")
    (source / "link").symlink_to(tmp_path / "elsewhere")
    assert contents(store.get(store.put(source, KEY)))["link"] == b"far"


@pytest.mark.parametrize("move", [False, True])
def test_a_full_disk_leaves_nothing_and_names_the_folder(store, source, monkeypatch, move) -> None:
    before = contents(source)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "weights")

    monkeypatch.setattr(LocalStore, "_seal", full)
    with pytest.raises(StorageError, match=r"store cannot be written: No space left.*weights.*Make room"):
        store.put(source, KEY, move=move)
    assert everything(store) == ["358bb_00000"]
    assert contents(source) == before


def test_a_put_that_was_cut_short_is_not_there(store, source, monkeypatch) -> None:
    """As a killed worker leaves it: no clean-up ran."""
    monkeypatch.setattr(module, "remove", lambda folder: None)
    monkeypatch.setattr(
        LocalStore, "_replace", lambda self, unfinished, target: (_ for _ in ()).throw(MemoryError)
    )
    with pytest.raises(MemoryError):
        store.put(source, KEY)
    monkeypatch.undo()
    assert "weights" in everything(store)
    assert store.list() == []
    with pytest.raises(StorageError, match="not there"):
        store.get(str(store.root / KEY))
    assert LocalLeftovers(store.root).find(None) == []  # its process, this one, lives
    gone = next(store.root.glob("*/.put-*"))
    gone.rename(str(gone).replace(f"-{os.getpid()}-", f"-{2**22 + 1}-"))
    for leftover in LocalLeftovers(store.root).find(None):
        LocalLeftovers(store.root).remove(leftover)
    assert everything(store) == ["358bb_00000"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path: path.write_bytes(b"\0\1"), "weights has 2 bytes, not 3"),
        (lambda path: path.write_bytes(b"\0\1\3"), "contents of weights changed"),
        (lambda path: path.unlink(), "weights is missing"),
    ],
)
def test_damage_names_the_file(store, source, damage, told) -> None:
    uri = store.put(source, KEY)
    damage(Path(uri, "weights"))
    with pytest.raises(StorageError, match=rf"checkpoint_000010 is damaged: .*{told}.*earlier checkpoint"):
        store.get(uri)


def test_what_no_store_put_there_is_refused(store, source) -> None:
    with pytest.raises(StorageError, match=r"no \.manifest\.json"):
        store.get(str(source))
    (source / ".manifest.json").write_text("[]")
    with pytest.raises(StorageError, match=r"its \.manifest\.json cannot be read"):
        store.get(str(source))


def test_only_what_is_below_the_root_is_deleted(store, source) -> None:
    for uri in (source, store.root, store.root / ".." / "source"):
        with pytest.raises(StorageError, match="not below"):
            store.delete(str(uri))
    assert contents(source)


def test_a_link_is_deleted_and_not_what_it_leads_to(store, source) -> None:
    link = store.root / KEY
    link.parent.mkdir(parents=True)
    link.symlink_to(source, target_is_directory=True)
    expected = contents(source)
    store.delete(str(link))
    assert (contents(source), everything(store)) == (expected, [link.parent.name])


def test_in_a_moved_experiment_its_own_copy_is_meant(store, source, tmp_path) -> None:
    uri = store.put(source, KEY)
    store.root.rename(tmp_path / "moved")
    moved = LocalStore(tmp_path / "moved")
    assert moved.get(uri) == moved.root / KEY
    moved.delete(uri)
    assert moved.list() == []
    with pytest.raises(StorageError, match="is not there"):
        moved.get(uri)


def test_of_two_copies_each_experiment_has_its_own(store, source, tmp_path) -> None:
    uri = store.put(source, KEY)
    copied = LocalStore(tmp_path / "copy")
    copied.put(source, KEY)
    assert copied.get(uri) == copied.root / KEY
    copied.delete(uri)
    assert store.list() == [KEY]
    assert copied.get(uri) == store.root / KEY


def test_a_durable_put_syncs_every_file_and_the_folders(tmp_path, source, monkeypatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    LocalStore(tmp_path / "store").put(source, KEY)
    names = [Path(path).name for path in synced]
    assert {"weights", "meta.json", "empty", ".manifest.json", "inner", "358bb_00000"} <= set(names)
    assert names[-1] == "358bb_00000"  # after the rename


def test_an_unwritable_root_is_named(tmp_path, source) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file cannot be written: .*choose another storage_path"):
        LocalStore(tmp_path / "file").put(source, KEY)


def test_a_link_that_leads_out_of_the_store_is_not_followed(tmp_path) -> None:
    elsewhere, source = tmp_path / "elsewhere", tmp_path / "source"
    (elsewhere / "checkpoint_000001").mkdir(parents=True)
    (elsewhere / "checkpoint_000001" / "precious").write_text("x")
    source.mkdir()
    store = LocalStore(tmp_path / "store")
    store.root.mkdir()
    (store.root / "trial").symlink_to(elsewhere)
    with pytest.raises(StorageError, match="leads out"):
        store.put(source, "trial/checkpoint_000002")
    with pytest.raises(StorageError, match="leads out"):
        store.delete(str(store.root / "trial" / "checkpoint_000001"))
    assert [one.name for one in elsewhere.iterdir()] == ["checkpoint_000001"]
    assert (elsewhere / "checkpoint_000001" / "precious").exists()


def test_a_link_within_the_store_is_followed(tmp_path) -> None:
    store, source = LocalStore(tmp_path / "store"), tmp_path / "source"
    source.mkdir()
    (source / "x").write_text("1")
    (store.root / "a").mkdir(parents=True)
    (store.root / "named").symlink_to("a")
    uri = store.put(source, "named/checkpoint_000001")
    assert (store.get(uri) / "x").read_text() == "1"
    store.delete(uri)
    assert not (store.root / "a" / "checkpoint_000001").exists()


@pytest.mark.parametrize("name", ["journal.jsonl", "358bb_00000"])
def test_what_the_store_did_not_put_there_is_not_deleted(tmp_path, name):
    (tmp_path / "journal.jsonl").write_text("all results")
    (tmp_path / "358bb_00000").mkdir()
    (tmp_path / "358bb_00000/result.json").write_text("a result")
    with pytest.raises(StorageError, match="this store did not put it there"):
        LocalStore(tmp_path).delete(str(tmp_path / name))
    assert (tmp_path / "journal.jsonl").exists()
    assert (tmp_path / "358bb_00000/result.json").exists()
