"""From what users have of an experiment to the columns of its trials."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from overtone.analysis.experiment_analysis import ExperimentAnalysis
from overtone.analysis.result_grid import ResultGrid, analysis_of
from overtone.errors import ArgumentError
from overtone.reading.columns.trial_columns import MetricColumns, TrialColumns
from overtone.reading.location import path_of

_TARGET = "target"


def columns_of(source: Any) -> TrialColumns:
    """Return the columns of an experiment.

    Args:
        source: An `ExperimentAnalysis`, a `ResultGrid`, a run, a path, or columns.

    Raises:
        ArgumentError: `source` is none of these.
        StorageError: There is no experiment at the path.
    """
    if isinstance(source, TrialColumns):
        return source
    if isinstance(source, ResultGrid):
        source = analysis_of(source)
    if isinstance(source, ExperimentAnalysis):
        return source.trial_columns()
    from overtone.reading.columns.opening import open_columns

    return open_columns(_path_of(source))


def _path_of(source: Any) -> str:
    """Return the path of an experiment; a name is also looked up in the folder of all experiments.

    Raises:
        ArgumentError: `source` is not an experiment.
    """
    if isinstance(source, (str, os.PathLike)):
        return path_of(source)
    for name in ("experiment_path", "folder", "path"):
        path = getattr(source, name, None)
        if isinstance(path, (str, os.PathLike)):
            return os.fspath(path)
    kind = type(source).__name__
    raise ArgumentError(f"{kind} is not an experiment: give an ExperimentAnalysis, a ResultGrid or a path")


def all_columns(sources: Any) -> list[TrialColumns]:
    """Return the columns of one experiment, or of a sequence of experiments.

    Raises:
        ArgumentError: `sources` is empty.
    """
    is_many = isinstance(sources, Sequence) and not isinstance(sources, (str, TrialColumns))
    columns = [columns_of(source) for source in sources] if is_many else [columns_of(sources)]
    if not columns:
        raise ArgumentError("experiments=[]: give at least one experiment")
    return columns


def with_target(
    source: Any, columns: TrialColumns, target: Callable[[Any], float] | str | None, name: str | None
) -> tuple[TrialColumns, str | None]:
    """Return columns that have `target` as a metric, and that metric's name.

    Args:
        source: The experiment that `columns` were read from.
        columns: Its columns.
        target: A metric, or a function from a trial to a number; None for the experiment's metric.
        name: The name of a target that is a function.

    Raises:
        ArgumentError: `target` is neither, or `source` has no trials to call it with.
    """
    if target is None or isinstance(target, str):
        return columns, target
    if not callable(target):
        raise ArgumentError(f'target={target!r}: must be a metric such as "loss", or a function of a trial')
    trials = _trials_of(source)
    if len(trials) != len(columns):  # the experiment went on in between
        trials = trials[: len(columns)]
    values = np.full(len(columns), np.nan)
    for row, trial in enumerate(trials):
        value = target(trial)
        values[row] = np.nan if value is None else float(value)
    t = np.asarray(columns.n_results, dtype=np.int64)
    metric = MetricColumns(values, values, values, t, t, t)
    name = name or _TARGET
    return replace(columns, metrics={**columns.metrics, name: metric}), name


def _trials_of(source: Any) -> Sequence[Any]:
    if isinstance(source, TrialColumns):
        raise ArgumentError("target=function needs an ExperimentAnalysis, a ResultGrid or a path")
    if isinstance(source, ResultGrid):
        source = analysis_of(source)
    return (source if isinstance(source, ExperimentAnalysis) else ExperimentAnalysis(_path_of(source))).trials
