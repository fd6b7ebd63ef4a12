"""An experiment's place, from its beginning to its end."""

from datetime import datetime

import pytest

from overtone.errors import StorageError
from overtone.run.acquire import acquire, make_room
from overtone.run.resume.target import Wish
from overtone.run.storage.location import bring, holds_experiment, locate, root_of
from overtone.run.storage.results_place import ResultsPlace
from overtone.store.cache import FETCHED, note_origin, origin
from overtone.store.files import RemoteFiles
from overtone.store.lease import Lease, LeaseHeldError
from overtone.store.local import LocalStore

NOW = datetime(2024, 5, 6, 7, 8, 9)


def prepare(storage, name, trainable, now, **options):
    """The place of an experiment that begins."""
    place = acquire(storage, name, trainable, now, **options)
    make_room(place, storage, now)
    return place


def reopen(storage, name="exp", isolates=False):
    """The place of an experiment that is resumed."""
    return acquire(storage, name, "train", NOW, Wish("auto"), isolates=isolates)


@pytest.fixture
def url(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"memory:/{tmp_path}/results"


def written(place, text=b'{"n":1}\n'):
    (place.folder / "journal.jsonl").write_bytes(text)
    return lambda: len(text)


def test_a_folder_of_this_machine_is_all_there_is(tmp_path):
    with ResultsPlace(tmp_path) as place:
        place.open_mirror(lambda: 0, lambda: None)
        assert isinstance(place.store(), LocalStore)
        assert place.store().root == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_the_end_brings_everything_to_the_url(url):
    files = RemoteFiles(f"{url}/exp")
    with prepare(url, "exp", "train", NOW) as place:
        place.open_mirror(written(place), lambda: None)
        (place.folder / "a_00000").mkdir()
        (place.folder / "a_00000/result.json").write_text("{}")
        (place.folder / FETCHED).mkdir()
    assert list(files.sizes()) == ["a_00000/result.json", "journal/000001-f1.jsonl", "lease/000001.json"]
    assert b'"is_over": true' in files.read("lease/000001.json")
    assert not (place.folder / FETCHED).exists()
    assert origin(place.folder) == f"{url}/exp"


def test_a_run_that_wrote_nothing_leaves_no_trace_here(url):
    with prepare(url, "exp", "train", NOW) as place:
        assert origin(place.folder) == place.url
    assert not place.folder.exists()


def test_checkpoints_go_to_the_url(url, tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/x").write_bytes(b"1")
    with prepare(url, "exp", "train", NOW) as place:
        uri = place.store().put(tmp_path / "source", "a_00000/checkpoint_000001")
        assert uri == f"{url}/exp/a_00000/checkpoint_000001"
        assert place.store().get(uri).is_relative_to(place.folder)


def test_an_error_on_the_way_lets_the_next_one_in(url):
    with pytest.raises(KeyError), prepare(url, "exp", "train", NOW):
        raise KeyError
    with prepare(url, "exp", "train", NOW) as place:
        assert place.moved == ""


def test_what_could_not_be_mirrored_is_here_and_said(url, monkeypatch, capsys):
    def denied(self, name, data):
        raise StorageError("access denied")

    place = prepare(url, "exp", "train", NOW)
    lease = place.lease
    monkeypatch.setattr(RemoteFiles, "write", denied)
    with (
        pytest.raises(
            StorageError, match=r'access denied. Everything that was recorded is in /.*exp; resume="AUTO"'
        ),
        place,
    ):
        place.open_mirror(written(place), lambda: None)
    again = ResultsPlace(place.folder, "", place.url, 300.0, lease)
    again.open_mirror(written(again), lambda: None)
    again.__exit__(KeyError, KeyError(), None)  # which goes on, with this said besides
    assert "access denied. Everything" in capsys.readouterr().err


def test_an_experiment_that_goes_on_is_mirrored_again(url):
    with prepare(url, "exp", "train", NOW) as first:
        first.open_mirror(written(first), lambda: None)
    with reopen(first.folder.parent) as second:
        assert second.url == first.url
        with pytest.raises(LeaseHeldError):
            reopen(first.folder.parent)
        second.open_mirror(written(second, b'{"n":1}\n{"n":2}\n'), lambda: None)
    assert RemoteFiles(f"{url}/exp").read("journal/000002-f2.jsonl") == b'{"n":2}\n'


def test_a_folder_without_a_url_is_reopened_as_it_is(tmp_path):
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp/journal.jsonl").write_text('{"n":1}\n')
    with reopen(tmp_path) as place:
        assert (place.folder, place.url, place.lease, place.goes_on) == (tmp_path / "exp", None, None, True)


def test_what_a_resume_may_mean_is_brought_here(url, monkeypatch):
    fetched = []
    monkeypatch.setattr("overtone.journal.fetching.fetch", lambda url, say: fetched.append(url))
    files = RemoteFiles(url)
    for name in ("exp", "train_2024", "train_2025", "train_2026", "train_2027", "trainer_2027"):
        files.write(f"{name}/journal/000001-f1.jsonl", b"")
    files.write("empty/lease/000001.json", b"{}")
    for name in ("exp", "empty", "nothing"):
        bring(url, name, "train")
    assert fetched == [f"{url}/exp"]
    fetched.clear()
    bring(url, None, "train")
    assert fetched == [f"{url}/train_{year}" for year in (2025, 2026, 2027)]
    assert len(fetched) == 3


def test_where_a_path_or_url_is(url, tmp_path, monkeypatch):
    monkeypatch.setattr("overtone.journal.fetching.fetch", lambda url, say: root_of(url))
    assert locate(url) == root_of(url)
    assert locate(tmp_path) == tmp_path
    assert locate(f"file://{tmp_path}") == tmp_path


def test_whether_there_is_an_experiment(url, tmp_path):
    assert not holds_experiment(url)
    RemoteFiles(url).write("journal/000001-f1.jsonl", b"")
    assert holds_experiment(url)
    assert not holds_experiment(tmp_path)
    (tmp_path / "journal.jsonl").touch()
    assert holds_experiment(tmp_path)


def test_memory_is_not_reopened_for_other_processes(tmp_path):
    (tmp_path / "exp").mkdir()
    note_origin(tmp_path / "exp", "memory://x/exp")
    with pytest.raises(Exception, match='choose engine="inline"'):
        reopen(tmp_path, isolates=True)


def test_a_lease_is_kept_meanwhile(url):
    with prepare(url, "exp", "train", NOW), pytest.raises(LeaseHeldError):
        Lease.acquire(RemoteFiles(f"{url}/exp"))
