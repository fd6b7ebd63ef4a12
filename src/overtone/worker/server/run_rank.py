"""Runs one rank of a gang in this process, and reports its end to the engine."""

from __future__ import annotations

import os

from overtone.core.job import Job
from overtone.core.messages import Cause
from overtone.worker.gang.plan import RankOrder
from overtone.worker.output import flush_output
from overtone.worker.protocol import Channel
from overtone.worker.server.trial_end import raised_end
from overtone.worker.sigterm import Notice
from overtone.worker.working_directory import enter


def serve_rank(channel: Channel, job: Job, order: RankOrder) -> None:
    """Run the rank of `order` until its head lets it go.

    A SIGTERM does not end the process: it is the trial's, whose head may save.
    """
    from overtone.worker.gang.rank import run_rank

    name = (order.start.trial_id, order.start.attempt)
    cause: Cause = "returned"
    error = traceback = ""
    channel.send(("started", *name, os.getpid(), os.uname().nodename, None))
    notice = Notice()
    notice.arm()
    try:
        enter(job, order.start.trial_id)
        run_rank(job, order, notice)
    except SystemExit as end:
        if end.code not in (None, 0):
            cause, error, traceback = raised_end(end, job)
    except BaseException as raised:
        cause, error, traceback = raised_end(raised, job)
    notice.disarm()
    flush_output()
    channel.send(("ended", *name, cause, error, traceback))
