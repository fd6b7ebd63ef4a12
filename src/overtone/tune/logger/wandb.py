"""Weights & Biases: a callback that logs each trial as a run, and a run for the inside of a trial."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from overtone.errors import ArgumentError, MissingPackageError
from overtone.observers.callbacks.callback import LoggerCallback
from overtone.space import flatten
from overtone.tune.session import get_context
from overtone.worker.session.current import is_inside

__all__ = ["WandbLoggerCallback", "setup_wandb"]

KEY, PROJECT, GROUP = "WANDB_API_KEY", "WANDB_PROJECT_NAME", "WANDB_GROUP_NAME"
"""Environment variables that stand for arguments."""


class WandbLoggerCallback(LoggerCallback):
    """Callback that logs each trial as a run of Weights & Biases.

    The runs belong to the driver's process. A run's files are in its trial's folder.

    Args:
        project: The project; by default of the environment variable `WANDB_PROJECT_NAME`.
        group: The group of the runs; by default of `WANDB_GROUP_NAME`, else the experiment's name.
        api_key_file: A file with the API key in its first line.
        api_key: The API key; by default wandb finds it, in `WANDB_API_KEY` or where `wandb login` left it.
        excludes: Names of metrics and hyperparameters that are not logged.
        log_config: Whether each result's config updates the run's config.
        upload_checkpoints: Whether checkpoints are logged as artifacts.
        save_checkpoints: The older name of `upload_checkpoints`.
        upload_timeout: Seconds that the end of the search waits for uploads.
        video_kwargs: Arguments of `wandb.Video`, which shows arrays of five axes.
        image_kwargs: Arguments of `wandb.Image`, which shows arrays of three or four axes.
        kwargs: Arguments of `wandb.init`; they override this callback's own.

    Raises:
        MissingPackageError: wandb is not installed.
    """

    AUTO_CONFIG_KEYS: ClassVar[list[str]] = [
        "trial_id", "experiment_tag", "node_ip", "experiment_id", "hostname", "pid", "date",
    ]  # fmt: skip
    """Entries of results that go into the run's config."""

    _never: ClassVar[tuple[str, ...]] = ("done", "should_checkpoint")

    def __init__(
        self,
        project: str | None = None,
        group: str | None = None,
        api_key_file: str | None = None,
        api_key: str | None = None,
        excludes: Sequence[str] | None = None,
        log_config: bool = False,
        upload_checkpoints: bool = False,
        save_checkpoints: bool = False,
        upload_timeout: float = 1800,
        video_kwargs: Mapping[str, Any] | None = None,
        image_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._wandb = _wandb("WandbLoggerCallback")
        self.project, self.group = project, group
        self.api_key_file, self.api_key = api_key_file, api_key
        self.excludes = list(excludes or ())
        self.log_config = log_config
        self.upload_checkpoints = upload_checkpoints or save_checkpoints
        self.upload_timeout = upload_timeout
        self.video_kwargs, self.image_kwargs = dict(video_kwargs or {}), dict(image_kwargs or {})
        self.kwargs = kwargs
        self._runs: dict[Any, Any] = {}
        self._uploads: list[threading.Thread] = []

    def setup(self, *args: Any, **info: Any) -> None:
        """Find the API key and the project.

        Raises:
            ArgumentError: No project is given.
        """
        _use_key(self.api_key_file, self.api_key)
        self.project = self.project or os.environ.get(PROJECT)
        if not self.project:
            raise ArgumentError(f'WandbLoggerCallback needs project="..." or {PROJECT} in the environment')
        self.group = self.group or os.environ.get(GROUP)

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run, unless the trial resumes."""
        if trial in self._runs:
            return
        trial.init_local_path()
        config = {key: value for key, value in trial.config.items() if key not in self.excludes}
        given = {
            "id": trial.trial_id,
            "name": str(trial),
            "group": self.group or os.path.basename(trial.local_experiment_path),
            "project": self.project,
            "config": config,
            "dir": trial.local_path,
            "resume": "allow",
            "reinit": "create_new",
            "allow_val_change": True,
        }
        self._runs[trial] = self._wandb.init(**{**given, **self.kwargs})

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers, images and videos of a result."""
        self.log_trial_start(trial)
        config = dict(result.get("config") or {}) if self.log_config else {}
        logged: dict[str, Any] = {}
        left_out = (*self._never, *self.excludes, *(() if self.log_config else ("config",)))
        for name, value in flatten(result).items():
            if _is_in(name, left_out):
                continue
            if _is_in(name, self.AUTO_CONFIG_KEYS):
                config[name] = value
            elif (shown := self._shown(value)) is not None:
                logged[name] = shown
        config = {name: value for name, value in config.items() if name not in self.excludes}
        if config:
            self._runs[trial].config.update(config, allow_val_change=True)
        self._runs[trial].log(logged, step=result.get("training_iteration"))

    def log_trial_save(self, trial: Any) -> None:
        """Log the newest checkpoint, if it is asked for."""
        if not self.upload_checkpoints or trial.checkpoint is None or trial not in self._runs:
            return
        artifact = self._wandb.Artifact(name=f"checkpoint_{trial}", type="model")
        with trial.checkpoint.as_directory() as folder:
            artifact.add_dir(os.fspath(folder))
            self._runs[trial].log_artifact(artifact)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the trial's run; its uploads go on beside the search."""
        if (run := self._runs.pop(trial, None)) is None:
            return
        upload = threading.Thread(target=run.finish, kwargs={"exit_code": int(failed)}, daemon=True)
        upload.start()
        self._uploads.append(upload)

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Wait for uploads, for at most `upload_timeout` seconds."""
        for trial in list(self._runs):
            self.log_trial_end(trial)
        end = time.monotonic() + self.upload_timeout
        for upload in self._uploads:
            upload.join(max(0.0, end - time.monotonic()))
        self._uploads.clear()

    def _shown(self, value: Any) -> Any:
        """Return what wandb shows of a value; None if it shows nothing."""
        axes = getattr(value, "ndim", None)
        if axes == 3:
            return self._wandb.Image(value, **self.image_kwargs)
        if axes == 4:
            images = [self._wandb.Image(one, **self.image_kwargs) for one in value]
            return images if len(images) > 1 else images[0]
        if axes == 5:
            videos = [self._wandb.Video(one, **self.video_kwargs) for one in value]
            return videos if len(videos) > 1 else videos[0]
        if getattr(value, "size", None) == 1 and hasattr(value, "item"):
            value = value.item()
        if isinstance(value, (int, float)) or type(value).__module__.startswith("wandb"):
            return value
        return None


def setup_wandb(
    config: Mapping[str, Any] | None = None,
    api_key: str | None = None,
    api_key_file: str | None = None,
    rank_zero_only: bool = True,
    **kwargs: Any,
) -> Any:
    """Begin a run of Weights & Biases, also within a trial, and return it.

    In a trial the run has the trial's id and name, and the experiment's name as its group.

    Args:
        config: The run's config.
        api_key: The API key; by default wandb finds it.
        api_key_file: A file with the API key in its first line.
        rank_zero_only: Without effect: a trial is one process, of rank 0.
        kwargs: Arguments of `wandb.init`; they override this function's own.

    Raises:
        MissingPackageError: wandb is not installed.
    """
    wandb = _wandb("setup_wandb")
    _use_key(api_key_file, api_key)
    context = get_context() if is_inside() else None
    given = {
        "id": kwargs.pop("trial_id", None) or (context.get_trial_id() if context else None),
        "name": kwargs.pop("trial_name", None) or (context.get_trial_name() if context else None),
        "group": os.environ.get(GROUP) or (context.get_experiment_name() if context else None),
        "project": os.environ.get(PROJECT),
        "config": dict(config or {}),
        "resume": "allow",
        "allow_val_change": True,
    }
    return wandb.init(**{**given, **kwargs})


def _wandb(purpose: str) -> Any:
    try:
        import wandb  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingPackageError("wandb", "", purpose) from error
    return wandb


def _use_key(file: str | None, key: str | None) -> None:
    """Put the API key where wandb finds it.

    Raises:
        ArgumentError: Both are given.
    """
    if file and key:
        raise ArgumentError("give api_key or api_key_file, not both")
    if file:
        key = Path(file).expanduser().read_text("utf-8").split("\n")[0].strip()
    if key:
        os.environ[KEY] = key


def _is_in(name: str, above: Sequence[str]) -> bool:
    return any(name == one or name.startswith(f"{one}/") for one in above)
