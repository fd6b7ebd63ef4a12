"""How a config becomes a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Config


def equal(_: Config) -> float:
    """The priority of all configs, where nobody named one."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Template:
    """How a config becomes a trial.

    Attributes:
        resources: A config's demand.
        tag: The experiment_tag of (index, config).
        priority: A config's priority; higher ones start first.
        name: What people call a trial; None for its trainable's name and its id.
    """

    resources: Callable[[Config], Resources] = lambda _: Resources.of({"cpu": 1})
    tag: Callable[[int, Config], str] = lambda index, _: str(index)
    priority: Callable[[Config], float] = equal
    name: Callable[[Trial], str] | None = None
