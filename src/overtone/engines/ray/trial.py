"""The body of a trial that runs in an actor of its own, from where it may use Ray."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

from overtone.core.messages import Start
from overtone.engines.ray.line import call
from overtone.engines.ray.relay import Errand
from overtone.worker import threads
from overtone.worker.trial_channel import cpu_threads
from overtone.worker.wire import SocketChannel

_LENGTH = struct.Struct("<Q")


def run_trial(errand: Errand, start: Start, fetch: Callable[[Any], bytes]) -> None:
    """Run the trial of `start` in this process, and tell the driver how it goes.

    Args:
        fetch: Gives what a reference stands for.
    """
    import pickle

    from overtone.core.job import Job
    from overtone.worker import body
    from overtone.worker.surroundings import Surroundings, explain

    sock = call(errand.address, errand.token)
    channel = SocketChannel(sock)
    channel.send(("hello", start.trial_id, start.attempt, os.getpid()))
    shares = errand.shares_disk
    if shares:
        try:
            os.chdir(errand.cwd)
        except OSError:
            pass  # it runs where Ray has put this process
    packed = BytesIO(fetch(errand.packed[not shares]))
    header = packed.read(_LENGTH.unpack(packed.read(_LENGTH.size))[0])
    surroundings = cast(Surroundings, pickle.loads(header))
    threads.limit(cpu_threads(start), surroundings.thread_variables)
    try:
        job = cast(Job, pickle.load(packed))
    except BaseException as error:
        channel.send(("ended", start.trial_id, start.attempt, "raised", *explain(error)))
    else:
        job.folder.mkdir(parents=True, exist_ok=True)
        body.run_trial(channel, job, start)
    channel.close()
