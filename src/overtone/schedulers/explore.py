"""New hyperparameters for a member of a population (Jaderberg et al. 2017, "Population
Based Training of Neural Networks", arXiv 1711.09846, section 3: explore).

A value is drawn again with some probability, and otherwise perturbed: a number is multiplied
by one of two factors, a list moves to a neighbour, and a category stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overtone.core.goal import lookup
from overtone.core.randomness import Random
from overtone.core.types import Config, Result
from overtone.errors import ArgumentError, OvertoneError, UsageError
from overtone.space import Categorical, Domain, Function, choice, sample_from
from overtone.space.domain import is_number
from overtone.space.function import seeded


def explore(
    config: Config,
    mutations: Mapping[str, Any],
    random: Random,
    resample_probability: float,
    factors: Sequence[float],
    custom: Callable[[Config], Config] | None = None,
) -> Config:
    """Return a copy of `config` with new values for the names in `mutations`.

    Args:
        config: The config to start from; a value that it lacks is drawn.
        mutations: By name a domain, a list (ordered), a function without arguments, or the
            same one level down.
        random: Source of randomness.
        resample_probability: Probability that a value is drawn again.
        factors: Other numbers are multiplied by one of these.
        custom: Gets the explored config and returns the one to take.

    Raises:
        ValueError: `factors` is empty.
        UsageError: `custom` returned something else than a config.
    """
    if mutations and not (hasattr(factors, "__len__") and len(factors)):
        raise ArgumentError(f"perturbation_factors={factors!r}: give the factors, such as (1.2, 0.8)")
    explored = dict(config)
    for name, allowed in mutations.items():
        if isinstance(allowed, Mapping):
            inner = config.get(name) or {}
            explored[name] = explore(inner, allowed, random, resample_probability, factors)
        elif name not in config or random.random() < resample_probability:
            explored[name] = drawn(allowed, random, config)
        else:
            explored[name] = _perturbed(config[name], allowed, random, factors, config)
    if custom is None:
        return explored
    with seeded(random):
        made = custom(explored)
    if not isinstance(made, Mapping):
        raise UsageError(f"custom_explore_fn returned {made!r:.100}: it must return the config")
    return dict(made)


def changes(before: Config, after: Config) -> str:
    """Return the differing values for people: "lr 0.1 -> 0.12, batch 32 -> 64"."""
    names = [name for name in after if name not in before or before[name] != after[name]]
    return ", ".join(f"{name} {_shown(before.get(name))} -> {_shown(after[name])}" for name in names)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def drawn(allowed: Any, random: Random, config: Config) -> Any:
    """Draw one of the values that a mutation allows."""
    if isinstance(allowed, (list, tuple)):
        return random.choice(allowed)
    if isinstance(allowed, Function) or not isinstance(allowed, Domain):
        with seeded(random):  # what users draw with Python's or numpy's generator repeats with the seed
            return _function(allowed).value(config)
    return allowed.draw(random)


def inside(domain: Domain, value: float) -> Any:
    """Return the value of `domain` nearest to `value`, in its type and rounding."""
    return domain.cast(value) if domain.contains(value) else domain.quantile(domain.cdf(value))


def completed(space: Mapping[str, Any], mutations: Mapping[str, Any]) -> dict[str, Any]:
    """Return the space, extended by mutated names that it lacks."""
    whole = dict(space)
    for name, allowed in mutations.items():
        if isinstance(allowed, Mapping):
            if isinstance(inner := whole.get(name, {}), Mapping):
                whole[name] = completed(inner, allowed)
        elif name not in whole:
            is_list = isinstance(allowed, (list, tuple))
            whole[name] = (
                choice(allowed) if is_list else allowed if isinstance(allowed, Domain) else _function(allowed)
            )
    return whole


def checked_mutations(given: Any, custom: Callable[[Config], Config] | None) -> Mapping[str, Any]:
    """Return the mutations `given`, checked; empty for None.

    Raises:
        TypeError, ValueError: A mutation cannot make a value, or there is nothing to explore.
    """
    if not given and custom is None:
        raise ArgumentError("there is nothing to explore: give hyperparam_mutations or custom_explore_fn")
    mutations = {} if given is None else given
    _check(mutations)
    return mutations


def clock(result: Result, time_attr: str, is_strict: bool) -> float:
    """Return the time of a result.

    Raises:
        OvertoneError: `is_strict`, and it has no `time_attr`.
    """
    if is_strict and lookup(result.metrics, time_attr) is None:
        raise OvertoneError(
            f"a result has no time_attr={time_attr!r}: report it, or pass require_attrs=False"
        )
    return result.t


def _check(mutations: Mapping[str, Any]) -> None:
    if not isinstance(mutations, Mapping):
        raise UsageError(
            f'hyperparam_mutations={mutations!r:.100}: give a dict such as {{"lr": [0.1, 0.01]}}'
        )
    for name, allowed in mutations.items():
        if isinstance(allowed, Mapping):
            _check(allowed)
        elif isinstance(allowed, (list, tuple)) and not allowed:
            raise ArgumentError(f"hyperparam_mutations[{name!r}] is empty: it needs at least one value")
        elif not isinstance(allowed, (Domain, list, tuple)) and not callable(allowed):
            raise UsageError(
                f"hyperparam_mutations[{name!r}]={allowed!r}: give a domain such as tune.uniform(0, 1), a "
                "list of values, a function without arguments, or a dict of these"
            )


def _function(allowed: Any) -> Function:
    return allowed if isinstance(allowed, Function) else sample_from(allowed)


def _perturbed(value: Any, allowed: Any, random: Random, factors: Sequence[float], config: Config) -> Any:
    if isinstance(allowed, Categorical):
        return value
    if isinstance(allowed, (list, tuple)):
        if value not in allowed:
            return random.choice(allowed)
        place = allowed.index(value) + random.choice((-1, 1))
        return allowed[min(max(place, 0), len(allowed) - 1)]
    if not is_number(value):
        return drawn(allowed, random, config)  # No number to multiply.
    is_whole, factor = isinstance(value, int), random.choice(factors)
    if not isinstance(allowed, Domain) or isinstance(allowed, Function):
        return _step(value, value * factor, 1) if is_whole else value * factor
    new = inside(allowed, value * factor)
    if new == value and (step := getattr(allowed, "q", None) or is_whole):
        new = inside(allowed, _step(value, value * factor, step))
    return new


def _step(value: float, target: float, step: float) -> int | float:
    """Return `target` as a multiple of `step`: at least one step from `value`, unless that would be 0."""
    new = round(target / step) * step
    if new == value and target != value:
        new = value + math.copysign(step, target - value)
    if isinstance(value, int) and isinstance(step, int):
        new = int(new)
    return new or value
