"""The parameters of a sweep file, in W&B's form, as a space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from math import ceil, exp, floor, gcd
from typing import Any

from overtone.errors import ArgumentError, SpaceError
from overtone.lazy import nearest
from overtone.space import dsl
from overtone.sweep import quantiles
from overtone.sweep.sweep_file import as_number

_FIELDS = frozenset(
    {
        "value",
        "values",
        "min",
        "max",
        "distribution",
        "q",
        "mu",
        "sigma",
        "probabilities",
        "parameters",
        "a",
        "b",
    }
)
_MOST_WEIGHTS = 100
_ROUNDING = 0.02
"""Largest difference of the sum of probabilities from 1: three thirds are often written as 0.33."""
_LARGEST_GRID = 10_000


def space_of(parameters: Mapping[str, Any], is_grid: bool = False) -> dict[str, Any]:
    """Return the space of a sweep's parameters.

    Args:
        parameters: By name: "value", "values", bounds, a "distribution", or nested "parameters".
        is_grid: Whether each value is tried, as `method: grid` does.

    Raises:
        ArgumentError: A parameter is invalid; the message names it.
    """
    if not isinstance(parameters, Mapping) or not parameters:
        raise ArgumentError(
            "parameters: must name at least one, such as parameters: {lr: {min: 0.001, max: 0.1}}"
        )
    return {str(name): _domain(str(name), given, is_grid) for name, given in parameters.items()}


def first_of_grid(space: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the first `count` configs of a space of grids and values."""
    return list(islice(_configs(space), count))


