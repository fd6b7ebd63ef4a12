"""The goal of an experiment, from the header of its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.goal import Goal
from overtone.errors import GoalError

Named = str | Sequence[str] | None
"""A metric or a mode as users give it; of several, the first one ranks."""


def first(named: Named) -> str | None:
    """Return the metric that ranks: the first of several."""
    return named if named is None or isinstance(named, str) else next(iter(named), None)


def recorded_goal(header: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Metric and mode as the run was told, from its journal's header; None where it was not."""
    parts = header.get("parts")
    if not isinstance(parts, Mapping):
        return None, None
    return first(parts.get("metric")), first(parts.get("mode"))


def recorded_objectives(header: Mapping[str, Any]) -> Goal:
    """Return all recorded metrics, modes and constraints; a goal without metrics if none is recorded."""
    parts = header.get("parts")
    if not isinstance(parts, Mapping):
        return Goal()
    return Goal(parts.get("metric"), parts.get("mode"), constraints=parts.get("constraints") or ())


def inferred_goal(metrics: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the metric and mode that a run takes from its first result if nobody named them, else None."""
    goal = Goal()
    try:
        goal.infer(metrics)
    except GoalError:
        return None, None
    return goal.metric, goal.mode
