"""The trials of an experiment as columns: one array per hyperparameter and metric, one row per trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FAILED = "failed"
"""The cause of a trial's end by an error."""

Curve = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one hyperparameter or fact.

    Attributes:
        values: float64, or int32 codes, which count into `levels`; shape (trials,). Arbitrary where missing.
        missing: Whether a trial has no such value, such as a parameter of a branch that was not taken.
        levels: The values that codes stand for; None for numbers.
        is_integer: Whether all numbers are integers.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    levels: tuple[Any, ...] | None = None
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class MetricColumns:
    """The values of one numeric metric; arrays of shape (trials,), NaN and 0 for trials without a value.

    Attributes:
        last, min, max: The last, least and greatest finite value that each trial reported.
        last_t, min_t, max_t: The `training_iteration` of each, the first one of equal values.
        is_finite: Whether the last number of each trial was finite, or there was none; None if all were.
        is_whole: Whether all numbers of all trials were finite.
        is_exact: Whether no number was so large that float64 may have rounded it.
    """

    last: NDArray[np.float64]
    min: NDArray[np.float64]
    max: NDArray[np.float64]
    last_t: NDArray[np.int64]
    min_t: NDArray[np.int64]
    max_t: NDArray[np.int64]
    is_finite: NDArray[np.bool_] | None = None
    is_whole: bool = True
    is_exact: bool = True

    def best(self, mode: str) -> NDArray[np.float64]:
        """Return each trial's best value on the way."""
        return self.min if mode == "min" else self.max

    def best_t(self, mode: str) -> NDArray[np.int64]:
        """Return the iteration of each trial's best value."""
        return self.min_t if mode == "min" else self.max_t


@dataclass(frozen=True, slots=True)
class Exploit:
    """A trial went on from another one's checkpoint, or was cloned from it.

    Attributes:
        row: The trial's row.
        source: The row of the trial that it went on from, perhaps its own.
        t: The trial's time when this was decided, in units of the scheduler; 0 for a clone.
        source_t: The `training_iteration` of the checkpoint.
        before: The source's flat config at that time.
        after: The trial's flat config from then on.
        n_before: How often the source itself had gone on from another trial when this was decided; None
            for all times before.
    """

    row: int
    source: int
    t: float
    source_t: float
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    n_before: int | None = None


def _no_exploits(rows: Sequence[int]) -> Sequence[Exploit]:
    return ()


def _no_curve(row: int, metric: str) -> Curve:
    return np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True, slots=True)
class TrialColumns:
    """The trials of an experiment, in the order of creation, as far as its journal was read.

    Attributes:
        ids: The trials' ids.
        params: Hyperparameters by flattened name ("optimizer/lr"), in the order of the space.
        metrics: Metrics by flattened name.
        status: The words of `core.trial.Status`, as a column of categories.
        end: What ended each trial, as a column of categories: `FAILED`, or a word of
            `core.types.cause_of_end`. Missing for trials that have not ended.
        started, ended: Seconds of the experiment's clock, float64; NaN if that has not happened.
        node: The host of the last attempt, as a column of categories.
        rung: The highest rung at which the trial was ruled on, in units of the scheduler's time; NaN if none.
        bracket: The number of the trial's bracket, from 1; 0 if no ruling on the trial names it.
        source: The row of the trial that it was cloned or exploited from last; -1 if none.
        n_results: The number of results.
        allowed: Whether the last result satisfies the constraints.
        goals: (metric, mode) of each objective; one or more, empty if no metric is known.
        log_params: The hyperparameters that are searched on a logarithmic scale.
        name: The experiment's name.
        n_records: The number of the journal's last record that is in the arrays.
        curve: Returns the iterations and values of a row's metric, oldest first; reads the journal.
        exploits: Returns each time that one of these rows went on from another one, oldest first; reads
            the journal.
    """

    ids: Sequence[str]
    params: Mapping[str, Column]
    metrics: Mapping[str, MetricColumns]
    status: Column
    end: Column
    started: NDArray[np.float64]
    ended: NDArray[np.float64]
    node: Column
    rung: NDArray[np.float64]
    bracket: NDArray[np.int32]
    source: NDArray[np.int32]
    n_results: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    goals: tuple[tuple[str, str], ...] = ()
    log_params: frozenset[str] = frozenset()
    name: str = ""
    n_records: int = 0
    curve: Callable[[int, str], Curve] = field(default=_no_curve)
    exploits: Callable[[Sequence[int]], Sequence[Exploit]] = field(default=_no_exploits)

    def __len__(self) -> int:
        return len(self.ids)
