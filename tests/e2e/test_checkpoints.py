"""Checkpoints from outside: kept without asking, gone on from, and no more than there is room."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.messages import Ended, Started
from overtone.journal.reader import read
from overtone.worker.checkpoints.saving_rule import SavingRule


@pytest.fixture
def run(tmp_path):
    def run(trainable, **arguments):
        options = {"verbose": 0, "tensorboard": False, "name": "exp", "engine": "inline", **arguments}
        return tune.run(trainable, storage_path=str(tmp_path), **options)

    return run


def kept(folder):
    """The names of the checkpoints below a folder."""
    return sorted(path.name for path in Path(folder).rglob("checkpoint_*"))


class Counting(tune.Trainable):
    """Counts its steps; loss is 3, 1, 2, 3, ..."""

    def setup(self, config):
        self.n = 0

    def step(self):
        self.n += 1
        return {
            "loss": 3 if self.n == 1 else self.n - 1,
            "n": self.n,
            "done": self.n >= self.config.get("of", 5),
        }

    def save_checkpoint(self, checkpoint_dir):
        return {"n": self.n}

    def load_checkpoint(self, checkpoint):
        self.n = checkpoint["n"]


def counting(config):
    """The same as a function."""
    with tune.get_checkpoint().as_directory() if tune.get_checkpoint() else nothing() as folder:
        begin = int(Path(folder, "n").read_text()) if folder else 0
    for n in range(begin + 1, config.get("of", 5) + 1):
        with tune.checkpoint_dir(step=n) as folder:
            Path(folder, "n").write_text(str(n))
        tune.report(loss=3 if n == 1 else n - 1, n=n)


class nothing:
    def __enter__(self):
        return None

    def __exit__(self, *about):
        return None


def damaged_by_its_end(config):
    """Is killed once, after the newest checkpoint's file was changed."""
    restored = tune.get_checkpoint()
    begin = int(Path(restored.path, "n").read_text()) if restored else 0
    for n in range(begin + 1, 6):
        with tune.checkpoint_dir(step=n) as folder:
            Path(folder, "n").write_text(str(n))
        tune.report(n=n, began=begin)
        if n == 3 and begin == 0:
            Path(tune.get_context().get_trial_dir(), "checkpoint_000003", "n").write_text("9")
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_trial_goes_on_from_the_one_before_a_damaged_checkpoint(run, capfd):
    analysis = run(damaged_by_its_end, engine="local", max_failures=1)
    (trial,) = analysis.trials
    assert (trial.last_result["n"], trial.last_result["began"]) == (5, 2)
    starts = [
        record.event
        for record in read(Path(analysis.experiment_path, "journal.jsonl"))
        if type(record.event) is Started
    ]
    assert [one.restored and one.restored.t for one in starts] == [None, 2]
    assert "checkpoint_000003 is damaged" in capfd.readouterr().out, "where the trial's stderr is shown"
    assert kept(analysis.experiment_path) == [
        "checkpoint_000001", "checkpoint_000002", "checkpoint_000003",
        "checkpoint_000003_a2", "checkpoint_000004_a2", "checkpoint_000005_a2",
    ]  # fmt: skip


def test_a_class_is_saved_without_asking(run, monkeypatch):
    monkeypatch.setattr(SavingRule, "first_s", 0.0)
    monkeypatch.setattr(SavingRule, "share", 1.0)
    analysis = run(Counting)
    assert kept(analysis.experiment_path) == ["checkpoint_000004", "checkpoint_000005"]
    assert analysis.trials[0].checkpoint.to_dict() == {"n": 5}


def test_or_not_where_that_is_turned_off(run, monkeypatch):
    monkeypatch.setattr(SavingRule, "first_s", 0.0)
    assert kept(run(Counting, checkpoint_freq=0).experiment_path) == []


def test_a_short_trial_is_not_saved(run):
    assert kept(run(Counting).experiment_path) == []


@pytest.mark.parametrize("trainable", [Counting, counting])
@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"keep_checkpoints_num": 1}, [5]),
        ({"keep_checkpoints_num": 2}, [4, 5]),
        ({"keep_checkpoints_num": 2, "checkpoint_score_attr": "min-loss"}, [2, 3, 5]),
        ({"keep_checkpoints_num": 2, "checkpoint_score_attr": "loss"}, [4, 5]),
        ({}, [1, 2, 3, 4, 5]),
    ],
)
def test_the_best_few_are_kept(run, trainable, options, left):
    freq = {"checkpoint_freq": 1} if trainable is Counting else {}
    assert kept(run(trainable, **freq, **options).experiment_path) == [f"checkpoint_{t:06d}" for t in left]


