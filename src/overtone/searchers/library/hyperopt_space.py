"""Hyperopt's spaces, `hp.uniform(...)` and the like, as spaces of ours, and back."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any

from overtone.errors import MissingPackageError, SpaceError
from overtone.space import (
    Function,
    Normal,
    choice,
    loguniform,
    parse,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    uniform,
)
from overtone.space.interval import Integer, Interval
from overtone.space.tree import Drawn, Fixed, Group, Node, Pick, Series

_FORMS = "uniform, quniform, loguniform, qloguniform, normal, qnormal, randint, uniformint, choice"


def from_hyperopt(space: Any) -> Any:
    """Return `space` with Hyperopt's expressions as domains; anything else stays.

    Raises:
        SpaceError: An expression has no counterpart.
    """
    if isinstance(space, Mapping):
        return {key: from_hyperopt(value) for key, value in space.items()} if _has(space) else space
    if isinstance(space, (list, tuple)) and _has(space):
        return type(space)(map(from_hyperopt, space))
    if not _is_expression(space):
        return space
    match space.name:
        case "literal":
            return space.obj
        case "dict":
            return {name: from_hyperopt(value) for name, value in space.named_args}
        case "pos_args":
            return [from_hyperopt(value) for value in space.pos_args]
        case "switch":
            return _choice(space)
        case "float" | "int":
            return _domain(space.pos_args[0], space.name == "int")
    raise _unknown(space)


def to_hyperopt(space: Any) -> Any:
    """Return a space of ours as Hyperopt writes it; labels are the paths of the values.

    Raises:
        SpaceError: A domain has no counterpart, such as a grid.
        MissingPackageError: Hyperopt is not installed.
    """
    try:
        from hyperopt import hp
    except ImportError:
        raise MissingPackageError("hyperopt", "hyperopt", "HyperOptSearch") from None
    return _written(parse(space), hp)


def _choice(space: Any) -> Any:
    drawn = space.pos_args[0].pos_args[1]
    if drawn.name != "randint":
        raise SpaceError(
            f"hp.pchoice({space.pos_args[0].pos_args[0].obj!r}): weights are not known here: use hp.choice"
        )
    return choice([from_hyperopt(option) for option in space.pos_args[1:]])


def _domain(inner: Any, is_whole: bool) -> Any:
    if inner.name == "float":
        return _domain(inner.pos_args[0], is_whole)
    if inner.name != "hyperopt_param":
        raise _unknown(inner)
    drawn = inner.pos_args[1]
    given = [one.obj for one in (*drawn.pos_args, *(value for _, value in drawn.named_args))]
    match drawn.name, given:
        case "uniform", [low, high]:
            return uniform(low, high)
        case "quniform", [low, high, q] if is_whole:
            return randint(int(low), int(high) + 1) if q == 1 else qrandint(int(low), int(high), int(q))
        case "quniform", [low, high, q]:
            return quniform(round(low / q) * q, round(high / q) * q, q)
        case "loguniform", [low, high]:
            return loguniform(exp(low), exp(high))
        case "qloguniform", [low, high, q]:
            return qloguniform(max(q, round(exp(low) / q) * q), round(exp(high) / q) * q, q)
        case "normal", [mean, deviation]:
            return randn(mean, deviation)
        case "qnormal", [mean, deviation, q]:
            return qrandn(mean, deviation, q)
        case "randint", [high]:
            return randint(0, high)
        case "randint", [low, high]:
            return randint(low, high)
    raise SpaceError(
        f"hp.{drawn.name}({inner.pos_args[0].obj!r}) has no counterpart here: there are {_FORMS}"
    )


def _written(node: Node, hp: Any) -> Any:
    if isinstance(node, Group):
        return {key: _written(item, hp) for key, item in node.items.items()}
    if isinstance(node, Series):
        return [_written(item, hp) for item in node.items]
    if isinstance(node, Pick) and not node.is_grid:
        return hp.choice(node.key, [_written(option, hp) for option in node.options])
    if isinstance(node, Fixed):
        return node.value
    domain = node.domain if isinstance(node, Drawn) else None
    if isinstance(domain, Normal):
        name, rest = ("qnormal", (domain.q,)) if domain.q else ("normal", ())
        return getattr(hp, name)(node.key, domain.mean, domain.sd, *rest)
    if isinstance(domain, Interval) and not isinstance(domain, Function):
        return _interval(node.key, domain, hp)
    what = "grid_search" if isinstance(node, Pick) else repr(domain or "a function")
    raise SpaceError(f"{node.path}: {what} has no counterpart in Hyperopt")


def _interval(label: str, domain: Any, hp: Any) -> Any:
    low, high, q = domain.lower, domain.upper, domain.q
    if domain.log:
        ends = log(low), log(high)
        if isinstance(domain, Integer) or q:
            return hp.qloguniform(label, *ends, q or 1)
        return hp.loguniform(label, *ends)
    if isinstance(domain, Integer):
        return hp.quniform(label, low, high, q) if (q or 1) > 1 else hp.randint(label, low, high)
    return hp.quniform(label, low, high, q) if q else hp.uniform(label, low, high)


def _is_expression(value: Any) -> bool:
    return type(value).__module__.startswith("hyperopt.") and hasattr(value, "pos_args")


def _has(space: Any) -> bool:
    """Return whether there is an expression in a container."""
    items = space.values() if isinstance(space, Mapping) else space
    return any(
        _is_expression(one) or (isinstance(one, (Mapping, list, tuple)) and _has(one)) for one in items
    )


def _unknown(space: Any) -> SpaceError:
    return SpaceError(
        f"the expression {space.name!r} of Hyperopt has no counterpart here: there are {_FORMS}"
    )
