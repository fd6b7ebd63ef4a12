"""Metrics of a run in a text file that Prometheus' node_exporter reads."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overtone.core.goal import is_number, lookup
from overtone.errors import ArgumentError
from overtone.observers.callbacks.callback import Callback
from overtone.reading.run_metrics import SHOWN, RunMetrics, exposition
from overtone.regular_files import replace_file
from overtone.standard_streams import say


class PrometheusCallback(Callback):
    """Writes metrics of the run to a file for the textfile collector of Prometheus' node_exporter.

    The file is replaced as a whole. Each run needs a file of its own. It stays when the run ends, with
    `overtone_run_over` 1. The metrics are `overtone_trials` by status, `overtone_results_total`,
    `overtone_trials_planned`, `overtone_best_value`, `overtone_run_over` and
    `overtone_updated_timestamp_seconds`.

    Args:
        path: The file, such as "/var/lib/node_exporter/search.prom".
        every_s: Least number of seconds between two writes.

    Raises:
        ValueError: The name of the file does not end in ".prom", so that node_exporter would ignore it.
    """

    def __init__(self, path: str | os.PathLike[str], every_s: float = 15.0) -> None:
        self._path = Path(path)
        if self._path.suffix != ".prom":
            raise ArgumentError(f"PrometheusCallback({str(path)!r:.200}): the file's name must end in .prom")
        self._every_s = every_s
        self._written_at = -math.inf
        self._has_warned = False
        self._name = ""
        self._planned: int | None = None
        self._goal: Callable[[], tuple[str | None, str]] = lambda: (None, "max")

    def setup(  # type: ignore[override]
        self,
        total_num_samples: int | None = None,
        goal: Callable[[], tuple[str | None, str]] | None = None,
        name: str = "",
        **info: Any,
    ) -> None:
        """Prepare for a run."""
        self._name, self._planned, self._goal = name, total_num_samples, goal or self._goal

    def on_step_end(self, iteration: int, trials: list[Any], **info: Any) -> None:
        """Write the file if it is time."""
        if time.monotonic() - self._written_at >= self._every_s:
            self._write(trials, is_over=False)

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Write the file a last time."""
        self._write(trials, is_over=True)

    def _write(self, trials: list[Any], is_over: bool) -> None:
        self._written_at = time.monotonic()
        metric, mode = self._goal()
        counts = dict.fromkeys(SHOWN, 0)
        n_results, best = 0, -math.inf
        sign = -1.0 if mode == "min" else 1.0
        for trial in trials:
            counts[trial.status] = counts.get(trial.status, 0) + 1
            n_results += trial.num_results
            value: Any = lookup(trial.metrics, metric) if metric is not None else None
            if is_number(value) and math.isfinite(value):
                best = max(best, sign * value)
        values = {metric: sign * best} if metric is not None and best > -math.inf else {}
        run = RunMetrics(self._name, counts, n_results, self._planned, values, time.time(), is_over)
        try:
            replace_file(self._path, exposition([run]))
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                say(f"{self._path} cannot be written: {error.strerror or error}; the run continues")
