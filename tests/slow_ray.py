"""Patience with Ray: on a slow machine, a node starts later than the 30 s that Ray waits for it."""

from __future__ import annotations

import functools
import time
from typing import Any

STARTS_WITHIN_S = 240.0


def wait_longer_for_nodes() -> None:
    """Have this process wait longer for the nodes that it starts; Ray has no option for that."""
    from ray._private import services

    plain = services.get_node
    if hasattr(plain, "__wrapped__"):
        return

    @functools.wraps(plain)
    def get_node(gcs_address: str, node_id: str) -> Any:
        deadline = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                return plain(gcs_address, node_id)
            except RuntimeError:  # the node has not registered yet
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    services.get_node = get_node
