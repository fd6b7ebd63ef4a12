"""Callbacks as users of Ray Tune know them, driven by the records of a run."""

from __future__ import annotations

from typing import Any, ClassVar

from overtone.observers.trial_view import SeenTrial


class Callback:
    """Subclass it and define the hooks that you need.

    A hook that raises ends the run: its trials save, and the run can be resumed. `iteration` counts
    the steps of the run's loop, `trials` are all trials so far, and `info` is for future facts. A
    result carries the reported metrics, `trial_id`, `config` and more.

    Attributes:
        written_files: Names of files in a trial's folder that it writes itself: the run leaves them to it.
    """

    written_files: ClassVar[tuple[str, ...]] = ()

    def setup(
        self,
        stop: Any = None,
        num_samples: int | None = None,
        total_num_samples: int | None = None,
        **info: Any,
    ) -> None:
        """Prepare for a run; called once, before all other hooks but `set_state`.

        Args:
            stop: The stop criterion as given to the run.
            num_samples: Number of samples of the space.
            total_num_samples: Number of trials; None if unknown.
            info: `time_budget_s`, the budget in seconds or None; `name` and `path` of the experiment's
                folder; `goal`, a function that returns the metric (None until it is known) and the mode; and
                future facts.
        """

    def on_step_begin(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        """Handle the begin of a batch of news."""

    def on_step_end(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        """Handle the end of a batch of news; `iteration` counts the batches."""

    def on_trial_start(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Handle the start of a trial's process."""

    def on_trial_restore(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Handle a trial that resumes from a checkpoint."""

    def on_trial_save(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Handle a checkpoint that a trial saved."""

    def on_trial_result(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, result: dict[str, Any], **info: Any
    ) -> None:
        """Handle a result that was ruled on; `result["done"]` is true if the trial was told to end."""

    def on_trial_complete(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Handle a trial that ended well, or was stopped."""

    def on_trial_recover(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        """Handle a trial that failed and will be tried again."""

    def on_trial_error(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        """Handle a trial that failed for good."""

    def on_checkpoint(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, checkpoint: Any, **info: Any
    ) -> None:
        """Handle the `checkpoint` that a trial saved."""

    def on_experiment_end(self, trials: list[SeenTrial], **info: Any) -> None:
        """Handle the end of the run."""

    def get_state(self) -> dict[str, Any] | None:
        """Return the state to keep for a resume: numbers, texts, dicts, lists, tuples, sets. None: no state.

        Called every 10 s or less often, and at the end of the run.
        """
        return None

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state of `get_state`; called in a resumed run, before `setup`."""


class LoggerCallback(Callback):
    """Writes a trial's results somewhere: define the `log_*` hooks."""

    def log_trial_start(self, trial: SeenTrial) -> None:
        """Log the start of a trial's process."""

    def log_trial_restore(self, trial: SeenTrial) -> None:
        """Handle a trial that resumes from a checkpoint."""

    def log_trial_save(self, trial: SeenTrial) -> None:
        """Log a checkpoint that a trial saved."""

    def log_trial_result(self, iteration: int, trial: SeenTrial, result: dict[str, Any]) -> None:
        """Log a result of a trial."""

    def log_trial_end(self, trial: SeenTrial, failed: bool = False) -> None:
        """Log the end of a trial."""

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

_PASSED_ON = {
    "on_trial_start": "log_trial_start", "on_trial_restore": "log_trial_restore",
    "on_trial_save": "log_trial_save", "on_trial_result": "log_trial_result",
    "on_trial_complete": "log_trial_end", "on_trial_error": "log_trial_end",
}  # fmt: skip


def defines(callback: Any, hook: str) -> bool:
    """Return whether `callback` defines this hook or method, rather than inheriting an empty one."""
    method = getattr(callback, hook, None)
    own = getattr(method, "__func__", method)
    if not callable(method) or own is getattr(Callback, hook, None):
        return False
    if hook in _PASSED_ON and own is getattr(LoggerCallback, hook):
        hook = _PASSED_ON[hook]
        return getattr(getattr(callback, hook), "__func__", None) is not getattr(LoggerCallback, hook)
    return True
