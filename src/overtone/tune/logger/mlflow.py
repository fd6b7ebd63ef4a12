"""MLflow: a callback that logs each trial as a run, and a run for the inside of a trial."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.observers.callbacks.callback import LoggerCallback
from overtone.space import flatten
from overtone.tune.session import get_context
from overtone.worker.session.current import is_inside

__all__ = ["MLflowLoggerCallback", "setup_mlflow"]


class MLflowLoggerCallback(LoggerCallback):
    """Callback that logs each trial as a run of MLflow, from the driver's process.

    Args:
        tracking_uri: Where MLflow keeps runs: a folder or a server.
        registry_uri: Where MLflow keeps models.
        experiment_name: The experiment in MLflow, which is made if it is missing; by default of the
            environment variable `MLFLOW_EXPERIMENT_NAME`.
        tags: Tags of each run.
        tracking_token: The token of the tracking server.
        save_artifact: Whether the trial's folder is logged at its end.
        log_params_on_trial_end: Whether hyperparameters are logged at the end of the trial, not at its start.

    Raises:
        MissingPackageError: mlflow is not installed.
    """

    def __init__(
        self,
        tracking_uri: str | None = None,
        *,
        registry_uri: str | None = None,
        experiment_name: str | None = None,
        tags: Mapping[str, Any] | None = None,
        tracking_token: str | None = None,
        save_artifact: bool = False,
        log_params_on_trial_end: bool = False,
    ) -> None:
        self._mlflow = _mlflow("MLflowLoggerCallback")
        self.tracking_uri, self.registry_uri = tracking_uri, registry_uri
        self.experiment_name, self.tags = experiment_name, dict(tags or {})
        self.tracking_token = tracking_token
        self.should_save_artifact = save_artifact
        self.log_params_on_trial_end = log_params_on_trial_end
        self._runs: dict[Any, str] = {}

    def setup(self, *args: Any, **info: Any) -> None:
        """Connect to MLflow, and find or make the experiment."""
        self._experiment = _experiment(
            self._mlflow,
            (self.tracking_uri, self.registry_uri, self.tracking_token),
            name=self.experiment_name,
            makes=True,
        )
        self._client = self._mlflow.tracking.MlflowClient(
            tracking_uri=self._mlflow.get_tracking_uri(), registry_uri=self._mlflow.get_registry_uri()
        )

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run, unless the trial resumes."""
        if trial in self._runs:
            return
        run = self._client.create_run(
            experiment_id=self._experiment, run_name=str(trial), tags={**self.tags, "trial_name": str(trial)}
        )
        self._runs[trial] = run.info.run_id
        if not self.log_params_on_trial_end:
            self._log_params(trial)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers of a result."""
        step = result.get("timesteps_total") or result["training_iteration"]
        for name, value in flatten(result).items():
            try:
                number = float(value)
            except (TypeError, ValueError):
                continue
            self._client.log_metric(run_id=self._runs[trial], key=name, value=number, step=step)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the trial's run."""
        run = self._runs[trial]
        if self.should_save_artifact:
            self._client.log_artifacts(run_id=run, local_dir=os.fspath(trial.local_path))
        if self.log_params_on_trial_end:
            self._log_params(trial)
        self._client.set_terminated(run_id=run, status="FAILED" if failed else "FINISHED")

    def _log_params(self, trial: Any) -> None:
        for name, value in flatten(dict(trial.config)).items():
            self._client.log_param(run_id=self._runs[trial], key=name, value=value)


def setup_mlflow(
    config: Mapping[str, Any] | None = None,
    tracking_uri: str | None = None,
    registry_uri: str | None = None,
    experiment_id: str | None = None,
    experiment_name: str | None = None,
    tracking_token: str | None = None,
    artifact_location: str | None = None,
    run_name: str | None = None,
    create_experiment_if_not_exists: bool = False,
    tags: Mapping[str, Any] | None = None,
    rank_zero_only: bool = True,
) -> Any:
    """Begin a run of MLflow, also within a trial, and return the module `mlflow`.

    Args:
        config: The run's parameters.
        tracking_uri: Where MLflow keeps runs: a folder or a server.
        registry_uri: Where MLflow keeps models.
        experiment_id: The id of an experiment in MLflow; it goes before `experiment_name`.
        experiment_name: The experiment in MLflow; in a trial by default the trial's name.
        tracking_token: The token of the tracking server.
        artifact_location: Where a new experiment keeps its files.
        run_name: The run's name; by default `experiment_name`.
        create_experiment_if_not_exists: Whether a missing experiment is made.
        tags: Tags of the run.
        rank_zero_only: Without effect: a trial is one process, of rank 0.

    Raises:
        ArgumentError: The experiment does not exist, and it is not to be made.
        MissingPackageError: mlflow is not installed.
    """
    mlflow, context = _mlflow("setup_mlflow"), get_context() if is_inside() else None
    name = experiment_name or (context.get_trial_name() if context else None)
    experiment = _experiment(
        mlflow,
        (tracking_uri, registry_uri, tracking_token),
        number=experiment_id or (context.get_trial_id() if context else None),
        name=name,
        folder=artifact_location,
        makes=create_experiment_if_not_exists,
    )
    if mlflow.active_run() is None:
        mlflow.start_run(run_name=run_name or name, experiment_id=experiment, tags=dict(tags or {}))
    for key, value in flatten(dict(config or {})).items():
        mlflow.log_param(key=key, value=value)
    return mlflow


def _mlflow(purpose: str) -> Any:
    try:
        import mlflow  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingPackageError("mlflow", "", purpose) from error
    return mlflow


def _experiment(
    mlflow: Any,
    places: tuple[str | None, str | None, str | None],
    number: str | None = None,
    name: str | None = None,
    folder: str | None = None,
    makes: bool = False,
) -> Any:
    """Connect to the places (of runs, of models, and the token), and return the experiment's id."""
    tracking, registry, token = places
    if token:
        os.environ["MLFLOW_TRACKING_TOKEN"] = token
    mlflow.set_tracking_uri(tracking)
    mlflow.set_registry_uri(registry)
    if number := number or os.environ.get("MLFLOW_EXPERIMENT_ID"):
        try:
            mlflow.get_experiment(experiment_id=number)
        except mlflow.exceptions.MlflowException:
            pass  # its name may be known
        else:
            return number
    if name := name or os.environ.get("MLFLOW_EXPERIMENT_NAME"):
        if (known := mlflow.get_experiment_by_name(name=name)) is not None:
            return known.experiment_id
        if makes:
            return mlflow.create_experiment(name=name, artifact_location=folder)
    raise ArgumentError(
        f"MLflow has no experiment of the id {number!r} or the name {name!r}: give experiment_name=..., "
        "and create_experiment_if_not_exists=True in setup_mlflow"
    )
