"""The cluster environment for Lightning: rank, world size and node rank of this process."""

from __future__ import annotations

from overtone.train.lightning.library import environments
from overtone.tune.session import get_context


class RayLightningEnvironment(environments.LightningEnvironment):  # type: ignore[misc,name-defined,unused-ignore]
    """An environment for `Trainer(plugins=[...])` whose ranks are those of the trainer."""

    @property
    def creates_processes_externally(self) -> bool:
        """True: the ranks run already."""
        return True

    def world_size(self) -> int:
        """Return the number of ranks."""
        return get_context().get_world_size()

    def global_rank(self) -> int:
        """Return this process's rank."""
        return get_context().get_world_rank()

    def local_rank(self) -> int:
        """Return this process's rank among those on this node."""
        return get_context().get_local_rank()

    def node_rank(self) -> int:
        """Return the rank of this node."""
        return get_context().get_node_rank()

    def set_world_size(self, size: int) -> None:
        """Do nothing: Lightning computes it from devices per node, which may differ between nodes."""

    def set_global_rank(self, rank: int) -> None:
        """Do nothing, for the same reason."""

    def teardown(self) -> None:
        """Do nothing: the process group is the trainer's."""
