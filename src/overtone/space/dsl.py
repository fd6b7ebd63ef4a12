"""The functions that users write search spaces with; names and order as in Ray Tune."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from overtone.space.categorical import Categorical
from overtone.space.domain import Domain, listed
from overtone.space.function import Function
from overtone.space.interval import Float, Integer
from overtone.space.normal import Normal
from overtone.space.prior import NormalPrior


def uniform(lower: float, upper: float) -> Float:
    """Return a domain of real numbers between the bounds."""
    return Float(lower, upper)


def quniform(lower: float, upper: float, q: float) -> Float:
    """Return a domain of multiples of `q` from `lower` to `upper`, both included and multiples of `q`."""
    return Float(lower, upper, q=q)


def loguniform(lower: float, upper: float, base: float = 10) -> Float:
    """Return a domain of real numbers between the bounds, uniform in their logarithm."""
    return Float(lower, upper, log=True, base=base)


def qloguniform(lower: float, upper: float, q: float, base: float = 10) -> Float:
    """Return a domain of multiples of `q` from `lower` to `upper`, both included, uniform in log scale."""
    return Float(lower, upper, log=True, q=q, base=base)


def randint(lower: int, upper: int) -> Integer:
    """Return a domain of whole numbers from `lower` to `upper - 1`."""
    return Integer(lower, upper)


def qrandint(lower: int, upper: int, q: int = 1) -> Integer:
    """Return a domain of multiples of `q` from `lower` to `upper`, both included."""
    return Integer(lower, upper, q=q)


def lograndint(lower: int, upper: int, base: float = 10) -> Integer:
    """Return a domain of whole numbers from `lower` to `upper - 1`, uniform in their logarithm."""
    return Integer(lower, upper, log=True, base=base)


def qlograndint(lower: int, upper: int, q: int, base: float = 10) -> Integer:
    """Return a domain of multiples of `q` from `lower` to `upper`, both included, uniform in log scale."""
    return Integer(lower, upper, log=True, q=q, base=base)


def randn(mean: float = 0.0, sd: float = 1.0) -> Normal:
    """Return a domain of normally distributed numbers."""
    return Normal(mean, sd)


def qrandn(mean: float, sd: float, q: float) -> Normal:
    """Return a domain of normally distributed numbers, rounded to multiples of `q`."""
    return Normal(mean, sd, q)


def normal_prior(domain: Float | Integer, mean: float, sd: float | None = None) -> NormalPrior:
    """Return `domain` with a prior: values around `mean` are expected to be good and drawn more often.

    Args:
        domain: A domain of numbers.
        mean: The value around which good values are expected.
        sd: The standard deviation, in the domain's units; for a logarithmic domain in powers
            of ten. By default an eighth of the axis.
    """
    return NormalPrior(domain, mean, sd)


def choice(categories: Iterable[Any]) -> Categorical:
    """Return a choice of one of `categories`; dicts and lists that contain domains are branches."""
    return Categorical(categories)


def sample_from(func: Callable[[Any], Any]) -> Function:
    """Return a value computed from other values: `sample_from(lambda spec: spec.config.x * 2)`."""
    return Function(func)


def grid_search(values: Iterable[Any]) -> dict[str, list[Any]]:
    """Return a grid of all `values`, crossed with the other grids of the space."""
    return {"grid_search": listed("grid_search", values)}


DOMAINS: dict[str, Callable[..., Domain]] = {
    function.__name__: function
    for function in (
        uniform, quniform, loguniform, qloguniform, randint, qrandint, lograndint, qlograndint, randn, qrandn,
        choice, sample_from, normal_prior,
    )
}  # fmt: skip
"""The functions that make domains, by name."""
