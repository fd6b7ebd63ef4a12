"""Reports from the loop of LightGBM: `lgb.train(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report


class TuneReportCheckpointCallback:
    """Reports each round's evaluation, such as "valid-binary_error", with the model as a checkpoint.

    Args:
        metrics: Names of LightGBM, or {name to report: name there}; all when None.
        filename: The model's file in the checkpoint.
        frequency: Save every so many rounds; 0 for never.
        results_postprocessing_fn: Makes of all that is known of a round what is reported.
    """

    order = 20
    before_iteration = False

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = "model.txt",
        frequency: int = 5,
        results_postprocessing_fn: Any = None,
        **_: Any,
    ) -> None:
        self._metrics, self._file, self._every = metrics, filename, frequency
        self._process = results_postprocessing_fn

    def __call__(self, env: Any) -> None:
        """Called by LightGBM after each round."""
        logs = {f"{data}-{name}": value for data, name, value, *_ in env.evaluation_result_list or ()}
        metrics = chosen(self._metrics, self._process(logs) if self._process else logs)
        if self._every and (env.iteration + 1) % self._every == 0:
            report_saved(metrics, lambda folder: env.model.save_model(os.path.join(folder, self._file)))
        else:
            report(metrics)


class TuneReportCallback(TuneReportCheckpointCallback):
    """Reports each round's evaluation.

    Args:
        metrics: As in `TuneReportCheckpointCallback`.
    """

    def __init__(self, metrics: Metrics = None, results_postprocessing_fn: Any = None) -> None:
        super().__init__(metrics, frequency=0, results_postprocessing_fn=results_postprocessing_fn)
