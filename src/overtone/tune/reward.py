"""`reward_attr`, as the first versions of the API named what a scheduler maximises."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")


def with_reward_attr(scheduler: Callable[P, S]) -> Callable[..., S]:
    """A maker of `scheduler` that also takes `reward_attr`; "neg_mean_loss" is the lowest "mean_loss"."""

    @wraps(scheduler, updated=())
    def made(*args: P.args, **kwargs: P.kwargs) -> S:
        name = kwargs.pop("reward_attr", None)
        if name is not None:
            kwargs["metric"] = str(name).removeprefix("neg_")
            kwargs["mode"] = "min" if str(name).startswith("neg_") else "max"
        return scheduler(*args, **kwargs)

    return made
