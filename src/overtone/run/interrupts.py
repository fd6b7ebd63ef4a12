"""Ctrl-C and SIGTERM during a run: the first one ends it gracefully, the second Ctrl-C at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from overtone.standard_streams import say
from overtone.store.room import hurry, unhurry


@contextmanager
def interruptible(
    interrupt: Callable[[], None], is_silent: bool = False, catches: bool = True
) -> Iterator[list[int]]:
    """Call `interrupt` at the first SIGINT or SIGTERM; raise at the second one.

    Args:
        catches: False leaves signals alone.

    Yields:
        The numbers of the received signals, which grow during the block.

    Raises:
        KeyboardInterrupt: A second SIGINT arrived.
        SystemExit: A second signal arrived, and one of them was SIGTERM.
    """
    seen: list[int] = []
    if not catches or threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        if len(seen) > 1:
            raise KeyboardInterrupt
        if not is_silent:
            say("interrupted: letting trials save and end; press Ctrl-C again to end them at once")
        hurry()  # Waits for room on a full disk must end now.
        interrupt()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        unhurry()
        for number, handler in before.items():
            signal.signal(number, handler)
    if signal.SIGTERM in seen:
        raise SystemExit(128 + signal.SIGTERM)  # Do not run the rest of the script.
