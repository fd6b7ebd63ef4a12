"""The metric that ranks trials, and the ranking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overtone.analysis.aim import check_reported, chosen
from overtone.core.goal import is_finite
from overtone.errors import GoalError
from overtone.reading.recorded_goal import recorded_objectives

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis, RecordedTrial


def goal_needed(analysis: ExperimentAnalysis, metric: str | None, mode: str | None) -> tuple[str, str]:
    """Metric and mode to rank by.

    Args:
        metric, mode: What the user asks for; by default what the experiment was told.

    Raises:
        GoalError: It cannot be told, or nobody reported that metric.
    """
    if metric is not None:
        check_reported(metric, (result for one in analysis.trials for result in one.results()))
    recorded = (analysis.default_metric, analysis.default_mode)
    try:
        return chosen(metric, mode, recorded, [one.last_result for one in analysis.trials])
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
    allows = recorded_objectives(analysis.runner_data()).allows
    values = [(one.value(metric, mode or "max", scope), one) for one in trials if allows(one.last_result)]
    known = [(value, one) for value, one in values if value is not None and is_finite(value)]
    return sorted(known, key=lambda pair: pair[0], reverse=mode != "min")
