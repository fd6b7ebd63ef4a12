"""The metric by which an analysis ranks trials, and its direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from overtone.analysis.frames import flatten
from overtone.core.goal import OWN_FIELDS, Goal, is_number
from overtone.errors import GoalError

_MOST_LISTED = 20


def chosen(
    metric: str | None,
    mode: str | None,
    default: tuple[str | None, str | None],
    results: Iterable[Mapping[str, Any]],
) -> tuple[str, str]:
    """Return the metric and mode to rank by.

    Args:
        metric, mode: What the caller asks for.
        default: The metric and mode of the experiment.
        results: Looked at only where nobody named a metric.

    Raises:
        GoalError: It cannot be told.
    """
    usual_metric, usual_mode = default
    if metric is None and usual_metric is None:
        names = dict.fromkeys(
            name
            for result in results
            for name, value in result.items()
            if name not in OWN_FIELDS and is_number(value)
        )
        goal = Goal(mode=mode or usual_mode, is_needed=True)
        goal.infer(dict.fromkeys(names, 0.0))
        assert goal.metric is not None  # infer raises rather than leave it open
        assert goal.mode is not None
        return goal.metric, goal.mode
    name = metric or usual_metric
    assert name is not None
    if mode is None and usual_mode is not None and usual_metric in (None, name):
        mode = usual_mode
    if mode is not None:
        return name, Goal(name, mode).mode or mode
    try:
        goal = Goal(is_needed=True)
        goal.infer({name: 0.0})
    except GoalError:
        raise GoalError(
            f'whether {name!r} should grow or fall is not known: pass mode="max" or mode="min"'
        ) from None
    return name, goal.mode or "max"


def check_reported(metric: str, results: Iterable[Mapping[str, Any]]) -> None:
    """Raise where no result has the metric as a number, though there are results.

    Raises:
        GoalError: Its message lists the metrics that there are, and names the nearest.
    """
    names: dict[str, bool] = {}
    for result in results:
        for name, value in flatten({**result, "config": None}).items():
            names[name] = names.get(name, False) or is_number(value)
    if not names or names.get(metric):
        return
    numbers = sorted(
        (name for name, is_one in names.items() if is_one), key=lambda name: (name in OWN_FIELDS, name)
    )
    listed = ", ".join(map(repr, numbers[:_MOST_LISTED])) or "no number at all"
    if len(numbers) > _MOST_LISTED:
        listed += f" and {len(numbers) - _MOST_LISTED} more"
    if metric in names:
        raise GoalError(f"metric {metric!r} was reported, but never as a number; there are {listed}")
    near = get_close_matches(metric, numbers, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise GoalError(f"no trial reported metric {metric!r}; there are {listed}{hint}")
