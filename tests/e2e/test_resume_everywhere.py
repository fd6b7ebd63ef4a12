"""An experiment that is killed at every event in turn, and resumed, decides as one that was not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from overtone import tune
from overtone.engines.inline import Inline
from overtone.engines.simulated import Simulated
from overtone.journal.reader import scan
from overtone.tune.schedulers import ASHAScheduler


def curve(config, t):
    return {"score": config["x"] * (1 - 1 / (t + config["y"]))}


def simulated(folder: Path, resume, num_samples=6):
    return tune.run(
        curve, config={"x": tune.uniform(0, 1), "y": tune.randint(1, 5)}, num_samples=num_samples,
        metric="score", mode="max", scheduler=ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3),
        engine=Simulated(workers=3), name=folder.name, storage_path=folder.parent, seed=7, verbose=0,
        tensorboard=False, resume=resume,
    )  # fmt: skip


def train(config):
    start = tune.get_checkpoint()
    t = json.loads(Path(start.path, "t.json").read_text())["t"] if start else 0
    while True:
        t += 1
        checkpoint = tune.Checkpoint.from_dict({"t": t}) if t % 2 == 0 else None
        if checkpoint:
            Path(checkpoint.path, "t.json").write_text(json.dumps({"t": t}))
        tune.report(curve(config, t), checkpoint=checkpoint)


def inline(folder: Path, resume, num_samples=4):
    return tune.run(
        train, config={"x": tune.uniform(0, 1), "y": tune.randint(1, 5)}, num_samples=num_samples,
        metric="score", mode="max", scheduler=ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3),
        engine=Inline(cpus=1), name=folder.name, storage_path=folder.parent, seed=7, verbose=0,
        tensorboard=False, resume=resume,
    )  # fmt: skip


def decisions(folder: Path) -> list[tuple[object, ...]]:
    """Every ruling with its reason, each trial's config, and the results that were shown, a trial at a time."""
    found = []
    for kind, record in scan(folder / "journal.jsonl"):
        redone = False
        for choice in record.get("choices", ()):
            if choice["c"] == "added":
                found.append(("added", choice["trial_id"], json.dumps(choice["config"], sort_keys=True)))
            elif choice["c"] == "ruled" and choice["what"] != "redone":
                found.append(("ruled", choice["trial_id"], choice["t"], json.dumps(choice["why"])))
            redone = redone or choice.get("what") == "redone"
        if kind == "reported" and not redone:
            found.append(("shown", record["trial_id"], record["t"], record["metrics"]["score"]))
    return sorted(found, key=lambda one: (one[0], one[1], str(one[2])))


@pytest.mark.parametrize("run", [simulated, inline])
def test_killed_at_every_event_and_resumed_it_decides_the_same(run, tmp_path) -> None:
    whole = tmp_path / "whole"
    run(whole, resume=False)
    expected = decisions(whole)
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 20
    for cut in range(1, len(lines)):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        for trial in whole.iterdir():
            if trial.is_dir():
                shutil.copytree(trial, folder / trial.name)
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        analysis = run(folder, resume=True)
        assert decisions(folder) == expected, cut
        assert len(analysis.trials) == len({one[1] for one in expected})
        shutil.rmtree(folder)


def test_a_finished_experiment_goes_on_with_more_samples(tmp_path) -> None:
    folder = tmp_path / "more"
    simulated(folder, resume=False, num_samples=4)
    assert len(simulated(folder, resume="AUTO", num_samples=4).trials) == 4
    assert len(simulated(folder, resume="AUTO", num_samples=6).trials) == 6
    whole = tmp_path / "whole"
    simulated(whole, resume=False)
    configs = [trial.config for trial in simulated(whole, resume=True).trials]
    assert [trial.config for trial in simulated(folder, resume=True).trials] == configs


class Told(tune.Callback):
    """Notes what it is told of."""

    def __init__(self) -> None:
        self.n_trials: set[int] = set()
        self.completed: list[str] = []

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.n_trials.add(len(trials))

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.completed.append(trial.trial_id)


def test_callbacks_are_called_after_a_resume_too_and_know_earlier_trials(tmp_path, monkeypatch) -> None:
    whole = tmp_path / "whole"
    inline(whole, resume=False)
    journal = whole / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    told = Told()
    run = tune.run
    monkeypatch.setattr(tune, "run", lambda *args, **more: run(*args, **more, callbacks=[told]))
    trials = inline(whole, resume=True).trials
    assert told.n_trials <= {3, 4}
    assert 4 in told.n_trials
    assert told.completed[-1] in {trial.trial_id for trial in trials}
