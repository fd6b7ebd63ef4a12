"""Placement groups, which hold leases in Ray, with bundles by Ray's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.resources import Bundle, Resources
from overtone.engines.ray import cluster_connection
from overtone.engines.ray.cluster_view import OUR_NAMES

_BEING_MADE = ("QUEUED", "SCHEDULING_STARTED")
_PENDING = ("NO_RESOURCES", "INFEASIBLE", "FAILED_TO_COMMIT_RESOURCES")
_RAYS_NAMES = {ours: rays for rays, ours in OUR_NAMES.items()}


def bundles_of(shape: Resources) -> list[dict[str, float]]:
    """Return the bundles that are not empty, by Ray's names."""
    return [ray_amounts(one) for one in shape.bundles if one]


def ray_amounts(bundle: Bundle) -> dict[str, float]:
    """Return the amounts of one bundle by Ray's names; memory in whole bytes."""
    return {_RAYS_NAMES.get(name, name): int(n) if name == "memory" else n for name, n in bundle}


def bundle_index(shape: Resources, at: int) -> int:
    """Return the placement group's index of the bundle `at` of a shape; -1 if the bundle is empty."""
    return sum(1 for one in shape.bundles[:at] if one) if shape.bundles[at] else -1


def make_group(shape: Resources, labels: Sequence[Mapping[str, str]]) -> Any:
    """Return a new group whose bundles need nodes with these labels; None if all bundles are empty."""
    from ray.util.placement_group import placement_group

    bundles = bundles_of(shape)
    if not bundles:
        return None
    chosen = [dict(label) for one, label in zip(shape.bundles, labels, strict=True) if one]
    strategy = shape.strategy if len(bundles) > 1 else "PACK"
    return placement_group(bundles, strategy, bundle_label_selector=chosen if any(chosen) else None)


def remove_group(group: Any) -> None:
    """Remove a group, and so return its resources to Ray."""
    from ray.util.placement_group import remove_placement_group

    if not cluster_connection.is_connected():
        return  # Ray would connect again
    try:
        remove_placement_group(group)
    except Exception:
        pass  # the cluster is gone, and the group with it


def may_be_removed(group: Any, is_settled: bool = True) -> bool:
    """Return whether a group can be removed safely: not while Ray is making it.

    Ray loses the resources that such a group has reserved so far (ray-project/ray#64693). Ray 2.60
    permanently lost a CPU in one of about 100 removals.

    Args:
        is_settled: Whether no node has joined just now. If one has, Ray may begin to make any pending
            group between this question and the removal.
    """
    from ray.util.placement_group import placement_group_table

    if not cluster_connection.is_connected():
        return True  # Ray would connect again
    try:
        stats = placement_group_table(group).get("stats", {})
    except Exception:
        return True  # the cluster is gone, and the group with it
    state = stats.get("scheduling_state")
    return state not in _BEING_MADE and (is_settled or state not in _PENDING)


def is_made(group: Any) -> bool:
    """Return whether Ray has made a group.

    `group.wait(0)` gives Ray's head no time to answer: on a busy machine it is nearly always False.
    """
    from ray.util.placement_group import placement_group_table

    return bool(placement_group_table(group).get("state") == "CREATED")


def nodes_of(shape: Resources, group: Any) -> tuple[str, ...]:
    """Return the node (Ray's id) of each bundle; "" for an empty bundle."""
    from ray.util.placement_group import placement_group_table

    by_index = placement_group_table(group)["bundles_to_node_id"] if group is not None else {}
    found = iter([by_index[index] for index in sorted(by_index)])
    return tuple(next(found, "") if one else "" for one in shape.bundles)
