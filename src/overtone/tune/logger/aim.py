"""Aim: a callback that logs each trial as a run."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from overtone.errors import ArgumentError
from overtone.observers.trackers.tracker import End, Steps, TagTracker
from overtone.space import flatten

__all__ = ["AimLoggerCallback"]

_LEFT_OUT = ("config", "pid", "timestamp", "time_total_s", "training_iteration", "context", "epoch")
_KEY = "overtone"


class AimLoggerCallback(TagTracker):
    """Callback that logs each trial as a run of Aim.

    A process of its own writes the runs, so that Aim does not hold up the search. The run of the
    best trial that has ended stays open until the search ends or another trial is better. At the end of the
    search it gets the tag "best".

    Args:
        repo: Aim's repository: a folder or an `aim.Repo`; by default the experiment's folder.
        experiment_name: The experiment of the runs; by default the name of the search.
        metrics: Names of metrics to log; None for all.
        aim_run_kwargs: Further arguments of `aim.Run`.

    Raises:
        ArgumentError: `metrics` is empty.
        MissingPackageError: aim is not installed.
    """

    VALID_HPARAMS: ClassVar[tuple[type, ...]] = (str, bool, int, float, list, type(None))
    """The types of hyperparameters that are logged."""

    VALID_NP_HPARAMS: ClassVar[tuple[type, ...]] = (np.bool_, np.float32, np.float64, np.int32, np.int64)
    """The types of hyperparameters that are logged as Python's own."""

    kind = package = distribution = "aim"

    def __init__(
        self,
        repo: Any = None,
        experiment_name: str | None = None,
        metrics: Sequence[str] | None = None,
        **aim_run_kwargs: Any,
    ) -> None:
        super().__init__("AimLoggerCallback")
        if metrics is not None and not metrics:
            raise ArgumentError("metrics=[] logs nothing: name metrics, or leave it out for all")
        self._repo, self._name = getattr(repo, "path", repo), experiment_name
        self._metrics, self._kwargs = metrics, aim_run_kwargs
        self._runs: dict[str, Any] = {}
        self._steps: dict[str, Steps] = {}

    def settings(self) -> dict[str, Any]:
        return {
            "repo": None if self._repo is None else os.fspath(self._repo),
            "experiment_name": self._name,
            "metrics": None if self._metrics is None else list(self._metrics),
        }

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run, or take it up again."""
        folder = os.fspath(trial.local_experiment_path)
        given = {"repo": self._repo or folder, "experiment": self._name or os.path.basename(folder)}
        facts: dict[str, Any] = {"trial_id": trial.trial_id, "trial_log_dir": os.fspath(trial.local_path)}
        if trial.evaluated_params:
            facts["hparams"] = self._logged_parameters(trial.evaluated_params)
        self.do(self._begin, trial.trial_id, {**given, **self._kwargs}, facts)

    def _logged_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {
            name: cast(Any, value).item() if isinstance(value, self.VALID_NP_HPARAMS) else value
            for name, value in flatten(dict(parameters)).items()
        }
        return {name: value for name, value in plain.items() if isinstance(value, self.VALID_HPARAMS)}

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers of a result."""
        given = result.get("timesteps_total") or result["training_iteration"]
        step = self._steps.setdefault(trial.trial_id, Steps()).next(given)
        about = {"step": step, "epoch": result.get("epoch"), "context": result.get("context")}
        for name, value in flatten({k: v for k, v in result.items() if k not in _LEFT_OUT}).items():
            if self._metrics and name not in self._metrics:
                continue
            if isinstance(value, (int, float)) and math.isfinite(value):
                self.do(self._track, trial.trial_id, {"value": value, "name": f"ray/tune/{name}", **about})

    # --- actions ------------------------------------------------------------------------

    def _begin(self, trial_id: str, given: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        if trial_id in self._runs:
            return
        from aim.sdk import Run  # type: ignore[import-untyped,import-not-found,unused-ignore]

        key = f"{self.key[:16]}/{trial_id}"
        known = self.run_ids.get(trial_id) or ""
        if not known and (trial_id in self.unfinished or self.is_uncertain):
            known = _known(given["repo"], key)
        self.run_ids[trial_id] = known
        self.keep()
        again = {"run_hash": known, "force_resume": True} if known else {}
        off = {"system_tracking_interval": None, "capture_terminal_logs": False}
        run = Run(**{**off, **given, **again})
        run[_KEY] = key
        self.run_ids[trial_id] = run.hash
        self.keep()
        for name, value in facts.items():
            run[name] = value
        self._runs[trial_id] = run

    def _track(self, trial_id: str, given: Mapping[str, Any]) -> None:
        self._runs[trial_id].track(**given)  # Aim keeps one value a step

    def _tag(self, trial_id: str, tag: str) -> None:
        if trial_id in self._runs:
            self._runs[trial_id].add_tag(tag)

    def _end(self, trial_id: str, how: End) -> None:
        if trial_id in self._runs:
            if how == "failed":
                self._tag(trial_id, "failed")
            self._runs.pop(trial_id).close()
            if how != "cut off":  # else a resume takes it up
                self.run_ids.pop(trial_id, None)


def _known(repo: Any, key: str) -> str:
    """Return the hash of the run that an earlier process made for a trial; "" if it made none."""
    from aim.sdk import Repo

    try:
        runs = Repo.from_path(os.fspath(repo), init=True).iter_runs()
        return next((run.hash for run in runs if run.get(_KEY) == key), "")
    except AttributeError:  # a repository without runs
        return ""
