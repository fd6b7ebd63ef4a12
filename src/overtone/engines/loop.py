"""Waits for descriptors, for timers and for `wake`, in one thread."""

from __future__ import annotations

import heapq
import os
import selectors
import time
from collections.abc import Callable
from typing import TypeVar

_E = TypeVar("_E")


class MayClose:
    """A context that ignores errors of a loop that was closed inside it; see `Loop.may_close`.

    A class, because a context made from a generator takes ten times as long.
    """

    __slots__ = ("_loop",)

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        """Do nothing on entry."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        is_of_closing = kind is not None and issubclass(kind, (OSError, ValueError, KeyError))
        return is_of_closing and self._loop.is_closed


class Loop:
    """A selector whose keys' data are callables of the event mask, with timers.

    Attributes:
        selector: The selector for the descriptors of other modules.
        is_woken: Whether `wake` was called since this was last set to False.
        is_closed: Whether `close` was called; a wait then returns at once.
    """

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.is_woken = False
        self.is_closed = False
        self._may_close = MayClose(self)
        self._opened_at = time.monotonic()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timers_made = 0
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        self.selector.register(self._wake_read, selectors.EVENT_READ, self._on_wake)

    def now(self) -> float:
        """Return the seconds since `restart_clock`, in whole microseconds to keep records short."""
        return int((time.monotonic() - self._opened_at) * 1e6) / 1e6

    def restart_clock(self, from_s: float) -> None:
        """Restart the clock at `from_s` seconds."""
        self._opened_at = time.monotonic() - from_s

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Call `call` in a `wait` at this time."""
        self._timers_made += 1
        heapq.heappush(self._timers, (time, self._timers_made, call))

    def wake(self) -> None:
        """Make a wait return; callable from any thread and from a signal handler."""
        try:
            os.write(self._wake_write, b"\0")
        except OSError:
            pass  # the pipe is full of earlier wakes, or the loop is closed

    def poll(self, timeout_s: float | None, events: list[_E], gather: Callable[[], None]) -> list[_E]:
        """Return all of `events`, as an engine's `poll` does, and empty the list.

        Waits until there are events, `wake` was called, the loop is closed or `timeout_s` has passed.

        Args:
            gather: Called after each wait; it may add events.
        """
        until = None if timeout_s is None else self.now() + timeout_s
        self.is_woken = False
        while True:
            self.wait(0.0 if events else until)
            gather()
            if events or self.is_woken or self.is_closed or (until is not None and self.now() >= until):
                break
        found = events[:]
        events.clear()
        return found

    def may_close(self) -> MayClose:
        """Return a context that ends without an error if a signal closes the loop inside it."""
        return self._may_close

    def wait(self, until: float | None) -> None:
        """Wait for descriptors or timers, at most until this time, and call their callables."""
        with self.may_close():
            self._wait(until)

    def _wait(self, until: float | None) -> None:
        if self._timers and (until is None or self._timers[0][0] < until):
            until = self._timers[0][0]
        for key, mask in self.selector.select(None if until is None else max(0.0, until - self.now())):
            if self.is_closed:
                return
            key.data(mask)
        while self._timers and self._timers[0][0] <= self.now():
            heapq.heappop(self._timers)[2]()

    def _on_wake(self, mask: int) -> None:
        os.read(self._wake_read, 4096)
        self.is_woken = True

    def close(self) -> None:
        """Close the selector and the pipe of the loop; call it only once."""
        self.selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self._wake_write = -1
