"""Samplers of domains, as objects: for code that converts domains to those of another library."""

from __future__ import annotations

from typing import Any


class Sampler:
    """Draws values of a domain."""

    def sample(self, domain: Any, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        """Return values of `domain`, drawn in this way; the arguments are those of `Domain.sample`."""
        return domain.with_sampler(self).sample(config, size, random_state)

    def __repr__(self) -> str:
        return type(self).__name__


class BaseSampler(Sampler):
    """The only way in which values of a domain can be drawn."""


class Uniform(Sampler):
    """Each value is as likely as any other."""


class LogUniform(Sampler):
    """The logarithm is uniform; the base has no effect."""

    def __init__(self, base: Any = None) -> None:
        self.base = base


class Grid(Sampler):
    """Each value is tried."""


class Quantized(Sampler):
    """The values of another sampler, as multiples of `q`."""

    def __init__(self, sampler: Sampler, q: float) -> None:
        self.sampler, self.q = sampler, q

    def get_sampler(self) -> Sampler:
        """Return the other sampler."""
        return self.sampler
