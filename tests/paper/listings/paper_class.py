# ruff: noqa
# "Tune: A Research Platform for Distributed Model Selection and Training", figure 2 (b): the
# class-based API, direct control. The model is a line through a few points.
import json
import os

from overtone import tune


class Model(tune.Trainable):
    def _setup(self, config):
        self.lr = config["lr"]
        self.weight = 0.0

    def _train(self):
        for x in (0.5, 1.0, 1.5):
            error = 3.0 * x - self.weight * x
            self.weight += self.lr * error * x
        return {"mean_loss": (3.0 - self.weight) ** 2}

    def _save(self, checkpoint_dir):
        path = os.path.join(checkpoint_dir, "model.json")
        with open(path, "w") as file:
            json.dump(self.weight, file)
        return path

    def _restore(self, path):
        with open(path) as file:
            self.weight = json.load(file)

    def _stop(self):
        print("stopped after", self.iteration)


analysis = tune.run(
    Model,
    config={"lr": tune.grid_search([0.01, 0.1, 0.3])},
    stop={"training_iteration": 8},
    checkpoint_freq=4,
    metric="mean_loss",
    mode="min",
)
print("best", analysis.best_config)
print("trials", len(analysis.trials))
print("checkpoint", os.path.exists(analysis.get_best_checkpoint(analysis.get_best_trial()).path))
