"""A schedule that a population found, trained again by one trial; and a real run on digits."""

import json
from hashlib import sha1
from pathlib import Path

import numpy as np
import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.engines.inline import Inline
from overtone.errors import OvertoneError
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.pbt_replay import PopulationBasedTrainingReplay
from overtone.testing.manual_controller import ByHand


class Found:
    """An earlier experiment."""

    def __init__(self, first, changes):
        self.schedule = (first, changes)

    def schedule_of(self, trial_id):
        return self.schedule


def replayed(first=None, changes=(), **more):
    scheduler = PopulationBasedTrainingReplay("an experiment")
    return ByHand(scheduler, cpus=2, earlier=lambda path: Found(first or {"lr": 1}, list(changes)), **more)


def test_the_config_changes_where_it_did():
    hand = replayed(changes=[(4, {"lr": 2}), (8, {"lr": 3})])
    trial = hand.run({"lr": 1, "other": 0})
    assert hand.report(trial, 3, saves=True) == []
    hand.report(trial, 4, saves=True)
    (ruled, _) = hand.choices
    assert (ruled.what, ruled.config, ruled.source) == ("restart", {"lr": 2, "other": 0}, None)
    assert ruled.why.note == "lr 1 -> 2"
    start = next(order for order in hand.ended(trial, "halted") if isinstance(order, m.Start))
    assert (start.config, start.checkpoint.t, start.until_t) == ({"lr": 2, "other": 0}, 4, 8)
    assert hand.controller._scheduler.describe() == "PopulationBasedTraining replay: Step 1 of 2"


def test_a_metric_is_not_needed():
    hand = replayed(changes=[(1, {"lr": 2})])
    hand.report(hand.run(), 1, score=None, saves=True)
    assert [one.what for one in hand.choices if isinstance(one, m.Ruled)] == ["restart"]


def test_there_is_one_trial():
    hand = replayed()
    hand.run()
    with pytest.raises(OvertoneError, match="leave num_samples at 1"):
        hand.suggest({})


def test_the_space_begins_with_the_first_config():
    scheduler = PopulationBasedTrainingReplay("an experiment")
    space = scheduler.complete({"lr": tune.uniform(0, 1), "x": 1}, lambda path: Found({"lr": 0.5}, []))
    assert space == {"lr": 0.5, "x": 1}


def policy(folder, *lines):
    file = folder / "policy.txt"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return PopulationBasedTrainingReplay(str(file))


def test_a_policy_file_of_ray_tune(tmp_path):
    scheduler = policy(
        tmp_path,
        ["0_lr=9", "7_lr=9", 2, 2, {"lr": 9}, {"lr": 8}],  # overwritten: what follows begins with trial 3
        ["3_lr=1", "4_lr=2", 4, 5, {"lr": 1}, {"lr": 2}],
        ["0_lr=9", "3_lr=1", 10, 11, {"lr": 2}, {"lr": 3}],
    )
    assert scheduler.complete({}, None) == {"lr": 1}
    hand = ByHand(scheduler)
    assert scheduler._changes == [(5, {"lr": 2}), (11, {"lr": 3})]
    assert hand.suggest({})[0].until_t == 5


@pytest.mark.parametrize(("text", "error"), [("", "is empty"), ("not json\n", "line 1: expected")])
def test_a_policy_file_that_cannot_be_read(tmp_path, text, error):
    (tmp_path / "policy.txt").write_text(text)
    with pytest.raises(OvertoneError, match=error):
        PopulationBasedTrainingReplay(str(tmp_path / "policy.txt")).complete({}, None)


# --- a real run on digits -----------------------------------------------------------------


class Digits(tune.Trainable):
    """A softmax regression, trained an epoch at a time; its state is its weights."""

    def setup(self, config):
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        self.x, self.y, self.lr = x / 16, y, config["lr"]
        self.weights = np.zeros((64, 10))

    def step(self):
        before = self.shown()
        for at in range(0, 800, 50):  # an epoch of softmax regression
            x, y = self.x[at : at + 50], self.y[at : at + 50]
            share = np.exp(x @ self.weights)
            share /= share.sum(1, keepdims=True)
            self.weights += self.lr * x.T @ (np.eye(10)[y] - share)
        right = (self.x[800:] @ self.weights).argmax(1) == self.y[800:]
        return {"accuracy": float(right.mean()), "before": before, "after": self.shown()}

    def shown(self):
        return sha1(self.weights.tobytes()).hexdigest()

    def save_checkpoint(self, folder):
        np.save(Path(folder) / "weights.npy", self.weights)

    def load_checkpoint(self, folder):
        self.weights = np.load(Path(folder) / "weights.npy")


def test_a_real_run_and_its_replay(tmp_path):
    pytest.importorskip("sklearn")
    options = {
        "engine": Inline(cpus=4),
        "verbose": 0,
        "stop": {"training_iteration": 7},
        "storage_path": str(tmp_path),
    }
    pbt = PopulationBasedTraining(
        "training_iteration", "accuracy", "max", perturbation_interval=2, synch=True,
        hyperparam_mutations={"lr": tune.loguniform(1e-5, 1e-1)}, resample_probability=0.5,
    )  # fmt: skip
    found = tune.run(Digits, config={}, num_samples=4, scheduler=pbt, seed=4, name="pbt", **options)
    folder = tmp_path / "pbt"
    assert pbt.describe() == "PopulationBasedTraining: 0 checkpoints, 3 perturbs"
    results = {trial.experiment_tag: list(trial.results()) for trial in found.trials}
    for line in map(json.loads, (folder / "pbt_global.txt").read_text().splitlines()):
        clone, source, _, t, _, config = line
        (began,) = (one["before"] for one in results[clone] if one["training_iteration"] == t + 1)
        assert began == next(one["after"] for one in results[source] if one["training_iteration"] == t)
    best = found.best_trial
    assert len(found.schedule_of()[1]) == 2
    for source in (folder, folder / f"pbt_policy_{best.trial_id}.txt"):
        replay = PopulationBasedTrainingReplay(str(source))
        again = tune.run(Digits, config={}, scheduler=replay, metric="accuracy", mode="max", **options)
        assert again.best_result["after"] == best.last_result["after"]
        assert again.best_config == best.config
