"""Callbacks as users of Ray Tune know them, driven by the records of a run."""

from __future__ import annotations

from typing import Any

from overtone.observers.trial_view import SeenTrial


class Callback:
    """Subclass it and define the hooks that you need.

    `iteration` counts the steps of the run's loop, `trials` are all trials so far, and `info` is
    for what may come later. A result carries what was reported, `trial_id`, `config` and more.
    """

    def setup(
        self,
        stop: Any = None,
        num_samples: int | None = None,
        total_num_samples: int | None = None,
        **info: Any,
    ) -> None:
        """Called once, before all else."""

    def on_step_begin(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        """A batch of news begins."""

    def on_step_end(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        """A batch of news has ended."""

    def on_trial_start(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """A trial's process runs."""

    def on_trial_restore(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Handle a trial that resumes from a checkpoint."""

    def on_trial_save(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """A trial saved a checkpoint."""

    def on_trial_result(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, result: dict[str, Any], **info: Any
    ) -> None:
        """A trial reported, and the scheduler has ruled; `result["done"]` says if it was told to end."""

    def on_trial_complete(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """A trial ended well, or was stopped."""

    def on_trial_recover(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """A trial failed and will be tried again."""

    def on_trial_error(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """A trial failed for good."""

    def on_checkpoint(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, checkpoint: Any, **info: Any
    ) -> None:
        """A trial saved `checkpoint`."""

    def on_experiment_end(self, trials: list[SeenTrial], **info: Any) -> None:
        """The run is over."""

    def get_state(self) -> dict[str, Any] | None:
        """Return the state to keep for a resume; None by default."""
        return None

    def set_state(self, state: dict[str, Any]) -> None:
        """Take back what `get_state` returned."""


class LoggerCallback(Callback):
    """Writes a trial's results somewhere: define the `log_*` hooks."""

    def log_trial_start(self, trial: SeenTrial) -> None:
        """A trial's process runs."""

    def log_trial_restore(self, trial: SeenTrial) -> None:
        """Handle a trial that resumes from a checkpoint."""

    def log_trial_save(self, trial: SeenTrial) -> None:
        """A trial saved a checkpoint."""

    def log_trial_result(self, iteration: int, trial: SeenTrial, result: dict[str, Any]) -> None:
        """A trial reported."""

    def log_trial_end(self, trial: SeenTrial, failed: bool = False) -> None:
        """A trial ended for good."""

    def on_trial_start(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Pass on to `log_trial_start`."""
        self.log_trial_start(trial)

    def on_trial_restore(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Pass on to `log_trial_restore`."""
        self.log_trial_restore(trial)

    def on_trial_save(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Pass on to `log_trial_save`."""
        self.log_trial_save(trial)

    def on_trial_result(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, result: dict[str, Any], **info: Any
    ) -> None:
        """Pass on to `log_trial_result`."""
        self.log_trial_result(iteration, trial, result)

    def on_trial_complete(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Pass on to `log_trial_end`."""
        self.log_trial_end(trial, failed=False)

    def on_trial_error(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Pass on to `log_trial_end`."""
        self.log_trial_end(trial, failed=True)


HOOKS = (
    "on_step_begin", "on_step_end", "on_trial_start", "on_trial_restore", "on_trial_save", "on_trial_result",
    "on_trial_complete", "on_trial_recover", "on_trial_error", "on_checkpoint", "on_experiment_end",
)  # fmt: skip
"""The hooks that a run calls, except `setup`."""
