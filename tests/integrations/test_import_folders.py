"""Folders that Ray Tune and Syne Tune wrote are imported, and no pickle in them is opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from overtone import tune
from overtone.importers.import_results import import_results

RAY = """
import json, os, sys, tempfile
from ray import tune
import ray

def f(config):
    for i in range(3):
        if config["lr"] > 0.8 and i == 1:
            raise RuntimeError("boom")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "weights.txt"), "w") as file:
                file.write(f"{config['lr']} {i}")
            checkpoint = tune.Checkpoint.from_directory(folder)
            tune.report({"loss": config["lr"] / (i + 1), "deep": {"a": i}}, checkpoint=checkpoint)

ray.init(num_cpus=1, include_dashboard=False, _temp_dir=sys.argv[2])
space = {"lr": tune.grid_search([0.1, 0.9]), "net": {"w": tune.choice([1, 2])}, "layers": [1, 2]}
run = tune.RunConfig(name="exp", storage_path=sys.argv[1], verbose=0)
found = tune.Tuner(f, param_space=space, run_config=run, tune_config=tune.TuneConfig(metric="loss", mode="min")).fit()
print("RESULT", json.dumps([{"metrics": one.metrics, "path": one.path, "error": str(one.error or "")} for one in found]))
"""

SYNE = """
from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import PythonBackend
from syne_tune.config_space import choice, loguniform, randint
from syne_tune.optimizer.baselines import ASHA

def train(lr: float, n: int, k: str):
    from syne_tune import Reporter
    report = Reporter()
    for epoch in range(1, 4):
        report(epoch=epoch, loss=lr / epoch + n)

if __name__ == "__main__":
    space = {"lr": loguniform(1e-3, 1), "n": randint(1, 3), "k": choice(["a", "b"])}
    backend = PythonBackend(tune_function=train, config_space=space)
    scheduler = ASHA(space, metric="loss", time_attr="epoch", max_t=3, do_minimize=True)
    stop = StoppingCriterion(max_num_trials_finished=1)
    Tuner(backend, scheduler, stop, n_workers=1, sleep_time=0.05, tuner_name="st").run()
"""


def ran(code, folder, *arguments):
    """Run a script, and return what it printed after "RESULT "."""
    script = folder / "script.py"
    script.write_text(code)
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=800, env=environment, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.rpartition("RESULT ")[2].partition("\n")[0]


_events: list[tuple[str, str]] = []
_is_on = [False]


@pytest.fixture
def watched():
    """Note each opened file, and each use of pickle."""
    if not _events:
        _events.append(("", ""))
        sys.addaudithook(_note)
    del _events[1:]
    _is_on[0] = True
    yield _events
    _is_on[0] = False


def _note(event, args):
    if _is_on[0] and event in ("open", "pickle.find_class"):
        _events.append((event, str(args[0])))


def check_no_pickle(events, ending):
    """Check that files were opened, and no pickle was."""
    opened = [name for event, name in events if event == "open"]
    assert any(one.endswith(ending) for one in opened)
    assert not [one for one in opened if one.endswith((".pkl", ".dill"))]
    assert not [name for event, name in events if event == "pickle.find_class"]


def test_a_folder_of_ray_tune(tmp_path, watched):
    if find_spec("ray") is None or find_spec("pandas") is None:
        pytest.skip("Ray Tune is not installed")
    _is_on[0] = False
    with TemporaryDirectory(prefix="ray", dir="/tmp") as short:  # The paths of sockets are short.
        grid = json.loads(ran(RAY, tmp_path, str(tmp_path / "ray"), short))
    _is_on[0] = True
    folder = tmp_path / "ray" / "exp"
    found = import_results(str(folder), tmp_path / "results")
    check_no_pickle(watched, "result.json")
    trials = {one.trial_id: one for one in tune.ExperimentAnalysis(found.folder).trials}
    assert len(trials) == 2 == len(grid)
    for one in grid:
        rows = [json.loads(line) for line in Path(one["path"], "result.json").read_text().splitlines()]
        trial = trials[rows[0]["trial_id"]]
        assert trial.status == ("ERROR" if one["error"] else "TERMINATED")
        names = ("loss", "deep", "training_iteration", "time_total_s", "timestamp")
        results = list(trial.results())
        assert [[result[name] for name in names] for result in results] == [
            [row[name] for name in names] for row in rows
        ]
        assert trial.config == one["metrics"]["config"]
        assert trial.last_result["loss"] == one["metrics"]["loss"]
        for checkpoint, result in trial.checkpoints():
            with checkpoint.as_directory() as where:
                text = Path(where, "weights.txt").read_text()
            assert text == f"{trial.config['lr']} {result['training_iteration'] - 1}"
        assert len(trial.checkpoints()) == len(rows)
        if one["error"]:
            assert "boom" in trial.error
            assert "RuntimeError" in trial.traceback
    assert tune.verify(found.folder).is_same


def test_a_folder_of_syne_tune(tmp_path, watched):
    if find_spec("syne_tune") is None:
        pytest.skip("Syne Tune is not installed")
    _is_on[0] = False
    ran(SYNE, tmp_path)
    (folder,) = (one.parent for one in tmp_path.glob("syne-tune/**/results.csv.zip"))
    _is_on[0] = True
    found = import_results(str(folder), tmp_path / "results", "st")
    check_no_pickle(watched, "results.csv.zip")
    _is_on[0] = False
    import pandas as pd

    frame = pd.read_csv(folder / "results.csv.zip")
    trials = tune.ExperimentAnalysis(found.folder).trials
    assert len(trials) == frame.trial_id.nunique()
    for trial, (_, rows) in zip(trials, frame.groupby("trial_id", sort=False), strict=True):
        assert [one["loss"] for one in trial.results()] == list(rows.loss)
        assert [one["training_iteration"] for one in trial.results()] == list(rows.epoch)
        first = rows.iloc[0]
        assert trial.config == {"lr": first.config_lr, "n": first.config_n, "k": first.config_k}
    assert tune.verify(found.folder).is_same
    space = json.loads((found.folder / "journal.jsonl").read_text().splitlines()[0])["parts"]["space"]
    assert space["lr"]["__domain__"] == "loguniform"
    assert space["n"] == {
        "__domain__": "randint",
        "lower": 1,
        "upper": 4,
    }
