"""Shows a run's log here, on and on: a lost connection neither doubles nor loses a byte."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from shutil import get_terminal_size

from overtone.cluster.head import Head
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.observers.display.held_signals import held_signals

PATIENCE_S = 90.0
"""Seconds that a head may be out of reach before the command ends. The run goes on meanwhile."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 10.0
_LOOK_S = 1.0
_SHOW_CURSOR, _HIDE_CURSOR = b"\x1b[?25h", b"\x1b[?25l"
_UP = b"\x1b[1A"


class Screen:
    """Standard output, which may be closed early: the run goes on then.

    Args:
        fd: Where to write.

    Attributes:
        has_table: Whether the run redraws a table: it has hidden the cursor.
    """

    def __init__(self, fd: int | None = None) -> None:
        self._fd = sys.stdout.fileno() if fd is None else fd
        self._is_open = True
        self._ends_line = True
        self._n_added = 0
        self._tail = b""
        self.has_table = False

    def write(self, data: bytes) -> None:
        """Write all bytes."""
        view = memoryview(data)
        while view and self._is_open:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # nobody reads it any more
                self._is_open = False
        if data:
            self._ends_line = data.endswith(b"\n")
            seen = self._tail + data
            shown, hidden = seen.rfind(_SHOW_CURSOR), seen.rfind(_HIDE_CURSOR)
            if shown != hidden:
                self.has_table = hidden > shown
            self._tail = data[-len(_SHOW_CURSOR) :]

    def leave(self, has_terminal: bool) -> None:
        """Make a terminal fit for the next line of this command: a live table may have hidden the cursor."""
        has_table = self.has_table
        if has_terminal:
            self.write(_SHOW_CURSOR)
        self._n_added = 0 if self._ends_line else 1
        if not self._ends_line:
            self.write(b"\n")
        self.has_table = has_table

    def come_back(self) -> None:
        """Undo `leave`, if the cursor is where that left it: the table is redrawn in its place."""
        self.write(_UP * self._n_added + _HIDE_CURSOR)
        self._ends_line = not self._n_added


class Following:
    """Follows the log of one run.

    Args:
        head: The head of its cluster.
        run_id: The run.
        screen: Where the log goes.
        offset: The first byte that is shown; -n begins n bytes before the end of the log.
        has_terminal: Whether the run draws for a terminal, whose size it is told.
        say: Shows a line about the connection.
        is_over: Whether another command has seen the run to its end, and perhaps taken the head down.
        patience_s: See `PATIENCE_S`.
    """

    def __init__(
        self,
        head: Head,
        run_id: str,
        screen: Screen,
        offset: int = 0,
        has_terminal: bool = False,
        say: Callable[[str], None] = lambda text: None,
        is_over: Callable[[], bool] = lambda: False,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.offset = offset
        self._head, self._run_id, self._screen = head, run_id, screen
        self._has_terminal, self._say, self._patience_s = has_terminal, say, patience_s
        self._sleep = sleep
        self._clock, self._is_over = clock, is_over
        self._is_known = offset >= 0
        self._is_connected = False

    def to_end(self) -> None:
        """Show the log until the run has ended.

        Raises:
            UnreachableError: The head was out of reach for `PATIENCE_S`.
            RemoteError: The run is not there.
        """
        pause_s = _FIRST_PAUSE_S
        lost_at: float | None = None
        with _SizeWatch(self._head, self._run_id) if self._has_terminal else nullcontext():
            while True:
                self._is_connected = False
                try:
                    self._head.follow(self._run_id, self.offset, self._show)
                    return
                except UnreachableError as error:
                    if self._is_over():
                        return
                    now = self._clock()
                    if self._is_connected or lost_at is None:
                        pause_s, lost_at = _FIRST_PAUSE_S, now
                        self._say(f"{error} The run goes on there; connecting again")
                    if now - lost_at > self._patience_s:
                        raise
                    self._sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _show(self, offset: int, data: bytes) -> None:
        with held_signals():  # Ctrl-C must not come between a byte and its count.
            self._is_connected = True
            if not self._is_known:
                self.offset, self._is_known = offset, True
            if offset > self.offset:
                note = f"[{offset - self.offset} bytes of output are not kept any more]"
                self._screen.write(f"\r\n{note}\r\n".encode())
                self.offset = offset
            fresh = data[self.offset - offset :]
            self._screen.write(fresh)
            self.offset += len(fresh)


class _SizeWatch:
    """Tells the run's terminal the size of this one, in a thread, at once and when it changes."""

    def __init__(self, head: Head, run_id: str) -> None:
        self._head, self._run_id = head, run_id
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="overtone-terminal-size", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(_LONGEST_PAUSE_S)

    def _watch(self) -> None:
        known = None
        while True:
            size = get_terminal_size()
            if size != known:
                with suppress(RemoteError, UnreachableError):
                    self._head.resize(self._run_id, size.columns, size.lines)
                    known = size
            if self._is_over.wait(_LOOK_S):
                return
