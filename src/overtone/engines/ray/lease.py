"""The resources that Ray has granted to a run for one trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overtone.core.resources import Resources
from overtone.engines.ray.accelerators import Devices


@dataclass(eq=False)
class Lease:
    """A placement group for one trial.

    Attributes:
        shape: Resources of the lease.
        nodes: The node (Ray's id) of each bundle; "" for an empty bundle.
        group: Ray's placement group; None if all bundles are empty.
        devices: The variables that show the lease's accelerators to a trial; None if it has none.
        idle_since: Time at which its last trial gave it back, on the monotonic clock.
    """

    shape: Resources
    nodes: tuple[str, ...]
    group: Any = None
    devices: Devices | None = None
    idle_since: float = 0.0

    def fits(self, shape: Resources, nodes: Sequence[str]) -> bool:
        """Return whether the lease has this shape on these nodes."""
        return self.shape == shape and all(
            mine == theirs or not bundle
            for bundle, mine, theirs in zip(shape.bundles, self.nodes, nodes, strict=True)
        )
