"""Threads that a trial has started and not ended.

A Python thread that is left may call `report()` at any time, or wait for the driver. A process with
such a thread is not used for another trial. Pools of C libraries (BLAS, OpenMP, torch) stay
until the process ends and call no Python code: they do not count.
"""

from __future__ import annotations

import _thread
import os
import threading
import time

GRACE_S = 0.25
"""Longest wait at a trial's end for threads that are about to end, in seconds."""

_LOOK_EVERY_S = 0.002
_TASKS = "/proc/self/task"


class StartedThreads:
    """The running threads that were started after this object was made.

    Attributes:
        native_before: Native ids of the threads that ran at that time.
    """

    def __init__(self) -> None:
        threads = threading.enumerate()
        self._before = set(threads)
        self._n_before = _thread._count()
        # listing threads costs the system several times as much as counting them
        is_alone = len(threads) == 1 and _count_native() == 1
        self.native_before = {threading.get_native_id()} if is_alone else native_ids_now()

    def names(self, grace_s: float = 0.0) -> list[str]:
        """Return the names of the threads that still run, after a wait of up to `grace_s` for their end."""
        names = self._names()
        give_up_at = time.monotonic() + grace_s if names else 0.0
        while names and time.monotonic() < give_up_at:
            time.sleep(_LOOK_EVERY_S)
            names = self._names()
        return names

    def native_ids(self) -> set[int]:
        """Return the native ids of the threads, including those of C libraries."""
        before, n_now = self.native_before, _count_native()
        if n_now == 1:  # the caller's
            return set()
        found = {one.native_id for one in self._threads() if one.native_id is not None}
        return found if n_now == len(before) else found | (native_ids_now() - before)

    def _threads(self) -> list[threading.Thread]:
        return [one for one in threading.enumerate() if one not in self._before and _is_alive(one)]

    def _names(self) -> list[str]:
        threads = self._threads()
        if not threads and _thread._count() <= self._n_before:
            return []
        known = sum(not isinstance(one, threading._DummyThread) for one in threads)
        hidden = _thread._count() - self._n_before - known
        has_fsspec = any(one.name == "fsspecIO" for one in threading.enumerate())
        names = [one.name for one in threads if not _stays(one, has_fsspec)]
        return names + ["one without a name"] * min(hidden, 1 - bool(names))


def _is_alive(thread: threading.Thread) -> bool:
    """Return whether a thread runs; `threading` never sees the end of threads it did not start."""
    if isinstance(thread, threading._DummyThread) and os.path.isdir(_TASKS):
        return os.path.exists(f"{_TASKS}/{thread.native_id}")
    return thread.is_alive()


def _stays(thread: threading.Thread, has_fsspec: bool) -> bool:
    """Return whether a library keeps the thread for the life of the process, without user code.

    Such threads are tqdm's monitor and the threads with which fsspec saves to a URL.
    """
    if thread.name == "fsspecIO" or type(thread).__module__ == "tqdm._monitor":
        return True
    return has_fsspec and thread.name.startswith("asyncio_")


def _count_native() -> int:
    """Return the number of threads of this process; 0 if the system does not report it."""
    try:
        return os.stat(_TASKS).st_nlink - 2
    except OSError:
        return 0


def native_ids_now() -> set[int]:
    """Return the native ids of this process's threads; off Linux, only those that Python knows."""
    try:
        return set(map(int, os.listdir(_TASKS)))
    except OSError:
        return {one.native_id for one in threading.enumerate() if one.native_id is not None}
