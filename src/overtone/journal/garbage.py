"""Fewer runs of the garbage collector while it would find nothing to free."""

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
    """Turn the collector off in the block: with many lasting objects it takes a fifth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Run the collector less often: one batch of results makes more objects than its default threshold.

    The thresholds belong to the process. The last of several blocks restores them.
    """
    global _n_seldom, _before
    with _changing:
        if not _n_seldom:
            _before = gc.get_threshold()
            if _before[0]:  # 0: the collector is switched off
                gc.set_threshold(*map(max, _before, _SELDOM))
        _n_seldom += 1
    try:
        yield
    finally:
        with _changing:
            _n_seldom -= 1
            if not _n_seldom:
                gc.set_threshold(*_before)
