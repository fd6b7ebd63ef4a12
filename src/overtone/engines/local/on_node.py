"""`Local` on a node of a cluster: the Job arrives pickled, and the driver tracks the resources."""

from __future__ import annotations

import os
from collections.abc import Callable
from selectors import EVENT_READ
from socket import socket

from overtone.core.job import Job
from overtone.core.messages import Event, Reported
from overtone.engines.local.engine import NODE, Local
from overtone.engines.local.payload import nameless_file, write_payload
from overtone.engines.local.process import LocalAttempt
from overtone.worker.message_codec import Message
from overtone.worker.protocol import event as event_of
from overtone.worker.server import requests


class LocalOnNodes:
    """Access to `Local` for an engine of many nodes: each node's trials run in one `OnNode`."""

    def pack(self, job: Job) -> bytes:
        """Return the pickled Job, for any node.

        Raises:
            TrainableError: The Job cannot be pickled; the message names the variable at fault.
        """
        descriptor = write_payload(job, (), is_warm=True)
        try:
            return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        finally:
            os.close(descriptor)

    def open(self, packed: bytes, job: Job) -> OnNode:
        """Return an open engine of this node.

        Args:
            packed: The result of `pack`.
            job: The same Job without the trainable, which is not loaded in this process.
        """
        engine = OnNode(packed)
        engine.open(job)
        return engine


class OnNode(Local):
    """Runs trials of a pickled Job; it accepts all trials that are submitted.

    The Start of a trial with accelerators names the accelerators.

    Attributes:
        on_lines: Called with (trial_id, trial's name, pid, "stdout" or "stderr", lines) for the
            output of a trial.
        on_largest: Called with (trial_id, attempt, memory use as text) for the trial that would be
            ended first if memory ran short.
    """

    def __init__(self, packed: bytes) -> None:
        super().__init__(cpus=1, gpus=0, memory=1)
        self._packed = packed
        self.on_lines: Callable[[str, str, int, str, list[str]], None] = lambda *_: None
        self.on_largest: Callable[[str, int, str], None] = lambda *_: None

    def watch(self, sock: socket, call: Callable[[int], None]) -> None:
        """Call `call` in a `poll` whenever `sock` can be read."""
        self._loop.selector.register(sock, EVENT_READ, call)

    def kill(self, trial_id: str) -> None:
        """Kill a trial's processes and the processes that they started."""
        attempt = self._running.get(trial_id)
        if attempt is not None:
            self._crew.signal(attempt, requests.KILL)

    def _payload(self, job: Job) -> int:
        with nameless_file() as file:
            file.write(self._packed)
            file.flush()
            self._packed = b""
            return os.dup(file.fileno())

    def _event(self, attempt: LocalAttempt, message: Message, now: float) -> Event:
        if message[0] != "reported":
            return event_of(message, now, NODE)
        _, trial_id, number, t, raw, checkpoint = message
        # metrics are not decoded here: the driver reads and checks them
        return Reported(now, trial_id, number, t, {}, checkpoint, raw)

    def _show(self, trial_id: str, name: str, pid: int, stream: str, lines: list[str]) -> None:
        self.on_lines(trial_id, name, pid, stream, lines)
        self._loop.is_woken = True

    def _on_largest(self, attempt: LocalAttempt, text: str) -> None:
        self.on_largest(attempt.start.trial_id, attempt.start.attempt, text)
        self._loop.is_woken = True
