"""The resource demand of trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overtone.core.resources import Resources
from overtone.core.types import Config

DEFAULT_DEMAND = Resources.of({"cpu": 1})


def resources_for(asked: Any, trainable: Any) -> tuple[Resources | None, Callable[[Config], Resources]]:
    """Return the demand of all trials, if it is constant, and a function that returns a config's demand."""
    request = getattr(trainable, "default_resource_request", None)
    if asked is None and request is not None:
        asked = request
    if asked is None:
        return DEFAULT_DEMAND, lambda _: DEFAULT_DEMAND
    if not callable(asked) or isinstance(asked, Resources):
        fixed = _demand(asked)
        return fixed, lambda _: fixed

    def by_config(config: Config) -> Resources:
        return _demand(asked(config))

    return None, by_config


def _demand(asked: Any) -> Resources:
    return asked if isinstance(asked, Resources) else DEFAULT_DEMAND if asked is None else Resources.of(asked)
