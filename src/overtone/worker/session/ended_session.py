"""The session of an ended trial: late reports and saves are ignored."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from overtone.core.types import Checkpoint as Reference
from overtone.errors import TrialHalted
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.message_codec import Message
from overtone.worker.protocol import Channel, Nothing, Order
from overtone.worker.session.current import bind, unbind_all_but
from overtone.worker.session.leftover_threads import StartedThreads
from overtone.worker.session.session import Session


class EndedSession(Session):
    """The class of a session after its trial has ended.

    A thread that the trial left may still use the session or one of its methods. Reports and saves are
    dropped, with one warning; a new directory to save into raises TrialHalted. Facts such as
    `get_trial_id()` remain available.
    """

    def _report(self, values: dict[str, Any], checkpoint: Any, now: float) -> None:
        _warn_once(self, "report()")

    def report_with_state(self, metrics: Mapping[str, Any], is_automatic: bool = False) -> None:
        _warn_once(self, "report()")

    def should_checkpoint(self) -> bool:
        _warn_once(self, "should_checkpoint()")
        return False

    def record_checkpoint(self, path: str | os.PathLike[str]) -> None:
        _warn_once(self, "record_checkpoint()")

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        _warn_once(self, "save_checkpoint()")

    def make_checkpoint_dir(self) -> str:
        self._refuse("make_checkpoint_dir()")

    @contextmanager
    def checkpoint_dir(self, step: int | None = None) -> Iterator[str]:
        self._refuse("checkpoint_dir()")
        yield ""

    def get_checkpoint(self) -> Checkpoint | None:
        _warn_once(self, "get_checkpoint()")
        return None

    @property
    def checkpoint(self) -> str | None:
        _warn_once(self, "checkpoint")
        return None

    @property
    def saved_state(self) -> Any:
        _warn_once(self, "checkpoint")
        return None

    # --- for methods that were taken from the session before the end -------------------------

    def _kept(self, save: Callable[[], Reference | None], is_automatic: bool = False) -> Reference | None:
        _warn_once(self, "record_checkpoint()")
        return None

    def _refuse(self, what: str) -> NoReturn:
        _warn_once(self, what)
        raise TrialHalted(f"trial {self.get_trial_id()} has ended")


def _warn_once(session: Session, what: str) -> None:
    with session._lock:
        session._attempts.tell_once(
            "ended",
            f"thread {threading.current_thread().name!r} used {what} after the trial had ended. This call "
            "and all later ones are ignored: join the threads that a trial starts before it ends",
        )


class _Silence(Channel):
    """The channel of an ended session."""

    def send(self, message: Message) -> None:
        """Drop the message."""

    def receive(self, wait: bool) -> Order | Nothing:
        """Raise EOFError: an ended session gets no order.

        Raises:
            EOFError: Always.
        """
        raise EOFError("the trial has ended")


@contextmanager
def ended_after(session: Session, threads: StartedThreads | None) -> Iterator[None]:
    """End `session` when the block ends.

    A report that another thread has begun is completed first: otherwise its wait would take the orders
    of a later trial.

    Args:
        threads: Made when the trial began. Threads that the trial left keep this session; None if
            threads of several trials run in this process.
    """
    if threads is not None:
        unbind_all_but(threads.native_before)
    try:
        yield
    finally:
        vars(session)["_report"] = lambda *_: _warn_once(session, "report()")  # for reports not begun
        try:
            with session._lock:
                pass
        finally:
            session.__class__ = EndedSession
            session._channel = _Silence()
            if threads is not None:
                bind(threads.native_ids(), session)
