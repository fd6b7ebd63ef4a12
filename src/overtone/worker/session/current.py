"""The session of the trial in this process, for the module-level calls."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from overtone.errors import TrainableError
from overtone.worker.session.session import Session

_current: Session | None = None
_bound: dict[int, Session] = {}
"""Sessions of ended trials by the native ids of threads that the trials left, and of ranks in threads."""

_ranks: set[int] = set()
"""The native ids of threads that are ranks."""


def current() -> Session:
    """Return the session of the trial in this process, for any of its threads.

    A thread that an ended trial left gets the session of that trial. If no trial runs, a new thread gets
    it as well, since only a thread that was left can have started the new thread.

    Raises:
        TrainableError: No trial runs in this process.
    """
    if _bound and (ended := _bound.get(threading.get_native_id())) is not None:
        return ended
    if _current is None:
        if _bound and threading.current_thread() is not threading.main_thread():
            return next(reversed(_bound.values()))
        raise TrainableError(
            "no trial runs here: report(), get_checkpoint() and the like work inside a trainable that "
            "tune.run(trainable, ...) or Tuner(trainable, ...).fit() called"
        )
    return _current


def swap(session: Session | None) -> Session | None:
    """Make `session` the current session, and return the previous one."""
    global _current
    before, _current = _current, session
    return before


def is_inside() -> bool:
    """Return whether a trial runs in this process and this thread is not left from an earlier trial."""
    if _current is None or not _bound:
        return _current is not None
    thread = threading.get_native_id()
    return thread not in _bound or thread in _ranks


def bind(native_ids: Iterable[int], session: Session) -> None:
    """Make `current()` return `session`, whose trial has ended, in these threads from now on."""
    _bound.update((one, session) for one in native_ids if one not in _bound)


def unbind_all_but(native_ids: AbstractSet[int]) -> None:
    """Forget the other threads, which are gone: the system may reuse their ids for new threads."""
    for gone in _bound.keys() - native_ids if _bound else ():
        del _bound[gone]


@contextmanager
def activated_here(session: Session) -> Iterator[None]:
    """Make `session`, that of a rank in a thread of its head's process, the current one for this thread."""
    thread = threading.get_native_id()
    _bound[thread] = session
    _ranks.add(thread)
    try:
        yield
    finally:
        _ranks.discard(thread)
        _bound.pop(thread, None)


@contextmanager
def activated(session: Session) -> Iterator[None]:
    """Make `session` the current one for the block."""
    global _current
    before, _current = _current, session
    try:
        yield
    finally:
        _current = before
