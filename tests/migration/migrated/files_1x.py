# ruff: noqa
# 1.x: a class with parameters in setup, stoppers combined, the best trial's checkpoint opened as a file, columns
# of configs, the folder deleted in the end. Then several searches from one generator.
import os
import pickle
import shutil
from collections import defaultdict
from functools import partial
from pathlib import Path

import overtone as ray
from overtone import tune
from overtone.tune.stopper import CombinedStopper, ExperimentPlateauStopper, MaximumIterationStopper


class Evaluation(tune.Trainable):
    def setup(self, config, function, dataset):
        self.params = list(config.values())
        self.function, self.dataset = function, dataset

    def step(self):
        self.score = self.function(self.params, self.dataset)
        return {"score": self.score}

    def save_checkpoint(self, tmp_checkpoint_dir):
        with open(os.path.join(tmp_checkpoint_dir, "model.pkl"), "wb") as file:
            pickle.dump([self.score, self.params], file)
        return os.path.join(tmp_checkpoint_dir, "model.pkl")


def evaluate(params, dataset):
    return -((params[0] - 0.3) ** 2) + len(dataset)


def optimize(space, dataset, n_candidates, outpath="./"):
    ray.init(include_dashboard=False)
    analysis = tune.run(
        tune.with_parameters(Evaluation, function=evaluate, dataset=dataset),
        mode="max",
        config=space,
        stop=CombinedStopper(
            ExperimentPlateauStopper("score", std=1e-4, top=3, mode="max", patience=3),
            MaximumIterationStopper(max_iter=1),
        ),
        num_samples=n_candidates,
        checkpoint_freq=0,
        keep_checkpoints_num=1,
        checkpoint_score_attr="score",
        checkpoint_at_end=True,
        verbose=0,
        local_dir=os.path.join(outpath, "chk"),
    )
    best = list(analysis.get_best_config(metric="score", mode="max").values())
    logdir = analysis.get_best_logdir(metric="score", mode="max")
    with open(analysis.get_best_checkpoint(logdir, metric="score", mode="max"), "rb") as file:
        score, params = pickle.load(file)
    shutil.rmtree(os.path.join(outpath, "chk"))
    print("best", params == best, analysis.results_df[["score", "config/x", "config/n"]].shape)


def descend(config, sign):
    x = config["x1"]
    for i in range(config["steps"]):
        x -= sign * config["lr"] * 2 * x
        tune.report(iterations=i, gap=abs(x))


def searches(config):
    for name, sign in config["signs"].items():
        yield name, tune.run(
            partial(descend, sign=sign),
            name=name,
            local_dir=Path().absolute() / "tune_results",
            metric="gap",
            mode="min",
            config={"x1": 2.0, "steps": 3, **{key: tune.grid_search(values) for key, values in config["grid"].items()}},
        )


if __name__ == "__main__":
    optimize({"x": tune.uniform(0, 1), "n": tune.loguniform(2, 30)}, [1, 2], 4)
    frames = defaultdict(dict)
    for name, analysis in searches({"signs": {"down": 1, "up": -1}, "grid": {"lr": [0.1, 0.4]}}):
        frames[name] = analysis.best_dataframe
    print("gaps", {name: round(float(frame.gap.iloc[-1]), 3) for name, frame in frames.items()})
