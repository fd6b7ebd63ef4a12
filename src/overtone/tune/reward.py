"""`reward_attr`: the metric that a scheduler maximises, in the first versions of the API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")


def with_reward_attr(scheduler: Callable[P, S]) -> Callable[..., S]:
    """Wrap `scheduler` to accept `reward_attr`; "neg_mean_loss" minimises "mean_loss"."""

    @wraps(scheduler, updated=())
    def made(*args: P.args, **kwargs: P.kwargs) -> S:
        kwargs.update(goal_of(kwargs.pop("reward_attr", None)))
        return scheduler(*args, **kwargs)

    return made


def goal_of(reward_attr: Any) -> dict[str, str]:
    """Return the arguments `metric` and `mode` that replace `reward_attr`; none for None."""
    if reward_attr is None:
        return {}
    mode = "min" if str(reward_attr).startswith("neg_") else "max"
    return {"metric": str(reward_attr).removeprefix("neg_"), "mode": mode}
