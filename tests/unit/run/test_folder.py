"""Where results lie."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from overtone.errors import OvertoneError, StorageError
from overtone.journal.lock import WriterLock
from overtone.run.folder import prepare, root_of
from overtone.run.place import Place
from overtone.store.files import RemoteFiles
from overtone.store.lease import LeaseHeldError

NOW = datetime(2024, 5, 6, 7, 8, 9)


def test_the_name_is_made_from_the_trainable_and_the_date(tmp_path):
    place = prepare(tmp_path / "a" / "b", None, "train", NOW)
    folder, moved = place.folder, place.moved
    assert folder == tmp_path / "a/b/train_2024-05-06_07-08-09"
    assert folder.is_dir()
    assert list(folder.iterdir()) == []
    assert moved == ""


def test_a_second_one_in_the_same_second(tmp_path):
    names = [prepare(tmp_path, None, "train", NOW).folder.name for _ in range(3)]
    stem = "train_2024-05-06_07-08-09"
    assert names == [stem, f"{stem}_2", f"{stem}_3"]


def test_the_default_is_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert prepare(None, "exp", "train", NOW).folder == tmp_path / "overtone_results/exp"
    assert prepare("~/other", "exp", "train", NOW).folder == tmp_path / "other/exp"


def test_paths_of_all_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert prepare("results", "实验 1", "train", NOW).folder == tmp_path / "results/实验 1"
    assert prepare(f"file://{tmp_path}/x", "exp", "train", NOW).folder == tmp_path / "x/exp"


def test_a_used_folder_is_moved_aside(tmp_path):
    for _ in range(3):
        place = prepare(tmp_path, "exp", "train", NOW)
        folder, moved = place.folder, place.moved
        assert list(folder.iterdir()) == []
        (folder / "journal.jsonl").touch()
    aside = "exp.2024-05-06_07-08-09"
    assert {path.name for path in tmp_path.iterdir()} == {"exp", aside, f"{aside}_2"}
    assert moved == f"{folder} was in use; its earlier results are now in {tmp_path / aside}_2"


def test_what_was_unfinished_when_it_was_moved_aside_can_be_gone_on_with(tmp_path):
    folder = prepare(tmp_path, "exp", "train", NOW).folder
    for line, is_told in (('{"n":9,"e":"tick"}', True), ('{"n":9,"e":"end","crc":"0"}', False)):
        (folder / "journal.jsonl").write_text(f"{line}\n")
        moved = prepare(tmp_path, "exp", "train", NOW).moved
        assert ("It is unfinished: `overtone resume " in moved) == is_told


def test_an_empty_folder_is_taken_as_it_is(tmp_path):
    (tmp_path / "exp").mkdir()
    assert prepare(tmp_path, "exp", "train", NOW) == Place(tmp_path / "exp")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_a_name_is_one_folder(tmp_path, name):
    with pytest.raises(StorageError, match="must be the name of one folder"):
        prepare(tmp_path, name, "train", NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_being_written_is_left_where_it_is(tmp_path):
    (tmp_path / "exp").mkdir()
    lock = WriterLock(tmp_path / "exp/journal.jsonl.lock")
    with pytest.raises(StorageError, match=f"exp is being written by process {os.getpid()} on "):
        prepare(tmp_path, "exp", "train", NOW)
    lock.release()
    assert prepare(tmp_path, "exp", "train", NOW).moved


@pytest.fixture
def url(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"memory:/{tmp_path}/results"


def test_a_url_has_a_folder_here_whose_path_reads_like_it(url, tmp_path):
    with prepare(url, "exp", "train", NOW) as place:
        assert place.url == f"{url}/exp"
        assert place.folder == root_of(url) / "exp"
        assert place.folder.is_relative_to(tmp_path / "cache/overtone/memory")
        assert place.folder.is_dir()


def test_a_second_driver_is_refused_before_it_touches_anything(url):
    with prepare(url, "exp", "train", NOW) as place:
        (place.folder / "journal.jsonl").touch()
        with pytest.raises(LeaseHeldError, match=f"exp is being written by process {os.getpid()} on "):
            prepare(url, "exp", "train", NOW)
        assert (place.folder / "journal.jsonl").exists()
    prepare(url, "exp", "train", NOW).__exit__(None, None, None)


def test_an_earlier_experiment_at_a_url_is_moved_aside_with_its_leases(url):
    files = RemoteFiles(url)
    with prepare(url, "exp", "train", NOW):
        files.write("exp/journal/000001-f1.jsonl", b"...")
        files.write("exp/a_00000/result.json", b"{}")
    with prepare(url, "exp", "train", NOW) as place:
        assert (
            place.moved
            == f"{url}/exp was in use; its earlier results are now in {url}/exp.2024-05-06_07-08-09"
        )
        assert sorted(files.sizes("exp")) == ["exp/lease/000001.json", "exp/lease/000002.json"]
        assert sorted(files.sizes("exp.2024-05-06_07-08-09")) == [
            f"exp.2024-05-06_07-08-09/{name}"
            for name in ("a_00000/result.json", "journal/000001-f1.jsonl", "lease/000001.json")
        ]


def test_an_experiment_without_a_name_takes_one_that_is_free_at_the_url(url):
    with prepare(url, None, "train", NOW) as first, prepare(url, None, "train", NOW) as second:
        assert (first.folder.name, second.folder.name) == (
            "train_2024-05-06_07-08-09",
            "train_2024-05-06_07-08-09_2",
        )


def test_memory_is_nothing_for_trials_in_other_processes(url, tmp_path):
    with pytest.raises(
        OvertoneError, match='choose engine="inline" or "simulated", or a storage_path such as'
    ):
        prepare(url, "exp", "train", NOW, engine="Local")
    assert not (tmp_path / "cache").exists()


def test_what_cannot_be_written_says_where_and_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot be written to .*/file/exp: .*storage_path=") as caught:
        prepare(tmp_path / "file", "exp", "train", NOW)
    assert isinstance(caught.value, OSError)
    assert Path(tmp_path / "file").is_file()
