"""Kept for imports of `tune.trainable`: the class API, and functions that bind values to a trainable."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from overtone.errors import TrainableError
from overtone.worker.trainables.trainable import Trainable
from overtone.worker.trainables.with_parameters import with_parameters, with_resources

T = TypeVar("T")

DurableTrainable = Trainable
"""The old name of a trainable with durable checkpoints; all checkpoints are durable."""

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = [
    "DurableTrainable", "FunctionTrainable", "Trainable", "durable", "function", "with_parameters",
    "with_resources", "wrap_function",
]  # fmt: skip


def durable(trainable: T) -> T:
    """Return `trainable` unchanged: every checkpoint is durable."""
    return trainable


def function(value: T) -> T:
    """Return `value` unchanged; earlier API versions marked functions in a space as plain values."""
    return value


class FunctionTrainable(Trainable):
    """Base class of the classes that `wrap_function` returns."""

    def step(self) -> Any:
        """Refuse a single step.

        Raises:
            TrainableError: Always.
        """
        raise TrainableError(
            f"{type(self).__name__}.train(): a wrapped function has no single steps. Give the class to "
            "tune.run, or define a class with step()"
        )


def wrap_function(train_func: Callable[..., Any], name: str | None = None) -> type[FunctionTrainable]:
    """Return a class that stands for a function wherever a trainable is given.

    A search runs the function itself. To step through it, define a class with `step` instead.

    Args:
        train_func: The function.
        name: The trainable's name; the function's by default.
    """
    run = train_func
    if name is not None:

        @functools.wraps(train_func)
        def run(*args: Any, **kwargs: Any) -> Any:
            return train_func(*args, **kwargs)

        run.__name__ = name

    class Wrapped(FunctionTrainable):
        wrapped_function = staticmethod(run)

    Wrapped.__name__ = Wrapped.__qualname__ = name or str(getattr(train_func, "__name__", "func"))
    Wrapped.__module__ = train_func.__module__
    return Wrapped
