"""`Local` on a node of a cluster: the Job arrives pickled, and the driver tracks the resources."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from selectors import EVENT_READ
from socket import socket

from overtone.core.job import Job
from overtone.core.messages import Command, Event, Reported
from overtone.engines.local.engine import NODE, Local
from overtone.engines.local.gangs import ranks_of
from overtone.engines.local.payload import nameless_file, write_payload
from overtone.engines.local.process import Account, LocalAttempt
from overtone.worker.gang.plan import RankOrder
from overtone.worker.message_codec import Message
from overtone.worker.protocol import RanksGone
from overtone.worker.protocol import event as event_of
from overtone.worker.server import requests

_ENDED_ELSEWHERE: Account = ("killed", "the trial has ended on another node", "", False)


class LocalOnNodes:
    """Access to `Local` for an engine of many nodes: each node's trials run in one `OnNode`."""

    def pack(self, job: Job, preload: Sequence[str] = ()) -> bytes:
        """Return the pickled Job, for any node.

        Args:
            preload: Modules that the processes have imported, beside those that the Job needs.

        Raises:
            TrainableError: The Job cannot be pickled; the message names the variable at fault.
        """
        descriptor = write_payload(job, (), is_warm=True, preload=preload)
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
        on_ranks: Called with a message about ranks for the driver, which knows the nodes of all bundles:
            what a head asks for, or what became of the ranks here.
    """

    def __init__(self, packed: bytes) -> None:
        super().__init__(cpus=1, gpus=0, memory=1)
        self._packed = packed
        self.on_lines: Callable[[str, str, int, str, list[str]], None] = lambda *_: None
        self.on_largest: Callable[[str, int, str], None] = lambda *_: None
        self.on_ranks: Callable[[Message], None] = lambda message: None
        self._new_ranks: list[LocalAttempt] = []

    def watch(self, sock: socket, call: Callable[[int], None]) -> None:
        """Call `call` in a `poll` whenever `sock` can be read."""
        self._loop.selector.register(sock, EVENT_READ, call)

    def kill(self, trial_id: str) -> None:
        """Kill a trial's processes here and the processes that they started; an Ended event follows."""
        attempt = self._running.get(trial_id)
        if attempt is None:
            return
        if attempt.head is None and attempt.ended is None:
            attempt.end(_ENDED_ELSEWHERE)
        if attempt.processes:
            self._crew.signal(attempt, requests.KILL)
        else:
            self._forget(attempt)
            self._loop.is_woken = True

    # --- ranks -----------------------------------------------------------------------

    def start_ranks(self, orders: Sequence[RankOrder], has_head: bool) -> None:
        """Start ranks of an attempt, all of `orders` or none; its head runs here if `has_head`."""
        start = orders[0].start
        attempt = self._running.get(start.trial_id)
        if not has_head and attempt is not None:
            about = start.trial_id, start.attempt, orders[0].plan.generation
            self._tell(("ranks_gone", *about, "processes of an earlier attempt have not ended yet"))
            return
        if not has_head:
            attempt = self._running[start.trial_id] = LocalAttempt(start, None)
        elif attempt is None or attempt.start.attempt != start.attempt or attempt.ended is not None:
            return  # it ended while the order was on its way
        self._gangs.make(attempt, orders)
        self._new_ranks.append(attempt)

    def new_ranks(self) -> list[tuple[str, int, list[int]]]:
        """Return (trial_id, attempt, pids) for the ranks whose processes all run since the last call."""
        found = []
        for attempt in list(self._new_ranks):
            pids = [process.shown_pid for process in ranks_of(attempt)]
            is_known = bool(pids) and all(pids)
            if is_known:
                found.append((attempt.start.trial_id, attempt.start.attempt, pids))
            if is_known or attempt.ended is not None:
                self._new_ranks.remove(attempt)
        return found

    def end_ranks(self, trial_id: str, number: int, generation: int) -> None:
        """Kill the ranks of an attempt that run here; the driver is told when they are gone."""
        attempt = self._running.get(trial_id)
        if attempt is not None and attempt.start.attempt == number and attempt.ended is None:
            self._gangs.end(attempt, generation)

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, RanksGone):
            attempt = self._running.get(command.trial_id)
            if attempt is not None and attempt.start.attempt == command.attempt:
                super()._answer_head(attempt, command)
            return
        super()._carry_out(command)

    def _on_request(self, attempt: LocalAttempt, message: Message) -> None:
        self._tell(message)

    def _answer_head(self, attempt: LocalAttempt, answer: RanksGone) -> None:
        self._tell(("ranks_gone", answer.trial_id, answer.attempt, answer.generation, answer.error))
        if attempt.head is None and not attempt.processes:
            del self._running[attempt.start.trial_id]
            self._gangs.forget(attempt)

    def _tell(self, message: Message) -> None:
        self.on_ranks(message)
        self._loop.is_woken = True

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
