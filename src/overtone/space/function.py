"""Values that are computed from others by the user's function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, global_rng

if TYPE_CHECKING:
    from random import Random


class Function(Domain):
    """A value that `func` computes from the rest of the configuration.

    Attributes:
        func: A function of one argument, which provides the other values as
            `spec.config.x`, `config["x"]` or `config.x`; or a function without arguments.
    """

    name = "sample_from"

    def __init__(self, func: Callable[..., Any]) -> None:
        if not callable(func):
            raise SpaceError(
                f'sample_from({func!r}): a function is needed, such as lambda config: config["x"]'
            )
        self.func = func

    def arguments(self) -> dict[str, Any]:
        return {"func": self.func}

    def sample(self, rng: Random | None = None) -> Any:
        """Return the function's value for an empty configuration."""
        with seeded(rng or global_rng()):
            return self.value({})

    def value(self, others: Any) -> Any:
        """Return the function's value for the other values `others`."""
        return self.func() if _takes_nothing(self.func) else self.func(others)

    def quantile(self, u: float) -> Any:
        raise SpaceError(f"{self!r} is computed from other values and has no place in the unit cube")

    def cdf(self, value: Any) -> float:
        raise SpaceError(f"{self!r} is computed from other values and has no place in the unit cube")

    def contains(self, value: Any) -> bool:
        return True

    def __repr__(self) -> str:
        return f"sample_from({getattr(self.func, '__qualname__', repr(self.func))})"


def _takes_nothing(func: Callable[..., Any]) -> bool:
    """Return whether `func` can only be called without an argument."""
    from inspect import signature

    try:
        parameters = signature(func).parameters
    except (TypeError, ValueError):
        return False  # written in C: nothing is known of it
    return all(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in parameters.values())


@contextmanager
def seeded(rng: Random) -> Iterator[None]:
    """While it lasts, the global generators of Python and numpy are seeded from `rng`.

    Functions in a space often draw from them; so the same seed gives the same values, and
    the user's own use of the generators is not disturbed.
    """
    import random

    seed = rng.getrandbits(32)
    state = random.getstate()
    numpy: Any = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    random.seed(seed)
    if numpy:
        numpy.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)
