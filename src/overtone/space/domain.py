"""The interface of all kinds of hyperparameters."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.generators import generator
from overtone.space.samplers import BaseSampler, Grid, Sampler

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

    is_chosen = False
    """Whether its sampler was chosen by a method, after the domain was made."""

    fits_array = False
    """Whether several drawn values are given as an array."""

    def draw(self, rng: Random) -> Any:
        """Return a value drawn with `rng`."""
        return self.quantile(rng.random())

    def sample(self, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        """Return values to look at; a search draws its own by key.

        Args:
            config: The other values, for a function; or a list of `size` configs. A generator of
                Python's is taken as `random_state`.
            size: Number of values. 1 returns the value itself, any other number several: an array for
                real or whole numbers without a quantum if NumPy is imported, else a list.
            random_state: A seed, or a generator of Python's or NumPy's. None takes the global
                generator: NumPy's if NumPy is imported, else Python's.

        Raises:
            SpaceError: `random_state` is neither a seed nor a generator.
        """
        if hasattr(config, "getrandbits"):
            config, random_state = None, config
        rng = generator(random_state)
        values = [self.draw_beside(config[i] if type(config) is list else config, rng) for i in range(size)]
        if size == 1:
            return values[0]
        numpy: Any = sys.modules.get("numpy")
        return numpy.array(values) if self.fits_array and numpy is not None else values

    def draw_beside(self, config: Any, rng: Random) -> Any:
        """Return a value drawn with `rng`, where the other values are `config` or None."""
        return self.draw(rng)

    def get_sampler(self) -> Sampler:
        """Return how values are drawn, for code that converts domains to those of another library."""
        return BaseSampler()

    def set_sampler(self, sampler: Sampler, allow_override: bool = False) -> None:
        """Change how values are drawn.

        Args:
            sampler: One of `space.samplers`.
            allow_override: Whether a sampler that was chosen before, as by `Float(0, 1).uniform()`, may
                be replaced.

        Raises:
            SpaceError: A sampler was chosen before, or the domain cannot have this one.
        """
        if self.is_chosen and not allow_override:
            raise SpaceError(f"{self!r} has the sampler {self.sampler} already: give allow_override=True")
        vars(self).update(vars(self.with_sampler(sampler)), is_chosen=True)

    def with_sampler(self, sampler: Sampler) -> Domain:
        """Return the same values, drawn in another way.

        Raises:
            SpaceError: The domain has no such sampler.
        """
        raise SpaceError(f"{self!r} has no sampler {sampler}")

    @property
    def sampler(self) -> Sampler:
        """The result of `get_sampler()`."""
        return self.get_sampler()

    @property
    def domain_str(self) -> str:
        """The values in a few characters, such as "(0.1, 1)"."""
        return "(unknown)"

    def is_grid(self) -> bool:
        """Return whether all values are tried, and not some of them drawn."""
        return isinstance(self.get_sampler(), Grid)

    def is_function(self) -> bool:
        """Return whether a function computes the value."""
        return False

    def is_valid(self, value: Any) -> bool:
        """Return whether `value` may be drawn."""
        return self.contains(value)

    def cast(self, value: Any) -> Any:
        """Return `value`, which the domain contains, in the type and rounding that drawn values have."""
        return value

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(repr(value) for value in self.arguments().values())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        return self.name == other.name and self.arguments() == other.arguments()

    def __hash__(self) -> int:
        return hash((self.name, repr(self)))


def unit(u: float) -> float:
    """Return `u` as a number in [0, 1].

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
