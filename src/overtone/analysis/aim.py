"""The metric by which an analysis ranks trials, and its direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from overtone.analysis.frames import flatten
from overtone.analysis.no_result import NoBestError
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

    The mode of the experiment is also that of other metrics, as in Ray Tune. A metric whose name tells
    another direction leads to a warning.

    Args:
        metric: The metric that the caller names, or None.
        mode: The mode that the caller names, or None.
        default: The metric and mode of the experiment.
        results: Results to infer the metric from. Read only if nobody named a metric.

    Raises:
        GoalError: The metric or its mode is unknown.
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
    if mode is not None:
        return name, Goal(name, mode).mode or mode
    known = _usual_mode(name)
    if usual_mode is None and known is None:
        raise GoalError(f'whether {name!r} should grow or fall is not known: pass mode="max" or mode="min"')
    if usual_mode is not None and known not in (None, usual_mode) and name != usual_metric:
        import warnings

        warnings.warn(
            f'{name!r} is ranked by the mode of the run, mode="{usual_mode}": pass mode="{known}" if it '
            f"should {'fall' if known == 'min' else 'grow'}",
            stacklevel=4,
        )
    return name, usual_mode or known or "max"


def _usual_mode(name: str) -> str | None:
    """Return the mode that the name of a metric tells, such as "min" for "val_loss"; else None."""
    goal = Goal(is_needed=True)
    try:
        goal.infer({name: 0.0})
    except GoalError:
        return None
    return goal.mode


def check_reported(metric: str, results: Iterable[Mapping[str, Any]]) -> None:
    """Raise where no result has the metric as a number, though there are results.

    Raises:
        NoBestError: Its message lists the metrics that there are, and names the nearest.
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
        raise NoBestError(f"metric {metric!r} was reported, but never as a number; there are {listed}")
    near = get_close_matches(metric, numbers, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise NoBestError(f"no trial reported metric {metric!r}; there are {listed}{hint}")