def _configs(space: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    parts = [
        list(_configs(one)) if isinstance(one, Mapping) and "grid_search" not in one
        else one["grid_search"] if isinstance(one, Mapping) else [one]
        for one in space.values()
    ]  # fmt: skip
    for values in product(*parts):
        yield dict(zip(space, values, strict=True))


def _domain(name: str, given: Any, is_grid: bool) -> Any:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"parameter {name!r}: {given!r} must be a mapping, such as {{value: {given!r}}}")
    unknown = [one for one in given if one not in _FIELDS]
    if unknown:
        raise ArgumentError(
            f"parameter {name!r}: {unknown[0]!r} is not a key{nearest(str(unknown[0]), _FIELDS)}"
        )
    kind = given.get("distribution") or _implied(name, given)
    if {"min", "max"} <= given.keys() and _is_reversed(given["min"], given["max"]):
        raise ArgumentError(f"parameter {name!r}: min {given['min']!r} is above max {given['max']!r}")
    if kind == "nested":
        return space_of(given["parameters"], is_grid)
    make = _DISTRIBUTIONS.get(str(kind))
    if make is None:
        raise ArgumentError(
            f"parameter {name!r}: there is no distribution {kind!r}{nearest(str(kind), _DISTRIBUTIONS)}: "
            f"choose one of {', '.join(_DISTRIBUTIONS)}"
        )
    try:
        return _grid(name, kind, given) if is_grid else make(given)
    except KeyError as error:
        raise ArgumentError(f"parameter {name!r}: distribution {kind!r} needs {error.args[0]!r}") from None
    except ZeroDivisionError:
        raise ArgumentError(f"parameter {name!r}: q: 0 must be above 0, such as 0.1") from None
    except (SpaceError, ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(f"parameter {name!r}: {error}") from None


def _is_reversed(low: Any, high: Any) -> bool:
    try:
        return as_number(low) > as_number(high)
    except (TypeError, ValueError):
        return False  # The distribution says what is wrong.


def _implied(name: str, given: Mapping[str, Any]) -> str:
    """Return the distribution that W&B assumes."""
    if "parameters" in given:
        return "nested"
    if "values" in given:
        return "categorical_w_probabilities" if "probabilities" in given else "categorical"
    if "value" in given:
        return "constant"
    if "min" in given and "max" in given:
        whole = all(
            isinstance(given[one], int) and not isinstance(given[one], bool) for one in ("min", "max")
        )
        return "int_uniform" if whole else "uniform"
    raise ArgumentError(f"parameter {name!r}: must have a value, values, or min and max")


def _grid(name: str, kind: str, given: Mapping[str, Any]) -> Any:
    if kind == "constant":
        return given["value"]
    if kind.startswith("categorical"):
        return dsl.grid_search(given["values"])
    if kind == "int_uniform":
        values: list[Any] = list(range(int(given["min"]), int(given["max"]) + 1))
    elif kind == "q_uniform":
        low, high, step = as_number(given["min"]), as_number(given["max"]), given.get("q", 1)
        values = [at * step for at in range(ceil(low / step), floor(high / step) + 1)]
    else:
        raise ValueError(f"distribution {kind!r} has no grid: give values, or choose method: random")
    if len(values) > _LARGEST_GRID:
        raise ValueError(f"a grid of {len(values):,} values: choose method: random")
    return dsl.grid_search(values)


def _weighted(given: Mapping[str, Any]) -> Any:
    """Return a choice with probabilities: each value as often as its share of at most 100."""
    values, weights = list(given["values"]), [as_number(one) for one in given["probabilities"]]
    if len(values) != len(weights) or min(weights) < 0 or not sum(weights):
        raise ValueError("probabilities: must be one number of 0 or more for each of the values")
    if abs(sum(weights) - 1) > _ROUNDING:
        raise ValueError(
            f"probabilities: their sum is {sum(weights):.6g} and must be 1, such as 0.75 and 0.25"
        )
    counts = [round(_MOST_WEIGHTS * one / sum(weights)) or (one > 0) for one in weights]
    share = gcd(*counts)
    return dsl.choice([value for value, n in zip(values, counts, strict=True) for _ in range(n // share)])


def _uniform(given: Mapping[str, Any]) -> Any:
    return dsl.uniform(as_number(given["min"]), as_number(given["max"]))


def _whole(given: Mapping[str, Any]) -> Any:
    return dsl.randint(int(as_number(given["min"])), int(as_number(given["max"])) + 1)


def _log(low: float, high: float) -> Any:
    return dsl.loguniform(low, high)


def _quantized(given: Mapping[str, Any], low: float, high: float, is_log: bool) -> Any:
    """Return multiples of q between the bounds; whole numbers if q is whole."""
    q = given.get("q", 1)
    step = Fraction(str(q))
    first, last = ceil(Fraction(str(low)) / step), floor(Fraction(str(high)) / step)
    first = max(first, 1) if is_log else first
    if isinstance(q, int):
        make: Callable[..., Any] = dsl.qlograndint if is_log else dsl.qrandint
        return make(first * q, last * q, q)
    make = dsl.qloguniform if is_log else dsl.quniform
    return make(float(first * step), float(last * step), float(q))


def _normal(given: Mapping[str, Any]) -> Any:
    return dsl.randn(as_number(given.get("mu", 0)), as_number(given.get("sigma", 1)))


def _q_normal(given: Mapping[str, Any]) -> Any:
    mu, sigma = as_number(given.get("mu", 0)), as_number(given.get("sigma", 1))
    return dsl.qrandn(mu, sigma, as_number(given.get("q", 1)))


def _log_normal(given: Mapping[str, Any], *q: float) -> Any:
    return quantiles.log_normal(as_number(given.get("mu", 0)), as_number(given.get("sigma", 1)), *q)


def _beta(given: Mapping[str, Any], *q: float) -> Any:
    return quantiles.beta(as_number(given["a"]), as_number(given["b"]), *q)


def _step(given: Mapping[str, Any]) -> float:
    """Return q, which is whole if the file has it so."""
    q = given.get("q", 1)
    return q if isinstance(q, int) and not isinstance(q, bool) else as_number(q)


def _bounds(given: Mapping[str, Any]) -> tuple[float, float]:
    return as_number(given["min"]), as_number(given["max"])


def _exponents(given: Mapping[str, Any]) -> tuple[float, float]:
    low, high = _bounds(given)
    return exp(low), exp(high)


_DISTRIBUTIONS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "constant": lambda given: given["value"],
    "categorical": lambda given: dsl.choice(given["values"]),
    "categorical_w_probabilities": _weighted,
    "int_uniform": _whole,
    "uniform": _uniform,
    "q_uniform": lambda given: _quantized(given, *_bounds(given), is_log=False),
    "log_uniform": lambda given: _log(*_exponents(given)),
    "log_uniform_values": lambda given: _log(*_bounds(given)),
    "q_log_uniform": lambda given: _quantized(given, *_exponents(given), is_log=True),
    "q_log_uniform_values": lambda given: _quantized(given, *_bounds(given), is_log=True),
    "inv_log_uniform": lambda given: _log(exp(-as_number(given["max"])), exp(-as_number(given["min"]))),
    "inv_log_uniform_values": lambda given: _log(*_bounds(given)),
    "normal": _normal,
    "q_normal": _q_normal,
    "log_normal": _log_normal,
    "q_log_normal": lambda given: _log_normal(given, _step(given)),
    "beta": _beta,
    "q_beta": lambda given: _beta(given, _step(given)),
}
"""The domain of each of W&B's distributions."""
