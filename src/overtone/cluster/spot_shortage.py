"""The time for which a machine type has not been available as a spot machine."""

from __future__ import annotations

import time
from collections.abc import Callable

WAIT_S = 600.0
"""Seconds without spot machines after which machines on demand are started in their place."""


class SpotShortage:
    """The shortages of spot machines, by node type.

    A shortage begins when a request for spot machines fails, and ends when one succeeds. It is
    per process: if the autoscaler starts again, the wait does, too.

    Args:
        wait_s: Seconds after which a shortage has lasted long enough; at least 0.
        clock: The time in seconds.
    """

    def __init__(self, wait_s: float = WAIT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self.wait_s = wait_s
        self._clock = clock
        self._since: dict[str, float] = {}

    def has_lasted(self, node_type: str) -> bool:
        """Note a failed request, and return whether requests have failed for `wait_s`."""
        now = self._clock()
        return now - self._since.setdefault(node_type, now) >= self.wait_s

    def end(self, node_type: str) -> None:
        """Note that spot machines of the type were started."""
        self._since.pop(node_type, None)
