"""What an experiment's folder and its URL have in common, and when."""

import os
import threading

import pytest

from overtone.errors import StorageError
from overtone.run.storage import mirroring
from overtone.run.storage.mirroring import Mirroring, TrialUploads
from overtone.store.failures import UnreachableError
from overtone.store.files import RemoteFiles
from overtone.store.lease import LeaseLostError

pytest.importorskip("fsspec")


@pytest.fixture
def remote(tmp_path):
    return RemoteFiles(f"memory:/{tmp_path}/exp")


@pytest.fixture
def folder(tmp_path):
    for name in (
        "a_00000/result.json",
        "a_00000/.saving_1/x",
        "a_00000/sub/x",
        "a_00001/stdout",
        ".fetched/x",
        "journal.jsonl",
    ):
        path = tmp_path / "exp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "exp/link").symlink_to("a_00000")
    return tmp_path / "exp"


def test_the_files_of_trials_are_copied_when_they_change(folder, remote):
    uploads = TrialUploads(folder, remote, {}, lambda: None)
    assert uploads.push() == 2
    assert list(remote.sizes()) == ["a_00000/result.json", "a_00001/stdout"]
    assert uploads.push() == 0
    (folder / "a_00001/stdout").write_text("more")
    assert uploads.push() == 1
    assert remote.read("a_00001/stdout") == b"more"


def test_what_an_earlier_driver_copied_is_not_copied_again(folder, remote):
    uploads = TrialUploads(
        folder,
        remote,
        {"a_00000/result.json": len("a_00000/result.json"), "a_00001/stdout": 1},
        lambda: None,
    )
    assert uploads.push() == 1
    assert list(remote.sizes()) == ["a_00001/stdout"]


def test_large_files_go_as_files_and_in_batches(folder, remote, monkeypatch):
    monkeypatch.setattr(mirroring, "_BATCH_BYTES", 15)
    assert TrialUploads(folder, remote, {}, lambda: None).push() == 2
    assert list(remote.sizes()) == ["a_00000/result.json", "a_00001/stdout"]


@pytest.mark.parametrize("large", [False, True])
def test_files_that_a_trial_deletes_or_replaces_meanwhile_are_skipped(
    folder, remote, monkeypatch, capsys, large
):
    monkeypatch.setattr(mirroring, "_BATCH_BYTES", 5 if large else 1000)
    gone, piped = folder / "a_00000/gone", folder / "a_00001/piped"
    gone.write_text("a model")
    piped.write_text("a model")
    uploads = TrialUploads(folder, remote, {}, lambda: None)
    found = uploads._changed()
    gone.unlink()
    piped.unlink()
    os.mkfifo(piped)
    monkeypatch.setattr(uploads, "_changed", lambda: found)
    assert uploads.push() == uploads.push() == 2
    assert list(remote.sizes()) == ["a_00000/result.json", "a_00001/stdout"]
    assert capsys.readouterr().err.count("a_00001/piped is not copied") == 1


def test_a_large_file_that_is_deleted_while_it_is_copied_is_skipped(folder, remote, monkeypatch):
    def upload(files):
        for path in files.values():
            path.unlink()
        raise StorageError("it cannot be written")

    monkeypatch.setattr(mirroring, "_BATCH_BYTES", 5)
    monkeypatch.setattr(remote, "upload", upload)
    assert TrialUploads(folder, remote, {}, lambda: None).push() == 0


def test_a_store_that_refuses_a_large_file_is_told(folder, remote, monkeypatch):
    def upload(files):
        raise StorageError("it cannot be written")

    monkeypatch.setattr(mirroring, "_BATCH_BYTES", 5)
    monkeypatch.setattr(remote, "upload", upload)
    with pytest.raises(StorageError, match="cannot be written"):
        TrialUploads(folder, remote, {}, lambda: None).push()


def test_nothing_is_copied_once_another_driver_writes_there(folder, remote):
    def lost():
        raise LeaseLostError("taken over")

    uploads = TrialUploads(folder, remote, {}, lost)
    with pytest.raises(LeaseLostError):
        uploads.push()
    assert remote.sizes() == {}


class Journal:
    """Fails as it is told."""

    number = 1

    def __init__(self, *errors):
        self.errors = list(errors)
        self.pushed = threading.Event()

    def push(self):
        if self.errors:
            error = self.errors[0]
            if len(self.errors) > 1:
                self.errors.pop(0)
            if error is not None:
                raise error
        self.pushed.set()
        return 1


class Files:
    def __init__(self):
        self.n = 0

    def push(self):
        self.n += 1
        return 1


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(mirroring, "JOURNAL_EVERY_S", 0.001)
    monkeypatch.setattr(mirroring, "_LONGEST_PAUSE_S", 0.001)


def begun(journal, patience_s=60.0):
    lost, said = threading.Event(), []
    one = Mirroring(journal, Files(), patience_s, lost.set, said.append)
    one.start()
    return one, lost, said


def test_a_store_that_comes_back_is_told_of(monkeypatch):
    journal = Journal(UnreachableError("away"), UnreachableError("away"), None)
    one, lost, said = begun(journal)
    assert journal.pushed.wait(60)
    one.close(1)
    assert said == ["away (trying again for 60 s; the search goes on)", "the store answers again"]
    assert not lost.is_set()
    assert one.error is None
    assert one._files.n == 1  # at the end


def test_it_mirrors_at_once_where_somebody_waits_for_that(monkeypatch):
    monkeypatch.setattr(mirroring, "JOURNAL_EVERY_S", 3600.0)
    monkeypatch.setattr(mirroring, "FIRST_PAUSE_S", 3600.0)
    journal = Journal(None)
    one, _, _ = begun(journal)
    one.hasten(waits=True)
    assert journal.pushed.is_set()
    one.close(1)


def test_a_store_that_stays_away_ends_the_run():
    one, lost, _ = begun(Journal(UnreachableError("away")), patience_s=0.01)
    assert lost.wait(60)
    with pytest.raises(StorageError, match=r"away \(tried again for 0 s\)"):
        one.close(0)


def test_what_will_not_pass_ends_the_run_at_once():
    one, lost, said = begun(Journal(StorageError("access denied")))
    assert lost.wait(60)
    with pytest.raises(StorageError, match="^access denied$"):
        one.close(0)
    assert said == []
