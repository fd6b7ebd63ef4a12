"""The return value of `Tuner.fit`: the outcome of every trial."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from overtone.analysis.experiment_analysis import ExperimentAnalysis
from overtone.analysis.no_result import NoBestError
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.analysis.result import Result
from overtone.worker.checkpoints.arrow_files import local_filesystem

if TYPE_CHECKING:
    from overtone.analysis.plot_page import PlotPage


class ResultGrid:
    """The outcomes of an experiment's trials, in the order of creation.

    Args:
        experiment_analysis: What they are read from.
    """

    def __init__(self, experiment_analysis: ExperimentAnalysis) -> None:
        self._analysis = experiment_analysis

    def get_best_result(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Result:
        """Return the outcome of the best trial; a single trial is the best one, whatever it reported.

        Args:
            metric: As in `ExperimentAnalysis.get_best_trial`.
            mode: As there.
            scope: As there.
            filter_nan_and_inf: As there.

        Raises:
            GoalError: There is no best trial (this is a RuntimeError, too), or no metric is named and
                several are possible.
        """
        trials = self._analysis.trials
        if len(trials) == 1 and metric is None:
            return self._result(trials[0])
        import warnings

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "there is no best trial", UserWarning)  # it is an error here
            best = self._analysis.get_best_trial(metric, mode, scope, filter_nan_and_inf)
        if best is None:
            asked = metric or self._analysis.default_metric
            raise NoBestError(
                f"there is no best result among {len(trials)} trials by metric {asked!r}: "
                f"{self.num_errors} failed, and none reported it as a finite number; see `errors`, "
                "or pass filter_nan_and_inf=False"
            )
        return self._result(best)

    def get_dataframe(self, filter_metric: str | None = None, filter_mode: str | None = None) -> Any:
        """Return a frame of each trial's last result, or its best by `filter_metric` and `filter_mode`."""
        return self._analysis.dataframe(filter_metric, filter_mode)

    def pack(self, to: str | os.PathLike[str], metric: str | None = None, mode: str | None = None) -> str:
        """Write the best checkpoint to a new folder, as `ExperimentAnalysis.pack` does; return its sha256."""
        return self._analysis.pack(to, None, metric, mode)

    @property
    def experiment_path(self) -> str:
        """The experiment's folder, where it lies now."""
        return self._analysis.experiment_path

    @property
    def filesystem(self) -> Any:
        """The file system of `experiment_path`, as pyarrow has it.

        Raises:
            MissingPackageError: pyarrow is not installed.
        """
        return local_filesystem()

    @property
    def errors(self) -> list[Exception]:
        """The errors of all failed trials."""
        return [error for result in self if (error := result.error) is not None]

    @property
    def num_errors(self) -> int:
        """The number of failed trials."""
        return self._analysis.count().get("ERROR", 0)

    @property
    def num_terminated(self) -> int:
        """The number of trials that ended without an error."""
        return self._analysis.count().get("TERMINATED", 0)

    def __len__(self) -> int:
        return len(self._analysis.trials)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        found = self._analysis.trials[index]
        return [self._result(one) for one in found] if isinstance(found, list) else self._result(found)

    def __iter__(self) -> Iterator[Result]:
        return (self._result(one) for one in self._analysis.trials)

    def plot(self) -> PlotPage:
        """Return a page with the useful plots, as `ExperimentAnalysis.plot` does."""
        return self._analysis.plot()

    def _repr_html_(self) -> str:
        return self._analysis._repr_html_()

    def __repr__(self) -> str:
        return f"ResultGrid({len(self)} trials, {self.num_errors} failed, path={self.experiment_path!r})"

    def _result(self, trial: RecordedTrial) -> Result:
        return Result(trial, self._analysis.default_metric, self._analysis.default_mode)


def analysis_of(grid: ResultGrid) -> ExperimentAnalysis:
    """Return the analysis that a grid is a view of."""
    return grid._analysis
