"""`reward_attr`: the metric that a scheduler maximises, in the first versions of the API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")


def with_reward_attr(scheduler: Callable[P, S]) -> Callable[..., S]:
    """Wrap `scheduler` to accept `reward_attr`; "neg_mean_loss" minimises "mean_loss"."""

    @wraps(scheduler, updated=())
    def made(*args: P.args, **kwargs: P.kwargs) -> S:
        name = kwargs.pop("reward_attr", None)
        if name is not None:
            kwargs["metric"] = str(name).removeprefix("neg_")
            kwargs["mode"] = "min" if str(name).startswith("neg_") else "max"
        return scheduler(*args, **kwargs)

    return made
