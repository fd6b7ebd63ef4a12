"""Keeps the collector of garbage away while it would find nothing: what is made stays, or frees itself."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_SELDOM = (50_000, 20, 10)

_changing = Lock()
_n_seldom = 0
_before = (0, 0, 0)


@contextmanager
def not_collecting() -> Iterator[None]:
    """Keep the collector away, which takes a fifth of the time where much is made that stays."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let the collector look seldom: each batch of results makes more objects than it waits for by default.

    The thresholds belong to the process. The last of several blocks restores them.
    """
    global _n_seldom, _before
    with _changing:
        if not _n_seldom:
            _before = gc.get_threshold()
            if _before[0]:  # 0: somebody has switched it off
                gc.set_threshold(*map(max, _before, _SELDOM))
        _n_seldom += 1
    try:
        yield
    finally:
        with _changing:
            _n_seldom -= 1
            if not _n_seldom:
                gc.set_threshold(*_before)
