"""Checkpoints into a store and back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from overtone.core.types import Checkpoint
from overtone.errors import StorageError, TrainableError
from overtone.store.local import LocalStore
from overtone.testing.folder_store import FolderStore
from overtone.worker.checkpoints import saving
from overtone.worker.checkpoints.checkpoint import Checkpoint as UserCheckpoint


def test_what_is_kept_comes_back_with_its_state(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    (tmp_path / "source").mkdir()
    kept = saving.keep(store, tmp_path / "source", "t", {"t": 12, "kind": "file", "name": "model"})
    size = Path(kept.uri, saving.STATE_FILE).stat().st_size
    assert kept == Checkpoint("t", 12, str(tmp_path / "store/t/checkpoint_000012"), size)
    restored = saving.fetch(store, kept)
    assert restored.path == f"{kept.uri}/model"
    assert restored.state["t"] == 12
    assert not (tmp_path / "source").exists()


def test_a_checkpoint_without_state_is_a_directory(tmp_path: Path) -> None:
    restored = saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path)))
    assert (restored.path, restored.like_saved, restored.state) == (str(tmp_path), str(tmp_path), {})


def test_damage_is_told(tmp_path: Path) -> None:
    (tmp_path / saving.STATE_FILE).write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path)))
    with pytest.raises(StorageError, match="gone"):
        saving.fetch(FolderStore(tmp_path), Checkpoint("t", 1, str(tmp_path / "nowhere")))


@pytest.mark.parametrize(
    ("attempt", "again", "name"),
    [(0, 0, "checkpoint_000012"), (1, 0, "checkpoint_000012_a2"), (0, 1, "checkpoint_000012_2"),
     (2, 2, "checkpoint_000012_a3_3")],
)  # fmt: skip
def test_no_two_of_a_trial_have_the_same_name(attempt: int, again: int, name: str) -> None:
    assert saving.name_of(12, attempt, again) == name


def test_copy_into_wants_a_directory(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("7")
    with pytest.raises(TrainableError, match=r"not '.*model'"):
        saving.copy_into(tmp_path / "model", tmp_path)


def test_a_trials_folder_can_be_its_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("7")
    with saving.staging(tmp_path) as folder:
        saving.copy_into(tmp_path, folder)
        assert [path.name for path in folder.iterdir()] == ["model"]


def test_staging_ends_with_its_block(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    with saving.staging(tmp_path / "trial") as folder:
        assert folder.parent == tmp_path / "trial"
    assert not folder.exists()
    with saving.staging(tmp_path / "trial") as folder:
        folder.rename(tmp_path / "moved")
    assert (tmp_path / "moved").exists()


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


def test_the_local_store_gives_back_what_it_was_given(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store", durable=False)
    (tmp_path / "store" / "t").mkdir(parents=True)
    with saving.staging(tmp_path / "store" / "t") as folder:
        (folder / "model").write_text("7")
        kept = saving.keep(store, folder, "t", {"t": 2, "kind": "file", "name": "model"})
    restored = saving.fetch(store, kept)
    assert Path(restored.path).read_text() == "7"
    assert Path(UserCheckpoint(restored.directory).to_directory(tmp_path / "copy"), "model").exists()
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["model"]


def test_a_sweep_leaves_a_users_folder_of_a_similar_name(tmp_path: Path) -> None:
    left = saving.new_folder(tmp_path)
    mine = tmp_path / ".saving_plan"
    mine.mkdir()
    saving.sweep(tmp_path)
    assert not left.exists()
    assert mine.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("links", [{"latest": "."}, {"up": ".."}, {"a/x": "../b", "b/y": "../a"}, {"a/root": "/"}])
def test_a_link_to_a_folder_that_it_is_in_is_named(tmp_path: Path, links: dict[str, str]) -> None:
    """Its copy would have no end."""
    source = tmp_path / "source"
    for name in ("a", "b"):
        (source / name).mkdir(parents=True)
    for link, target in links.items():
        (source / link).symlink_to(target)
    for copy in (saving.copy_into, saving.place):
        with pytest.raises(TrainableError, match="leave out .*(latest|up|x|y|root), which leads to"):
            copy(source, tmp_path / f"target-{copy.__name__}")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_what_other_links_lead_to_is_copied(tmp_path: Path) -> None:
    source, elsewhere = tmp_path / "source", tmp_path / "elsewhere"
    for folder in (source / "step-1", elsewhere):
        folder.mkdir(parents=True)
        (folder / "model").write_text(folder.name)
    (source / "latest").symlink_to("step-1")
    (source / "base").symlink_to(elsewhere)
    (tmp_path / "target").mkdir()
    saving.copy_into(source, tmp_path / "target")
    assert (tmp_path / "target/latest/model").read_text() == "step-1"
    assert (tmp_path / "target/base/model").read_text() == "elsewhere"
