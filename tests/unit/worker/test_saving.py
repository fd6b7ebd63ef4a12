"""Checkpoints into a store and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.types import Checkpoint
from overtone.errors import StorageError
from overtone.testing.folder_store import FolderStore
from overtone.worker import saving


def test_what_is_kept_comes_back_with_its_state(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    (tmp_path / "source").mkdir()
    kept = saving.keep(store, tmp_path / "source", "t", {"t": 12, "kind": "file", "name": "model"})
    assert kept == Checkpoint("t", 12, str(tmp_path / "store/t/checkpoint_000012"))
    restored = saving.fetch(store, kept)
    assert restored.path == f"{kept.uri}/model"
    assert restored.state["t"] == 12
    assert list((tmp_path / "source").iterdir()) == []


def test_a_checkpoint_without_state_is_a_directory(tmp_path: Path) -> None:
    restored = saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path)))
    assert (restored.path, restored.like_saved, restored.state) == (str(tmp_path), str(tmp_path), {})


def test_damage_is_told(tmp_path: Path) -> None:
    (tmp_path / saving.STATE_FILE).write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path)))
    with pytest.raises(StorageError, match="gone"):
        saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path / "nowhere")))


def test_a_failed_put_leaves_the_users_directory_as_it_was(tmp_path: Path) -> None:
    class Full(FolderStore):
        def put(self, source: Path, key: str) -> str:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        saving.keep(Full(tmp_path), tmp_path, "t", {"t": 1})
    assert list(tmp_path.iterdir()) == []


def test_staging_ends_with_its_block(tmp_path: Path) -> None:
    with saving.staging(tmp_path / "trial") as folder:
        assert folder.parent == tmp_path / "trial"
    assert not folder.exists()


def test_dicts_come_back_as_they_were(tmp_path: Path) -> None:
    for i, data in enumerate([{"a": [1, {"b": None}]}, {"a": (1,)}, {1: 2}, {"a": float}]):
        folder = tmp_path / str(i)
        folder.mkdir()
        saving.write_dict(data, folder)
        assert saving.read_dict(folder) == data
    assert [path.name for path in (tmp_path / "0").iterdir()] == ["data.json"]


@pytest.mark.parametrize("is_directory", [True, False])
def test_place_puts_a_file_or_a_directory(tmp_path: Path, is_directory: bool) -> None:
    source = tmp_path / "model"
    if is_directory:
        source.mkdir()
    else:
        source.write_text("7")
    (tmp_path / "home").mkdir()
    assert saving.place(source, tmp_path / "home") == "model"
    assert (tmp_path / "home" / "model").is_dir() is is_directory
