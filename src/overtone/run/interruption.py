"""Handling of Ctrl-C and SIGTERM during a run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from overtone.standard_streams import say
from overtone.store.room import hurry, unhurry


@contextmanager
def ctrl_c(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` at the first SIGINT or SIGTERM; raise at the second SIGINT."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        if len(seen) > 1:
            raise KeyboardInterrupt
        say("interrupted: letting trials save and end; once more to end them at once")
        hurry()  # Waits for room on a full disk must end now.
        interrupt()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        unhurry()
        for number, handler in before.items():
            signal.signal(number, handler)
    if signal.SIGTERM in seen:
        raise SystemExit(128 + signal.SIGTERM)  # Do not run the rest of the script.
