"""What a simulated trial follows: a curve, which is computed, or an ordinary trainable, which runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from overtone.core.job import Job
from overtone.core.types import Config
from overtone.errors import TrainableError
from overtone.worker.bound import as_bound, resolve
from overtone.worker.class_trial import is_steppable
from overtone.worker.function_trial import FORMS

Curve = Callable[[int], Any]
"""The metrics, or (metrics, seconds), of one config after `t` iterations; None at the end."""

_OF_SESSIONS = ("reporter", "checkpoint_dir", "tune")


def curve_of(job: Job) -> Callable[[Config], Curve] | None:
    """From a config to its curve; None where the trainable is an ordinary one.

    Raises:
        TrainableError: It is neither.
    """
    bound = as_bound(job.trainable)
    trainable: Any = bound.trainable
    if hasattr(trainable, "curve_of"):
        found: Callable[[Config], Curve] = trainable.curve_of
        return found
    if isinstance(trainable, type):
        if is_steppable(trainable):
            return None
        raise TrainableError(_neither(trainable))
    if not callable(trainable):
        raise TrainableError(_neither(trainable))
    parameters = resolve({**bound.parameters, **job.parameters})
    if not _is_curve(trainable, parameters):
        return None
    if parameters:
        trainable = functools.partial(trainable, **parameters)
    return lambda config: functools.partial(trainable, config)


def _is_curve(function: Any, parameters: Any) -> bool:
    """Whether it is called as `curve(config, t)`: its second argument is none that sessions know."""
    import inspect

    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [
        one for one in given
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name not in parameters
    ]  # fmt: skip
    if len(places) < 2 or places[1].name in _OF_SESSIONS:
        return False
    return places[1].name == "t" or places[1].default is places[1].empty


def _neither(trainable: Any) -> str:
    return (
        f"{trainable!r:.200} cannot be simulated: give a curve,\n    def curve(config, t): ...  # returns "
        "metrics, or metrics and seconds; None at the end\na table of curves, or an ordinary "
        f"trainable:\n{FORMS}"
    )
