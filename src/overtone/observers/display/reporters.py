"""Progress reporters with the arguments that users of Ray Tune know: subclass them or use them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overtone.errors import ArgumentError
from overtone.observers.columns import DEFAULT_METRICS, Columns, added
from overtone.observers.display.status_block import (
    best_line,
    best_of,
    count_line,
    error_table,
    hidden_line,
    memory_line,
    select_rows,
    trial_table,
)
from overtone.observers.trial_view import SeenTrial
from overtone.standard_streams import show


class ProgressReporter:
    """Shows progress in a way of one's own: say when in `should_report`, and how in `report`."""

    def setup(
        self,
        start_time: float | None = None,
        total_samples: int | None = None,
        metric: str | None = None,
        mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Set the reporter up when a run begins, and again when these facts have changed."""

    def should_report(self, trials: list[SeenTrial], done: bool = False) -> bool:
        """Return whether to call `report` now; asked after each batch of news, and at the end with `done`."""
        raise NotImplementedError

    def report(self, trials: list[SeenTrial], done: bool, *sys_info: str) -> None:
        """Show it. `sys_info` are the scheduler's lines and the resources' line."""
        raise NotImplementedError


class TuneReporterBase(ProgressReporter):
    """The `== Status ==` block, at most every `max_report_frequency` seconds.

    Args:
        metric_columns: Names of metrics to show, or names with their headers. Where none are
            named, the usual ones and up to `infer_limit` others are shown.
        parameter_columns: The same for parameters; by default all that the search chooses.
        total_samples: How many trials there will be, where the run does not know it.
        max_progress_rows: Rows of the table.
        max_error_rows: Rows of the table of failed trials.
        max_column_length: Longer texts and headers are cut.
        max_report_frequency: Seconds between two reports.
        infer_limit: How many metrics may be found by looking at results.
        print_intermediate_tables: Whether the table comes with each report, or with the last alone.
        metric, mode: What the best trial is chosen by; by default the run's.
        sort_by_metric: Show the best trials first.

    Raises:
        ArgumentError: `mode` is unknown, or columns are given as one string.
    """

    DEFAULT_COLUMNS = DEFAULT_METRICS

    def __init__(
        self,
        *,
        metric_columns: Columns = None,
        parameter_columns: Columns = None,
        total_samples: int | None = None,
        max_progress_rows: int = 20,
        max_error_rows: int = 20,
        max_column_length: int = 20,
        max_report_frequency: float = 5,
        infer_limit: int = 3,
        print_intermediate_tables: bool | None = None,
        metric: str | None = None,
        mode: str | None = None,
        sort_by_metric: bool = False,
    ) -> None:
        if mode not in (None, "min", "max"):
            raise ArgumentError(f'mode={mode!r}: choose "max" or "min"')
        for name, columns in (("metric_columns", metric_columns), ("parameter_columns", parameter_columns)):
            if isinstance(columns, str):
                raise ArgumentError(
                    f"{name}={columns!r}: give a list, [{columns!r}], or a dict of names and headers"
                )
        self._metric_columns = metric_columns
        self._parameter_columns = parameter_columns
        self._total_samples = total_samples
        self._max_progress_rows = max_progress_rows
        self._max_error_rows = max_error_rows
        self._max_column_length = max_column_length
        self._max_report_frequency = max_report_frequency
        self._infer_limit = infer_limit
        self._print_intermediate_tables = print_intermediate_tables is not False
        self._metric = metric
        self._mode = mode
        self._sort_by_metric = sort_by_metric
        self._given = (total_samples, metric, mode)
        self._allows: Callable[[Mapping[str, Any]], bool] | None = None
        self._folder = ""
        self._last_report = float("-inf")

    def setup(
        self,
        start_time: float | None = None,
        total_samples: int | None = None,
        metric: str | None = None,
        mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Take the run's facts where the user gave none."""
        given_total, given_metric, given_mode = self._given
        self._total_samples = given_total if given_total is not None else total_samples
        self._metric = given_metric or metric
        self._mode = given_mode or mode
        self._folder = kwargs.get("folder", self._folder)
        self._allows = kwargs.get("allows", self._allows)

    def add_metric_column(self, metric: str, representation: str | None = None) -> None:
        """Show one more metric, under the header `representation`."""
        columns = DEFAULT_METRICS if self._metric_columns is None else self._metric_columns
        self._metric_columns = added(columns, metric, representation, "metric")

    def add_parameter_column(self, parameter: str, representation: str | None = None) -> None:
        """Show one more parameter, under the header `representation`."""
        self._parameter_columns = added(self._parameter_columns, parameter, representation, "parameter")

    def should_report(self, trials: list[SeenTrial], done: bool = False) -> bool:
        """Return whether it is time, and there is something to show."""
        now = time.monotonic()
        if trials and now - self._last_report > self._max_report_frequency:
            self._last_report = now
            return True
        return done

    def _progress_str(self, trials: Sequence[SeenTrial], done: bool, *sys_info: str) -> str:
        """Return the whole block, without a line end."""
        metric, mode = self._metric, self._mode or "max"
        lines = ["== Status ==", *self._memory(), *(line for info in sys_info for line in info.splitlines())]
        best = best_of(trials, metric, mode, self._allows) if metric else None
        if best and metric:
            lines.append(best_line(best[0].trial_id, metric, best[1], best[0].evaluated_params))
        folder = self._folder or (trials[0].local_experiment_path if trials else "")
        if folder:
            lines.append(f"Result logdir: {folder}")
        lines.append(count_line(trials, self._total_samples))
        if trials and (done or self._print_intermediate_tables):
            sort = metric if self._sort_by_metric else None
            rows, hidden = select_rows(trials, self._max_progress_rows, sort, mode)
            lines += trial_table(
                rows,
                self._parameter_columns,
                self._metric_columns,
                self._infer_limit,
                self._max_column_length,
            )
            lines += [hidden_line(hidden)] if hidden else []
        return "\n".join(lines + error_table(trials, self._max_error_rows))

    def _memory(self) -> list[str]:
        try:
            import psutil
        except ImportError:
            return []
        memory = psutil.virtual_memory()
        return [memory_line(memory.total - memory.available, memory.total)]


class CLIReporter(TuneReporterBase):
    """Prints the `== Status ==` block to standard output; arguments as for `TuneReporterBase`."""

    def report(self, trials: list[SeenTrial], done: bool, *sys_info: str) -> None:
        """Print the block."""
        show(self._progress_str(trials, done, *sys_info) + "\n\n")


class JupyterNotebookReporter(TuneReporterBase):
    """Shows the status in the output of a notebook's cell, in place; elsewhere it prints.

    Args:
        overwrite: Replace what was shown before; False adds below it.
        kwargs: As for `TuneReporterBase`.
    """

    def __init__(self, *, overwrite: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._overwrite = overwrite
        self._cell: Any = None

    def report(self, trials: list[SeenTrial], done: bool, *sys_info: str) -> None:
        """Show the block."""
        from overtone.observers.display.notebook import Cell

        text = self._progress_str(trials, done, *sys_info)
        if self._cell is None or not self._overwrite:
            self._cell = Cell()
        self._cell.show(text)
