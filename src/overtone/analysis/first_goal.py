"""Columns that are ranked by another metric than the experiment's first objective."""

from __future__ import annotations

from dataclasses import replace

from overtone.reading.columns.trial_columns import TrialColumns


def with_goal(columns: TrialColumns, metric: str, mode: str) -> TrialColumns:
    """Return columns whose first objective is `metric`; it is the only one if the experiment has others."""
    if (metric, mode) in columns.goals[:1]:
        return columns
    others = columns.goals if (metric, mode) in columns.goals else ()
    return replace(columns, goals=((metric, mode), *(goal for goal in others if goal[0] != metric)))
