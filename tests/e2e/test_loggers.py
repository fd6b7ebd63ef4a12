"""Loggers of users in a run: each file of a trial has one writer, also after a resume."""

import csv
import json

import pytest

from overtone import tune
from overtone.errors import CallbackError
from overtone.tune.callback import Callback
from overtone.tune.logger import (
    CSVLoggerCallback,
    JsonLogger,
    JsonLoggerCallback,
    Logger,
    TBXLoggerCallback,
    UnifiedLogger,
)


def train(config):
    checkpoint = tune.get_checkpoint()
    first = checkpoint.to_dict()["i"] + 1 if checkpoint else 1
    for i in range(first, 5):
        tune.report({"loss": 1 / i}, checkpoint=tune.Checkpoint.from_dict({"i": i}))


@pytest.fixture
def search(tmp_path):
    def search(*callbacks, **options):
        given = {"engine": "local", "verbose": 0, "max_concurrent_trials": 1, "tensorboard": False, **options}
        return tune.run(
            train, name="exp", storage_path=tmp_path, num_samples=2, callbacks=list(callbacks), **given
        )

    return search


def trials(tmp_path):
    return sorted(path for path in (tmp_path / "exp").iterdir() if path.is_dir())


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "result.json").read_text().splitlines()]


def rows(folder):
    with (folder / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class Percent(JsonLoggerCallback):
    """Writes losses in percent, and notes what it is told."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def log_trial_start(self, trial):
        super().log_trial_start(trial)
        self.calls.append("start")

    def log_trial_save(self, trial):
        super().log_trial_save(trial)
        self.calls.append("save")

    def log_trial_result(self, iteration, trial, result):
        super().log_trial_result(iteration, trial, {**result, "loss": 100 * result["loss"]})
        assert not self._trial_files[trial].closed

    def log_trial_end(self, trial, failed=False):
        super().log_trial_end(trial, failed)
        self.calls.append("end")


PERCENT = [100.0, 50.0, 100 / 3, 25.0]


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_a_subclass_of_the_json_logger_writes_instead_of_the_run(search, tmp_path, engine):
    percent = Percent()
    search(percent, engine=engine)
    assert percent.calls == ["start", "save", "save", "save", "save", "end"] * 2
    for folder in trials(tmp_path):
        assert losses(folder) == pytest.approx(PERCENT)
        assert [float(row["loss"]) for row in rows(folder)] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
        assert (folder / "params.json").exists()


def test_a_subclass_beside_the_default_loggers_writes_once(tmp_path):
    config = tune.RunConfig(
        name="exp",
        storage_path=tmp_path,
        verbose=0,
        callbacks=[CSVLoggerCallback(), JsonLoggerCallback(), Percent(), TBXLoggerCallback()],
    )
    tune.Tuner(train, run_config=config).fit()
    (folder,) = trials(tmp_path)
    assert losses(folder) == pytest.approx(PERCENT)
    assert len(rows(folder)) == 4


def test_the_files_of_a_logger_stay_its_own_over_a_resume(search, tmp_path):
    class Broken(Callback):
        def on_trial_complete(self, iteration, trials, trial, **info):
            raise LookupError("broken")

    with pytest.raises(CallbackError):
        search(Percent(), Broken())
    first = trials(tmp_path)[0]
    before = (first / "result.json").read_text()
    (first / "progress.csv").unlink()  # The run's own files are mended.
    search(Percent(), resume=True)
    assert (first / "result.json").read_text() == before
    for folder in trials(tmp_path):
        assert losses(folder) == pytest.approx(PERCENT)
        assert len(rows(folder)) == 4


def test_a_subclass_of_the_csv_logger_may_add_columns(search, tmp_path):
    class More(CSVLoggerCallback):
        def log_trial_result(self, iteration, trial, result):
            more = {"late": True} if result["training_iteration"] == 3 else {}
            super().log_trial_result(iteration, trial, {**result, **more})

    search(More())
    for folder in trials(tmp_path):
        assert [row["late"] for row in rows(folder)] == ["", "", "True", ""]
        assert len(losses(folder)) == 4


def test_a_subclass_of_the_tensorboard_logger_may_write_more(search, tmp_path):
    pytest.importorskip("tensorboardX")

    class Texts(TBXLoggerCallback):
        def log_trial_result(self, iteration, trial, result):
            super().log_trial_result(iteration, trial, result)
            self._trial_writer[trial].add_scalar(
                "mine/square", result["loss"] ** 2, result["training_iteration"]
            )

    search(Texts(), tensorboard=None)
    for folder in trials(tmp_path):
        (file,) = folder.glob("events.out.tfevents.*")
        assert file.read_bytes().count(b"mine/square") == 4


def test_loggers_of_early_versions(search, tmp_path):
    class Words(Logger):
        def _init(self):
            self.file = open(f"{self.logdir}/words.txt", "w")  # noqa: SIM115

        def on_result(self, result):
            self.file.write(f"{result['training_iteration']} ")

        def close(self):
            self.file.close()

    class Half(JsonLogger):
        def on_result(self, result):
            super().on_result({**result, "loss": result["loss"] / 2})

    search(
        loggers=[
            Half,
            UnifiedLogger,
            lambda config, logdir, trial: UnifiedLogger(config, logdir, trial, [Words]),
        ]
    )
    for folder in trials(tmp_path):
        assert losses(folder) == pytest.approx([1 / 2, 1 / 4, 1 / 6, 1 / 8])
        assert len(rows(folder)) == 4
        assert (folder / "words.txt").read_text() == "1 2 3 4 "


def test_loggers_that_are_given_write_where_the_run_writes_none(search, tmp_path, monkeypatch):
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    search(JsonLoggerCallback())
    for folder in trials(tmp_path):
        assert len(losses(folder)) == 4
        assert not (folder / "progress.csv").exists()
