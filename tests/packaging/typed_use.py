"""The public names as a typed user writes them; checked by test_typing, never run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import overtone as ray
from overtone import train, tune
from overtone.analysis import ExperimentAnalysis, ResultGrid
from overtone.core.types import Result
from overtone.tune.schedulers import ASHAScheduler, TrialScheduler


def trainable(config: dict[str, Any]) -> None:
    lr: float = config["lr"]
    tune.report({"acc": lr}, checkpoint=tune.Checkpoint.from_directory("."))
    train.report({"acc": lr})
    name: str = tune.get_trial_name()
    params: Mapping[str, Any] = tune.params
    with tune.once("data"), tune.checkpoint_dir(3) as folder:
        print(os.path.join(folder, name), params)


class Model(tune.Trainable):
    def setup(self, config: dict[str, Any]) -> None:
        self.x = 0

    def step(self) -> dict[str, Any]:
        return {"x": self.x}


class Mine(TrialScheduler):
    def on_result(self, trial: Any, result: Result) -> Any:
        return self.STOP if result.score < 0 else self.CONTINUE


ray.init(num_cpus=2)
analysis: ExperimentAnalysis = tune.run(
    trainable, config={"lr": tune.uniform(0, 1)}, num_samples=2, scheduler=ASHAScheduler(max_t=9)
)
results: ResultGrid = tune.Tuner(Model, tune_config=tune.TuneConfig(num_samples=2)).fit()
running = tune.start(trainable, config={"lr": 0.1})
running.stop()
tune.run(trainable, num_samples="two")  # type: ignore[arg-type]
tune.no_such_name  # type: ignore[attr-defined]  # noqa: B018
