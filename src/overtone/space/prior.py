"""Priors for values that the user expects to be good, which are drawn more often (Ramachandran et al. 2020,
"Incorporating Expert Prior in Bayesian Optimisation via Space Warping").

A domain's axis is stretched where its values are expected to be good. A searcher that draws evenly
on the axis, or measures distances on it, therefore searches this region first and more closely. One
draw in five ignores the prior, so that a wrong prior delays a search but does not prevent its success.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, real, unit
from overtone.space.interval import Interval
from overtone.space.samplers import Sampler

if TYPE_CHECKING:
    from statistics import NormalDist

_DOUBT = 0.2
_STEPS = 60


class NormalPrior(Domain):
    """A domain of which the values around one are expected to be good.

    Attributes:
        domain: What may be drawn.
        mean: The value that is expected to be best.
        sd: How far from it good values are expected, in the domain's own units; for a
            logarithmic domain in powers of ten. An eighth of the axis by default.

    Raises:
        SpaceError: `domain` is not an interval, `mean` lies outside of it, or `sd` is not above 0.
    """

    name = "normal_prior"

    def __init__(self, domain: Any, mean: Any, sd: Any = None) -> None:
        call = f"normal_prior({domain!r}, {mean!r}{'' if sd is None else f', {sd!r}'})"
        if not isinstance(domain, Interval):
            raise SpaceError(f"{call}: {domain!r} must be an interval, such as tune.loguniform(1e-4, 1e-1)")
        self.domain: Interval = domain
        self.mean = real(call, "mean", mean)
        if not domain.lower <= self.mean <= domain.upper:
            raise SpaceError(f"{call}: mean={mean!r} lies outside of {domain!r}")
        self.sd = None if sd is None else real(call, "sd", sd)
        if self.sd is not None and self.sd <= 0:
            raise SpaceError(f"{call}: sd={sd!r} must be above 0")
        self._normal: NormalDist | None = None

    def arguments(self) -> dict[str, Any]:
        return {"domain": self.domain, "mean": self.mean} | ({} if self.sd is None else {"sd": self.sd})

    @property
    def size(self) -> float:
        return self.domain.size

    def values(self) -> Iterator[Any]:
        return self.domain.values()

    def get_sampler(self) -> Sampler:
        return self.domain.get_sampler()

    @property
    def domain_str(self) -> str:
        return self.domain.domain_str

    def contains(self, value: Any) -> bool:
        return self.domain.contains(value)

    def cast(self, value: Any) -> Any:
        return self.domain.cast(value)

    def cdf(self, value: Any) -> float:
        return self._warped(self.domain.cdf(value))

    def quantile(self, u: float) -> Any:
        u, low, high = unit(u), 0.0, 1.0
        for _ in range(_STEPS):  # the warp grows, and has no inverse in closed form
            middle = (low + high) / 2
            low, high = (middle, high) if self._warped(middle) < u else (low, middle)
        return self.domain.quantile(low if u < 0.5 else high)

    def density(self, u: float) -> float:
        """Return the likelihood of a draw at `u` (0 to 1, on the domain's axis) relative to no prior."""
        normal = self._distribution()
        return _DOUBT + (1 - _DOUBT) * normal.pdf(u) / (normal.cdf(1.0) - normal.cdf(0.0))

    def _warped(self, u: float) -> float:
        """Return the share of draws at or below `u` on the domain's unstretched axis."""
        normal = self._distribution()
        bottom, top = normal.cdf(0.0), normal.cdf(1.0)
        return unit(_DOUBT * u + (1 - _DOUBT) * (normal.cdf(u) - bottom) / (top - bottom))

    def _distribution(self) -> NormalDist:
        if self._normal is None:
            from math import log
            from statistics import NormalDist  # slow to import, and rarely needed

            domain = self.domain
            width = log(domain.upper / domain.lower, 10) if domain.log else domain.upper - domain.lower
            self._normal = NormalDist(domain.cdf(self.mean), 0.125 if self.sd is None else self.sd / width)
        return self._normal

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_normal": None}
