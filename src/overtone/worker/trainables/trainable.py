"""The class API: a trial as an object that is set up once and then stepped.

Two generations of method names are supported: `setup step save_checkpoint load_checkpoint cleanup
reset_config`, and `_setup _train _save _restore _stop _reset`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.core.types import UNNAMED
from overtone.errors import TrainableError
from overtone.worker.session.current import current, is_inside
from overtone.worker.session.metrics import is_number

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

Saved = str | os.PathLike[str] | Mapping[str, Any] | None
"""Return value of `save_checkpoint`: a path, a dict, or None if it wrote into the directory."""


class Trainable:
    """A trial: subclass it, define `setup` and `step`, and hand the class to `tune.run`.

    Attributes:
        config: The trial's hyperparameters; updated in place when the scheduler changes them.
        counts_resources: Whether `default_resource_request` alone knows what a trial needs, so that
            `resources_per_trial` is refused.
    """

    config: dict[str, Any]
    counts_resources = False

    def __init__(
        self, config: dict[str, Any] | None = None, logger_creator: Any = None, storage: Any = None
    ) -> None:
        self._begin(config)
        self.setup(self.config)

    def _begin(self, config: dict[str, Any] | None) -> None:
        self.config = {} if config is None else config
        self._iteration = 0
        self._session = current() if is_inside() else None

    # --- methods that users define -------------------------------------------------------

    def setup(self, config: dict[str, Any]) -> None:
        """Prepare for `step`: build the model, load the data."""
        code = getattr(type(self)._setup, "__code__", None)
        if code is not None and code.co_argcount == 1:  # def _setup(self), which reads self.config
            self._setup()  # type: ignore[call-arg]
        else:
            self._setup(config)

    def step(self) -> Any:
        """Train for one iteration, and return the metrics as a dict or one number.

        `done: True` in the metrics ends the trial, `should_checkpoint: True` saves it.
        """
        return self._train()

    def save_checkpoint(self, checkpoint_dir: str) -> Saved:
        """Save into `checkpoint_dir`, or return the state as a dict.

        Returns:
            None, the directory, the path of a file, or a dict: `load_checkpoint` gets the same kind.
        """
        return self._save(checkpoint_dir)

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Restore from what `save_checkpoint` saved: the path, or the dict."""
        self._restore(checkpoint)

    def cleanup(self) -> None:
        """Release resources at the end of the trial."""
        self._stop()

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Change the hyperparameters; return whether that was possible.

        Called if a scheduler changes the config of a running trial. With `reuse_actors=True` it is also
        called instead of `cleanup` and `setup` if another trial reuses this object: `config` and
        `trial_id` are the new ones then, `training_iteration` is 0, and `load_checkpoint` follows if the
        trial has a checkpoint. If it returns False, `cleanup` and the `setup` of a new object follow.
        """
        return self._reset(new_config)

    def log_result(self, result: dict[str, Any]) -> None:
        """Handle the metrics of a step before they are reported; changes are part of the report."""
        self._log_result(result)

    def _export_model(self, export_formats: list[str], export_dir: str) -> dict[str, Any]:
        """Write the model into `export_dir`; return the path of each format that was written."""
        return {}

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> Any:
        """Return the resources of a trial with this config, such as {"cpu": 2}; None for the default."""
        return None

    @classmethod
    def resource_help(cls, config: dict[str, Any]) -> str:
        """Return a sentence that explains how to request resources."""
        return ""

    # --- the same methods under their old names ------------------------------------------

    def _setup(self, config: dict[str, Any]) -> None:
        """See `setup`."""

    def _train(self) -> Any:
        """See `step`."""
        raise NotImplementedError(f"{type(self).__name__} needs step(self): it returns a dict of metrics")

    def _save(self, checkpoint_dir: str) -> Saved:
        """See `save_checkpoint`."""
        raise NotImplementedError(f"{type(self).__name__} needs save_checkpoint(self, checkpoint_dir)")

    def _restore(self, checkpoint: Any) -> None:
        """See `load_checkpoint`."""
        raise NotImplementedError(f"{type(self).__name__} needs load_checkpoint(self, checkpoint)")

    def _stop(self) -> None:
        """See `cleanup`."""

    def _reset(self, new_config: dict[str, Any]) -> bool:
        """See `reset_config`."""
        return False

    def _log_result(self, result: dict[str, Any]) -> None:
        """See `log_result`."""

    # --- methods that the framework calls ------------------------------------------------

    def train(self) -> dict[str, Any]:
        """Run one step, and return its metrics.

        Raises:
            TrainableError: `step` returned neither a dict nor a number.
        """
        metrics = self.step()
        if not isinstance(metrics, Mapping):
            if not is_number(metrics):
                raise TrainableError(
                    f"{type(self).__name__}.step() must return a dict of metrics or a number, "
                    f"not the {type(metrics).__name__} {metrics!r:.100}"
                )
            metrics = {UNNAMED: metrics}
        self._iteration += 1
        result = {"training_iteration": self._iteration, **metrics}
        self.log_result(result)
        return result

    def save(self, checkpoint_dir: str | os.PathLike[str] | None = None) -> Any:
        """Save the state to `checkpoint_dir` or a new temporary directory; return its `Checkpoint`."""
        import tempfile
        from pathlib import Path

        from overtone.worker.checkpoints import saving
        from overtone.worker.checkpoints.checkpoint import Checkpoint

        folder = Path(checkpoint_dir or tempfile.mkdtemp(prefix="overtone_checkpoint_"))
        folder.mkdir(parents=True, exist_ok=True)
        saving.note(folder, {"t": self._iteration, **save_state(self, folder)})
        return Checkpoint(folder)

    def train_buffered(self, buffer_time_s: float, max_buffer_length: int = 1000) -> list[dict[str, Any]]:
        """Run steps until the time or the number of results is reached, or a result is the last.

        Args:
            buffer_time_s: In seconds; one step is run at least.
            max_buffer_length: Maximum number of results.
        """
        import time

        results, deadline = [self.train()], time.monotonic() + buffer_time_s
        while (
            len(results) < max_buffer_length
            and not results[-1].get("done")
            and not results[-1].get("should_checkpoint")
            and time.monotonic() < deadline
        ):
            results.append(self.train())
        return results

    def get_state(self) -> dict[str, Any]:
        """Return what the framework knows of the object: its number of steps."""
        return {"iteration": self._iteration}

    def get_auto_filled_metrics(
        self,
        now: datetime | None = None,
        time_this_iter: float | None = None,
        timestamp: int | None = None,
        debug_metrics_only: bool = False,
    ) -> dict[str, Any]:
        """Return the fields that say where and when a result was made.

        A report in a trial has them, and others, in any case.

        Args:
            now: The time; by default the present.
            time_this_iter: The duration of the step in seconds.
            timestamp: The time in seconds since 1970; by default `now`.
            debug_metrics_only: Whether only the place and the time are returned.
        """
        import platform
        from datetime import datetime

        now = now or datetime.now()
        address, pid = self.get_current_ip_pid()
        fields = {
            "trial_id": self.trial_id,
            "date": now.strftime("%Y-%m-%d_%H-%M-%S"),
            "timestamp": timestamp or int(now.timestamp()),
            "pid": pid,
            "hostname": platform.node(),
            "node_ip": address,
            "config": self.config,
        }
        if debug_metrics_only:
            return fields
        return {**fields, "time_this_iter_s": time_this_iter, "training_iteration": self._iteration}

    def is_actor(self) -> bool:
        """Return False: a trial's object lives in a process of the trial."""
        return False

    def get_current_ip_pid(self) -> tuple[str, int]:
        """Return the address of this machine and the process's id."""
        import socket

        try:
            address = socket.gethostbyname(socket.gethostname())
        except OSError:
            address = "127.0.0.1"
        return address, os.getpid()

    def restore(self, checkpoint: Any) -> None:
        """Restore from a `Checkpoint`, its path, or the state as a dict."""
        from pathlib import Path

        from overtone.worker.checkpoints import saving

        if isinstance(checkpoint, Mapping):
            self.go_on_from(checkpoint, self._iteration)
            return
        path = Path(checkpoint)
        found = saving.opened(path if path.is_dir() else path.parent)
        self.go_on_from(found.like_saved if path.is_dir() else str(path), int(found.state.get("t", 0)))

    def export_model(
        self, export_formats: str | list[str], export_dir: str | os.PathLike[str] | None = None
    ) -> dict[str, Any]:
        """Export the model by `_export_model`; return the path of each format that was written.

        Args:
            export_formats: A format or several, such as "model".
            export_dir: The folder to write into; by default the trial's.
        """
        formats = [export_formats] if isinstance(export_formats, str) else list(export_formats)
        return self._export_model(formats, os.fspath(export_dir or self.logdir))

    def stop(self) -> None:
        """End the trial's object, by `cleanup`."""
        self.cleanup()

    def reset(self, new_config: dict[str, Any], logger_creator: Any = None, storage: Any = None) -> bool:
        """Change the hyperparameters, in `config` as well; return whether that was possible."""
        if not self.reset_config(new_config):
            return False
        if new_config is not self.config:
            self.config.clear()
            self.config.update(new_config)
        return True

    def go_on_from(self, checkpoint: Any, iteration: int) -> None:
        """Load a state that was saved after `iteration` iterations."""
        self.load_checkpoint(checkpoint)
        self._iteration = iteration

    def get_config(self) -> dict[str, Any]:
        """Return the trial's hyperparameters."""
        return self.config

    @property
    def iteration(self) -> int:
        """Number of completed steps, including those before a restore."""
        return self._iteration

    @property
    def training_iteration(self) -> int:
        """The same as `iteration`."""
        return self._iteration

    @property
    def trial_id(self) -> str:
        """The trial's id, such as "358bb_00006"; "default" outside of an experiment."""
        return self._session.get_trial_id() if self._session else "default"

    @property
    def trial_name(self) -> str:
        """The trial's name, such as "MyTrainable_358bb_00006"."""
        return self._session.get_trial_name() if self._session else type(self).__name__

    @property
    def trial_resources(self) -> Any:
        """The trial's resources; None outside of an experiment."""
        return self._session.get_trial_resources() if self._session else None

    @property
    def logdir(self) -> str:
        """The trial's folder; a temporary folder outside of an experiment."""
        if self._session is not None:
            return self._session.get_trial_dir()
        import tempfile

        return tempfile.gettempdir()


def save_state(trainable: Trainable, folder: Path) -> dict[str, Any]:
    """Let `trainable` save into `folder`; return the kind, for `.overtone.json`.

    Raises:
        TrainableError: `save_checkpoint` returned an invalid value.
    """
    from pathlib import Path

    from overtone.worker.checkpoints import saving

    saved = trainable.save_checkpoint(str(folder))
    if isinstance(saved, Mapping):
        saving.write_dict(saved, folder)
        return {"kind": "dict"}
    if saved is None:
        return {"kind": "directory"}
    try:
        path = Path(saved)
    except TypeError:
        path = Path("/", "not", "a", "path")
    if not path.exists():
        raise TrainableError(
            f"{type(trainable).__name__}.save_checkpoint() returned {saved!r:.200}: it must return None, "
            "a dict, or the path of a file or directory that is there"
        )
    home, path = folder.resolve(), path.resolve()
    if path == home:
        return {"kind": "directory"}
    inside = path.relative_to(home) if path.is_relative_to(home) else saving.place(path, folder)
    return {"kind": "file", "name": str(inside)}
