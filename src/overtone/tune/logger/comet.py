"""Comet: a callback that logs each trial as an experiment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from overtone.observers.trackers.tracker import End, Steps, TagTracker
from overtone.space import flatten

__all__ = ["CometLoggerCallback"]


class CometLoggerCallback(TagTracker):
    """Callback that logs each trial as an experiment of Comet.

    A process of its own sends the experiments, so that Comet does not hold up the search. The
    experiment of the best trial that has ended stays open until the search ends or another trial is
    better. At the end of the search it gets the tag "best".

    Args:
        online: Whether experiments are sent to Comet; else they are written to files.
        tags: Tags of each experiment.
        save_checkpoints: Whether checkpoints are logged as artifacts.
        experiment_kwargs: Arguments of `comet_ml.Experiment` or `OfflineExperiment`, such as project_name.

    Raises:
        MissingPackageError: comet_ml is not installed.
    """

    kind, package, distribution = "comet", "comet_ml", "comet-ml"

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
        super().__init__("CometLoggerCallback")
        self.online, self.tags, self.save_checkpoints = online, list(tags or ()), save_checkpoints
        self.experiment_kwargs = {**dict.fromkeys(self._off, False), **experiment_kwargs}
        self._experiments: dict[str, Any] = {}
        self._steps: dict[str, Steps] = {}

    def settings(self) -> dict[str, Any]:
        names = ("project_name", "workspace", "offline_directory")
        plain = {name: self.experiment_kwargs.get(name) for name in names}
        return {
            "online": self.online, "tags": self.tags, "save_checkpoints": self.save_checkpoints,
            **{name: value if value is None else str(value) for name, value in plain.items()},
        }  # fmt: skip

    def note(self) -> str:
        place = self.experiment_kwargs.get("offline_directory") or ".cometml-runs"
        return "" if self.online else f"the experiments are files: comet upload {place}/*.zip"

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's experiment, or take it up again."""
        self.do(
            self._begin, trial.trial_id, str(trial), trial.experiment_dir_name, flatten(dict(trial.config))
        )

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log a result."""
        metrics, others, system = {}, {}, {}
        for name, value in flatten(result).items():
            first = name.split("/")[0]
            if first in self._of_system:
                system[name] = value
            elif first in self._others:
                others[name] = value
            elif first not in self._left_out and value is not None:
                metrics[name] = value
        step = self._steps.setdefault(trial.trial_id, Steps()).next(result["training_iteration"])
        self.do(self._log, trial.trial_id, system, others, metrics, step)

    def log_trial_save(self, trial: Any) -> None:
        """Log the newest checkpoint, if it is asked for."""
        if self.save_checkpoints and trial.checkpoint is not None:
            self.do(self._log_checkpoint, trial.trial_id, str(trial), trial.checkpoint)

    # --- actions ------------------------------------------------------------------------

    def _begin(self, trial_id: str, name: str, group: str, config: Mapping[str, Any]) -> None:
        if trial_id in self._experiments:
            return
        os.environ.setdefault("COMET_DISABLE_AUTO_LOGGING", "1")
        import comet_ml  # type: ignore[import-untyped,import-not-found,unused-ignore]

        key = sha256(f"{self.key}/{trial_id}".encode()).hexdigest()[:40]
        is_again = trial_id in self.unfinished or self.is_uncertain
        self.run_ids[trial_id] = key
        self.keep()
        if not self.online:
            made = comet_ml.OfflineExperiment(experiment_key=key, **self.experiment_kwargs)
        elif is_again and (known := _known(comet_ml, key, self.experiment_kwargs)) is not None:
            made = known
        else:
            made = comet_ml.Experiment(experiment_key=key, **self.experiment_kwargs)
        comet_ml.config.set_global_experiment(None)  # the next trial has its own
        made.set_name(name)
        if self.tags:
            made.add_tags(self.tags)
        made.log_other("Created from", "Overtone")
        made.log_other("experiment", group)
        made.log_parameters(config)
        self._experiments[trial_id] = made

    def _log(
        self, trial_id: str, system: Mapping[str, Any], others: Mapping[str, Any], metrics: Any, step: int
    ) -> None:
        experiment = self._experiments[trial_id]
        for name, value in system.items():
            experiment.log_system_info(name, value)
        experiment.log_others(others)
        experiment.log_metrics(metrics, step=step)

    def _log_checkpoint(self, trial_id: str, name: str, checkpoint: Any) -> None:
        import comet_ml

        artifact = comet_ml.Artifact(name=f"checkpoint_{name}", artifact_type="model")
        try:
            with checkpoint.as_directory() as folder:
                for root, _, names in os.walk(folder):
                    for path in (os.path.join(root, name) for name in names):
                        artifact.add(path, logical_path=os.path.relpath(path, folder))
                self._experiments[trial_id].log_artifact(artifact)
        except FileNotFoundError:
            return  # a later checkpoint has replaced it

    def _tag(self, trial_id: str, tag: str) -> None:
        if trial_id in self._experiments:
            self._experiments[trial_id].add_tag(tag)

    def _end(self, trial_id: str, how: End) -> None:
        if trial_id in self._experiments:
            if how == "failed":
                self._tag(trial_id, "failed")
            self._experiments[trial_id].end()
            del self._experiments[trial_id]
            if how != "cut off":  # else a resume takes it up
                self.run_ids.pop(trial_id, None)


def _known(comet_ml: Any, key: str, given: Mapping[str, Any]) -> Any:
    """Return the experiment that an earlier process made; None if it made none."""
    try:
        return comet_ml.ExistingExperiment(previous_experiment=key, **given)
    except ValueError:
        return None
