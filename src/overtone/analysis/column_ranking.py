"""Rankings of trials from columns, where these tell exactly what the trials' results do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from overtone.space import flatten

if TYPE_CHECKING:
    from overtone.analysis.recorded_trial import RecordedTrial
    from overtone.core.goal import Goal
    from overtone.reading.columns.trial_columns import TrialColumns


def ranked_rows(
    columns: TrialColumns | None, metric: str, mode: str, scope: str, goal: Goal
) -> list[tuple[float, int]] | None:
    """Return values and rows of trials with a finite value that satisfy the constraints, best first.

    Args:
        columns: The trials, if columns were read.
        scope: See `ExperimentAnalysis.get_best_trial`.
        goal: The goal with the constraints.

    Returns:
        None if the columns do not tell: for averages, and for metrics that columns leave out or round.
    """
    import numpy as np

    if columns is None or scope not in ("last", "all") or not columns.metrics.keys() >= set(goal.constraints):
        return None
    found = columns.metrics.get(metric)
    if found is None or not found.is_exact or (scope == "all" and not found.is_whole):
        return None
    values = found.last if scope == "last" else found.best(mode)
    is_ranked = ~np.isnan(values) & columns.allowed
    if found.is_finite is not None:
        is_ranked &= found.is_finite
    rows = np.flatnonzero(is_ranked)
    order = rows[np.argsort(values[rows] if mode == "min" else -values[rows], kind="stable")]
    return list(zip(values[order].tolist(), order.tolist(), strict=True))


def varying_parameters(columns: TrialColumns, trials: list[RecordedTrial]) -> list[str]:
    """Return the parameters that differ between trials, in the order of their first appearance.

    Args:
        columns: The trials.
        trials: The same trials.
    """
    import numpy as np

    firsts, differ = {}, set()
    for name, column in columns.params.items():
        there = np.flatnonzero(~column.missing)
        if not len(there):
            continue
        firsts[name] = int(there[0])
        values = column.values[there]
        is_same = np.all((values == values[0]) | ((values != values) & (values[0] != values[0])))
        if len(there) < len(trials) or not is_same:
            differ.add(name)
    configs = {row: list(flatten(trials[row].config)) for row in set(firsts.values())}
    order = sorted(firsts, key=lambda name: (firsts[name], configs[firsts[name]].index(name)))
    return [name for name in order if name in differ] or order


def is_reported(columns: TrialColumns | None, names: Iterable[str]) -> bool:
    """Return whether trials are known to have reported all of these metrics as numbers."""
    return columns is not None and all(
        name in columns.metrics and bool((columns.metrics[name].last_t > 0).any()) for name in names
    )
