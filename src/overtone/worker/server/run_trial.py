"""Runs one trial in this process, and reports its end to the engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from overtone.core.job import Job
from overtone.core.messages import Cause, Start
from overtone.errors import TrainableError, TrialHalted, TrialLostError
from overtone.store.folder_mark import FolderGoneError
from overtone.worker import trial_gpu_memory
from overtone.worker.output import flush_output
from overtone.worker.protocol import Channel
from overtone.worker.server.trial_end import raised_end
from overtone.worker.session.current import activated
from overtone.worker.session.ended_session import ended_after
from overtone.worker.session.leftover_threads import GRACE_S, StartedThreads
from overtone.worker.session.session import Session
from overtone.worker.trainables.class_trial import KeptInstance, is_steppable, run_class
from overtone.worker.trainables.function_trial import FORMS, run_function
from overtone.worker.trainables.with_parameters import as_bound, resolve
from overtone.worker.working_directory import enter, hand_over_files

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
    is_counted = trial_gpu_memory.is_counted(start)
    session: Session | None = None
    cause: Cause = "returned"
    error = traceback = ""
    try:
        session = Session(channel, job, start, *((virtual, True) if virtual else ()))
        channel.send(("started", *name, os.getpid(), os.uname().nodename, session.origin))
        with activated(session), ended_after(session, threads):
            if virtual is None:  # simulated trials share this process
                enter(job, start.trial_id)
            if is_counted:
                trial_gpu_memory.limit(start)
            _call(job, session, kept)
            session.finish()
    except passing:
        raise
    except TrialHalted:
        cause = "halted"
    except EOFError as lost:
        if session is None:
            return False  # the driver was gone before the first message
        cause, error, traceback = raised_end(lost, job)
    except SystemExit as end:
        if end.code not in (None, 0):
            cause, error, traceback = raised_end(end, job)
    except TrialLostError as lost:
        cause, error = "lost", str(lost)
    except FolderGoneError as gone:
        time.sleep(GONE_S)  # the driver notices within a second, and ends the run: this is not a failure
        cause, error = "lost", str(gone)
    except BaseException as raised:
        cause, error, traceback = raised_end(raised, job, is_counted)
    is_clean = session is None or not session.is_halted or (cause == "halted" and session.n_ignored == 0)
    if session is not None and session.is_halted:
        cause, error, traceback = ("returned" if session.is_done else "halted"), "", ""
        if session.notice.is_given and not session.is_done:
            is_clean = False
            if not session.has_halt:
                cause, error = "lost", "ended by SIGTERM, at a report"
    if session is not None:
        session.notice.disarm()
    left: Sequence[str] = ()
    if threads is not None and kept is not None:
        left = threads.names(GRACE_S)
        if left and kept.stop():  # they may be of the object that is kept
            left = threads.names(GRACE_S)
    flush_output()
    hand_over_files(job, start.trial_id)
    try:
        if left:
            channel.send(("left_threads", *name, ", ".join(left)))
        if is_counted and (peak := trial_gpu_memory.peak(start)):
            channel.send(("gpu_memory", *name, peak))
        channel.send(("ended", *name, cause, error, traceback))
    except EOFError:
        return False
    return is_clean and not left and not is_counted  # GPU memory is free when its process has ended


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
