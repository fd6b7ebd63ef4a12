"""Kept for imports of `tune.execution.placement_groups`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.placement_group import PlacementGroupFactory
from overtone.worker.trainables.demand import demand

__all__ = ["PlacementGroupFactory", "ResourceRequest", "resource_dict_to_pg_factory"]

ResourceRequest = PlacementGroupFactory


def resource_dict_to_pg_factory(spec: Mapping[str, Any] | None = None) -> PlacementGroupFactory:
    """Return the placement group of amounts by name, such as {"cpu": 2}; of 1 CPU for None.

    Raises:
        ResourceError: `spec` is not such a mapping, or an amount is invalid.
    """
    return PlacementGroupFactory.of(demand(spec or {"cpu": 1}))
