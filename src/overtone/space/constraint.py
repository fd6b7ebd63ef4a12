"""Spaces of which not every configuration may be tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError

if TYPE_CHECKING:
    from overtone.space.tree import Group

Constraint = Callable[[Mapping[str, Any]], Any]
"""Says of a configuration whether it may be tried."""


class Space(dict[str, Any]):
    """A search space with a constraint; else the dict that it is made of.

    Args:
        domains: Names and values or domains.
        constraint: `config -> bool`: only configurations for which it is true are tried.

    Raises:
        SpaceError: The constraint cannot be called.
    """

    def __init__(self, domains: Mapping[str, Any], constraint: Constraint | None = None) -> None:
        super().__init__(domains)
        if constraint is not None and not callable(constraint):
            raise SpaceError(
                f"constraint={constraint!r} must be a function, "
                'such as lambda config: config["warmup"] < config["steps"]'
            )
        self.constraint = constraint

    def __reduce__(self) -> tuple[Any, ...]:
        return Space, (dict(self), self.constraint)


def space(domains: Mapping[str, Any], constraint: Constraint | None = None) -> Space:
    """Return the space of `domains` without the configurations for which `constraint` is not true.

    >>> space({"low": 1, "high": 2}, constraint=lambda config: config["low"] < config["high"])
    {'low': 1, 'high': 2}
    """
    return Space(domains, constraint)


def allows(root: Group, config: Mapping[str, Any]) -> bool:
    """Return whether the space's constraint allows `config`; without one everything is allowed.

    Raises:
        SpaceError: The constraint raised.
    """
    if root.constraint is None:
        return True
    try:
        return bool(root.constraint(config))
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise SpaceError(f"the constraint of the space raised {what} for {dict(config)!r:.300}") from error
