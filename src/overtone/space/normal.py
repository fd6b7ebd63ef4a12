"""Numbers with a normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, global_rng, is_number, real, unit
from overtone.space.steps import decimals, is_multiple, multiple

if TYPE_CHECKING:
    from random import Random
    from statistics import NormalDist

_TAIL = 2.0**-53
"""The nearest to 0 and 1 that a quantile is taken at: about 8.2 standard deviations out."""


class Normal(Domain):
    """Numbers around `mean` with the standard deviation `sd`, rounded to multiples of `q`.

    Attributes:
        q: The quantum, or None.
    """

    def __init__(self, name: str, mean: Any, sd: Any, q: Any) -> None:
        self.name = name
        call = f"{name}({mean!r}, {sd!r}{'' if q is None else f', {q!r}'})"
        self.mean, self.sd = real(call, "mean", mean), real(call, "sd", sd)
        self.q = None if q is None else real(call, "q", q)
        if self.sd <= 0:
            raise SpaceError(f"{call}: sd={sd!r} must be above 0")
        if self.q is not None and self.q <= 0:
            raise SpaceError(f"{call}: q={q!r} must be above 0")

    def arguments(self) -> dict[str, Any]:
        return {"mean": self.mean, "sd": self.sd} | ({} if self.q is None else {"q": self.q})

    def sample(self, rng: Random | None = None) -> float:
        return self.cast((rng or global_rng()).gauss(self.mean, self.sd))

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
