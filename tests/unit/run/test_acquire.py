"""How a driver takes an experiment's folder."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from overtone.errors import OvertoneError, StorageError
from overtone.journal.header import new_header
from overtone.journal.lock import LockHeldError, WriterLock
from overtone.journal.writer import JournalWriter
from overtone.run.acquire import acquire, make_room
from overtone.run.resume.target import Wish, find
from overtone.run.storage.location import root_of
from overtone.store.files import RemoteFiles
from overtone.store.lease import LeaseHeldError

NOW = datetime(2024, 5, 6, 7, 8, 9)


def prepare(storage, name, trainable, now, **options):
    """The place of an experiment that begins, as `assemble` makes it."""
    place = acquire(storage, name, trainable, now, **options)
    try:
        make_room(place, storage, now)
    except BaseException:
        place.give_back()
        raise
    return place


def begun(place, **more):
    """Let the place hold an experiment that has begun."""
    header = new_header(1, {"main": ""})
    JournalWriter(place.folder / "journal.jsonl", {**header, **more}, lock=place.lock).close()


def test_the_name_is_made_from_the_trainable_and_the_date(tmp_path):
    place = prepare(tmp_path / "a" / "b", None, "train", NOW)
    assert place.folder == tmp_path / "a/b/train_2024-05-06_07-08-09"
    assert os.listdir(place.folder) == ["journal.jsonl.lock"]
    assert (place.moved, place.goes_on) == ("", False)
    place.give_back()
    assert list(tmp_path.iterdir()) == []


def test_a_second_one_in_the_same_second(tmp_path):
    names = [prepare(tmp_path, None, "train", NOW).folder.name for _ in range(3)]
    stem = "train_2024-05-06_07-08-09"
    assert names == [stem, f"{stem}_2", f"{stem}_3"]


def test_threads_without_a_name_get_a_folder_each(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        places = list(pool.map(lambda _: prepare(tmp_path / "new", None, "train", NOW), range(16)))
    assert len({place.folder for place in places}) == 16
    for place in places:
        place.give_back()
    assert list(tmp_path.glob("new/*")) == []


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
        with prepare(tmp_path, "exp", "train", NOW) as place:
            assert os.listdir(place.folder) == ["journal.jsonl.lock"]
            begun(place)
    aside = "exp.2024-05-06_07-08-09"
    assert {path.name for path in tmp_path.iterdir()} == {"exp", aside, f"{aside}_2"}
    assert place.moved.startswith(
        f"a new experiment begins in {place.folder}; the earlier one is now in {tmp_path / aside}_2"
    )


def test_what_was_unfinished_when_it_was_moved_aside_can_be_gone_on_with(tmp_path):
    (tmp_path / "exp").mkdir()
    for line, is_told in (('{"n":9,"e":"tick"}', True), ('{"n":9,"e":"end","crc":"0"}', False)):
        (tmp_path / "exp/journal.jsonl").write_text(f"{line}\n")
        with prepare(tmp_path, "exp", "train", NOW) as place:
            assert ("It is unfinished: `overtone resume " in place.moved) == is_told
        (tmp_path / "exp").mkdir()


@pytest.mark.parametrize("torn", [None, b"", b'{"n":1,"e":"header"'])
def test_a_folder_with_a_lock_or_half_a_header_is_not_an_experiment(tmp_path, torn):
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp/journal.jsonl.lock").write_text('{"pid": 1, "hostname": "gone", "since": 1}')
    if torn is not None:
        (tmp_path / "exp/journal.jsonl").write_bytes(torn)
    with prepare(tmp_path, "exp", "train", NOW, asked=Wish("auto")) as place:
        assert (place.moved, place.goes_on) == ("", False)
        assert os.listdir(tmp_path) == ["exp"]


def test_a_folder_that_was_there_stays_with_its_lock(tmp_path):
    (tmp_path / "exp").mkdir()
    place = prepare(tmp_path, "exp", "train", NOW)
    (place.folder / "journal.jsonl").touch()
    place.is_nothing = True
    place.give_back()
    assert os.listdir(tmp_path / "exp") == ["journal.jsonl.lock"]


def test_a_refused_driver_leaves_what_the_holder_has(tmp_path):
    with prepare(tmp_path, "exp", "train", NOW) as place:
        begun(place)
        for kind in ("no", "auto", "must"):
            with pytest.raises(LockHeldError, match=f"exp is being written by process {os.getpid()} on "):
                acquire(tmp_path, "exp", "train", NOW, Wish(kind))
        assert sorted(os.listdir(place.folder)) == ["journal.jsonl", "journal.jsonl.lock"]
    assert acquire(tmp_path, "exp", "train", NOW, Wish("auto")).goes_on


def test_what_became_of_the_folder_before_the_lock_was_taken_decides(tmp_path, monkeypatch):
    with prepare(tmp_path, "exp", "train", NOW) as place:
        begun(place)
    looked = []

    def late(*args):
        found = find(*args)
        looked.append(found)
        if len(looked) == 1:
            shutil.rmtree(tmp_path / "exp")
        return found

    monkeypatch.setattr("overtone.run.acquire.find", late)
    with acquire(tmp_path, "exp", "train", NOW, Wish("auto")) as place:
        assert not place.goes_on
    assert [folder for folder, _ in looked] == [tmp_path / "exp", None]

    def early(*args):
        monkeypatch.setattr("overtone.run.acquire.find", find)
        with prepare(tmp_path, "exp", "train", NOW) as place:
            begun(place)
        return None, ""

    monkeypatch.setattr("overtone.run.acquire.find", early)
    assert acquire(tmp_path, "exp", "train", NOW, Wish("auto")).goes_on


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_a_name_is_one_folder(tmp_path, name):
    with pytest.raises(StorageError, match="must be the name of one folder"):
        prepare(tmp_path, name, "train", NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_being_written_is_left_where_it_is(tmp_path):
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp/notes.txt").touch()
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
        begun(place)
        with pytest.raises(LeaseHeldError, match=f"exp is being written by process {os.getpid()} on "):
            prepare(url, "exp", "train", NOW)
        assert (place.folder / "journal.jsonl").exists()
    prepare(url, "exp", "train", NOW).give_back()


def test_an_earlier_experiment_at_a_url_is_moved_aside_with_its_leases(url):
    files = RemoteFiles(url)
    with prepare(url, "exp", "train", NOW):
        files.write("exp/journal/000001-f1.jsonl", b"...")
        files.write("exp/a_00000/result.json", b"{}")
    with prepare(url, "exp", "train", NOW) as place:
        assert (
            place.moved
            == f"a new experiment begins in {url}/exp; the earlier one is now in {url}/exp.2024-05-06_07-08-09"
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
        prepare(url, "exp", "train", NOW, isolates=True)
    assert not (tmp_path / "cache").exists()


def test_what_cannot_be_written_says_where_and_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot be written to .*/file/exp: .*storage_path=") as caught:
        prepare(tmp_path / "file", "exp", "train", NOW)
    assert isinstance(caught.value, OSError)
    assert Path(tmp_path / "file").is_file()
