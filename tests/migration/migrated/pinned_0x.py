# ruff: noqa
# 0.x: objects pinned in a store, a class whose _setup takes nothing, "repeat", functions as values,
# files named in results, all given as data to run_experiments.
import os
import random

import numpy as np

import overtone as ray
import overtone.tune as tune
from overtone.tune import Trainable
from overtone.tune.schedulers import AsyncHyperBandScheduler
from overtone.tune.util import get_pinned_object, pin_in_object_store


class Line(Trainable):
    def _setup(self):
        self.x, self.y = get_pinned_object(data)
        self.slope, self.timestep = 0.0, 0

    def _train(self):
        self.timestep += 1
        self.slope -= self.config["rate"] * np.mean(2 * self.x * (self.slope * self.x - self.y))
        return {"mean_accuracy": 1 / (1 + abs(self.slope - 3)), "timesteps_this_iter": 1}

    def _save(self, checkpoint_dir):
        path = os.path.join(checkpoint_dir, "checkpoint")
        np.save(path + "_slope.npy", self.slope)
        with open(path, "w") as file:
            file.write(str(self.timestep))
        return path

    def _restore(self, checkpoint_path):
        self.slope = np.load(checkpoint_path + "_slope.npy").item()


def fit(config, reporter):
    name = "weights_{}.txt".format(config["units"])
    with open(name, "w") as file:
        file.write("weights of {}".format(config["units"]))
    reporter(mean_accuracy=config["units"] / 10, checkpoint=name)


ray.init(num_cpus=10, redis_max_memory=20000000, object_store_memory=1000000)
x = np.linspace(-1, 1, 20)
data = pin_in_object_store((x, 3 * x))
tune.register_trainable("line", Line)
trials = tune.run_experiments(
    {
        "lines": {
            "run": "line",
            "repeat": 3,
            "stop": {"training_iteration": 4},
            "config": {"rate": lambda spec: 10 ** (random.random() - 1)},
        }
    },
    scheduler=AsyncHyperBandScheduler(
        time_attr="training_iteration", reward_attr="mean_accuracy", grace_period=4, max_t=100
    ),
)
print("lines", [trial.last_result["training_iteration"] for trial in trials])

trials = tune.run_experiments(
    tune.Experiment(
        "files", run=fit, resources_per_trial={"cpu": 4}, stop={"mean_accuracy": 95},
        config={"units": tune.grid_search([1, 3, 2])},
    ),
    verbose=0,
)
best = sorted(trials, key=lambda trial: trial.last_result.get("mean_accuracy", 0), reverse=True)[0]
with open(os.path.join(best.logdir, best.last_result["checkpoint"])) as file:
    print("best", best.config, file.read())
