"""A folder that is moved or deleted during a run."""

import shutil

import pytest

from overtone.errors import StorageError
from overtone.journal.header import new_header
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter
from overtone.run.storage.folder_watch import FolderWatch
from overtone.run.storage.results_place import ResultsPlace


@pytest.fixture
def run(tmp_path):
    """A journal that is being written, the watch of its folder, and how often the run was told to end."""
    folder, ends = tmp_path / "exp", []
    folder.mkdir()
    journal = JournalWriter(folder / "journal.jsonl", new_header(1, {}))
    watch = FolderWatch(ResultsPlace(folder), journal, lambda: ends.append(1))
    yield journal, watch, ends
    journal.close()


def test_nothing_happened(run, tmp_path):
    journal, watch, ends = run
    journal._look()
    watch.check()
    watch.settle()
    watch.check()
    assert (watch.folder, ends) == (tmp_path / "exp", [])


def test_a_move_ends_the_run_once_and_is_followed(run, tmp_path, capsys):
    journal, watch, ends = run
    (tmp_path / "exp").rename(tmp_path / "there")
    journal._look()
    journal._look()
    assert ends == [1]
    assert f"exp was moved to {tmp_path}/there during the run" in capsys.readouterr().err
    journal.note("end", {})
    watch.settle()
    assert watch.folder == tmp_path / "there"
    watch.check()
    shutil.rmtree(tmp_path / "there")
    with pytest.raises(StorageError, match="does not hold the results of this run any more"):
        watch.check()


def test_a_move_ends_a_run_that_can_tell_nobody(run, tmp_path, monkeypatch):
    journal, watch, ends = run
    monkeypatch.setattr("sys.stderr", None)
    (tmp_path / "exp").rename(tmp_path / "there")
    journal._look()
    assert ends == [1]
    watch.settle()


@pytest.mark.parametrize("verbose", [0, 1])
def test_the_last_lines_name_the_folder_where_the_results_are(tmp_path, capsys, verbose):
    from overtone import tune

    def train(config):
        (tmp_path / "exp").rename(tmp_path / "there")
        tune.report({"loss": 1.0})

    tune.run(
        train, metric="loss", mode="min", name="exp", verbose=verbose, storage_path=str(tmp_path), engine="inline",
        raise_on_failed_trial=False,
    )  # fmt: skip
    said = capsys.readouterr().out
    assert (f"results: {tmp_path}/there" in said) is (verbose > 0)
    assert f"results: {tmp_path}/exp" not in said


def test_a_deleted_journal_is_saved_as_an_experiment(run, tmp_path):
    journal, watch, ends = run
    shutil.rmtree(tmp_path / "exp")
    journal._look()
    journal.note("end", {})
    with pytest.raises(
        StorageError, match=r"was deleted during the run, which ended\. Its journal was saved to"
    ):
        watch.settle()
    assert ends == [1]
    assert watch.folder.parent == tmp_path
    assert watch.folder.name.startswith("exp.rescued.")
    assert len((watch.folder / "journal.jsonl").read_bytes().splitlines()) == 2
    assert list(read(watch.folder / "journal.jsonl")) == []


def test_another_folder_at_the_path_is_not_taken_for_the_own(run, tmp_path):
    journal, watch, _ = run
    (tmp_path / "exp").rename(tmp_path / "there")
    shutil.copytree(tmp_path / "there", tmp_path / "exp")
    assert not journal.is_at_path
    watch.check()
    assert watch.folder == tmp_path / "there"
