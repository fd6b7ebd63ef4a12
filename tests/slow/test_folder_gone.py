"""Experiments whose folder is moved, deleted or replaced while they run."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.messages import Reported
from overtone.core.protocols import Observer
from overtone.errors import StorageError
from overtone.journal.reader import read

UNTIL_S = 60.0
"""So long trials go on that nobody ends."""


def trainable(act, saves=False):
    """A function that does `act` to its experiment's folder after its first result, and goes on for long."""

    def train(config):
        tune.report(score=0)
        folder = Path(tune.get_context().get_trial_dir()).parent
        try:
            (folder.parent / "acted").touch(exist_ok=False)
            act(folder)
        except FileExistsError:
            pass
        give_up_at = time.monotonic() + UNTIL_S
        while time.monotonic() < give_up_at:
            time.sleep(0.02)
            if saves:
                tune.report({"score": 1}, checkpoint=tune.Checkpoint.from_dict({"a": 1}))
            else:
                tune.report(score=1)

    return train


def brief(config):
    """A function that ends at once."""
    tune.report(score=2)


def run(train, storage, **options):
    given = {"engine": "inline", "name": "exp", "tensorboard": False, **options}
    began = time.monotonic()
    try:
        return tune.run(train, num_samples=2, storage_path=str(storage), verbose=0, **given)
    finally:
        assert time.monotonic() - began < UNTIL_S


def n_results(journal):
    return sum(isinstance(record.event, Reported) for record in read(journal))


