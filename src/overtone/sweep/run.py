"""Runs a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import UsageError
from overtone.observers.callbacks.callback import Callback
from overtone.stoppers.stopper import Stopper
from overtone.sweep.settings import Sweep
from overtone.tune.tune import run as tune_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overtone.analysis import ExperimentAnalysis

FIRST_FAILURES = 5
"""A sweep ends if this many trials fail before any trial has reported a result."""


def run(sweep: Sweep, resume: bool | str) -> ExperimentAnalysis:
    """Run a sweep to its end, and return its results.

    Args:
        resume: As for `tune.run`.

    Raises:
        CallbackError: The first trials failed, and none reported a result.
    """
    arguments = dict(sweep.arguments)
    stops = [arguments.pop("stop", None)] if arguments.get("stop") is not None else []
    if sweep.target is not None:
        stops.append(TargetStopper(arguments["metric"], arguments["mode"], sweep.target))
    callbacks = [*arguments.pop("callbacks", ()), FirstFailures()]
    return tune_run(sweep.program, **arguments, stop=stops or None, callbacks=callbacks, resume=resume)


class TargetStopper(Stopper):
    """Ends the sweep when the metric has reached a value.

    Args:
        metric: The metric.
        mode: "min" or "max".
        target: The value.
    """

    ends_trials = False

    def __init__(self, metric: str, mode: str, target: float) -> None:
        self.awaits = (metric,)
        self._metric, self._mode, self._target = metric, mode, target
        self._is_reached = False

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        value = result.get(self._metric)
        if isinstance(value, (int, float)):
            reached = value <= self._target if self._mode == "min" else value >= self._target
            self._is_reached = self._is_reached or reached
        return False

    def stop_all(self) -> bool:
        return self._is_reached

    def __repr__(self) -> str:
        return f"TargetStopper({self._metric!r}, {self._mode!r}, {self._target!r})"


class FirstFailures(Callback):
    """Ends a sweep whose program cannot work: its first trials failed, and none reported a result."""

    def __init__(self) -> None:
        self._n_failed, self._has_result = 0, False

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: Any, **info: Any) -> None:
        self._has_result = True

    def on_trial_error(self, iteration: int, trials: Any, trial: Any, **info: Any) -> None:
        self._n_failed += 1
        if not self._has_result and self._n_failed >= FIRST_FAILURES:
            raise UsageError(
                f"the first {self._n_failed} trials failed, and none reported a result: fix the program "
                "or the command, and run the sweep again with --retry, or with --fresh to start over"
            )
