"""Looks for new records while somebody waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

IDLE_S = 10.0
"""Seconds without a wait after which nobody looks any more."""


class JournalPoller:
    """One thread for all who wait for the records of one experiment; it ends when nobody does.

    Args:
        read: Reads on, and returns what changes with each new record or reading.
        interval_s: Seconds between two readings.
    """

    def __init__(self, read: Callable[[], object], interval_s: float) -> None:
        self._read, self._interval_s = read, interval_s
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted_until = 0.0
        self._state: object = None
        self._is_closed = False

    def wait(self, is_new: Callable[[], bool], timeout_s: float) -> None:
        """Return as soon as `is_new`, or after some seconds."""
        with self._changed:
            self._wanted_until = max(self._wanted_until, time.monotonic() + timeout_s + IDLE_S)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._follow, name="overtone-ui-follow", daemon=True)
                self._thread.start()
            self._changed.wait_for(lambda: self._is_closed or is_new(), timeout_s)

    @property
    def is_running(self) -> bool:
        """Whether somebody waits, or did a moment ago."""
        return self._thread is not None

    def close(self) -> None:
        """End the thread, and whoever waits."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _follow(self) -> None:
        while True:
            try:
                state = self._read()
            except Exception as error:  # Whoever waits asks again, and gets the error.
                state = repr(error)
            with self._changed:
                if state != self._state:
                    self._state = state
                    self._changed.notify_all()
                if self._is_closed or time.monotonic() > self._wanted_until:
                    self._thread = None
                    return
                self._changed.wait_for(lambda: self._is_closed, self._interval_s)
