"""The body of a trial that runs in a separate actor, so that the trial may use Ray."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from threading import Lock, Thread
from typing import Any, cast

from overtone.core.job import Job
from overtone.core.messages import Proceed, Start
from overtone.engines.kept_output import KeptOutput, kept_output
from overtone.engines.ray.checkpoint_transfer import Carried
from overtone.engines.ray.connection import call
from overtone.engines.ray.limits import NOTHING, Held
from overtone.engines.ray.node_agent import Errand, settle
from overtone.engines.ray.prints import Prints
from overtone.worker import output, shared_objects, threads
from overtone.worker.checkpoints import held_folders
from overtone.worker.limits.limit_usage import Amounts
from overtone.worker.message_codec import Message
from overtone.worker.protocol import Nothing, Order, SocketChannel
from overtone.worker.server.preparation import cpu_threads
from overtone.worker.stacks import answer_requests

_LENGTH = struct.Struct("<Q")


def run_trial(
    errand: Errand, start: Start, name: str, fetch: Callable[[Any], bytes], used: Amounts = NOTHING
) -> None:
    """Run the trial of `start` in this process, and send its messages to the driver.

    Args:
        errand: Data about the run.
        start: The Start of the trial.
        name: Name of the trial for people.
        fetch: Returns the object of a reference.
        used: Amounts of its limits that the trial used in earlier attempts.
    """
    import pickle

    from overtone.worker.server import run_trial
    from overtone.worker.server.driver_environment import DriverEnvironment, explain

    channel = _Channel(call(errand.address, errand.token))
    channel.send(("hello", start.trial_id, start.attempt, os.getpid(), errand.shares_disk))
    answer_requests()
    if errand.job.captures_output or errand.job.log_to_file is not None:
        is_cut = errand.job.log_to_file is None
        kept = kept_output(errand.job) if errand.shares_disk else None
        prints = Prints(start.trial_id, name, os.getpid(), is_cut)
        channel.at_end.callback(_Captured(channel, start.trial_id, prints, kept).end)
    channel.at_end.callback(shared_objects.release_adopted)
    try:
        shares = settle(errand, fetch)
        packed = BytesIO(fetch(errand.packed[not shares]))
        header = packed.read(_LENGTH.unpack(packed.read(_LENGTH.size))[0])
        surroundings = cast(DriverEnvironment, pickle.loads(header))
        threads.limit(cpu_threads(start), surroundings.thread_variables)
        job = cast(Job, pickle.load(packed))
    except BaseException as error:
        channel.send(("ended", start.trial_id, start.attempt, "raised", *explain(error)))
    else:
        home = channel.at_end.enter_context(_at_home(job, shares))
        if job.limits is not None:
            channel.held = Held(job.limits, start, used, channel.send)
            channel.at_end.callback(channel.held.end)
        run_trial.run_trial(channel, home, start)
    channel.close()


@contextmanager
def _at_home(job: Job, shares: bool) -> Iterator[Job]:
    """Provide the Job, with a separate folder of this process if it does not see the driver's disk."""
    if shares:
        yield job
        return
    home = job.folder.parent
    own = home.with_name(f"{home.name}-{os.getpid()}-{os.urandom(4).hex()}")
    lock = held_folders.hold(own)
    store = job.store.keeping_in(own / "fetched") if isinstance(job.store, Carried) else job.store
    folder = own / job.folder.name
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield replace(job, folder=folder, store=store)
    finally:
        held_folders.let_go(own, lock)


class _Channel(SocketChannel):
    """A channel that sends the trial's end last, because the driver then kills this process.

    Attributes:
        at_end: Callbacks to run before the end is sent.
        held: Enforces the trial's limits; None without limits.
    """

    def __init__(self, sock: Any) -> None:
        super().__init__(sock)
        self.at_end = ExitStack()
        self.held: Held | None = None
        self._lock = Lock()

    def receive(self, wait: bool) -> Order | Nothing:
        order = super().receive(wait)
        if self.held is not None and isinstance(order, Proceed):
            self.held.go_on()
        return order

    def send(self, message: Message) -> None:
        if self.held is not None and message[0] == "save_failed":
            self.held.pause()
        if message[0] == "ended":
            self.at_end.close()
        with self._lock:
            super().send(message)


class _Captured:
    """Captures the output of this process and sends it on a channel."""

    def __init__(
        self, channel: _Channel, trial_id: str, prints: Prints, kept: KeptOutput | None = None
    ) -> None:
        self._channel, self._prints, self._lock = channel, prints, Lock()
        self._trial_id, self._kept = trial_id, kept
        self._was = os.dup(1), os.dup(2)
        self._speak_of_crashes()
        pipes = [os.pipe(), os.pipe()]
        output.redirect(pipes[0][1], pipes[1][1])
        self._threads = [
            Thread(target=self._read, args=(pipe[0], stream), daemon=True)
            for pipe, stream in zip(pipes, ("stdout", "stderr"), strict=True)
        ]
        for one in self._threads:
            one.start()

    def end(self) -> None:
        """Send the remaining output, and restore stdout and stderr."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        output.redirect(*self._was)
        for one in self._threads:
            one.join(1.0)  # a process that the trial left behind may hold the pipe open
        self._tell(self._prints.rest())
        if self._kept is not None:
            self._kept.close()

    def _speak_of_crashes(self) -> None:
        import faulthandler

        if faulthandler.is_enabled():
            faulthandler.enable(self._was[1], all_threads=False)  # after a crash, no thread reads the pipe

    def _read(self, pipe: int, stream: str) -> None:
        lines = output.OutputLines()
        while data := os.read(pipe, 1 << 16):
            self._show(stream, lines.feed(data))
        self._show(stream, lines.end())
        os.close(pipe)

    def _show(self, stream: str, lines: list[str]) -> None:
        if lines:
            with self._lock:
                if self._kept is not None:
                    self._kept.put(self._trial_id, stream, lines)
                self._tell(self._prints.messages(stream, lines))

    def _tell(self, messages: list[Message]) -> None:
        for message in messages:
            with suppress(EOFError):  # the driver is gone: the next report raises the error
                self._channel.send(message)
