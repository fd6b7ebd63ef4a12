"""Where results lie."""

from datetime import datetime
from pathlib import Path

import pytest

from overtone.errors import StorageError
from overtone.run.folder import prepare

NOW = datetime(2024, 5, 6, 7, 8, 9)


def test_the_name_is_made_from_the_trainable_and_the_date(tmp_path):
    folder, moved = prepare(tmp_path / "a" / "b", None, "train", NOW)
    assert folder == tmp_path / "a/b/train_2024-05-06_07-08-09"
    assert folder.is_dir()
    assert list(folder.iterdir()) == []
    assert moved == ""


def test_a_second_one_in_the_same_second(tmp_path):
    names = [prepare(tmp_path, None, "train", NOW)[0].name for _ in range(3)]
    stem = "train_2024-05-06_07-08-09"
    assert names == [stem, f"{stem}_2", f"{stem}_3"]


def test_the_default_is_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert prepare(None, "exp", "train", NOW)[0] == tmp_path / "overtone_results/exp"
    assert prepare("~/other", "exp", "train", NOW)[0] == tmp_path / "other/exp"


def test_paths_of_all_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert prepare("results", "实验 1", "train", NOW)[0] == tmp_path / "results/实验 1"
    assert prepare(f"file://{tmp_path}/x", "exp", "train", NOW)[0] == tmp_path / "x/exp"


def test_a_used_folder_is_moved_aside(tmp_path):
    for _ in range(3):
        folder, moved = prepare(tmp_path, "exp", "train", NOW)
        assert list(folder.iterdir()) == []
        (folder / "journal.jsonl").touch()
    aside = "exp.2024-05-06_07-08-09"
    assert {path.name for path in tmp_path.iterdir()} == {"exp", aside, f"{aside}_2"}
    assert moved == f"{folder} was in use; its earlier results are now in {tmp_path / aside}_2"


def test_an_empty_folder_is_taken_as_it_is(tmp_path):
    (tmp_path / "exp").mkdir()
    assert prepare(tmp_path, "exp", "train", NOW) == (tmp_path / "exp", "")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_a_name_is_one_folder(tmp_path, name):
    with pytest.raises(StorageError, match="must be the name of one folder"):
        prepare(tmp_path, name, "train", NOW)
    assert list(tmp_path.iterdir()) == []


def test_remote_storage_is_refused():
    with pytest.raises(
        StorageError, match="storage_path='s3://bucket/x': this version writes to local folders"
    ):
        prepare("s3://bucket/x", None, "train", NOW)


def test_what_cannot_be_written_says_where_and_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot be written to .*/file/exp: .*storage_path=") as caught:
        prepare(tmp_path / "file", "exp", "train", NOW)
    assert isinstance(caught.value, OSError)
    assert Path(tmp_path / "file").is_file()
