"""A trial's resources in several bundles, written as a placement group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.resources import Request, Resources

_SHOWN = {"cpu": "CPU", "gpu": "GPU"}


class PlacementGroupFactory(Request):
    """Resources in bundles: `PlacementGroupFactory([{"CPU": 1}, {"CPU": 2, "GPU": 1}], strategy="PACK")`.

    The first bundle is for the trial's own process (it may be empty). The other bundles are
    for processes that the trial starts. Two are equal if they ask for the same.

    Args:
        bundles: Amounts by name, one mapping per bundle. An amount of 0 is left out.
        strategy: "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
        arguments: Accepted without effect: further arguments of Ray's `placement_group`.

    Raises:
        ResourceError: There is no bundle, an amount is invalid, or the strategy is unknown.
    """

    def __init__(
        self, bundles: Sequence[Mapping[str, Any]], strategy: str = "PACK", *_: Any, **arguments: Any
    ) -> None:
        self._demand = Resources.of(list(bundles), strategy)

    @classmethod
    def of(cls, demand: Resources) -> PlacementGroupFactory:
        """Return the placement group of a demand."""
        return cls([dict(one) for one in demand.bundles], demand.strategy)

    def resources(self) -> Resources:
        return self._demand

    @property
    def head_bundle_is_empty(self) -> bool:
        """Whether the trial's own process has no bundle."""
        return not self._demand.bundles[0]

    @property
    def head_cpus(self) -> float:
        """The CPUs of the trial's own process."""
        return dict(self._demand.bundles[0]).get("cpu", 0.0)

    @property
    def bundles(self) -> list[dict[str, float]]:
        """The amounts of each bundle, as a copy; an empty first bundle is left out."""
        return [_shown(dict(one)) for one in self._demand.bundles[self.head_bundle_is_empty :]]

    @property
    def required_resources(self) -> dict[str, float]:
        """The sum over all bundles, such as {"CPU": 3.0}."""
        return _shown(self._demand.total())

    @property
    def strategy(self) -> str:
        """The placement of the bundles on nodes."""
        return self._demand.strategy

    def total(self) -> dict[str, float]:
        """Return the sum over all bundles, such as {"cpu": 3.0}."""
        return self._demand.total()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Request) and self._demand == other.resources()

    def __hash__(self) -> int:
        return hash(self._demand)

    def __str__(self) -> str:
        return str(self._demand)

    def __repr__(self) -> str:
        bundles = [{}, *self.bundles] if self.head_bundle_is_empty else self.bundles
        return f"PlacementGroupFactory({bundles!r}, strategy={self.strategy!r})"


def _shown(amounts: Mapping[str, float]) -> dict[str, float]:
    return {_SHOWN.get(name, name): amount for name, amount in amounts.items()}
