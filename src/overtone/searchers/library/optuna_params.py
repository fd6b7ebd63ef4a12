"""Conversion of a space's values to Optuna's parameters and back: exact up to a million steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeGuard

from overtone.core.randomness import Random
from overtone.errors import SpaceError
from overtone.searchers.flat import Flat
from overtone.searchers.variant_generator import parse_spec_vars
from overtone.space import Categorical
from overtone.space.domain import Domain
from overtone.space.draw import Drawing
from overtone.space.interval import Float, Integer, Interval
from overtone.space.tree import SCALARS, Drawn, Group, Pick

_BINS = 10**6
"""Number of equally likely parts of a domain without a counterpart in Optuna."""

_MOST = 2**53
"""Optuna's whole numbers are floats at times, which do not tell all of those beyond this apart."""

_MOST_LISTED = 10**6
"""Optuna's Gaussian process lists all values of a whole number: domains with more values are thinned out."""

Nodes = Mapping[str, Drawn | Pick]


def encoded(nodes: Nodes, flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a flat configuration."""
    return {name: _param(nodes[name], value) for name, value in flat.items() if name in nodes}


def decoded(nodes: Nodes, params: Mapping[str, Any]) -> Flat:
    """Return the inverse of `encoded`; names that are not in the space are kept unchanged."""
    return {name: _value(nodes[name], one) if name in nodes else one for name, one in params.items()}


def suggested(trial: Any, node: Drawn | Pick) -> Any:
    """Return the suggestion of Optuna's `trial` for the node.

    Raises:
        SpaceError: Optuna's GPSampler would have to list too many values.
    """
    if isinstance(node, Pick):
        return _value(node, trial.suggest_categorical(node.key, _labels(node)))
    domain = node.domain
    if not _is_known(domain):
        return _value(node, trial.suggest_int(node.key, 0, _BINS - 1))
    low, high = _bounds(domain)
    if isinstance(domain, Float) and domain.q is None:
        return domain.cast(trial.suggest_float(node.key, low, high, log=domain.log))
    step = _step(domain)
    if domain.log and domain.size > 10 * _MOST_LISTED and type(trial.study.sampler).__name__ == "GPSampler":
        raise SpaceError(
            f"{node.path}: {domain!r} has {domain.size:,} values, which Optuna's GPSampler would list: use "
            'another sampler, such as "tpe", or loguniform and int() in the trial'
        )
    high = low + (high - low) // step * step
    return _value(node, trial.suggest_int(node.key, low, high, step=step, log=domain.log))


def _step(domain: Interval) -> int:
    """Return the stride of the domain's steps that are parameters."""
    return 1 if domain.log else max(1, -(-int(domain.size) // _MOST_LISTED))


def _is_known(domain: Domain) -> TypeGuard[Interval]:
    """Return whether Optuna has such a domain."""
    if not isinstance(domain, Interval):
        return False
    return domain.size == inf or max(map(abs, _bounds(domain))) <= _MOST


def _bounds(domain: Interval) -> tuple[Any, Any]:
    """Return the first and the last parameter."""
    if domain.q is None:
        return domain.lower, domain.upper if isinstance(domain, Float) else domain.upper - 1
    return round(domain.quantile(0) / domain.q), round(domain.quantile(1) / domain.q)


def drawn(root: Group, nodes: Nodes, trial: Any) -> Flat:
    """Return a flat configuration of `root` whose every part `trial`, of Optuna, suggests."""
    asking = _Asking(root, trial, nodes)
    asking.config()
    return asking.flat


def defined(space: Any) -> Callable[[Any], Any] | None:
    """Return a space of Optuna's as a function from a trial to a flat configuration; None for Overtone's."""
    if callable(space):
        return lambda trial: {**_constants(space, trial), **trial.params}
    kinds = {name: type(one).__name__ for name, one in space.items()} if isinstance(space, Mapping) else {}
    if not any(one.endswith("Distribution") for one in kinds.values()):
        return None

    def define(trial: Any) -> dict[str, Any]:
        constants = {}
        for name, one in space.items():
            if kinds[name] == "CategoricalDistribution":
                trial.suggest_categorical(name, one.choices)
            elif kinds[name] == "FloatDistribution":
                trial.suggest_float(name, one.low, one.high, step=one.step, log=one.log)
            elif kinds[name] == "IntDistribution":
                trial.suggest_int(name, one.low, one.high, step=one.step, log=one.log)
            else:
                constants[name] = one
        return {**constants, **trial.params}

    return define


def _constants(define: Callable[[Any], Any], trial: Any) -> Mapping[str, Any]:
    """Return the constants that a user's function returns in addition to its suggestions.

    Raises:
        SpaceError: The function did not return a dict or None.
    """
    found = define(trial)
    if not isinstance(found, Mapping) and found is not None:
        raise SpaceError(
            f"the function that OptunaSearch was given as a space returned {found!r:.100}: return a dict of "
            'constants, such as {"epochs": 3}, or nothing; what it suggests is in the configuration anyway'
        )
    return found or {}


def distributions(spec: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the domains of a space as Optuna's distributions.

    Args:
        prefix: The beginning of each name, before a "/"; "" for none.

    Raises:
        SpaceError: A domain has no counterpart, such as a grid.
    """
    from optuna import distributions as optuna

    found: dict[str, Any] = {}
    _, domains, grids = parse_spec_vars(spec)
    for path, domain in (*domains, *grids):
        name = "/".join(map(str, ((prefix, *path) if prefix else path)))
        if isinstance(domain, Categorical) and (path, domain) not in grids:
            found[name] = optuna.CategoricalDistribution(domain.categories)
        elif isinstance(domain, Float):
            step = None if domain.log else domain.q
            found[name] = optuna.FloatDistribution(domain.lower, domain.upper, domain.log, step)
        elif isinstance(domain, Integer):
            last = int(domain.upper) - (domain.q is None)
            step = 1 if domain.log else int(domain.q or 1)
            found[name] = optuna.IntDistribution(int(domain.lower), last, domain.log, step)
        else:
            raise SpaceError(f"{name}: {domain!r} has no counterpart in Optuna")
    return found


class _Asking(Drawing):
    def __init__(self, root: Group, trial: Any, nodes: Nodes) -> None:
        super().__init__(root, Random)
        self.flat: Flat = {}
        self._trial, self._nodes = trial, nodes

    def option(self, pick: Pick) -> int:
        if pick.key not in self._nodes:
            return super().option(pick)
        option: int = self.flat.setdefault(pick.key, suggested(self._trial, pick))
        return option

    def value(self, node: Drawn) -> Any:
        if node.key not in self._nodes:
            return super().value(node)
        return self.flat.setdefault(node.key, suggested(self._trial, node))


def _labels(pick: Pick) -> list[Any]:
    """Return the options themselves where Optuna can tell them apart, else their numbers."""
    are_plain = all(type(value) in SCALARS for value in pick.values)
    return (
        pick.values if are_plain and len(set(pick.values)) == len(pick.values) else [*range(len(pick.values))]
    )


def _param(node: Drawn | Pick, value: Any) -> Any:
    if isinstance(node, Pick):
        return _labels(node)[value]
    domain = node.domain
    if not _is_known(domain):
        return min(int(domain.cdf(value) * _BINS), _BINS - 1)
    if isinstance(domain, Float) and domain.q is None:
        return value
    k = value if domain.q is None else round(value / domain.q)
    (low, high), step = _bounds(domain), _step(domain)
    return k if step == 1 else low + min((2 * (k - low) + step) // (2 * step), (high - low) // step) * step


def _value(node: Drawn | Pick, param: Any) -> Any:
    if isinstance(node, Pick):
        return _labels(node).index(param)
    domain = node.domain
    if not _is_known(domain):
        return domain.quantile((param + 0.5) / _BINS)
    return domain.cast(param if domain.q is None else param * domain.q)
