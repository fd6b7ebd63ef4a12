"""Translation of `stop=` into the controller's stoppers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overtone.core.protocols import Stopper as NativeStopper
from overtone.errors import ArgumentError
from overtone.stoppers.adapter import Adapter, known_form
from overtone.stoppers.combined import CombinedStopper
from overtone.stoppers.criteria import Criteria
from overtone.stoppers.function import FunctionStopper


def stop(spec: Any, goal_metric: str | None = None, goal_mode: str | None = None) -> list[NativeStopper]:
    """Return the stoppers for `spec`, each of which may end a trial.

    Args:
        spec: A dict of bounds, a function of (trial_id, result), a `Stopper`, a list of these, or None.
        goal_metric, goal_mode: The goal, if known.

    Raises:
        ValueError: `spec` is something else, or a bound is not a number.
    """
    if spec is None:
        return []
    if isinstance(spec, Mapping):
        return [Criteria(spec, goal_metric, goal_mode)] if spec else []
    if isinstance(spec, NativeStopper):
        return [spec]
    # one by one, so that the reason names the one that it was
    several = spec.stoppers if type(spec) is CombinedStopper else spec
    if isinstance(several, (list, tuple)):
        return [stopper for each in several for stopper in stop(each, goal_metric, goal_mode)]
    if not callable(spec) or isinstance(spec, type):
        hint = f"; make one: {spec.__name__}(...)" if isinstance(spec, type) else ""
        raise ArgumentError(
            f"stop={spec!r} is neither a dict of bounds, such as {{'training_iteration': 100}}, "
            f"nor a function of (trial_id, result), nor a Stopper, nor a list of these{hint}"
        )
    return [Adapter(FunctionStopper(spec) if FunctionStopper.is_valid_function(spec) else known_form(spec))]


def time_budget_s(stoppers: Iterable[NativeStopper]) -> float | None:
    """Return the shortest `timeout_s` among `stoppers`."""
    return min((one.timeout_s for one in stoppers if one.timeout_s is not None), default=None)
