"""The driver's store, used from elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.engines.ray.checkpoint_transfer import Carried, Carrier, fetch_file
from overtone.engines.ray.connection import TOKEN_BYTES
from overtone.errors import DamagedError, StorageError
from overtone.store.folder_mark import FolderMark
from overtone.store.local import LocalStore

TOKEN = b"t" * TOKEN_BYTES


@pytest.fixture
def carrier(tmp_path: Path) -> Iterator[Carrier]:
    made = Carrier(LocalStore(tmp_path / "there", durable=False), "127.0.0.1", TOKEN)
    (tmp_path / "there").mkdir()
    yield made
    made.close()


@pytest.fixture
def store(carrier: Carrier, tmp_path: Path) -> Carried:
    made: Carried = pickle.loads(pickle.dumps(Carried(carrier.address, TOKEN, str(tmp_path / "here"))))
    return made


def a_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "new"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "deep" / "er" / "weights").write_bytes(bytes(range(256)) * 10_000)
    return folder


def test_what_is_put_comes_back(store: Carried, tmp_path: Path) -> None:
    uri = store.put(a_folder(tmp_path), "t/checkpoint_000001", move=True)
    assert Path(uri) == tmp_path / "there/t/checkpoint_000001"
    assert not (tmp_path / "new").exists()
    assert store.list() == ["t/checkpoint_000001"]
    back = store.get(uri)
    assert back.is_relative_to(tmp_path / "here")
    assert (back / "deep/er/weights").read_bytes() == bytes(range(256)) * 10_000
    assert (back / "empty").read_bytes() == b""
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["t"]


def test_damage_is_told_as_damage(store: Carried, tmp_path: Path) -> None:
    uri = store.put(a_folder(tmp_path), "t/a")
    assert (tmp_path / "new").exists()
    Path(uri, "deep/er/weights").write_bytes(b"other")
    with pytest.raises(DamagedError, match="weights"):
        store.get(uri)
    store.delete(uri)
    with pytest.raises(DamagedError, match="not there"):
        store.get(uri)


def test_another_token_gets_nothing(carrier: Carrier, tmp_path: Path) -> None:
    stranger = Carried(carrier.address, b"x" * TOKEN_BYTES, str(tmp_path / "here"))
    with pytest.raises(StorageError, match="hung up"):
        stranger.list()


def test_a_file_that_the_driver_offers_is_fetched_and_another_is_not(tmp_path: Path) -> None:
    offered, other = tmp_path / "offered", tmp_path / "other"
    offered.write_bytes(bytes(range(256)) * 10_000)
    other.touch()
    carrier = Carrier(None, "127.0.0.1", TOKEN, [str(offered)])
    try:
        fetch_file(carrier.address, TOKEN, str(offered), tmp_path / "here")
        assert (tmp_path / "here").read_bytes() == offered.read_bytes()
        with pytest.raises(StorageError, match="does not offer"):
            fetch_file(carrier.address, TOKEN, str(other), tmp_path / "there")
        with pytest.raises(StorageError, match="offers no store"):
            Carried(carrier.address, TOKEN, str(tmp_path)).list()
    finally:
        carrier.close()


def test_a_driver_that_is_gone(carrier: Carrier, store: Carried) -> None:
    carrier.close()
    with pytest.raises(StorageError):
        store.list()


def test_a_disk_that_is_full_is_told_to_who_is_still_sending(
    carrier: Carrier, store: Carried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_folder(tmp_path)
    (folder / "large").write_bytes(bytes(20_000_000))  # more than the connection takes while nobody reads

    def full(line: object, what: str, argument: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(carrier, "_carry_out", full)
    with pytest.raises(StorageError, match="No space left on device"):
        store.put(folder, "t/a")


# --- files of trials ----------------------------------------------------------------------


def test_files_of_trials_come_into_their_folders(tmp_path: Path) -> None:
    there, written = tmp_path / "there", a_folder(tmp_path)
    there.mkdir()
    carrier = Carrier(LocalStore(there), "127.0.0.1", TOKEN, home=FolderMark.of(there))
    store = Carried(carrier.address, TOKEN, str(tmp_path / "here"))
    (there / "358bb_00001").mkdir()
    (there / "358bb_00001" / "model.pth").write_text("of an earlier attempt")
    weights = written / "deep" / "er" / "weights"
    store.add_files({"358bb_00001/model.pth": weights, "358bb_00001/empty": written / "empty"})
    store.add_files({"358bb_00002/model.pth": weights, "elsewhere/x": weights, "journal.jsonl": weights})
    found = {path.relative_to(there).as_posix(): path.stat().st_size for path in there.rglob("*") if path.is_file()}
    size = weights.stat().st_size
    assert found == {"358bb_00001/model.pth": size, "358bb_00001/empty": 0, "358bb_00002/model.pth": size}
    with pytest.raises(StorageError, match="leaves the folder"):
        store.add_files({"358bb_00001/../../x": weights})
    carrier.close()
    assert not (tmp_path / "x").exists()


def test_a_driver_without_a_folder_takes_no_files(store: Carried, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="takes no files"):
        store.add_files({"358bb_00001/empty": a_folder(tmp_path) / "empty"})
