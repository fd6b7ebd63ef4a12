"""Values that are computed from others by the user's function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain
from overtone.space.spec import Spec

if TYPE_CHECKING:
    from random import Random


class Function(Domain):
    """A value that `func` computes from the rest of the configuration.

    Attributes:
        func: A function of one argument, which provides the other values as
            `spec.config.x`, `config["x"]` or `config.x`; or a function without arguments.
        pass_config: Whether it takes the other values.

    Raises:
        SpaceError: `func` is not callable.
    """

    name = "sample_from"

    def __init__(self, func: Callable[..., Any]) -> None:
        if not callable(func):
            raise SpaceError(
                f'sample_from({func!r}): a function is needed, such as lambda config: config["x"]'
            )
        self.func = func
        self.pass_config = _takes_config(func)

    def arguments(self) -> dict[str, Any]:
        return {"func": self.func}

    def draw(self, rng: Random) -> Any:
        """Return the function's value for an empty configuration."""
        return self.draw_beside({}, rng)

    def draw_beside(self, config: Any, rng: Random) -> Any:
        with seeded(rng):
            return self.value(Spec(config or {}, _seen, is_root=True))

    def value(self, others: Any) -> Any:
        """Return the function's value for the other values `others`."""
        return self.func(others) if self.pass_config else self.func()

    def is_function(self) -> bool:
        return True

    @property
    def domain_str(self) -> str:
        return f"{self.func}()"

    def quantile(self, u: float) -> Any:
        raise SpaceError(f"{self!r} is computed from other values and has no place in the unit cube")

    def cdf(self, value: Any) -> float:
        raise SpaceError(f"{self!r} is computed from other values and has no place in the unit cube")

    def contains(self, value: Any) -> bool:
        return True

    def __repr__(self) -> str:
        return f"sample_from({describe(self.func)})"


def _seen(value: Any) -> Any:
    return Spec(value, _seen) if type(value) is dict else value


def _takes_config(func: Callable[..., Any]) -> bool:
    """Return whether `func` takes one argument, and not none.

    Raises:
        SpaceError: It needs more.
    """
    from inspect import signature

    try:
        parameters = signature(func)
    except (TypeError, ValueError):
        return True  # written in C: nothing is known of it
    for arguments in (("config",), ()):
        try:
            parameters.bind(*arguments)
            return bool(arguments)
        except TypeError:
            continue
    raise SpaceError(
        f"sample_from({describe(func)}): the function needs {parameters}; it may have one argument, the "
        'other values, as in lambda config: config["x"]'
    )


def describe(func: Callable[..., Any]) -> str:
    """Return the name of a function."""
    return getattr(func, "__qualname__", None) or repr(func)


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
