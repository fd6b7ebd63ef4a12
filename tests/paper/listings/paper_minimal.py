# ruff: noqa
# "Tune: A Research Platform for Distributed Model Selection and Training", section 4.3: a small
# 3 x 2 grid, under HyperBand.
import math

from overtone import tune
from overtone.tune.schedulers import HyperBand


def my_func():
    bend = math.tanh if tune.params["activation"] == "tanh" else lambda x: max(0.0, x)
    for epoch in range(20):
        tune.report(mean_accuracy=bend(tune.params["lr"] * (epoch + 1)))


trials = tune.run_experiments(
    my_func,
    {
        "lr": tune.grid_search([0.01, 0.001, 0.0001]),
        "activation": tune.grid_search(["relu", "tanh"]),
    },
    scheduler=HyperBand,
)

print("trials", len(trials))
print("best", trials.get_best_config(metric="mean_accuracy", mode="max"))
