"""A callback for CatBoost: `model.fit(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

from typing import Any

from overtone.errors import TrialHalted
from overtone.tune.integration.reported import Metrics, chosen
from overtone.tune.session import report


class TuneReportCallback:
    """Callback that reports each iteration's evaluation, such as "validation-Logloss".

    CatBoost's callbacks do not see the model: to keep checkpoints, train a few iterations at a time with
    `init_model=`, and call `tune.record_checkpoint` with the saved model after each.

    Args:
        metrics: Names in CatBoost, or {name to report: name in CatBoost}; None for all.
        results_postprocessing_fn: Called with an iteration's metrics by name; returns the metrics to report.
    """

    def __init__(self, metrics: Metrics = None, results_postprocessing_fn: Any = None) -> None:
        self._metrics, self._process = metrics, results_postprocessing_fn

    def after_iteration(self, info: Any) -> bool:
        """Report an iteration; CatBoost calls this after each. Returns whether to train on."""
        logs = {
            f"{data}-{name}": values[-1] for data, by in info.metrics.items() for name, values in by.items()
        }
        try:
            report(chosen(self._metrics, self._process(logs) if self._process else logs))
        except TrialHalted:
            return False  # raised here it would leave CatBoost as a failure
        return True
