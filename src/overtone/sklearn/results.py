"""`cv_results_` of candidates of which some were stopped before their last fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overtone.sklearn.evaluation import Outcome, unfit_outcome
from overtone.sklearn.outcomes import Candidate

Formatter = Callable[..., dict[str, Any]]
"""scikit-learn's method that makes `cv_results_` of (params, number of splits, outcomes, more columns)."""


def reached(candidate: Candidate) -> int:
    """Return the number of the candidate's last report."""
    return max(candidate.outcomes, default=0)


def fold_outcomes(
    candidate: Candidate, n_splits: int, like: Outcome | None, error_score: Any
) -> list[Outcome]:
    """Return the outcomes of the folds that the candidate was evaluated on.

    A candidate that failed as a whole has an outcome for each fold: that of a failure for the folds that it
    was not evaluated on, which are all folds if it was trained in parts.
    """
    last = candidate.outcomes.get(reached(candidate))
    found = last if isinstance(last, list) else [candidate.outcomes[t] for t in sorted(candidate.outcomes)]
    if candidate.error:
        found = [] if isinstance(last, list) else found
        missing = unfit_outcome(like, error_score, candidate.error)
        found = [*found, *[missing] * (n_splits - len(found))]
    return found


def format_results(
    format_complete: Formatter,
    params: list[dict[str, Any]],
    folds: Sequence[Sequence[Outcome]],
    n_splits: int,
    n_reports: Sequence[int],
    more: dict[str, list[Any]] | None,
) -> dict[str, Any]:
    """Return `cv_results_`.

    The mean of a stopped candidate is that of its folds, the other folds are NaN. It ranks below all
    complete candidates. Of the stopped ones, those with more reports rank higher, then those with a
    higher mean. Candidates whose mean is NaN rank last.

    Args:
        params: The parameters of each candidate.
        folds: The outcomes of each candidate; at least one each.
        n_reports: Number of reports of each candidate; candidates with the most are complete.
        more: Further columns.
    """
    padded = [fold for found in folds for fold in [*found, *[found[-1]] * (n_splits - len(found))]]
    results = format_complete(params, n_splits, padded, more)
    counts = np.array([len(found) for found in folds])
    if len(set(n_reports)) == 1 and counts.min() == n_splits:
        return results
    for name in [name for name in results if name.startswith(("mean_t", "mean_f", "mean_s"))]:
        column = name.removeprefix("mean_")
        values = np.array([_values(found, column, n_splits) for found in folds])
        for split in range(n_splits):
            if f"split{split}_{column}" in results:
                results[f"split{split}_{column}"] = values[:, split]
        for row in np.flatnonzero(counts < n_splits):
            seen = values[row, : counts[row]]
            results[name][row], results[f"std_{column}"][row] = seen.mean(), seen.std()
        if f"rank_{column}" in results:
            results[f"rank_{column}"] = _ranks(np.array(n_reports), results[name])
    return results


def _values(outcomes: Sequence[Outcome], column: str, n_splits: int) -> list[float]:
    """Return the values of a column on each fold; NaN on those that were not evaluated."""
    if column in ("fit_time", "score_time"):
        seen = [outcome[column] for outcome in outcomes]
    else:
        kind, name = column.split("_", 1)
        scores = [outcome[f"{kind}_scores"] for outcome in outcomes]
        seen = [one[name] if isinstance(one, dict) else one for one in scores]
    return [float(value) for value in seen] + [np.nan] * (n_splits - len(seen))


def _ranks(n_reports: Any, means: Any) -> Any:
    """Return ranks from 1: more reports first, then higher means; equal ones have the best of their ranks.

    NaN ranks last, with any number of reports.
    """
    is_nan = np.isnan(means)
    keys = list(zip(is_nan, np.where(is_nan, 0, -n_reports), -np.where(is_nan, 0.0, means), strict=True))
    ordered = sorted(keys)
    first = {key: place for place, key in reversed(list(enumerate(ordered, 1)))}
    return np.array([first[key] for key in keys], dtype=np.int32)
