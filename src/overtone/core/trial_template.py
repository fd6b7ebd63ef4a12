"""Template that makes trials from configs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Config


def equal(_: Config) -> float:
    """Return 0, the default priority of all configs."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Template:
    """Makes trials from configs.

    Attributes:
        resources: Returns a config's demand.
        tag: Returns the experiment_tag of (index, config).
        priority: Returns a config's priority; a higher priority starts first.
        name: Returns a trial's name; None for its trainable's name and its id.
    """

    resources: Callable[[Config], Resources] = lambda _: Resources.of({"cpu": 1})
    tag: Callable[[int, Config], str] = lambda index, _: str(index)
    priority: Callable[[Config], float] = equal
    name: Callable[[Trial], str] | None = None