def delete(folder):
    """Delete a folder as `rm -r` does that is repeated until nothing is left: a save may come between."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("engine", ["inline", "local"])
def test_a_run_whose_folder_is_moved_says_so_and_ends_as_at_ctrl_c(tmp_path, engine, capfd):
    moved = tmp_path / "elsewhere"
    found = run(trainable(lambda folder: folder.rename(moved)), tmp_path, engine=engine)
    assert names(tmp_path / "exp") == []
    said = capfd.readouterr().err
    assert f"{tmp_path}/exp was moved to {moved} during the run: letting trials end, as at Ctrl-C" in said
    assert f"to go on with it: overtone resume {moved}" in said
    assert found.experiment_path == str(moved)
    assert sum(len(list(trial.results())) for trial in found.trials) == n_results(moved / "journal.jsonl") > 2
    again = tune.run(
        brief, name="elsewhere", storage_path=str(tmp_path), num_samples=2,
        resume=True, engine="inline", verbose=0, tensorboard=False,
    )  # fmt: skip
    assert [trial.status for trial in again.trials] == ["TERMINATED"] * 2


def test_a_run_whose_folder_is_deleted_saves_its_journal(tmp_path):
    with pytest.raises(StorageError, match=r"was deleted during the run.*journal was saved to ") as caught:
        run(trainable(shutil.rmtree), tmp_path)
    assert not (tmp_path / "exp").exists()
    (rescued,) = tmp_path.glob("exp.rescued.*")
    assert str(rescued / "journal.jsonl") in str(caught.value)
    assert n_results(rescued / "journal.jsonl") > 2
    again = tune.run(
        brief, name=rescued.name, storage_path=str(tmp_path), num_samples=2,
        resume=True, engine="inline", verbose=0, tensorboard=False,
    )  # fmt: skip
    assert [trial.status for trial in again.trials] == ["TERMINATED"] * 2


@pytest.mark.parametrize("engine", ["inline", "local"])
def test_what_lies_in_its_place_then_is_left_alone(tmp_path, engine):
    moved, other = tmp_path / "elsewhere", tmp_path / "other"
    tune.run(brief, name="other", storage_path=str(tmp_path), engine="inline", verbose=0)
    before = names(other), (other / "journal.jsonl").read_bytes()

    def replace(folder):
        folder.rename(moved)
        other.rename(folder)

    found = run(trainable(replace, saves=True), tmp_path, engine=engine)
    assert (names(tmp_path / "exp"), (tmp_path / "exp/journal.jsonl").read_bytes()) == before
    assert found.experiment_path == str(moved)
    assert len(found.trials) == 2


@pytest.mark.parametrize("tensorboard", [False, True])
def test_a_checkpoint_does_not_make_a_deleted_folder_again(tmp_path, tensorboard, capfd):
    with pytest.raises(StorageError, match="was deleted during the run"):
        run(
            trainable(delete, saves=True), tmp_path,
            engine="local", tensorboard=tensorboard, log_to_file=True, keep_checkpoints_num=1,
        )  # fmt: skip
    assert not (tmp_path / "exp").exists()
    assert "could not be deleted" not in capfd.readouterr().err


def test_a_run_that_ended_does_not_return_the_results_of_another(tmp_path):
    handle = tune.start(
        brief, name="exp", storage_path=str(tmp_path), engine="inline", verbose=0,
        tensorboard=False,
    )  # fmt: skip
    handle.wait()
    (tmp_path / "exp").rename(tmp_path / "mine")
    tune.run(brief, name="exp", storage_path=str(tmp_path), engine="inline", verbose=0)
    with pytest.raises(StorageError, match=r"does not hold the results of this run any more.*: exp, mine"):
        handle.outcome()


def test_what_was_mirrored_is_whole_although_the_local_part_is_deleted(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"memory:/{tmp_path}/results"
    with pytest.raises(StorageError, match=f"was deleted during the run.*{url}/exp has it as well"):
        run(trainable(shutil.rmtree, saves=True), url)
    again = tune.run(
        brief, name="exp", storage_path=url, num_samples=2, resume="AUTO",
        engine="inline", verbose=0, tensorboard=False,
    )  # fmt: skip
    assert [trial.status for trial in again.trials] == ["TERMINATED"] * 2
    assert os.listdir(tmp_path / "cache").count("overtone") == 1


class OnPast(Observer):
    """Does `act` to a folder while a resume tells it of the past."""

    def __init__(self, act, folder):
        self.act, self.folder = act, folder

    def on_record(self, record):
        """Nothing of the present."""

    def on_past(self, record):
        if self.folder.exists():
            self.act(self.folder)


def begun(storage):
    """Begin an experiment that is left before its end; the bytes of its journal."""

    def train(config):
        tune.report(score=0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(train, storage)
    return (storage / "exp/journal.jsonl").read_bytes()


def test_a_folder_that_is_deleted_during_a_resume_leaves_its_journal(tmp_path, capfd):
    before = begun(tmp_path)
    with pytest.raises(StorageError, match=r"exp was deleted during the run.*journal was saved to "):
        run(brief, tmp_path, resume=True, callbacks=[OnPast(shutil.rmtree, tmp_path / "exp")])
    (rescued,) = tmp_path.glob("exp.rescued.*")
    assert (rescued / "journal.jsonl").read_bytes().startswith(before)
    assert "nothing is lost" not in capfd.readouterr().err


def test_a_folder_that_is_moved_during_a_resume_is_found(tmp_path, capfd):
    begun(tmp_path)
    moved = tmp_path / "elsewhere"
    with suppress(StorageError):  # its files are missed, or the run ends as at Ctrl-C
        run(brief, tmp_path, resume=True, callbacks=[OnPast(lambda one: one.rename(moved), tmp_path / "exp")])
    said = capfd.readouterr().err
    assert said.count(f"{tmp_path}/exp was moved to {moved} during the run") == 1
    assert f"overtone resume {moved}" in said or f"overtone show {moved}" in said


def test_a_journal_alone_that_is_deleted_is_named(tmp_path, capfd):
    with pytest.raises(StorageError, match=r"exp/journal.jsonl was deleted.*Move it back"):
        run(trainable(lambda folder: (folder / "journal.jsonl").unlink()), tmp_path)
    (rescued,) = tmp_path.glob("exp.rescued.*")
    (rescued / "journal.jsonl").rename(tmp_path / "exp/journal.jsonl")
    again = run(brief, tmp_path, resume=True)
    assert [trial.status for trial in again.trials] == ["TERMINATED"] * 2


@pytest.mark.parametrize("replaces", [True, False])
def test_a_journal_that_is_replaced_during_a_resume_is_not_written(tmp_path, replaces):
    before = begun(tmp_path)
    journal = tmp_path / "exp/journal.jsonl"
    is_done = []

    def act(folder):
        if not is_done:
            is_done.append(True)
            journal.unlink()
            if replaces:
                journal.write_bytes(b"of somebody else" * 10_000)

    with pytest.raises(StorageError, match=r"exp/journal.jsonl was deleted.*Move it back"):
        run(brief, tmp_path, resume=True, callbacks=[OnPast(act, tmp_path / "exp")])
    assert journal.exists() == replaces
    assert not replaces or journal.read_bytes() == b"of somebody else" * 10_000
    (rescued,) = tmp_path.glob("exp.rescued.*")
    assert (rescued / "journal.jsonl").read_bytes() == before
