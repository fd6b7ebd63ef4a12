"""
Early stopping
==============

Most configurations are bad, and one can see it early. ASHA compares trials at steps that it calls rungs, and stops
those that are behind. This script compares a search with and without it.
"""

# %%
# The loss of a trial falls to a level that depends on ``lr``. A trial sleeps a little at each step, as if it trained.

import math
import time

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler


def train(config):
    distance = abs(math.log10(config["lr"]) + 2)
    for step in range(1, 28):
        time.sleep(0.005)
        tune.report(loss=distance + math.exp(-step / 5))


options = {
    "config": {"lr": tune.loguniform(1e-5, 1e0)},
    "num_samples": 27, "metric": "loss", "mode": "min", "seed": 3, "verbose": 0,
}  # fmt: skip

# %%
# Without a scheduler, each of the 27 trials runs 27 steps.

every_step = tune.run(train, name="all", **options)
print("steps:", sum(trial.last_result["training_iteration"] for trial in every_step.trials))
print("best:", every_step.best_config, round(every_step.best_result["loss"], 3))

# %%
# ASHA compares at steps 1, 3, 9 and 27, and lets about a third of the trials pass each rung.

asha = ASHAScheduler(max_t=27, grace_period=1, reduction_factor=3)
stopped = tune.run(train, name="asha", scheduler=asha, **options)
print("steps:", sum(trial.last_result["training_iteration"] for trial in stopped.trials))
print("best:", stopped.best_config, round(stopped.best_result["loss"], 3))

# %%
# Each decision has a reason. ``overtone why asha 3`` prints it in a terminal; here, the same command runs from Python.

from overtone.cli import main

for index in range(3):
    main(["why", stopped.experiment_path, str(index)])
