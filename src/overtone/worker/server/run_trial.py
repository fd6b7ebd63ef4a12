"""Runs one trial in this process, and reports its end to the engine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from overtone.core.job import Job
from overtone.core.messages import Cause, Start
from overtone.core.sizes import shorten
from overtone.errors import TrainableError, TrialHalted
from overtone.store.folder_mark import FolderGoneError
from overtone.worker.protocol import Channel
from overtone.worker.session.current import activated
from overtone.worker.session.ended_session import ended_after
from overtone.worker.session.leftover_threads import GRACE_S, StartedThreads
from overtone.worker.session.session import Session
from overtone.worker.trainables.class_trial import KeptInstance, is_steppable, run_class
from overtone.worker.trainables.function_trial import FORMS, run_function
from overtone.worker.trainables.with_parameters import as_bound, resolve
from overtone.worker.working_directory import enter, hand_over_files, missing_file_advice

LONGEST_ERROR = 500
GONE_S = 3.0


def run_trial(
    channel: Channel,
    job: Job,
    start: Start,
    passing: tuple[type[BaseException], ...] = (),
    virtual: Callable[[], float] | None = None,
    kept: KeptInstance | None = None,
) -> bool:
    """Run the trial of `start` from beginning to end.

    Args:
        passing: Exceptions that do not end the trial, such as Ctrl-C in an engine that runs trials in
            its own process. They are raised, and no end is sent.
        virtual: Returns the virtual time in seconds, if time is simulated.
        kept: Storage for the object of a class trainable between two trials; None if the process is
            not used again.

    Returns:
        Whether user code ended cleanly and left no thread, so that the process may be used again.
    """
    threads = StartedThreads() if virtual is None else None  # simulated trials are threads themselves
    name = (start.trial_id, start.attempt)
    session: Session | None = None
    cause: Cause = "returned"
    error = traceback = ""
    try:
        session = Session(channel, job, start, *((virtual, True) if virtual else ()))
        channel.send(("started", *name, os.getpid(), os.uname().nodename, session.origin))
        with activated(session), ended_after(session, threads):
            if virtual is None:  # simulated trials share this process
                enter(job, start.trial_id)
            _call(job, session, kept)
            session.finish()
    except passing:
        raise
    except TrialHalted:
        cause = "halted"
    except EOFError as lost:
        if session is None:
            return False  # the driver was gone before the first message
        cause, error, traceback = _raised(lost, job)
    except SystemExit as end:
        if end.code not in (None, 0):
            cause, error, traceback = _raised(end, job)
    except FolderGoneError as gone:
        time.sleep(GONE_S)  # the driver notices within a second, and ends the run: this is not a failure
        cause, error = "lost", str(gone)
    except BaseException as raised:
        cause, error, traceback = _raised(raised, job)
    is_clean = session is None or not session.is_halted or (cause == "halted" and session.n_ignored == 0)
    if session is not None and session.is_halted:
        cause, error, traceback = ("returned" if session.is_done else "halted"), "", ""
        if session.notice.is_given and not session.is_done:
            is_clean, cause, error = False, "lost", "ended by SIGTERM, at a report"
    if session is not None:
        session.notice.disarm()
    left: Sequence[str] = ()
    if threads is not None and kept is not None:
        left = threads.names(GRACE_S)
        if left and kept.stop():  # they may be of the object that is kept
            left = threads.names(GRACE_S)
    _flush()
    hand_over_files(job, start.trial_id)
    try:
        if left:
            channel.send(("left_threads", *name, ", ".join(left)))
        channel.send(("ended", *name, cause, error, traceback))
    except EOFError:
        return False
    return is_clean and not left


def _call(job: Job, session: Session, kept: KeptInstance | None) -> None:
    """Call the trainable by its kind: class or function.

    Raises:
        TrainableError: The trainable cannot be called.
    """
    bound = as_bound(job.trainable)
    parameters = resolve({**bound.parameters, **job.parameters})
    trainable: Any = bound.trainable
    if is_steppable(trainable):
        run_class(trainable, session, job, parameters, kept)
    elif isinstance(trainable, type) or not callable(trainable):
        kind = "class without a step method" if isinstance(trainable, type) else type(trainable).__name__
        what = f"{trainable!r:.200} cannot be run: it is a {kind}"
        raise TrainableError(f"{what}\nA trainable is one of these:\n{FORMS}")
    else:
        run_function(trainable, session, parameters)


def _raised(error: BaseException, job: Job) -> tuple[Cause, str, str]:
    """Return the end of a trial that raised: cause, one line, and the user's part of the traceback."""
    from traceback import format_exception

    shown = "".join(format_exception(type(error), error, _user_part(error.__traceback__)))
    text = str(error).strip()
    line = f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
    if job.chdir_to_trial_dir and (advice := missing_file_advice(error)):
        line, shown = f"{line} ({advice})", f"{shown}{advice}\n"
    return "raised", line[:LONGEST_ERROR], shorten(shown)


def _user_part(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame outside this package on."""
    here = os.path.dirname(os.path.dirname(__file__)) + os.sep
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(here):
        traceback = traceback.tb_next
    return traceback


def _flush() -> None:
    """Flush the trial's output before its end is reported."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # the user closed or replaced it
