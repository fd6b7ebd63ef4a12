"""Main loop of a worker process: one trial after the other until it should stop."""

from __future__ import annotations

import os
import signal

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.worker.gang.plan import RankOrder
from overtone.worker.protocol import Channel
from overtone.worker.server.driver_environment import DriverEnvironment
from overtone.worker.server.preparation import make_ready


def serve(
    channel: Channel,
    job: Job,
    surroundings: DriverEnvironment | None = None,
    first: Start | RankOrder | None = None,
) -> None:
    """Run the trials, or the rank, that arrive over `channel`; return when this process should end.

    It runs one rank, or one trial. With `job.reuse` it runs more trials, as long as each ended cleanly and
    left no thread.

    Args:
        surroundings: The driver's environment, for which this process is prepared before each trial.
        first: The first order, if it has arrived.
    """
    from overtone.worker.server.run_trial import run_trial
    from overtone.worker.trainables.class_trial import KeptInstance

    _ignore_interrupts()
    # a process that the user's code forks must not keep the line open after this one's death
    os.register_at_fork(after_in_child=channel.close)
    kept = KeptInstance() if job.reuse else None
    try:
        while True:
            try:
                order = first or channel.receive(wait=True)
            except EOFError:
                return
            first = None
            if order is None:
                return
            if isinstance(order, RankOrder):
                from overtone.worker.server.run_rank import serve_rank

                if surroundings is not None:
                    make_ready(order.start, surroundings)
                serve_rank(channel, job, order)
                return
            if not isinstance(order, Start):
                continue  # meant for a trial that has already ended
            if surroundings is not None:
                make_ready(order, surroundings)
            is_clean = run_trial(channel, job, order, kept=kept)
            if kept is None or not is_clean:
                return
    finally:
        if kept is not None:
            kept.stop()


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the driver, which stops trials gracefully."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        pass  # not the main thread: then signals do not arrive here anyway