def test_a_checkpoint_config_says_the_same(tmp_path):
    config = tune.CheckpointConfig(
        num_to_keep=1,
        checkpoint_score_attribute="loss",
        checkpoint_score_order="min",
        checkpoint_frequency=2,
        checkpoint_at_end=True,
    )
    tuner = tune.Tuner(
        Counting,
        run_config=tune.RunConfig(
            name="exp", storage_path=str(tmp_path), checkpoint_config=config, verbose=0, engine="inline"
        ),
    )
    tuner.fit()
    assert kept(tmp_path / "exp") == ["checkpoint_000002", "checkpoint_000005"]


def fills_the_disk(config):
    """Saves 10 kB with each report, and looks how much there is."""
    used = 0
    experiment = Path(tune.get_context().get_trial_dir()).parent
    for n in range(1, 9):
        with tune.checkpoint_dir(step=n) as folder:
            Path(folder, "data").write_bytes(b"x" * 10_000)
        tune.report(n=n, used=used, score=config["score"] * n)
        used = sum(used_by(path) for path in experiment.glob("*/checkpoint_*"))


def used_by(folder):
    """The size of a checkpoint that may be deleted at this moment."""
    try:
        return (folder / "data").stat().st_size
    except FileNotFoundError:
        return 0


def test_all_together_take_no_more_than_max_disk_and_one_more(run):
    space = {"score": tune.grid_search([1, 2])}
    analysis = run(
        fills_the_disk, config=space, metric="score", mode="max", engine="local", max_disk="55KB",
        max_concurrent_trials=2,
    )  # fmt: skip
    most = max(
        row["used"]
        for trial in analysis.trials
        for row in analysis.trial_dataframes[trial.trial_id].to_dict("records")
    )
    assert 20_000 <= most <= 65_000
    left = list(Path(analysis.experiment_path).glob("*/checkpoint_*"))
    assert 2 <= len(left) <= 6
    assert analysis.trials[-1].checkpoint is not None


def test_max_disk_must_be_a_size(run):
    with pytest.raises(ValueError, match="'much'"):
        run(counting, max_disk="much")
    with pytest.raises(ValueError, match="max_disk=-1"):
        run(counting, max_disk=-1)


def _run_counting(folder, resume=False, **options):
    """A trial of six saves; what it went on from, and what was done since."""
    seen = []

    def train(config):
        first = int(Path(tune.checkpoint, "t").read_text()) if tune.checkpoint else 0
        seen.append(first)
        for t in range(first + 1, 7):
            with tune.checkpoint_dir(step=t) as path:
                Path(path, "t").write_text(str(t))
            tune.report(score=t)

    found = tune.run(
        train, config={"x": tune.uniform(0, 1)}, metric="score", mode="max", seed=1, engine="inline", verbose=1,
        tensorboard=False, storage_path=folder, name="exp", resume=resume, **options,
    )  # fmt: skip
    return found, seen


def _cut(journal, last):
    """Let a journal end with the first line that holds this, as the loss of a machine leaves it."""
    lines = journal.read_bytes().splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if last in line)
    journal.write_bytes(b"".join(lines[: end + 1]))


@pytest.mark.parametrize("keep", [None, 1])
def test_a_save_that_no_record_names_is_taken_in_by_a_resume(tmp_path, capsys, keep):
    first, _ = _run_counting(tmp_path, keep_checkpoints_num=keep)
    _cut(tmp_path / "exp/journal.jsonl", b'"t":2,"checkpoint"')
    again, seen = _run_counting(tmp_path, resume=True, keep_checkpoints_num=keep)
    assert seen == [6]
    n = 4 if keep is None else 1
    said = f"overtone: found {n} save{'s' * (n > 1)} of 1 trial that the journal did not name yet: nothing of these"
    assert said in capsys.readouterr().err
    # with keep=1 the older ones were deleted, with the results that came with them
    assert [row["score"] for row in again.trials[0].results()] == (
        [1, 2, 3, 4, 5, 6] if keep is None else [1, 2, 6]
    )
    assert Path(again.trials[0].checkpoint.path, "t").read_text() == "6"
    _, seen = _run_counting(tmp_path, resume=True, num_samples=2, keep_checkpoints_num=keep)
    assert seen == [0]  # a replay of it is the same
    assert "would decide otherwise" not in capsys.readouterr().err
    assert first.trials[0].trial_id == again.trials[0].trial_id


