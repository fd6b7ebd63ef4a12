"""A function that stops trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.errors import ArgumentError
from overtone.stoppers.stopper import Stopper


class FunctionStopper(Stopper):
    """Ends a trial when `function(trial_id, result)` says so.

    Raises:
        ValueError: `function` is not a function of (trial_id, result).
    """

    def __init__(self, function: Callable[[str, Mapping[str, Any]], Any]) -> None:
        if not self.is_valid_function(function) or not _takes_two(function):
            raise ArgumentError(
                f"stop={function!r} must be a function of (trial_id, result) that returns a bool"
            )
        self.function = function

    @classmethod
    def is_valid_function(cls, function: Any) -> bool:
        """Return whether `function` is a function, and not a stopper or a class."""
        return callable(function) and not isinstance(function, type) and not hasattr(function, "stop_all")

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        answer: bool = self.function(trial_id, result)
        return answer

    def __repr__(self) -> str:
        return f"FunctionStopper({getattr(self.function, '__qualname__', type(self.function).__name__)})"


def _takes_two(function: Callable[..., Any]) -> bool:
    from inspect import signature

    try:
        signature(function).bind("", {})
    except TypeError:
        return False
    except ValueError:  # written in C: nothing is known of it
        pass
    return True
