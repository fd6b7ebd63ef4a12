"""The source of a simulated trial's results: a curve, or an ordinary trainable that runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any

from overtone.core.job import Job
from overtone.core.types import Config
from overtone.errors import TrainableError
from overtone.worker.trainables.class_trial import is_steppable
from overtone.worker.trainables.function_trial import FORMS
from overtone.worker.trainables.with_parameters import as_bound, resolve

Curve = Callable[[int], Any]
"""Function of the iteration `t`: returns metrics or (metrics, seconds) of one config; None at the end."""

_OF_SESSIONS = ("reporter", "checkpoint_dir", "tune")


def curve_of(job: Job) -> Callable[[Config], Curve] | None:
    """Return a function from a config to its curve; None if the job has an ordinary trainable.

    Raises:
        TrainableError: The trainable is neither a curve nor an ordinary trainable.
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
    if _yields(trainable):
        raise TrainableError(
            f"{trainable!r:.200} has the arguments of a curve, and yields: a curve returns the metrics of "
            "iteration t, and None at the end; a generator that yields results has the argument config alone"
        )
    if parameters:
        trainable = functools.partial(trainable, **parameters)
    return lambda config: functools.partial(trainable, config)


def _yields(function: Any) -> bool:
    import inspect

    return inspect.isgeneratorfunction(function)


def _is_curve(function: Any, parameters: Any) -> bool:
    """Return whether the function is called as `curve(config, t)`: its second argument is not a session's."""
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


def wrong_point(point: Any, t: int) -> ValueError | None:
    """Return the error in a curve's return value for iteration `t`; None if the value is valid."""
    if type(point) is not tuple:
        return None
    if len(point) == 2 and isinstance(point[1], (int, float)):
        if 0 <= point[1] < inf:
            return None
        return ValueError(f"the curve says that iteration {t} takes {point[1]} s")
    return ValueError(
        f"for iteration {t} the curve returned {point!r:.200}: return metrics, or (metrics, seconds) with "
        "seconds a number, or None at the end"
    )


def _neither(trainable: Any) -> str:
    return (
        f"{trainable!r:.200} cannot be simulated: give a curve,\n    def curve(config, t): ...  # returns "
        "metrics, or metrics and seconds; None at the end\na table of curves, or an ordinary "
        f"trainable:\n{FORMS}"
    )
