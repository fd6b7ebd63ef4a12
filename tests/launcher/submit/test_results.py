"""Results that come back: valid at each moment, resumed after failures, and never over other experiments."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.cluster.head import Head
from overtone.cluster.listing import checkpoints, describe
from overtone.cluster.results import BringingElsewhereError, Results
from overtone.cluster.run_folder import RunFolder, new_id
from overtone.cluster.run_record import RunRecord
from overtone.errors import NoRoomError
from overtone.journal.lines import Lines
from tests.launcher.submit.local_head import LocalRemote

TRIAL = "abcde_00000"


class Cluster:
    """A head on this machine, with a run that wrote experiments, and this machine's own folders."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.remote = LocalRemote(folder / "head")
        self.here, self.there = folder / "here" / "overtone_results", self.remote.home / "overtone_results"
        monkeypatch.setenv("HOME", str(folder / "here"))
        self.here.mkdir(parents=True)
        self.record = RunRecord(folder / "state", new_id())
        (folder / "state").mkdir()
        self.facts: dict[str, Any] = {
            "id": self.record.id, "state": "running", "home": str(self.remote.home), "experiments": [],
        }  # fmt: skip
        self.files = folder / "here" / "project"

    def results(self) -> Results:
        return Results(Head(self.remote), self.record, self.files, "~/overtone_work/c", "c")

    def experiment(self, name: str = "digits", n: int = 3, folder: Path | None = None) -> Path:
        """Run an experiment, and pretend that it ran on the head."""
        root = folder or self.there
        tune.run(_train, name=name, num_samples=n, storage_path=root, engine="inline", verbose=0)
        if folder is None or self.remote.home in folder.parents:
            self.facts["experiments"].append({"folder": str(root / name), "url": None})
        return root / name


def _train(config):
    tune.report({"loss": 1.0})


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    return Cluster(tmp_path, monkeypatch)


def n_lines(journal: Path) -> int:
    return sum(1 for _ in Lines(journal, tail="error"))


def test_an_experiment_comes_back_as_it_is(cluster):
    there = cluster.experiment()
    results = cluster.results()
    results.bring({**cluster.facts, "state": "ended"})
    assert (cluster.here / "digits" / "journal.jsonl").read_bytes() == (there / "journal.jsonl").read_bytes()
    assert not (cluster.here / "digits" / "journal.jsonl.lock").exists()
    assert results.places == [str(cluster.here / "digits")]
    assert results.is_whole
    assert len(tune.ExperimentAnalysis(cluster.here / "digits").trials) == 3


def test_a_copy_of_a_growing_journal_has_whole_lines(cluster):
    there = cluster.experiment()
    whole = (there / "journal.jsonl").read_bytes()
    results, here = cluster.results(), cluster.here / "digits" / "journal.jsonl"
    for n_bytes in (1, 100, 1500, len(whole) - 1, len(whole)):
        (there / "journal.jsonl").write_bytes(whole[:n_bytes])
        results.bring(cluster.facts)
        copied = here.read_bytes() if here.exists() else b""
        assert copied == whole[: whole.rfind(b"\n", 0, n_bytes) + 1]
    assert n_lines(here) > 5


def test_a_torn_end_that_the_head_takes_back_is_not_kept(cluster):
    there = cluster.experiment()
    whole = (there / "journal.jsonl").read_bytes()
    results = cluster.results()
    lines = whole.splitlines(keepends=True)
    (there / "journal.jsonl").write_bytes(b"".join(lines[:-1]) + b'{"n":99,"an append":"that failed"}\n')
    results.bring(cluster.facts)
    (there / "journal.jsonl").write_bytes(whole + b"".join(lines[-2:]) * 50)
    results.bring(cluster.facts)
    assert (cluster.here / "digits" / "journal.jsonl").read_bytes() == whole + b"".join(lines[-2:]) * 50


