"""The session of the trial that runs in this process, for the module-level calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from overtone.errors import TrainableError
from overtone.worker.session import Session

_current: Session | None = None


def current() -> Session:
    """The session of the trial that runs in this process, from any of its threads.

    Raises:
        TrainableError: No trial runs here.
    """
    if _current is None:
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
    """Whether a trial runs in this process."""
    return _current is not None


@contextmanager
def activated(session: Session) -> Iterator[None]:
    """Make `session` the current one for the block."""
    global _current
    before, _current = _current, session
    try:
        yield
    finally:
        _current = before
