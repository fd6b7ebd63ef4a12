"""Trial processes that are forked from the server, which has imported the user's modules."""

from __future__ import annotations

import gc
import os
import socket
import sys
from typing import NoReturn

from overtone.core.job import Job
from overtone.worker import gpus, output, sigterm, threads
from overtone.worker.protocol import SocketChannel
from overtone.worker.server.driver_environment import DriverEnvironment
from overtone.worker.server.spawn import run_to_the_end
from overtone.worker.server.worker_process import serve


def unsafe_to_fork() -> str:
    """Return why trials of this process cannot be forked; empty if they can."""
    if gpus.is_cuda_initialised():
        return "importing its modules initialises CUDA, which does not work in a fork"
    lost = threads.lost_in_a_fork()
    return f"importing its modules starts threads, which a fork would lose ({lost})" if lost else ""


def run_forked(job: Job, surroundings: DriverEnvironment, descriptors: list[int], board: int) -> NoReturn:
    """Run as a trial's process, in a fork of the server.

    Args:
        job: The Job to run.
        surroundings: The driver's environment.
        descriptors: The process's connection to the driver, its stdout, its stderr.
        board: Descriptor where the process notes a SIGTERM; see `sigterm`.
    """
    sigterm.listen(board)
    line, stdout, stderr = descriptors
    output.redirect(stdout, stderr)
    _reseed_numpy()
    gc.enable()
    # All arguments are given, so that no system call has to find them.
    channel = SocketChannel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, line))
    run_to_the_end(lambda: serve(channel, job, surroundings))


def _reseed_numpy() -> None:
    """Reseed NumPy's global generator in this fork, as Python itself reseeds `random`.

    A generator that the user's module seeded keeps its state, as in a new process that imports the
    module.
    """
    module = sys.modules.get("numpy.random.mtrand")
    if module is None:
        return
    bits = getattr(getattr(module, "_rand", None), "_bit_generator", None)
    if getattr(bits, "_seed_seq", None) is not None:
        module.seed(int.from_bytes(os.urandom(4), "little"))
