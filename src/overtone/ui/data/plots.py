"""Figures by name, with options as a page's address has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.analysis.scenes.catalogue import ONE, SEVERAL, scene_of
from overtone.errors import ArgumentError
from overtone.lazy import nearest
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.ui.data.scene_message import scene_message

NAMES = (*SEVERAL, *ONE)
"""The names of all plots."""

_TEXTS = ("metric", "mode", "scope", "evaluator")
_VALUES = (
    "params", "goals", "reference_point", "max_curves", "n_recent_trials", "n_bootstrap", "quantile",
    "error_bar",
)  # fmt: skip
"""The options that a page may give, as texts and as JSON; each plot takes some of them."""


def plot_message(name: str, columns: Sequence[TrialColumns], options: Mapping[str, Any]) -> bytes:
    """Return a figure as a message.

    Args:
        options: Values, or their JSON texts, such as '["lr", "width"]'.

    Raises:
        ArgumentError: There is no such plot or option.
        GoalError: There is no such metric or mode.
    """
    if name not in NAMES:
        raise ArgumentError(f"plot {name!r}: must be one of {', '.join(NAMES)}{nearest(name, NAMES)}")
    given = checked_options(options)
    try:
        return scene_message(scene_of(name, columns, **given))
    except TypeError as error:
        raise ArgumentError(f"plot {name}: {error}") from None


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of plots as values.

    Raises:
        ArgumentError: One is unknown, or not JSON.
    """
    given = {key: _value(key, one) for key, one in options.items() if one not in (None, "")}
    if unknown := sorted(given.keys() - {*_TEXTS, *_VALUES}):
        raise ArgumentError(f"option {unknown[0]!r}: must be one of {', '.join((*_TEXTS, *_VALUES))}")
    return given


def _value(name: str, given: Any) -> Any:
    if not isinstance(given, str) or name in _TEXTS:
        return given
    try:
        return json.loads(given)
    except ValueError:
        if name == "params":
            return given.split(",")
        raise ArgumentError(
            f'option {name}={given!r}: must be JSON, such as ["lr", "width"] or 100'
        ) from None
