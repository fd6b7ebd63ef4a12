"""Whether a folder is still the one that a run writes to."""

import shutil

import pytest

from overtone.store.folder_mark import LOCK, FolderGoneError, FolderMark
from overtone.store.local import LocalStore


@pytest.fixture
def folder(tmp_path):
    """An experiment's folder, whose lock file is held open as its driver does."""
    folder = tmp_path / "exp"
    folder.mkdir()
    with open(folder / LOCK, "w"):
        yield folder


def test_a_folder_that_was_moved_or_deleted_is_not_made_again(folder, tmp_path):
    mark = FolderMark.of(folder)
    assert mark.make("a_00000").is_dir()
    folder.rename(tmp_path / "there")
    with pytest.raises(FolderGoneError, match="was moved or deleted while a run wrote to it"):
        mark.make("a_00001")
    assert not folder.exists()
    folder.mkdir()
    (folder / LOCK).touch()  # another experiment
    with pytest.raises(FolderGoneError):
        mark.check()
    shutil.rmtree(folder)
    (tmp_path / "there").rename(folder)
    mark.check()


def test_a_folder_without_a_lock_is_not_checked(tmp_path):
    mark = FolderMark.of(tmp_path / "exp")
    mark.check()
    assert mark.make("a_00000") == tmp_path / "exp/a_00000"
    shutil.rmtree(tmp_path / "exp")
    assert mark.make("a_00000").is_dir()


def test_a_store_does_not_make_the_folder_of_a_run_again(folder, tmp_path):
    store = LocalStore(folder, durable=False, mark=FolderMark.of(folder))
    source = tmp_path / "source"
    source.mkdir()
    store.put(source, "a_00000/checkpoint_000001")
    shutil.rmtree(folder)
    with pytest.raises(FolderGoneError):
        store.put(source, "a_00000/checkpoint_000002")
    assert not folder.exists()
