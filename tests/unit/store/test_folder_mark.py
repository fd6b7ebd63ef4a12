"""Whether a folder is still the one that a run writes to."""

import shutil
from pathlib import Path

import pytest

from overtone.store.folder_mark import LOCK, FolderGoneError, FolderMark
from overtone.store.local import LocalStore
from overtone.store.remote import RemoteStore


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


def test_a_folder_without_a_lock_is_not_made_again_either(tmp_path):
    folder = tmp_path / "exp"
    folder.mkdir()
    mark = FolderMark.of(folder)
    assert mark.make("a_00000") == folder / "a_00000"
    shutil.rmtree(folder)
    with pytest.raises(FolderGoneError):
        mark.make("a_00000")
    assert not folder.exists()


def test_the_folder_of_one_process_is_made_again(tmp_path):
    mark = FolderMark(str(tmp_path / "a/b"), is_private=True)
    assert mark.make("c", "d").is_dir()
    shutil.rmtree(tmp_path / "a")
    assert mark.make("c").is_dir()


@pytest.mark.parametrize("deleted", ["exp", "exp/a"])
def test_a_folder_that_is_deleted_between_two_steps_stays_deleted(tmp_path, monkeypatch, deleted):
    folder = tmp_path / "exp"
    folder.mkdir()
    mkdir = Path.mkdir

    def delete_first(path, *given, **named):
        if path.name == "b":
            shutil.rmtree(tmp_path / deleted)
        mkdir(path, *given, **named)

    monkeypatch.setattr(Path, "mkdir", delete_first)
    with pytest.raises(FileNotFoundError if deleted == "exp/a" else FolderGoneError):
        FolderMark(str(folder)).make("a", "b")
    assert not (tmp_path / deleted).exists()


def test_a_folder_that_is_moved_just_after_a_step_found_it_says_so(folder, tmp_path, monkeypatch):
    mark = FolderMark.of(folder)
    mark.make("trial")
    is_dir = Path.is_dir

    def moved_first(path, *arguments, **options):
        if folder.exists():
            folder.rename(tmp_path / "elsewhere")
        return is_dir(path, *arguments, **options)

    monkeypatch.setattr(Path, "is_dir", moved_first)
    with pytest.raises(FolderGoneError, match="moved or deleted"):
        mark.make("trial")


def test_a_store_does_not_make_the_folder_of_a_run_again(folder, tmp_path):
    store = LocalStore(folder, durable=False, mark=FolderMark.of(folder))
    source = tmp_path / "source"
    source.mkdir()
    store.put(source, "a_00000/checkpoint_000001")
    shutil.rmtree(folder)
    with pytest.raises(FolderGoneError):
        store.put(source, "a_00000/checkpoint_000002")
    assert not folder.exists()


def test_a_put_takes_back_what_it_put_into_a_folder_that_is_deleted_meanwhile(folder, tmp_path, monkeypatch):
    store = LocalStore(folder, durable=False, mark=FolderMark.of(folder))
    source = tmp_path / "source"
    source.mkdir()
    replace = LocalStore._replace

    def delete_first(self, unfinished, target):
        (folder / LOCK).unlink()  # as `rm -r` does that finds the trial's folder not empty afterwards
        replace(self, unfinished, target)

    monkeypatch.setattr(LocalStore, "_replace", delete_first)
    with pytest.raises(FolderGoneError):
        store.put(source, "a_00000/checkpoint_000001")
    assert list((folder / "a_00000").iterdir()) == []
    assert source.exists()


def test_a_put_into_a_folder_that_is_deleted_meanwhile_says_so(folder, tmp_path, monkeypatch):
    store = LocalStore(folder, durable=False, mark=FolderMark.of(folder))
    source = tmp_path / "source"
    source.mkdir()
    seal = LocalStore._seal

    def delete_first(self, unfinished, files):
        shutil.rmtree(folder)
        seal(self, unfinished, files)

    monkeypatch.setattr(LocalStore, "_seal", delete_first)
    with pytest.raises(FolderGoneError):
        store.put(source, "a_00000/checkpoint_000001")
    assert not folder.exists()


def test_a_fetch_does_not_make_the_folder_of_a_run_again(folder, tmp_path):
    pytest.importorskip("fsspec")
    source = tmp_path / "source"
    source.mkdir()
    (source / "weights").write_text("1")
    store = RemoteStore(f"memory:/{tmp_path}/exp", cache=folder / ".fetched", mark=FolderMark.of(folder))
    uri = store.put(source, "a_00000/checkpoint_000001")
    assert store.get(uri).is_relative_to(folder)
    shutil.rmtree(folder)
    with pytest.raises(FolderGoneError):
        store.get(uri)
    assert not folder.exists()
