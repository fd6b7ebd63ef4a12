"""Numbers with a normal distribution."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, is_number, real, unit
from overtone.space.samplers import Quantized, Sampler
from overtone.space.steps import decimals, is_multiple, multiple

if TYPE_CHECKING:
    from random import Random
    from statistics import NormalDist

_TAIL = 2.0**-53
"""The nearest to 0 and 1 that a quantile is taken at: about 8.2 standard deviations out."""


class Unbounded:
    """Real numbers without bounds, which have no distribution yet: `Float(None, None).normal(mean, sd)`."""

    lower, upper = -inf, inf

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> Normal:
        """Return normally distributed numbers."""
        return Normal(mean, sd)

    def uniform(self, *_: Any) -> Any:
        """Refuse: numbers without bounds are not uniform.

        Raises:
            SpaceError: Always.
        """
        raise SpaceError(f"{self!r} has no bounds: give both, as in Float(0, 1), or call .normal(mean, sd)")

    loguniform = sample = uniform

    def __repr__(self) -> str:
        return "Float(None, None)"


class Normal(Domain, Sampler):  # type: ignore[misc]
    """Numbers around `mean` with the standard deviation `sd`, rounded to multiples of `q`.

    Attributes:
        q: The quantum, or None.
        lower, upper: Minus and plus infinity: there are no bounds.

    Raises:
        SpaceError: `sd` or `q` is not above 0.
    """

    lower, upper = -inf, inf

    def __init__(self, mean: Any = 0.0, sd: Any = 1.0, q: Any = None) -> None:
        self.name = "randn" if q is None else "qrandn"
        call = f"{self.name}({mean!r}, {sd!r}{'' if q is None else f', {q!r}'})"
        self.mean, self.sd = real(call, "mean", mean), real(call, "sd", sd)
        self.q = None if q is None else real(call, "q", q)
        if self.sd <= 0:
            raise SpaceError(f"{call}: sd={sd!r} must be above 0")
        if self.q is not None and self.q <= 0:
            raise SpaceError(f"{call}: q={q!r} must be above 0")

    def arguments(self) -> dict[str, Any]:
        return {"mean": self.mean, "sd": self.sd} | ({} if self.q is None else {"q": self.q})

    def quantized(self, q: float) -> Normal:
        """Return the same numbers, rounded to multiples of `q`."""
        return Normal(self.mean, self.sd, q)

    def get_sampler(self) -> Sampler:
        return self if self.q is None else Quantized(Normal(self.mean, self.sd), self.q)

    def with_sampler(self, sampler: Sampler) -> Normal:
        q = sampler.q if isinstance(sampler, Quantized) else None
        drawn = sampler.sampler if isinstance(sampler, Quantized) else sampler
        if not isinstance(drawn, Normal):
            raise SpaceError(f"{self!r} has no sampler {sampler}: give Normal(mean, sd)")
        return Normal(drawn.mean, drawn.sd, q)

    def draw(self, rng: Random) -> float:
        return self.cast(rng.gauss(self.mean, self.sd))

    @property
    def fits_array(self) -> bool:  # type: ignore[override]
        return self.q is None

    @property
    def domain_str(self) -> str:
        return f"({self.lower}, {self.upper})"

    def quantile(self, u: float) -> float:
        return self.cast(self._distribution().inv_cdf(min(max(unit(u), _TAIL), 1 - _TAIL)))

    def cdf(self, value: Any) -> float:
        distribution = self._distribution()
        if self.q is None:
            return distribution.cdf(value)
        return (distribution.cdf(value - self.q / 2) + distribution.cdf(value + self.q / 2)) / 2

    def contains(self, value: Any) -> bool:
        return is_number(value) and (self.q is None or is_multiple(value, self.q))

    def cast(self, value: Any) -> float:
        return float(value) if self.q is None else multiple(round(value / self.q), self.q, decimals(self.q))

    def _distribution(self) -> NormalDist:
        from statistics import NormalDist  # slow to import, and rarely needed

        return NormalDist(self.mean, self.sd)