def test_a_trial_that_is_in_no_record_goes_on_from_its_save_when_it_is_created_again(tmp_path, capsys):
    first, _ = _run_counting(tmp_path, keep_checkpoints_num=1)
    _cut(tmp_path / "exp/journal.jsonl", b'"e":"capacity_changed"')
    again, seen = _run_counting(tmp_path, resume=True, keep_checkpoints_num=1)
    assert seen == [6]
    assert first.trials[0].trial_id == again.trials[0].trial_id
    assert Path(again.trials[0].checkpoint.path, "t").read_text() == "6"
    _, seen = _run_counting(tmp_path, resume=True, num_samples=2, keep_checkpoints_num=1)
    assert seen == [0]
    assert "would decide otherwise" not in capsys.readouterr().err


class Counted(tune.Trainable):
    """Says itself when it is done; to begin it again would be a mistake."""

    def setup(self, config):
        self.t = 0

    def step(self):
        self.t += 1
        return {"score": self.t, "done": self.t == 6}

    def save_checkpoint(self, folder):
        Path(folder, "t").write_text(str(self.t))

    def load_checkpoint(self, folder):
        self.t = int(Path(folder, "t").read_text())


@pytest.mark.parametrize("last", ['"t":2,"checkpoint"', '"e":"capacity_changed"', '"t":6,"checkpoint"'])
def test_a_trial_that_was_done_is_not_begun_again(tmp_path, last):
    def run(resume):
        return tune.run(
            Counted, metric="score", mode="max", seed=1, engine="inline", verbose=1, tensorboard=False,
            storage_path=tmp_path, name="exp", resume=resume, checkpoint_freq=1, num_samples=2, max_concurrent_trials=1,
        )  # fmt: skip

    run(False)
    _cut(tmp_path / "exp/journal.jsonl", last.encode())
    for trial in run(True).trials:
        assert trial.status == "TERMINATED"
        assert [row["score"] for row in trial.results()] == [1, 2, 3, 4, 5, 6]
    events = [record.event for record in read(tmp_path / "exp/journal.jsonl")]
    started = [one.trial_id for one in events if isinstance(one, Started)]
    assert len(started) == len(set(started))
    assert not any(isinstance(one, Ended) and one.error for one in events)


def test_the_book_of_max_disk_forgets_what_a_resume_deleted(tmp_path):
    first, _ = _run_counting(tmp_path, max_disk="1GB")
    book, home = tmp_path / "exp/.checkpoint_sizes.json", Path(first.trials[0].local_path)
    assert len(json.loads(book.read_text())) == 6
    shutil.copytree(home / "checkpoint_000006", home / "checkpoint_000006_a2")
    book.write_text(json.dumps({**json.loads(book.read_text()), str(home / "checkpoint_000006_a2"): 10**9}))
    _run_counting(tmp_path, resume=True, num_samples=2, max_disk="1GB")
    sizes = json.loads(book.read_text())
    assert len(sizes) == 12
    assert sum(sizes.values()) < 100_000
    book.unlink()  # another machine
    _run_counting(tmp_path, resume=True, num_samples=3, max_disk="1GB")
    assert len(json.loads(book.read_text())) == 18


def test_a_resume_gives_back_the_space_of_what_no_record_names(tmp_path, capsys):
    first, _ = _run_counting(tmp_path)
    home = Path(first.trials[0].local_path)
    for name in (".put-checkpoint_000007-4194305-0123abcd", ".deleted-checkpoint_000001-4194305-0123abcd"):
        (home / name).mkdir()
        (home / name / "weights").write_bytes(bytes(500_000))
    shutil.copytree(home / "checkpoint_000006", home / "checkpoint_000006_a2")  # whole, of no record
    for name in ("checkpoint_best", "checkpoint_000008", "mine"):
        shutil.copytree(home / "checkpoint_000006", home / name)
    _run_counting(tmp_path, resume=True, num_samples=2)
    assert (
        "overtone: removed 3 unfinished saves (1 MB) that the journal does not name\n"
        in capsys.readouterr().err
    )
    assert sorted(path.name for path in home.iterdir() if path.is_dir()) == [
        *(f"checkpoint_{t:06d}" for t in range(1, 7)), "checkpoint_000008", "checkpoint_best", "mine",
    ]  # fmt: skip
