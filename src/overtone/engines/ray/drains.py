"""The nodes that Ray drains, such as before a spot machine is taken away.

Ray has no public interface for this: see `docs/decisions`. In a Ray without the private one, no
drain is seen, and the end of the node is handled as any other.
"""

from __future__ import annotations

import math
import time


def seconds_left() -> dict[str, float]:
    """Return the time until the deadline of each node that is drained, by Ray's id of the node.

    Returns:
        In seconds, 0 or more; infinite for a drain without a deadline.
    """
    try:
        from ray._private.state import state

        deadlines = state.get_draining_nodes()
        now = time.time()
        return {node: max(0.0, ms / 1000 - now) if ms else math.inf for node, ms in deadlines.items()}
    except (ImportError, AttributeError, TypeError):
        return {}  # Another version of Ray: it does not tell.
