"""The nodes that Ray drains, for example before a spot machine is taken away.

Ray has no public interface for drains: see `docs/decisions`. Without Ray's private interface,
drains are not noticed, and a drained node is handled like any other lost node.
"""

from __future__ import annotations

import math
import time


def seconds_left() -> dict[str, float]:
    """Return the time until the deadline of each node that is drained, by Ray's id of the node.

    Returns:
        Seconds by node id, 0 or more; infinite for a drain without a deadline.
    """
    try:
        from ray._private.state import state

        deadlines = state.get_draining_nodes()
        now = time.time()
        return {node: max(0.0, ms / 1000 - now) if ms else math.inf for node, ms in deadlines.items()}
    except (ImportError, AttributeError, TypeError):
        return {}  # Another version of Ray, without this private function.
