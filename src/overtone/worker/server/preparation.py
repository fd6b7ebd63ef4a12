"""Preparation of a process for a trial: GPUs, thread limits and output files."""

from __future__ import annotations

import os

from overtone.core.messages import Start
from overtone.worker import gpus, output, threads
from overtone.worker.server.driver_environment import DriverEnvironment


def cpu_threads(start: Start) -> int:
    """Return the number of threads for a trial's pools: its process's CPUs, at least 1."""
    return max(1, int(dict(start.resources.bundles[0]).get("cpu", 0)))


def make_ready(start: Start, surroundings: DriverEnvironment) -> None:
    """Prepare this process for the trial of `start`: GPUs, threads, output files."""
    for name, value in gpus.variables(start, surroundings.gpu_ids):
        os.environ[name] = value
    threads.limit(cpu_threads(start), surroundings.thread_variables)
    if surroundings.log_to_file is not None:
        folder = os.path.join(surroundings.folder, start.trial_id)
        output.redirect_to_files(folder, surroundings.log_to_file)
