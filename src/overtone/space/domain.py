"""The interface of all kinds of hyperparameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError

if TYPE_CHECKING:
    from random import Random


class Domain(ABC):
    """The values that one hyperparameter may take, and how likely each is.

    A domain maps to and from the unit interval: `quantile` turns a number in [0, 1] into a
    value, `cdf` turns a value into such a number (for values that come in steps, the middle of
    the step's share), so that `quantile(cdf(value)) == value`.
    """

    name: str
    """The function of the `tune` module that makes it."""

    categories: list[Any] | None = None
    """The options of a choice, which may contain domains; None for any other domain."""

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the call that makes an equal domain, in order."""

    @abstractmethod
    def quantile(self, u: float) -> Any:
        """Return the value at `u` in [0, 1]; numbers outside are taken to the nearer end."""

    @abstractmethod
    def cdf(self, value: Any) -> float:
        """Return the number in [0, 1] that `quantile` turns into `value`."""

    @abstractmethod
    def contains(self, value: Any) -> bool:
        """Return whether `value` may be drawn."""

    @property
    def size(self) -> float:
        """The number of values; inf if they cannot be counted."""
        return math.inf

    def values(self) -> Iterator[Any]:
        """Return every value, the smallest first.

        Raises:
            SpaceError: They cannot be counted.
        """
        raise SpaceError(f"{self!r} has more values than can be listed")

    def sample(self, rng: Random | None = None) -> Any:
        """Return a value drawn with `rng`; without one (to look by hand), with Python's global generator."""
        return self.quantile((rng or global_rng()).random())

    def is_valid(self, value: Any) -> bool:
        """Return whether `value` may be drawn."""
        return self.contains(value)

    def cast(self, value: Any) -> Any:
        """`value`, which the domain contains, in the type and rounding that drawn values have."""
        return value

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(repr(value) for value in self.arguments().values())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        return self.name == other.name and self.arguments() == other.arguments()

    def __hash__(self) -> int:
        return hash((self.name, repr(self)))


def global_rng() -> Random:
    """Python's global generator, behind the interface of `random.Random`."""
    import random

    rng: Any = random
    generator: Random = rng
    return generator


def unit(u: float) -> float:
    """`u` as a number in [0, 1].

    Raises:
        SpaceError: It is NaN.
    """
    if type(u) is float and 0.0 <= u <= 1.0:
        return u
    number = float(u)
    if math.isnan(number):
        raise SpaceError("a coordinate of the unit cube is nan; it must be a number from 0 to 1")
    return min(max(number, 0.0), 1.0)


def is_number(value: object) -> bool:
    """Return whether `value` is a real, finite number (a bool is not)."""
    is_bool = type(value).__name__ in ("bool", "bool_")  # numpy's, too
    if is_bool or isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        return False
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def real(call: str, name: str, value: Any) -> float | int:
    """Return `value` as an int or float.

    Raises:
        SpaceError: It is not a finite number.
    """
    if not is_number(value):
        raise SpaceError(f"{call}: {name}={value!r} must be a finite number")
    return int(value) if hasattr(value, "__index__") else float(value)


def whole(call: str, name: str, value: Any) -> int:
    """Return `value` as an int.

    Raises:
        SpaceError: It is not a whole number.
    """
    number = real(call, name, value)
    if number != int(number):
        raise SpaceError(f"{call}: {name}={value!r} must be a whole number, such as {round(number)}")
    return int(number)


def listed(call: str, values: Any) -> list[Any]:
    """Return the values of a choice or a grid, as a list.

    Raises:
        SpaceError: They are text, not several, or none.
    """
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise SpaceError(f"{call}({values!r}): a list of values is needed, such as {call}([{values!r}])")
    several = list(values)
    if not several:
        raise SpaceError(f"{call}({values!r}) is empty: it needs at least one value")
    return several
