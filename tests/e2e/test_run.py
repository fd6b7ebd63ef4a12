"""Experiments from their first line to their analysis, in real processes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.messages import Moved, Reported
from overtone.journal.reader import read
from overtone.tune.schedulers import ASHAScheduler, FIFOScheduler


class ClassModel(tune.Trainable):
    def setup(self, config):
        self.x, self.value = config["x"], 0.0

    def step(self):
        self.value += self.x / (1 + self.training_iteration)
        return {"score": self.value, "done": self.training_iteration >= 8}

    def save_checkpoint(self, folder):
        Path(folder, "value").write_text(repr(self.value))

    def load_checkpoint(self, folder):
        self.value = float(Path(folder, "value").read_text())


def function_model(config):
    value, first = 0.0, 0
    if tune.checkpoint:
        value, first = float(Path(tune.checkpoint, "value").read_text()), tune.get_context().iteration
    for i in range(first, 9):
        value += config["x"] / (1 + i)
        with tune.checkpoint_dir(step=i) as folder:
            Path(folder, "value").write_text(repr(value))
        tune.report(score=value)


def decisions(folder):
    """What became of each trial, in order, without times."""
    found: dict[str, list[object]] = {}
    for record in read(Path(folder) / "journal.jsonl"):
        if isinstance(record.event, Reported):
            found.setdefault(record.event.trial_id, []).append(
                (record.event.t, record.event.metrics["score"])
            )
        for choice in record.choices:
            if isinstance(choice, Moved) and choice.status == "TERMINATED":
                found.setdefault(choice.trial_id, []).append(
                    choice.why and choice.why.rule.replace("halted", "returned")
                )
    return found


def checkpoints(analysis):
    return {trial.trial_id: Path(trial.checkpoint.path, "value").read_text() for trial in analysis.trials}


@pytest.mark.parametrize("scheduler", [FIFOScheduler, lambda: ASHAScheduler(max_t=100, reduction_factor=2)])
def test_both_forms_of_a_model_are_the_same_experiment_on_both_engines(tmp_path, scheduler):
    found = {}
    for engine in ("local", "inline"):
        for model, options in ((ClassModel, {"checkpoint_freq": 1}), (function_model, {})):
            analysis = tune.run(
                model, config={"x": tune.uniform(0, 1)}, num_samples=6, metric="score", mode="max", seed=3,
                scheduler=scheduler(), engine=engine, storage_path=str(tmp_path), verbose=0,
                name=f"{engine} {model.__name__}", max_concurrent_trials=1, **options,
            )  # fmt: skip
            found[engine, model.__name__] = (
                decisions(analysis.experiment_path),
                checkpoints(analysis),
                analysis.best_config,
            )
    first, *others = found.values()
    assert len(first[0]) == 6
    for other in others:
        assert other == first


def test_a_run_that_does_not_block(tmp_path):
    def train(config):
        for i in range(3):
            tune.report({"loss": config["x"] - i})

    run = tune.start(train, config={"x": tune.grid_search([1, 2, 3])}, metric="loss", mode="min",
                     storage_path=str(tmp_path), verbose=0)  # fmt: skip
    assert len(run.wait(60).trials) >= 1
    analysis = run.wait()
    assert run.done
    assert len(run.results_df) == 3
    assert analysis.best_config == {"x": 1}


def test_a_run_can_be_stopped(tmp_path):
    def train(config):
        while True:
            tune.report({"loss": 1.0})
            time.sleep(0.01)

    run = tune.start(train, num_samples=-1, storage_path=str(tmp_path), verbose=0)
    run.stop()
    analysis = run.wait()
    assert {trial.status for trial in analysis.trials} <= {"TERMINATED"}


def test_a_time_budget_ends_the_search(tmp_path):
    def train(config):
        while True:
            tune.report({"loss": 1.0})
            time.sleep(0.01)

    analysis = tune.run(train, num_samples=3, time_budget_s=0.5, storage_path=str(tmp_path), verbose=0)
    assert len(analysis.trials) == 3
    assert {trial.status for trial in analysis.trials} == {"TERMINATED"}


def test_failed_trials_are_tried_again_from_their_checkpoint(tmp_path):
    def train(config):
        start = int(Path(tune.checkpoint, "n").read_text()) if tune.checkpoint else 0
        for i in range(start, 4):
            with tune.checkpoint_dir(step=i) as folder:
                Path(folder, "n").write_text(str(i + 1))
            tune.report(n=i + 1, started_at=start)
            if i == 1 and start == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    analysis = tune.run(train, max_failures=1, storage_path=str(tmp_path), verbose=0)
    (trial,) = analysis.trials
    assert trial.status == "TERMINATED"
    assert trial.last_result["n"] == 4
    assert trial.last_result["started_at"] == 2
    assert [n for n, _ in _results(analysis, "n")] == [1, 2, 3, 4]


def _results(analysis, key):
    return [
        (record.event.metrics[key], record.event.t)
        for record in read(Path(analysis.experiment_path) / "journal.jsonl")
        if isinstance(record.event, Reported)
    ]


CTRL_C = """
import time
from overtone import tune

def train(config):
    for i in range(100_000):
        tune.report({"score": float(i)})
        time.sleep(0.02)

analysis = tune.run(train, num_samples=4, metric="score", mode="max", storage_path="results", name="exp",
                    max_concurrent_trials=2)
print("came back with", len(analysis.trials), "trials", sorted({trial.status for trial in analysis.trials}))
"""


def test_ctrl_c_returns_the_analysis_and_leaves_no_process(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(CTRL_C))
    driver = subprocess.Popen(
        [sys.executable, str(script)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    journal = tmp_path / "results" / "exp" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and b'"reported"' in journal.read_bytes()):
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGINT)
    output, _ = driver.communicate(timeout=110)
    assert driver.returncode == 0, output
    assert "came back with 4 trials ['PAUSED', 'PENDING']" in output
    with pytest.raises(ProcessLookupError):
        os.killpg(driver.pid, 0)


SHY = """
import os, signal, sys, time
from overtone import tune

def train(config):
    tune.report(loss=1.0)
    if config["x"] == 2:
        os.kill(config["driver"], signal.SIGTERM)
        time.sleep(0.1)
        tune.report(loss=2.0)

tune.run(
    train, config={"x": tune.grid_search([1, 2]), "driver": os.getpid()}, storage_path=sys.argv[1], name="exp",
    metric="loss", mode="min", resources_per_trial={"cpu": 0.1}, verbose=int(sys.argv[2]),
)
"""


@pytest.mark.parametrize("streams", [">&- 2>&-", "> /dev/full 2>&1"])
@pytest.mark.parametrize("verbose", [0, 2])
def test_a_driver_whose_output_goes_nowhere_runs_and_ends_in_order(tmp_path, streams, verbose):
    script = tmp_path / "script.py"
    script.write_text(SHY)
    command = f'exec "$0" "$1" "$2" {verbose} {streams}'
    done = subprocess.run(["sh", "-c", command, sys.executable, script, tmp_path], timeout=110)
    # Python itself says 120 if it cannot flush its standard output
    assert done.returncode in (128 + signal.SIGTERM, 120)
    records = [record.event for record in read(tmp_path / "exp" / "journal.jsonl")]
    assert sum(isinstance(event, Reported) for event in records) >= 2
    assert any(type(event).__name__ == "Interrupted" for event in records)
