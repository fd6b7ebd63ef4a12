"""A worker's connection to its engine, which prepares the process for each trial."""

from __future__ import annotations

import os
from socket import socket

from overtone.core.messages import Start
from overtone.worker import gpus, output, threads
from overtone.worker.protocol import Nothing, Order, SocketChannel
from overtone.worker.server.driver_environment import Surroundings


class TrialChannel(SocketChannel):
    """A channel that sets GPUs, thread limits and output files whenever it receives a Start."""

    def __init__(self, sock: socket, surroundings: Surroundings) -> None:
        super().__init__(sock)
        self._surroundings = surroundings

    def receive(self, wait: bool) -> Order | Nothing:
        order = super().receive(wait)
        if isinstance(order, Start):
            make_ready(order, self._surroundings)
        return order

    def put_back(self, order: Order) -> None:
        """Make the next `receive` return `order`."""
        self._orders.appendleft(order)


def cpu_threads(start: Start) -> int:
    """Return the number of threads for a trial's pools: its process's CPUs, at least 1."""
    return max(1, int(dict(start.resources.bundles[0]).get("cpu", 0)))


def make_ready(start: Start, surroundings: Surroundings) -> None:
    """Prepare this process for the trial of `start`: GPUs, threads, output files."""
    for name, value in gpus.variables(start, surroundings.gpu_ids):
        os.environ[name] = value
    threads.limit(cpu_threads(start), surroundings.thread_variables)
    if surroundings.log_to_file is not None:
        folder = os.path.join(surroundings.folder, start.trial_id)
        output.redirect_to_files(folder, surroundings.log_to_file)
