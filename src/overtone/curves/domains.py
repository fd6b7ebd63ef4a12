"""The space that recorded hyperparameters span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LOGARITHMIC = 1000.0
"""Positive numbers that differ by this factor are taken in their logarithm."""


def inferred(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a domain for each hyperparameter, from its least to its largest value; others are choices."""
    return {name: _domain([one[name] for one in configs]) for name in configs[0]}


def _domain(values: list[Any]) -> Any:
    from overtone.space import choice, lograndint, loguniform, randint, uniform

    kinds = {type(one) for one in values}
    low_high = (min(values), max(values)) if kinds <= {int, float} else None
    if low_high is None or low_high[0] == low_high[1]:
        return choice(list(dict.fromkeys(values)))
    low, high = low_high
    is_log = low > 0 and high >= LOGARITHMIC * low
    if kinds == {int}:
        return lograndint(low, high + 1) if is_log else randint(low, high + 1)
    return loguniform(low, high) if is_log else uniform(low, high)
