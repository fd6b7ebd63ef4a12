"""The lifetime of a server that a run started: it ends some time after its last use."""

from __future__ import annotations

import time
from collections.abc import Callable

IDLE_S = 900.0
"""Seconds that a server lives after the last run of its folder ended and the last page was closed."""

LOOK_S = 30.0
"""Seconds between two looks whether a run goes on."""


class Life:
    """Decides when a server that nobody uses ends.

    Args:
        is_running: Returns whether a run of the folder goes on; it may block.
        idle_s: Seconds without use.
        clock: Returns seconds.
    """

    def __init__(
        self,
        is_running: Callable[[], bool],
        idle_s: float = IDLE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_running, self._idle_s, self._clock = is_running, idle_s, clock
        self._used_at = clock()

    def use(self) -> None:
        """Note that somebody uses the server now."""
        self._used_at = self._clock()

    def is_over(self) -> bool:
        """Return whether nothing ran, and nobody looked, for `idle_s`; it may block."""
        if self._clock() - self._used_at < self._idle_s:
            return False
        if self._is_running():
            self.use()
        return self._clock() - self._used_at >= self._idle_s
