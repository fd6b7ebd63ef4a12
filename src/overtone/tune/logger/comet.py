"""Comet: a callback that logs each trial as an experiment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from overtone.errors import MissingPackageError
from overtone.observers.callbacks.callback import LoggerCallback
from overtone.space import flatten

__all__ = ["CometLoggerCallback"]


class CometLoggerCallback(LoggerCallback):
    """Callback that logs each trial as an experiment of Comet, from the driver's process.

    Args:
        online: Whether experiments are sent to Comet; else they are written to files.
        tags: Tags of each experiment.
        save_checkpoints: Whether checkpoints are logged as artifacts.
        experiment_kwargs: Arguments of `comet_ml.Experiment` or `OfflineExperiment`, such as project_name.

    Raises:
        MissingPackageError: comet_ml is not installed.
    """

    _left_out: ClassVar[tuple[str, ...]] = ("done", "should_checkpoint", "config")
    _of_system: ClassVar[tuple[str, ...]] = ("node_ip", "hostname", "pid", "date")
    _others: ClassVar[tuple[str, ...]] = ("trial_id", "experiment_id", "experiment_tag")
    _off: ClassVar[tuple[str, ...]] = (
        "auto_output_logging", "log_git_metadata", "log_git_patch", "log_env_cpu", "log_env_gpu",
    )  # fmt: skip

    def __init__(
        self,
        online: bool = True,
        tags: Sequence[str] | None = None,
        save_checkpoints: bool = False,
        **experiment_kwargs: Any,
    ) -> None:
        os.environ.setdefault("COMET_DISABLE_AUTO_LOGGING", "1")
        try:
            import comet_ml  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            raise MissingPackageError("comet-ml", "", "CometLoggerCallback") from error
        self._comet = comet_ml
        self.online, self.tags, self.save_checkpoints = online, list(tags or ()), save_checkpoints
        self.experiment_kwargs = {**dict.fromkeys(self._off, False), **experiment_kwargs}
        self._experiments: dict[Any, Any] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's experiment, unless the trial resumes."""
        if trial not in self._experiments:
            make = self._comet.Experiment if self.online else self._comet.OfflineExperiment
            self._experiments[trial] = make(**self.experiment_kwargs)
            self._comet.config.set_global_experiment(None)  # the next trial has its own
        experiment = self._experiments[trial]
        experiment.set_name(str(trial))
        experiment.add_tags(self.tags)
        experiment.log_other("Created from", "Overtone")
        experiment.log_parameters(flatten(dict(trial.config)))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log a result."""
        if trial not in self._experiments:
            self.log_trial_start(trial)
        experiment, step = self._experiments[trial], result["training_iteration"]
        metrics, others = {}, {}
        for name, value in flatten(result).items():
            first = name.split("/")[0]
            if first in self._left_out:
                continue
            if first in self._of_system:
                experiment.log_system_info(name, value)
            elif first in self._others:
                others[name] = value
            else:
                metrics[name] = value
        experiment.log_others(others)
        experiment.log_metrics(metrics, step=step)

    def log_trial_save(self, trial: Any) -> None:
        """Log the newest checkpoint, if it is asked for."""
        if not self.save_checkpoints or trial.checkpoint is None or trial not in self._experiments:
            return
        artifact = self._comet.Artifact(name=f"checkpoint_{trial}", artifact_type="model")
        with trial.checkpoint.as_directory() as folder:
            for root, _, names in os.walk(folder):
                for path in (os.path.join(root, name) for name in names):
                    artifact.add(path, logical_path=os.path.relpath(path, folder))
            self._experiments[trial].log_artifact(artifact)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the trial's experiment."""
        if trial in self._experiments:
            self._experiments.pop(trial).end()

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """End the experiments of trials that have not ended."""
        for trial in list(self._experiments):
            self.log_trial_end(trial)
