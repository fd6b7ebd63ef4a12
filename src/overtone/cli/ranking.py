"""The metric that ranks trials, and the ranking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from overtone.analysis.aim import check_reported, chosen
from overtone.analysis.column_ranking import is_reported, ranked_rows
from overtone.core.goal import is_finite, lookup
from overtone.errors import GoalError
from overtone.observers.display.plain_text import number, show
from overtone.reading.recorded_goal import recorded_objectives

SCOPES_SHOWN = {
    "last": "last value",
    "avg": "average of all values",
    "last-5-avg": "average of the last 5 values",
    "last-10-avg": "average of the last 10 values",
    "all": "best value",
}
"""The ways to reduce a trial's values to the value that ranks it, as people read them."""

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis, RecordedTrial
    from overtone.reading.columns.trial_columns import TrialColumns


def goal_needed(analysis: ExperimentAnalysis, metric: str | None, mode: str | None) -> tuple[str, str]:
    """Metric and mode to rank by.

    Args:
        metric, mode: What the user asks for; by default what the experiment was told.

    Raises:
        GoalError: It cannot be told, or nobody reported that metric.
    """
    if metric is not None and not is_reported(columns_of(analysis), [metric]):
        check_reported(metric, (result for one in analysis.trials for result in one.results()))
    recorded = (analysis.default_metric, analysis.default_mode)
    try:
        return chosen(metric, mode, recorded, (one.last_result for one in analysis.trials))
    except GoalError as error:  # it speaks to those who write Python
        text = str(error).replace('mode="max" or "min"', "--mode max or min")
        text = text.replace('mode="max" or mode="min"', "--mode max or --mode min")
        raise GoalError(re.sub(r"metric=(\S+),", r"--metric \1", text)) from None


def goal_of(
    analysis: ExperimentAnalysis, metric: str | None, mode: str | None
) -> tuple[str | None, str | None]:
    """Return the same; (None, None) where nobody named a metric and it cannot be told.

    Raises:
        GoalError: A metric was named that nobody reported, or its mode is not known.
    """
    try:
        return goal_needed(analysis, metric, mode)
    except GoalError:
        if metric is not None:
            raise
        return None, None


def ranking(
    analysis: ExperimentAnalysis,
    trials: list[RecordedTrial],
    metric: str | None,
    mode: str | None,
    scope: str = "last",
) -> list[tuple[float, RecordedTrial]]:
    """Return values and trials, best first; trials need a finite value and must satisfy the constraints."""
    if metric is None:
        return []
    goal = recorded_objectives(analysis.runner_data())
    rows = ranked_rows(columns_of(analysis), metric, mode or "max", scope, goal)
    if rows is not None:
        ranked = [(value, trials[row]) for value, row in rows]
        for value, best in ranked[:1]:  # the number as it was reported, which may be an integer
            exact = best.value(metric, mode or "max", scope)
            ranked[0] = (value if exact is None else exact, best)
        return ranked
    allows = goal.allows
    values = [(one.value(metric, mode or "max", scope), one) for one in trials if allows(one.last_result)]
    known = [(value, one) for value, one in values if value is not None and is_finite(value)]
    return sorted(known, key=lambda pair: pair[0], reverse=mode != "min")


def columns_of(analysis: ExperimentAnalysis) -> TrialColumns | None:
    """Return all trials as columns, if only these were read."""
    from overtone.analysis.recorded_trial import index_of

    trials = analysis.trials
    return index_of(trials[0]).columns if trials else None


def peak(trial: RecordedTrial, metric: str | None, mode: str | None) -> tuple[float | None, Any]:
    """Return a trial's best value on the way, and its iteration; (None, None) without a value."""
    from overtone.analysis.ranking import best_result

    best = None if metric is None else best_result(trial.results(), metric, mode or "max")
    return (None, None) if best is None else (lookup(best, metric or ""), best.get("training_iteration"))


def peak_shown(value: float | None, iteration: Any) -> str:
    """Return text such as `0.125 at iteration 12`; "" without a value."""
    if value is None:
        return ""
    return number(value) + ("" if iteration is None else f" at iteration {show(iteration)}")
