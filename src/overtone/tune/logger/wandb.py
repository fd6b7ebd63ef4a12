"""Weights & Biases: a callback that logs each trial as a run, and a run for the inside of a trial."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from overtone.errors import ArgumentError, MissingPackageError
from overtone.observers.trackers.tracker import WAIT_S, End, Steps, TagTracker
from overtone.space import flatten
from overtone.tune.session import get_context
from overtone.worker.session.current import is_inside

__all__ = ["WandbLoggerCallback", "setup_wandb"]

KEY, PROJECT, GROUP = "WANDB_API_KEY", "WANDB_PROJECT_NAME", "WANDB_GROUP_NAME"
"""Environment variables that stand for arguments."""

_EXIT_CODES: Mapping[End, int] = {"finished": 0, "failed": 1, "cut off": 255}


class WandbLoggerCallback(TagTracker):
    """Callback that logs each trial as a run of Weights & Biases.

    A process of its own sends the runs, so that wandb holds up neither the search nor its start. A run's
    files are in its trial's folder. The run of the best trial that has ended stays open until the search
    ends or another trial is better. At the end of the search it gets the tag "best".

    Args:
        project: The project; by default of the environment variable `WANDB_PROJECT_NAME`.
        group: The group of the runs; by default of `WANDB_GROUP_NAME`, else the experiment's name.
        api_key_file: A file with the API key in its first line.
        api_key: The API key; by default wandb finds it, in `WANDB_API_KEY` or where `wandb login` left it.
        excludes: Names of metrics and hyperparameters that are not logged.
        log_config: Whether each result's config updates the run's config.
        upload_checkpoints: Whether checkpoints are logged as artifacts.
        save_checkpoints: The older name of `upload_checkpoints`.
        upload_timeout: Most seconds that the end of the search waits for uploads.
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

    kind = package = distribution = "wandb"

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
        upload_timeout: float = WAIT_S,
        video_kwargs: Mapping[str, Any] | None = None,
        image_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__("WandbLoggerCallback")
        self.project, self.group = project, group
        self.api_key_file, self.api_key = api_key_file, api_key
        self.excludes = list(excludes or ())
        self.log_config = log_config
        self.upload_checkpoints = upload_checkpoints or save_checkpoints
        self.upload_timeout = upload_timeout
        self.video_kwargs, self.image_kwargs = dict(video_kwargs or {}), dict(image_kwargs or {})
        self.kwargs = kwargs
        self._runs: dict[str, Any] = {}
        self._steps: dict[str, Steps] = {}

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

    def settings(self) -> dict[str, Any]:
        given = {"mode": os.environ.get("WANDB_MODE"), **self.kwargs}
        plain = {name: given.get(name) for name in ("mode", "entity", "dir")}
        return {
            "project": self.project, "group": self.group, "upload_checkpoints": self.upload_checkpoints,
            **{name: value if value is None else str(value) for name, value in plain.items()},
        }  # fmt: skip

    def note(self) -> str:
        settings = self.settings()
        place = settings["dir"] or os.path.join(self.folder, "*")
        is_offline = settings["mode"] == "offline"
        return f"the runs are files: wandb sync {place}/wandb/offline-run-*" if is_offline else ""

    def log_trial_start(self, trial: Any) -> None:
        """Begin the trial's run, or take it up again."""
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
        self.do(self._begin, trial.trial_id, {**given, **self.kwargs})

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Log the numbers, images and videos of a result."""
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
        step = self._steps.setdefault(trial.trial_id, Steps()).next(result.get("training_iteration"))
        self.do(self._log, trial.trial_id, config, logged, step)

    def log_trial_save(self, trial: Any) -> None:
        """Log the newest checkpoint, if it is asked for."""
        if self.upload_checkpoints and trial.checkpoint is not None:
            self.do(self._log_checkpoint, trial.trial_id, str(trial), trial.checkpoint)

    def close(self) -> None:
        """Wait until wandb's own process has written everything; the end of a run waits 30 s for that."""
        if end := getattr(sys.modules.get("wandb"), "teardown", None):
            end()

    # --- actions ------------------------------------------------------------------------

    def _begin(self, trial_id: str, given: dict[str, Any]) -> None:
        if trial_id in self._runs:
            return
        wandb = _wandb("WandbLoggerCallback")
        is_offline = (given.get("mode") or os.environ.get("WANDB_MODE")) == "offline"
        if is_offline and (trial_id in self.unfinished or self.is_uncertain):
            _remove_offline(Path(given["dir"]), given["id"])  # it is written again from its beginning
        self.run_ids[trial_id] = given["id"]
        self.keep()
        if "settings" not in given and hasattr(wandb, "Settings"):
            given = {**given, "settings": wandb.Settings(console="off", x_disable_stats=True)}
        self._runs[trial_id] = wandb.init(**given)

    def _log(self, trial_id: str, config: dict[str, Any], logged: dict[str, Any], step: int) -> None:
        run = self._runs[trial_id]
        if step < getattr(run, "starting_step", 0):
            return  # an earlier process has sent it
        if config:
            run.config.update(config, allow_val_change=True)
        run.log(logged, step=step)

    def _log_checkpoint(self, trial_id: str, name: str, checkpoint: Any) -> None:
        artifact = self._wandb.Artifact(name=f"checkpoint_{name}", type="model")
        try:
            with checkpoint.as_directory() as folder:
                artifact.add_dir(os.fspath(folder))
                self._runs[trial_id].log_artifact(artifact)
        except FileNotFoundError:
            return  # a later checkpoint has replaced it

    def _tag(self, trial_id: str, tag: str) -> None:
        if (run := self._runs.get(trial_id)) is not None:
            run.tags = (*(run.tags or ()), tag)

    def _end(self, trial_id: str, how: End) -> None:
        if (run := self._runs.get(trial_id)) is None:
            return
        run.finish(exit_code=_EXIT_CODES[how])
        del self._runs[trial_id]
        if how != "cut off":  # else a resume takes it up
            self.run_ids.pop(trial_id, None)

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

    @property
    def _wandb(self) -> Any:
        return _wandb("WandbLoggerCallback")


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


def _remove_offline(folder: Path, run_id: str) -> None:
    """Delete the files of a run that an earlier process did not finish."""
    for one in folder.glob(f"wandb/offline-run-*-{run_id}"):
        shutil.rmtree(one)
