"""The request of a gang's head to its engine, and the data for the process of a rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.worker.gang.places import RankPlace, bundles_of_ranks, places_on

EXIT_HEAD_GONE = 75
"""Exit status of a rank whose head is gone, or has hung up."""


@dataclass(frozen=True, slots=True)
class GangPlan:
    """One generation of a gang's ranks.

    Attributes:
        generation: 0, then 1 after the first restart, and so on.
        num_workers: The number of ranks.
        address: "host:port" of the head's hub.
        token: The secret by which hub and ranks know each other.
    """

    generation: int
    num_workers: int
    address: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RankOrder:
    """An engine's order to a new process: run this rank.

    Attributes:
        start: The Start of the trial, with the resources and the placement of the rank's bundle alone.
        place: The place of the rank.
        plan: The plan of its generation.
    """

    start: Start
    place: RankPlace
    plan: GangPlan

    @property
    def trial_id(self) -> str:
        """The trial of the rank."""
        return self.start.trial_id

    @property
    def attempt(self) -> int:
        """The attempt of the rank."""
        return self.start.attempt


def nodes_of(placement: Placement) -> tuple[str, ...]:
    """Return the node of each bundle; an empty bundle is on the first node that has one."""
    first = next(filter(None, placement.nodes), "")
    return tuple(node or first for node in placement.nodes)


def rank_orders(
    start: Start,
    plan: GangPlan,
    devices: Callable[[int], tuple[tuple[str, str], ...] | None] = lambda bundle: None,
) -> list[RankOrder]:
    """Return the order for each rank of an attempt.

    Args:
        start: The attempt's Start, with the bundles of head and ranks.
        plan: What its head asked for.
        devices: Returns what `Start.devices` is for the process of a bundle, by the bundle's index.

    Raises:
        ResourceError: The trial has too few bundles.
    """
    bundles = bundles_of_ranks(len(start.resources.bundles), plan.num_workers)
    nodes = nodes_of(start.placement)
    places = places_on([nodes[index] for index in bundles])
    orders = []
    for index, place in zip(bundles, places, strict=True):
        resources = Resources((start.resources.bundles[index],), start.resources.strategy)
        placement = Placement((nodes[index],), (start.placement.gpus[index],))
        own = replace(start, resources=resources, placement=placement, devices=devices(index))
        orders.append(RankOrder(own, place, plan))
    return orders
