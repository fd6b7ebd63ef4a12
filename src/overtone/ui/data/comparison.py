"""Several experiments side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.analysis.plots.compare import compare
from overtone.errors import ArgumentError
from overtone.ui.data.experiment_view import ExperimentView
from overtone.ui.data.plain_json import nullable, plain
from overtone.ui.data.plots import checked_options, plot_message

MOST = 40
_MOST_STEPS = 500


def comparison_scene(experiments: Sequence[ExperimentView], options: Mapping[str, Any]) -> bytes:
    """Return the figure of several experiments as a message.

    Raises:
        ArgumentError: They are too many.
        GoalError: They have no common metric.
    """
    return plot_message("compare", [one.newest() for one in _few(experiments)], options)


def comparison(
    experiments: Sequence[ExperimentView], options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the numbers of several experiments.

    Returns:
        {"metric", "mode", "params": those in which the best trials differ, "experiments": [{"id", "name",
        "n_trials", "n_values", "best", "best_trial", "best_row", "best_params", "quantiles": 0, 25, 50, 75
        and 100 %, "seconds", "clock", "by_trial" and "by_clock": {"x", "y"}, the best value so far}]}

    Raises:
        ArgumentError, GoalError: See `comparison_scene`.
    """
    columns = [one.newest() for one in _few(experiments)]
    found = compare(columns, **checked_options(options or {}))
    data = []
    for one, own, result in zip(experiments, columns, found.experiments, strict=True):
        data.append({
            "id": one.name, "name": result.name, "n_trials": result.n_trials, "n_values": result.n_values,
            "best": nullable([result.best])[0], "best_row": result.best_row,
            "best_trial": own.ids[result.best_row] if result.best_row >= 0 else None,
            "best_params": plain(dict(result.best_params)), "quantiles": nullable(result.quantiles),
            "seconds": result.seconds, "clock": result.clock,
            "by_trial": _steps(result.by_trial), "by_clock": _steps(result.by_clock),
        })  # fmt: skip
    return {
        "metric": found.metric, "mode": found.mode, "params": list(found.differing_params),
        "experiments": data,
    }  # fmt: skip


def _few(experiments: Sequence[ExperimentView]) -> Sequence[ExperimentView]:
    if not 0 < len(experiments) <= MOST:
        raise ArgumentError(f"experiments: name 1 to {MOST} of them, not {len(experiments)}")
    return experiments


def _steps(steps: Any) -> dict[str, Any]:
    every = max(1, len(steps.x) // _MOST_STEPS)
    kept = slice(None, None, -every)  # the last step stays
    return {"x": nullable(steps.x[kept][::-1]), "y": nullable(steps.y[kept][::-1])}
