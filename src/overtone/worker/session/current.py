"""The session of the trial that runs in this process, for the module-level calls."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from overtone.errors import TrainableError
from overtone.worker.session.session import Session

_current: Session | None = None
_bound: dict[int, Session] = {}
"""The sessions of trials that have ended, by the native ids of threads that they have left."""


def current() -> Session:
    """The session of the trial that runs in this process, from any of its threads.

    A thread that an earlier trial has left gets the session of that trial. If no trial runs, so does a
    thread that began after that trial's end, since only a thread that was left can have started it.

    Raises:
        TrainableError: No trial runs here.
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
    """The current session, in whose place `session` is the current one from now on."""
    global _current
    before, _current = _current, session
    return before


def is_inside() -> bool:
    """Whether a trial runs in this process, and the caller is no thread that an earlier one has left."""
    return _current is not None and not (_bound and threading.get_native_id() in _bound)


def bind(native_ids: Iterable[int], session: Session) -> None:
    """Let `current()` return `session`, whose trial has ended, in these threads from now on."""
    _bound.update((one, session) for one in native_ids if one not in _bound)


def unbind_all_but(native_ids: AbstractSet[int]) -> None:
    """Forget the other threads, which are gone: the system may give the id of one to a new thread."""
    for gone in _bound.keys() - native_ids if _bound else ():
        del _bound[gone]


@contextmanager
def activated(session: Session) -> Iterator[None]:
    """Make `session` the current one for the block."""
    global _current
    before, _current = _current, session
    try:
        yield
    finally:
        _current = before
