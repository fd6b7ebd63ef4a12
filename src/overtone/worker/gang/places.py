"""The place of a rank in its gang, and the variables that tell a rank's code of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overtone.errors import ResourceError


@dataclass(frozen=True, slots=True)
class RankPlace:
    """The place of one rank; numbers count from 0.

    Attributes:
        rank: The rank in its gang.
        world_size: The number of ranks.
        local_rank: The rank among those on its node.
        local_world_size: The number of ranks on its node.
        node_rank: The number of its node, by the order of the nodes' first ranks.
        num_nodes: The number of nodes with ranks.
    """

    rank: int
    world_size: int
    local_rank: int = 0
    local_world_size: int = 1
    node_rank: int = 0
    num_nodes: int = 1


def places_on(nodes: Sequence[str]) -> list[RankPlace]:
    """Return the place of each rank, given the node of each."""
    sizes = Counter(nodes)
    numbers = {node: number for number, node in enumerate(sizes)}
    met: Counter[str] = Counter()
    places = []
    for rank, node in enumerate(nodes):
        places.append(RankPlace(rank, len(nodes), met[node], sizes[node], numbers[node], len(numbers)))
        met[node] += 1
    return places


def bundles_of_ranks(n_bundles: int, num_workers: int) -> range:
    """Return the index of each rank's bundle, of a trial with `n_bundles`.

    Rank i has bundle i + 1, after the head's; with only as many bundles as ranks, it has bundle i, and
    rank 0 shares the head's.

    Raises:
        ResourceError: There are too few bundles, or no ranks.
    """
    if num_workers < 1:
        raise ResourceError(f"num_workers={num_workers}: at least one is needed")
    if n_bundles < num_workers:
        raise ResourceError(
            f"{num_workers} workers need a bundle each beside the head's, and the trial has {n_bundles} "
            f"in all: set resources_per_trial=, or tune.with_resources(trainable, "
            f"ScalingConfig(num_workers={num_workers}).as_placement_group_factory())"
        )
    first = 1 if n_bundles > num_workers else 0
    return range(first, first + num_workers)


def environment(place: RankPlace, generation: int, run_id: str) -> Mapping[str, str]:
    """Return torchrun's environment variables for a rank, except those of the rendezvous (MASTER_...).

    Args:
        generation: Number of restarts of the gang so far.
        run_id: Name of the gang, the same for each rank and generation.
    """
    values = {
        "RANK": place.rank,
        "WORLD_SIZE": place.world_size,
        "LOCAL_RANK": place.local_rank,
        "LOCAL_WORLD_SIZE": place.local_world_size,
        "GROUP_RANK": place.node_rank,
        "GROUP_WORLD_SIZE": place.num_nodes,
        "ROLE_NAME": "default",
        "ROLE_RANK": place.rank,
        "ROLE_WORLD_SIZE": place.world_size,
        "TORCHELASTIC_RESTART_COUNT": generation,
        "TORCHELASTIC_MAX_RESTARTS": generation,
        "TORCHELASTIC_RUN_ID": run_id,
    }
    return {name: str(value) for name, value in values.items()}
