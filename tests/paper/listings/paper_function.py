# ruff: noqa
# "Tune: A Research Platform for Distributed Model Selection and Training", figure 2 (a): the
# function-based API, cooperative control. The model is a line through a few points.
import json
import os

from overtone import tune


def train(tune):
    weight, step = 0.0, 0
    if tune.checkpoint is not None:
        with open(tune.checkpoint) as file:
            weight, step = json.load(file)
    while step < 8:
        for x in (0.5, 1.0, 1.5):
            error = 3.0 * x - weight * x
            weight += tune.params["lr"] * error * x
        step += 1
        tune.report(mean_loss=(3.0 - weight) ** 2, step=step)
        if tune.should_checkpoint():
            path = os.path.join(tune.get_trial_dir(), "model.json")
            with open(path, "w") as file:
                json.dump([weight, step], file)
            tune.record_checkpoint(path)


analysis = tune.run(
    train,
    config={"lr": tune.grid_search([0.01, 0.1, 0.3])},
    checkpoint_freq=4,
    metric="mean_loss",
    mode="min",
)
print("best", analysis.best_config)
print("trials", len(analysis.trials))
print("checkpoint", os.path.exists(analysis.get_best_checkpoint(analysis.get_best_trial()).path))
