"""MLflow: a callback that logs each trial as a run, and a run for the inside of a trial."""

from __future__ import annotations

import getpass
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.observers.trackers.tracker import TrackerCallback, numbers
from overtone.space import flatten
from overtone.tune.session import get_context
from overtone.worker.session.current import is_inside

__all__ = ["MLflowLoggerCallback", "setup_mlflow"]

EXPERIMENT, TRIAL, BEST = "overtone.experiment", "overtone.trial", "overtone.best"
"""Tags of runs."""

_MOST_METRICS, _MOST_PARAMS = 1000, 100  # a request
_LONGEST_KEY, _LONGEST_VALUE = 250, 6000
_NO_KEY = re.compile(r"[^\w\-. /:]")
_REFUSED = ("INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", "RESOURCE_ALREADY_EXISTS", "BAD_REQUEST")
_FILES_S = 5.0


class MLflowLoggerCallback(TrackerCallback):
    """Callback that logs each trial as a run of MLflow.

    A process of its own sends the runs, so that MLflow holds up neither the search nor its start. Runs are
    FINISHED, FAILED, or KILLED if the search ended before them; the best one has the tag `overtone.best`.

    Args:
        tracking_uri: Where MLflow keeps runs: a database or a server; by default of the environment variable
            `MLFLOW_TRACKING_URI`.
        registry_uri: Where MLflow keeps models.
        experiment_name: The experiment in MLflow, which is made if it is missing; by default of the
            environment variable `MLFLOW_EXPERIMENT_NAME`, else the name of the search's folder.
        tags: Tags of each run.
        tracking_token: The token of the tracking server.
        save_artifact: Whether the trial's folder, with its checkpoints, is logged at its end.
        log_params_on_trial_end: Whether hyperparameters are logged at the end of the trial, not at its start.

    Raises:
        MissingPackageError: mlflow is not installed.
    """

    kind = package = distribution = "mlflow"
    sends_whole_runs = False

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
        super().__init__("MLflowLoggerCallback")
        self.tracking_uri, self.registry_uri = tracking_uri, registry_uri
        self.experiment_name, self.tags = experiment_name, dict(tags or {})
        self.tracking_token = tracking_token
        self.should_save_artifact = save_artifact
        self.log_params_on_trial_end = log_params_on_trial_end
        self._client: Any = None
        self._experiment = ""
        self._runs: dict[str, Any] = {}
        self._batches: dict[str, list[Any]] = {}
        self._configs: dict[str, dict[str, Any]] = {}
        self._params: dict[str, set[str]] = {}

    def setup(self, *args: Any, **info: Any) -> None:
        """Put the token where MLflow finds it."""
        if self.tracking_token:
            os.environ["MLFLOW_TRACKING_TOKEN"] = self.tracking_token

    def settings(self) -> dict[str, Any]:
        return {
            "tracking_uri": self.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI"),
            "experiment_name": self.experiment_name or os.environ.get("MLFLOW_EXPERIMENT_NAME"),
            "save_artifact": self.should_save_artifact,
        }

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run, or take it up again."""
        config = flatten(dict(trial.config))
        self._configs[trial.trial_id] = config
        self._close_batch(trial)
        self.do(self._begin, trial.trial_id, str(trial), self._ms)
        if not self.log_params_on_trial_end:
            self.do(self._log_params, trial.trial_id, config)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers of a result, and those of the config that changed since the start."""
        step = result.get("timesteps_total") or result["training_iteration"]
        found = numbers(result, ("config", "pid", "done", "should_checkpoint"))
        first = self._configs.get(trial.trial_id, {})
        for name, value in numbers(result.get("config") or {}).items():
            if name in first and first[name] != value:
                found[f"config/{name}"] = value
        if trial.trial_id not in self._batches:
            self._batches[trial.trial_id] = []
            self.do(self._log_metrics, trial.trial_id, self._batches[trial.trial_id])
        wall = self._ms
        self._batches[trial.trial_id] += [
            (_key(name), value, wall, int(step)) for name, value in found.items()
        ]

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the trial's run."""
        self._close_batch(trial)
        if self.should_save_artifact:
            self.do(self._log_folder, trial.trial_id, Path(trial.local_path), trial.num_results)
        if self.log_params_on_trial_end:
            self.do(self._log_params, trial.trial_id, flatten(dict(trial.config)))
        if failed and trial.error:
            self.do(self._tag, trial.trial_id, "error", trial.error)
        self.do(self._end, trial.trial_id, "FAILED" if failed else "FINISHED", self._ms)

    def log_best(self, trial: Any, before: Any) -> None:
        """Tag the best run."""
        if before is not None:
            self.do(self._untag, before.trial_id, BEST)
        self._close_batch(trial)
        self.do(self._tag, trial.trial_id, BEST, "true")

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Mark the runs of trials that have not ended."""
        for trial in trials:
            if not trial.is_finished() and trial.num_results:
                self._close_batch(trial)
                self.do(self._end, trial.trial_id, "KILLED", self._ms)

    def is_refused(self, error: Exception) -> bool:
        # Before that, MLflow refuses the place, and with it all runs.
        return self._client is not None and getattr(error, "error_code", "") in _REFUSED

    # --- actions ------------------------------------------------------------------------

    def _begin(self, trial_id: str, name: str, wall: int) -> None:
        run = self._run(trial_id, is_new=self.is_uncertain)
        if run is not None:
            if run.info.status != "RUNNING":
                self._connected().update_run(run.info.run_id, status="RUNNING")
            return
        tags = {
            **self.tags, "trial_name": name, "trial_id": trial_id, EXPERIMENT: self.experiment,
            TRIAL: f"{self.key[:16]}/{trial_id}", "mlflow.user": _user(),
            "mlflow.source.name": self.experiment,
        }  # fmt: skip
        client = self._connected()
        self._runs[trial_id] = client.create_run(
            experiment_id=self._experiment, run_name=name, start_time=wall, tags=tags
        )

    def _log_params(self, trial_id: str, config: Mapping[str, Any]) -> None:
        from mlflow.entities import Param  # type: ignore[import-untyped,import-not-found,unused-ignore]

        run = self._run(trial_id)
        known = self._params.setdefault(trial_id, set(run.data.params))  # MLflow changes no parameter
        found = {_key(name): str(value)[:_LONGEST_VALUE] for name, value in config.items()}
        params = [Param(key=key, value=value) for key, value in found.items() if key not in known]
        for i in range(0, len(params), _MOST_PARAMS):
            self._connected().log_batch(run_id=run.info.run_id, params=params[i : i + _MOST_PARAMS])
            known.update(one.key for one in params[i : i + _MOST_PARAMS])

    def _log_metrics(self, trial_id: str, batch: list[Any]) -> None:
        from mlflow.entities import Metric

        self._batches.pop(trial_id, None)
        run = self._run(trial_id).info.run_id
        while batch:  # MLflow keeps one of equal metrics, so that a part may be sent twice
            metrics = [
                Metric(key=key, value=value, timestamp=wall, step=step)
                for key, value, wall, step in batch[:_MOST_METRICS]
            ]
            self._connected().log_batch(run_id=run, metrics=metrics)
            del batch[:_MOST_METRICS]

    def _log_folder(self, trial_id: str, folder: Path, n_results: int) -> None:
        _await_results(folder / "result.json", n_results)
        self._connected().log_artifacts(run_id=self._run(trial_id).info.run_id, local_dir=os.fspath(folder))

    def _tag(self, trial_id: str, name: str, value: str) -> None:
        self._connected().set_tag(self._run(trial_id).info.run_id, name, value[:_LONGEST_VALUE])

    def _untag(self, trial_id: str, name: str) -> None:
        run = self._run(trial_id)
        if run is not None:
            self._connected().set_tag(run.info.run_id, name, "false")

    def _end(self, trial_id: str, status: str, wall: int) -> None:
        if (run := self._run(trial_id)) is not None:
            self._connected().set_terminated(run_id=run.info.run_id, status=status, end_time=wall)

    # --- what MLflow has ----------------------------------------------------------------

    @property
    def _ms(self) -> int:
        return int((self.wall or time.time()) * 1000)

    def _close_batch(self, trial: Any) -> None:
        """Let later metrics of a trial be logged after its other actions."""
        self._batches.pop(trial.trial_id, None)

    def _connected(self) -> Any:
        """Return the client, once the experiment is there."""
        if self._client is None:
            mlflow = _mlflow("MLflowLoggerCallback")
            _make_database(mlflow, self.settings()["tracking_uri"] or "")
            self._experiment = _experiment(
                mlflow,
                (self.tracking_uri, self.registry_uri, self.tracking_token),
                name=self.experiment_name or os.environ.get("MLFLOW_EXPERIMENT_NAME") or self.experiment,
                makes=True,
            )
            client = mlflow.tracking.MlflowClient(
                tracking_uri=mlflow.get_tracking_uri(), registry_uri=mlflow.get_registry_uri()
            )
            self._runs = self._found(client, f"tags.`{TRIAL}` LIKE '{self.key[:16]}/%'")
            self._client = client
        return self._client

    def _run(self, trial_id: str, is_new: bool = False) -> Any:
        """Return a trial's run; None if it has none.

        Args:
            is_new: Whether an attempt to make it may have succeeded.
        """
        client = self._connected()
        if trial_id not in self._runs and is_new:
            self._runs.update(self._found(client, f"tags.`{TRIAL}` = '{self.key[:16]}/{trial_id}'"))
        return self._runs.get(trial_id)

    def _found(self, client: Any, which: str) -> dict[str, Any]:
        """Return the runs of this search by their trials."""
        found, token = {}, None
        while True:
            page = client.search_runs(
                [self._experiment], filter_string=which, max_results=1000, page_token=token
            )
            for run in page:
                key, _, trial_id = run.data.tags.get(TRIAL, "").partition("/")
                if key == self.key[:16]:
                    found[trial_id] = run
            token = getattr(page, "token", None)
            if not token:
                return found


def _make_database(mlflow: Any, uri: str) -> None:
    """Make a missing SQLite database as a whole: a process that is killed leaves no half of its tables."""
    path = uri.removeprefix("sqlite:///")
    if path == uri or os.path.exists(path):
        return
    new = f"{path}.new-{os.getpid()}"
    mlflow.tracking.MlflowClient(tracking_uri=f"sqlite:///{new}").search_experiments(max_results=1)
    with suppress(FileExistsError):  # another process was quicker
        os.link(new, path)
    os.unlink(new)


def _key(name: str) -> str:
    """Return a name that MLflow takes for a metric or a parameter."""
    plain = "/".join(part for part in _NO_KEY.sub("_", name).split("/") if part.strip("."))
    return plain[:_LONGEST_KEY] or "_"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return str(os.getuid())


def _await_results(path: Path, n_results: int, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait for the file of a trial's results, which another process writes; for some seconds at most."""
    end = time.monotonic() + _FILES_S
    while time.monotonic() < end:
        if not path.parent.is_dir() or (path.is_file() and path.read_bytes().count(b"\n") >= n_results):
            return
        sleep(0.1)


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
