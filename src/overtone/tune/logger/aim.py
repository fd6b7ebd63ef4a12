"""Aim: a callback that logs each trial as a run."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.observers.callbacks.callback import LoggerCallback
from overtone.space import flatten

__all__ = ["AimLoggerCallback"]

_LEFT_OUT = ("config", "pid", "timestamp", "time_total_s", "training_iteration", "context", "epoch")


class AimLoggerCallback(LoggerCallback):
    """Callback that logs each trial as a run of Aim, from the driver's process.

    Args:
        repo: Aim's repository: a folder or an `aim.Repo`; by default the experiment's folder.
        experiment_name: The experiment of the runs; by default the name of the search.
        metrics: Names of metrics to log; None for all.
        aim_run_kwargs: Further arguments of `aim.Run`.

    Raises:
        ArgumentError: `metrics` is empty.
        MissingPackageError: aim is not installed.
    """

    def __init__(
        self,
        repo: Any = None,
        experiment_name: str | None = None,
        metrics: Sequence[str] | None = None,
        **aim_run_kwargs: Any,
    ) -> None:
        try:
            from aim.sdk import Run  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            raise MissingPackageError("aim", "", "AimLoggerCallback") from error
        if metrics is not None and not metrics:
            raise ArgumentError("metrics=[] logs nothing: name metrics, or leave it out for all")
        self._make, self._repo, self._name = Run, repo, experiment_name
        self._metrics, self._kwargs = metrics, aim_run_kwargs
        self._runs: dict[Any, Any] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run."""
        self.log_trial_end(trial)
        folder = os.fspath(trial.local_experiment_path)
        run = self._make(
            repo=self._repo or folder, experiment=self._name or os.path.basename(folder), **self._kwargs
        )
        run["trial_id"], run["trial_log_dir"] = trial.trial_id, os.fspath(trial.local_path)
        if trial.evaluated_params:
            kinds = (str, int, float, list, type(None))
            flat = flatten(dict(trial.evaluated_params))
            run["hparams"] = {name: value for name, value in flat.items() if isinstance(value, kinds)}
        self._runs[trial] = run

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers of a result."""
        step = result.get("timesteps_total") or result["training_iteration"]
        about = {"step": step, "epoch": result.get("epoch"), "context": result.get("context")}
        for name, value in flatten({k: v for k, v in result.items() if k not in _LEFT_OUT}).items():
            if self._metrics and name not in self._metrics:
                continue
            if isinstance(value, (int, float)) and math.isfinite(value):
                self._runs[trial].track(value=value, name=f"ray/tune/{name}", **about)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Close the trial's run."""
        if trial in self._runs:
            self._runs.pop(trial).close()
