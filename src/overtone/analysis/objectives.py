"""Several objectives of an experiment's trials: their front, and how much it covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from overtone.analysis.aim import check_reported
from overtone.analysis.hypervolume import hypervolume
from overtone.analysis.pareto import pareto_front
from overtone.analysis.recorded_trial import RecordedTrial
from overtone.core.goal import Goal
from overtone.errors import GoalError


def front(trials: Sequence[RecordedTrial], goal: Goal) -> list[RecordedTrial]:
    """Return the trials whose last results no other dominates, in their order."""
    known, scores = _scored(trials, goal)
    return [known[i] for i in pareto_front(scores)]


def volume(trials: Sequence[RecordedTrial], goal: Goal, reference: Sequence[float] | None) -> float:
    """Return the volume between the trials' front and `reference`, which is in the metrics' own sense.

    Raises:
        GoalError: `reference` has another number of values.
    """
    if reference is not None and len(reference) != len(goal.metrics):
        raise GoalError(
            f"reference={reference!r} must have {len(goal.metrics)} values, one for each of {goal.metrics}"
        )
    _, scores = _scored(trials, goal)
    if reference is None:
        corner = [min(column) for column in zip(*scores, strict=True)]
    else:
        signs = [1.0 if one == "max" else -1.0 for one in goal.modes]
        corner = [sign * value for sign, value in zip(signs, reference, strict=True)]
    return hypervolume(scores, corner) if scores else 0.0


def _scored(
    trials: Iterable[RecordedTrial], goal: Goal
) -> tuple[list[RecordedTrial], list[tuple[float, ...]]]:
    """Return the trials whose last results have finite objectives and keep all constraints; their scores."""
    pairs = [(one, goal.result(one.last_result)) for one in trials if one.num_results]
    for name in goal.metrics if not any(result.is_ruled for _, result in pairs) else ():
        check_reported(name, (result for one, _ in pairs for result in one.results()))
    kept = [
        (one, result.scores)
        for one, result in pairs
        if result.is_ruled
        and all(map(math.isfinite, result.scores))
        and max(result.violations, default=0.0) <= 0
    ]
    return [one for one, _ in kept], [scores for _, scores in kept]