def test_another_session_goes_on_with_the_copy(cluster):
    there = cluster.experiment()
    whole = (there / "journal.jsonl").read_bytes()
    (there / "journal.jsonl").write_bytes(whole[: len(whole) // 2])
    cluster.results().bring(cluster.facts)
    (there / "journal.jsonl").write_bytes(whole)
    here = cluster.here / "digits" / "journal.jsonl"
    with here.open("ab") as file:
        file.write(b'{"n":4,"torn')  # a kill in the middle of a write
    inode = here.stat().st_ino
    again = cluster.results()
    again.bring(cluster.facts)
    assert here.read_bytes() == whole
    assert here.stat().st_ino == inode
    assert not again.notes


def test_another_experiment_of_that_name_is_moved_aside_as_by_a_run_here(cluster):
    own = cluster.experiment(folder=cluster.here, n=1)
    before = (own / "journal.jsonl").read_bytes()
    there = cluster.experiment()
    results = cluster.results()
    results.bring(cluster.facts)
    (aside,) = cluster.here.glob("digits.*")
    assert (aside / "journal.jsonl").read_bytes() == before
    assert (own / "journal.jsonl").read_bytes() == (there / "journal.jsonl").read_bytes()
    assert str(aside) in next(iter(results.notes.values()))
    again = cluster.results()
    again.bring(cluster.facts)
    assert not again.notes
    assert len(list(cluster.here.iterdir())) == 2


def test_an_experiment_that_went_on_here_is_not_set_back(cluster):
    there = cluster.experiment()
    cluster.results().bring(cluster.facts)
    here = cluster.here / "digits" / "journal.jsonl"
    longer = here.read_bytes() + here.read_bytes().splitlines(keepends=True)[-1]
    here.write_bytes(longer)
    cluster.results().bring(cluster.facts)
    assert here.read_bytes() == longer
    beside = cluster.here / "digits_from_c" / "journal.jsonl"
    assert beside.read_bytes() == (there / "journal.jsonl").read_bytes()
    cluster.results().bring(cluster.facts)  # a later session comes to the same folder
    assert sorted(path.name for path in cluster.here.iterdir()) == ["digits", "digits_from_c"]


def test_checkpoints_that_the_run_deletes_go_here_too(cluster):
    there = cluster.experiment()
    for n in (1, 2):
        (there / TRIAL / f"checkpoint_00000{n}").mkdir(parents=True)
        (there / TRIAL / f"checkpoint_00000{n}" / "state").write_text(str(n))
    (there / TRIAL / ".put-checkpoint_000003-1-00000000").mkdir()
    (there / TRIAL / "notes.txt").write_text("mine")
    results = cluster.results()
    results.bring(cluster.facts)
    here = cluster.here / "digits" / TRIAL
    assert sorted(os.listdir(here)) == ["checkpoint_000001", "checkpoint_000002", "notes.txt"]
    shutil.rmtree(there / TRIAL / "checkpoint_000001")
    (there / TRIAL / "notes.txt").unlink()
    results.bring(cluster.facts)
    assert sorted(os.listdir(here)) == ["checkpoint_000002", "notes.txt"]


def test_results_among_the_uploaded_files_come_to_their_place(cluster):
    work = cluster.remote.home / "overtone_work" / "c" / "out"
    cluster.experiment(folder=work)
    results = cluster.results()
    results.bring(cluster.facts)
    assert results.places == [str(cluster.files / "out" / "digits")]
    assert (cluster.files / "out" / "digits" / "journal.jsonl").exists()


def test_an_experiment_at_a_url_is_left_where_it_is(cluster):
    cluster.facts["experiments"].append({"folder": "/cache/digits", "url": "s3://bucket/digits"})
    results = cluster.results()
    results.bring(cluster.facts)
    assert results.places == ["s3://bucket/digits"]
    assert results.is_whole
    assert not list(cluster.here.iterdir())


def test_a_folder_that_both_machines_see_is_not_copied(cluster):
    there = cluster.experiment()
    cluster.here.rmdir()
    cluster.here.symlink_to(cluster.there)
    results = cluster.results()
    results.bring({**cluster.facts, "state": "ended"})
    assert results.is_whole
    assert not list(there.glob("*.new"))


def test_a_full_disk_damages_nothing_and_the_next_try_goes_on(cluster, monkeypatch):
    there = cluster.experiment()
    whole = (there / "journal.jsonl").read_bytes()
    (there / "journal.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    results = cluster.results()
    results.bring(cluster.facts)
    (there / "journal.jsonl").write_bytes(whole)

    def full(fd: int, data: bytes, offset: int) -> int:
        written(fd, bytes(data[:7]), offset)
        raise OSError(28, "No space left on device")

    written = os.pwrite
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(NoRoomError, match="disk is full"):
        results.bring(cluster.facts)
    monkeypatch.undo()
    assert sum(1 for _ in Lines(cluster.here / "digits" / "journal.jsonl")) == 4
    results.bring(cluster.facts)
    assert (cluster.here / "digits" / "journal.jsonl").read_bytes() == whole


def test_experiments_of_one_name_in_two_folders_come_to_two_folders(cluster):
    first = cluster.experiment("train", folder=cluster.there / "small")
    second = cluster.experiment("train", folder=cluster.there / "large")
    results = cluster.results()
    for _ in range(2):
        results.bring(cluster.facts)
    for there in (first, second):
        here = cluster.here / there.relative_to(cluster.there)
        assert (here / "journal.jsonl").read_bytes() == (there / "journal.jsonl").read_bytes()
    assert not results.notes


def test_experiments_of_one_name_outside_the_results_do_not_mix(cluster):
    places = [cluster.experiment("train", folder=cluster.remote.home / name) for name in ("a", "b")]
    (places[0] / TRIAL / "checkpoint_000001").mkdir(parents=True)
    results = cluster.results()
    for _ in range(3):
        results.bring(cluster.facts)
    for there in places:
        here = RunRecord(cluster.record.folder, cluster.record.id).here(str(there))
        assert (here / "journal.jsonl").read_bytes() == (there / "journal.jsonl").read_bytes()
        assert (here / TRIAL).exists() == (there is places[0])


def test_an_experiment_that_went_on_here_between_two_copies_is_not_set_back(cluster):
    there = cluster.experiment()
    results, here = cluster.results(), cluster.here / "digits" / "journal.jsonl"
    results.bring(cluster.facts)
    longer = here.read_bytes() + here.read_bytes().splitlines(keepends=True)[-1]
    here.write_bytes(longer)
    results.bring(cluster.facts)
    assert here.read_bytes() == longer
    beside = cluster.here / "digits_from_c" / "journal.jsonl"
    assert beside.read_bytes() == (there / "journal.jsonl").read_bytes()


def test_two_commands_move_an_earlier_experiment_aside_once(cluster):
    cluster.experiment(folder=cluster.here, n=1)
    there = cluster.experiment()
    submit, attach = cluster.results(), cluster.results()
    lock = cluster.record.take_results()
    attach.bring(cluster.facts)  # The other command is at work: nothing happens here.
    assert [path.name for path in cluster.here.iterdir()] == ["digits"]
    with pytest.raises(BringingElsewhereError):
        attach.bring({**cluster.facts, "state": "ended"})
    os.close(lock)
    submit.bring(cluster.facts)
    attach.bring(cluster.facts)
    here = cluster.here / "digits" / "journal.jsonl"
    assert here.read_bytes() == (there / "journal.jsonl").read_bytes()
    assert len(list(cluster.here.iterdir())) == 2


def test_a_folder_that_cannot_be_read_there_is_not_taken_for_deleted(cluster, monkeypatch):
    there = cluster.experiment()
    (there / TRIAL / "checkpoint_000001").mkdir(parents=True)
    results = cluster.results()
    results.bring(cluster.facts)

    def broken(path):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(os, "scandir", broken)
    with pytest.raises(OSError, match="Input/output"):
        checkpoints(there)
    monkeypatch.setattr("overtone.cluster.listing.open_regular", broken)
    with pytest.raises(OSError, match="Input/output"):
        describe({"folders": [str(there)]})


def test_each_experiment_of_a_name_comes_back(cluster, monkeypatch):
    """A script that runs one name several times moves the earlier experiments aside on the head."""
    run = RunFolder(cluster.record.id)
    monkeypatch.setattr(run, "path", cluster.remote.home / "run")
    run.path.mkdir()
    (run.path / "experiments").touch()
    monkeypatch.setenv("OVERTONE_EXPERIMENT_LIST", str(run.path / "experiments"))
    results = cluster.results()
    for n in (1, 2, 3):
        cluster.experiment(n=n)
        if n != 2:
            results.bring({**cluster.facts, "experiments": run.experiments()})
    here, there = ({path.name: path for path in one.iterdir()} for one in (cluster.here, cluster.there))
    assert len(there) == 3
    assert set(here) == set(there)
    for name, path in here.items():
        assert (path / "journal.jsonl").read_bytes() == (there[name] / "journal.jsonl").read_bytes()
