"""What a run has from Ray for one trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overtone.core.resources import Resources
from overtone.engines.ray.accelerators import Devices


@dataclass(eq=False)
class Lease:
    """A placement group.

    Attributes:
        shape: What it holds.
        nodes: The node (Ray's id) of each bundle; "" for an empty bundle.
        group: Ray's handle; None where there is nothing to hold.
        devices: The variables that show its accelerators to a trial; None if it has none.
        idle_since: When it was given back, on the monotonic clock.
    """

    shape: Resources
    nodes: tuple[str, ...]
    group: Any = None
    devices: Devices | None = None
    idle_since: float = 0.0

    def fits(self, shape: Resources, nodes: Sequence[str]) -> bool:
        """Whether it holds this shape, on these nodes."""
        return self.shape == shape and all(
            mine == theirs or not bundle
            for bundle, mine, theirs in zip(shape.bundles, self.nodes, nodes, strict=True)
        )
