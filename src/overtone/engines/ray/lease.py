"""The resources that Ray has granted to a run for one trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overtone.core.resources import Resources
from overtone.engines.ray.accelerators import Devices, of_bundle, on_first_node


@dataclass(eq=False)
class Lease:
    """A placement group for one trial.

    Attributes:
        shape: Resources of the lease.
        nodes: The node (Ray's id) of each bundle; "" for an empty bundle.
        group: Ray's placement group; None if all bundles are empty.
        devices: For each bundle, the variables that show its accelerators; None if the lease has none.
        idle_since: Time at which its last trial gave it back, on the monotonic clock.
    """

    shape: Resources
    nodes: tuple[str, ...]
    group: Any = None
    devices: tuple[Devices, ...] | None = None
    idle_since: float = 0.0

    def fits(self, shape: Resources, nodes: Sequence[str]) -> bool:
        """Return whether the lease has this shape on these nodes."""
        return self.shape == shape and all(
            mine == theirs or not bundle
            for bundle, mine, theirs in zip(shape.bundles, self.nodes, nodes, strict=True)
        )

    def devices_of_trial(self) -> Devices | None:
        """Return the variables that show a trial its accelerators: those of its first node."""
        return None if self.devices is None else on_first_node(self.shape, self.nodes, self.devices)

    def devices_of(self, index: int) -> Devices | None:
        """Return the variables that show a rank the accelerators of its bundle alone."""
        return None if self.devices is None else of_bundle(self.shape.bundles[index], self.devices[index])
