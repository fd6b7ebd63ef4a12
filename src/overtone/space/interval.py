"""Numbers between two bounds: real or whole, linear or logarithmic, in steps or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from overtone.errors import SpaceError
from overtone.space.domain import Domain, is_number, real, unit, whole
from overtone.space.normal import Unbounded
from overtone.space.samplers import LogUniform, Quantized, Sampler, Uniform
from overtone.space.steps import check_quantum, decimals, inner, is_multiple, multiple

if TYPE_CHECKING:
    from random import Random

Kind = TypeVar("Kind", bound="Interval")


class Interval(Domain):
    """Numbers from `lower` to `upper`: `Float(1e-4, 1e-1).loguniform()`.

    Linear steps are equally likely. A logarithmic step is as likely as the part of the
    logarithmic scale that rounds to it; `lograndint`, which has no quantum, rounds down.

    Attributes:
        lower, upper: The bounds. `upper` is included, except for whole numbers without a quantum.
        log: Whether the logarithm is uniform.
        q: The quantum: values are multiples of it; None for no quantum.
        base: The base of the logarithm, as given; the distribution does not depend on it.
    """

    linear: str
    """The function of the `tune` module that makes it without a logarithm or a quantum."""

    def __init__(self, lower: Any, upper: Any, log: bool = False, q: Any = None, base: Any = 10) -> None:
        self.name = f"{'' if q is None else 'q'}{'log' if log else ''}{self.linear}"
        call = f"{self.name}({lower!r}, {upper!r}{'' if q is None else f', {q!r}'})"
        number = whole if isinstance(self, Integer) else real
        self.lower, self.upper = number(call, "lower", lower), number(call, "upper", upper)
        self.log = log
        self.q = None if q is None else number(call, "q", q)
        self.base = real(call, "base", base)
        self._check(call)
        self._digits = 0 if self.q is None else decimals(self.q)
        self._step: float | None = self.q
        self._reach = (0.0, 0.0)
        self._low, self._high = map(math.log if log else float, (self.lower, self.upper))
        self._first, self._count = 0, 0
        if isinstance(self, Integer) and self.q is None:
            self._step, self._first, self._count = 1, int(self.lower), int(self.upper - self.lower)
            self._reach = (0.0, 1.0)
        elif self.q is not None:
            self._first, last = inner(self.lower, self.upper, self.q)
            self._count = last - self._first + 1
            self._reach = (self.q / 2, self.q / 2)

    def _check(self, call: str) -> None:
        if not self.lower < self.upper:
            raise SpaceError(f"{call}: lower={self.lower!r} must be below upper={self.upper!r}")
        if not is_number(self.upper - self.lower):
            raise SpaceError(f"{call}: from {self.lower!r} to {self.upper!r} is too wide for a float")
        if self.log and self.lower <= 0:
            raise SpaceError(
                f"{call}: lower={self.lower!r} has no logarithm; it must be above 0, such as 1e-6"
            )
        if self.base <= 0 or self.base == 1:
            raise SpaceError(f"{call}: base={self.base!r} must be above 0 and not 1, such as 10")
        if self.q is not None:
            check_quantum(call, self.lower, self.upper, self.q, must_divide=not isinstance(self, Integer))

    def arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {"lower": self.lower, "upper": self.upper}
        if self.q is not None:
            arguments["q"] = self.q
        if self.base != 10:
            arguments["base"] = self.base
        return arguments

    @property
    def size(self) -> float:
        return math.inf if self._step is None else self._count

    def values(self) -> Iterator[Any]:
        if self._step is None:
            return super().values()
        return (self._value(self._first + k) for k in range(self._count))

    def uniform(self: Kind) -> Kind:
        """Return the same values, equally likely.

        Raises:
            SpaceError: The domain is logarithmic.
        """
        if self.log:
            raise SpaceError(f"{self!r}.uniform(): it is logarithmic already; choose one of both")
        return self._with(log=False)

    def loguniform(self: Kind, base: float = 10) -> Kind:
        """Return the same values, uniform in their logarithm; the base has no effect.

        Raises:
            SpaceError: A bound has no logarithm.
        """
        return self._with(log=True, base=base)

    def quantized(self: Kind, q: float) -> Kind:
        """Return the multiples of `q` from `lower` to `upper`, both included.

        Raises:
            SpaceError: `q` is not above 0, wider than the range, or does not divide the bounds
                of real numbers.
        """
        return self._with(q=q)

    def get_sampler(self) -> Sampler:
        drawn = LogUniform() if self.log else Uniform()
        return drawn if self.q is None else Quantized(drawn, self.q)

    def with_sampler(self: Kind, sampler: Sampler) -> Kind:
        q = sampler.q if isinstance(sampler, Quantized) else None
        drawn = sampler.sampler if isinstance(sampler, Quantized) else sampler
        if not isinstance(drawn, (Uniform, LogUniform)):
            raise SpaceError(f"{self!r} has no sampler {sampler}: give Uniform() or LogUniform()")
        return self._with(log=isinstance(drawn, LogUniform), q=q)

    @property
    def fits_array(self) -> bool:  # type: ignore[override]
        return self.q is None

    @property
    def domain_str(self) -> str:
        return f"({self.lower}, {self.upper})"

    def _with(self: Kind, **changed: Any) -> Kind:
        settings = {"log": self.log, "q": self.q, "base": self.base, **changed}
        made = type(self)(self.lower, self.upper, **settings)
        made.is_chosen = True
        return made

    def draw(self, rng: Random) -> Any:
        if self._step is not None and not self.log:
            # exact where a float's 53 bits could not reach every whole number
            return self._value(self._first + rng.randrange(self._count))
        return super().draw(rng)

    def quantile(self, u: float) -> Any:
        u = unit(u)
        if self._step is not None and not self.log:
            return self._value(self._first + min(int(u * self._count), self._count - 1))
        value = self._low * (1 - u) + self._high * u
        if self.log:
            value = math.exp(value)
        if self._step is None:
            if u == 0.0 or u == 1.0:
                return float(self.upper if u else self.lower)  # exact where exp is not
            return float(self.lower if value < self.lower else self.upper if value > self.upper else value)
        k = math.floor((value + self._reach[0]) / self._step) - self._first
        return self._value(self._first + min(max(k, 0), self._count - 1))

    def cdf(self, value: Any) -> float:
        number = float(value)
        if self._step is not None and not self.log:
            return unit((self._nearest(value, self._step) - self._first + 0.5) / self._count)
        if self.log:
            bottom = min(max(number - self._reach[0], self.lower), self.upper)
            top = min(max(number + self._reach[1], self.lower), self.upper)
            number = (math.log(bottom) + math.log(top)) / 2
        return unit((number - self._low) / (self._high - self._low))

    def contains(self, value: Any) -> bool:
        if not is_number(value):
            return False
        if self._step is None:
            return bool(self.lower <= value <= self.upper)
        k = self._nearest(value, self._step)
        return self._is_step(value, self._step) and self._first <= k < self._first + self._count

    def cast(self, value: Any) -> Any:
        if isinstance(value, str):
            value = float(value)
        return float(value) if self._step is None else self._value(self._nearest(value, self._step))

    def _nearest(self, value: Any, step: float) -> int:
        """Return the number of steps of `value`, rounded."""
        return round(float(value) / step)

    def _is_step(self, value: Any, step: float) -> bool:
        return is_multiple(value, step)

    def _value(self, k: int) -> float | int:
        raise NotImplementedError


class Float(Interval):
    """Real numbers between two bounds; `Float(None, None)` is `Unbounded`."""

    linear = "uniform"

    def __new__(cls, lower: Any = 0.0, upper: Any = 1.0, *_: Any, **__: Any) -> Float:
        if lower is None and upper is None:
            return Unbounded()  # type: ignore[return-value]
        return super().__new__(cls)

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> Any:
        """Refuse: a normal distribution has no bounds.

        Raises:
            SpaceError: Always; the message names what there is.
        """
        raise SpaceError(
            f"{self!r} has bounds, and a normal distribution has none: write tune.randn({mean!r}, {sd!r}), "
            f"or tune.normal_prior({self!r}, {mean!r}, {sd!r}), which stays inside"
        )

    def _value(self, k: int) -> float:
        assert self._step is not None
        return multiple(k, self._step, self._digits)


class Integer(Interval):
    """Whole numbers between two bounds."""

    linear = "randint"

    def _nearest(self, value: Any, step: float) -> int:
        # exact where a float's 53 bits could not reach every whole number
        if hasattr(value, "__index__"):
            return (2 * int(value) + int(step)) // (2 * int(step))
        return super()._nearest(value, step)

    def _is_step(self, value: Any, step: float) -> bool:
        return int(value) % int(step) == 0 if hasattr(value, "__index__") else super()._is_step(value, step)

    def _value(self, k: int) -> int:
        assert self._step is not None
        return k * int(self._step)
