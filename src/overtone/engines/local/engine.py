"""`Local`: runs each trial in a separate process, from one single-threaded loop."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Literal

from overtone.core.job import Job
from overtone.core.messages import (
    CapacityChanged,
    Cause,
    Command,
    Discard,
    Discarded,
    Ended,
    Event,
    Halt,
    Noticed,
    Observe,
    Proceed,
    Start,
    Suggest,
    Tick,
    Wake,
    Want,
)
from overtone.core.protocols import Capabilities, Engine
from overtone.engines.discards import Discards
from overtone.engines.local.capacity import Capacity
from overtone.engines.local.exits import account_of, unsendable
from overtone.engines.local.grace_period import Patience
from overtone.engines.local.payload import write_payload
from overtone.engines.local.prestart import take
from overtone.engines.local.process import NEVER_RAN, NO_EVENTS, LocalAttempt, Shape, TrialProcess, starts_of
from overtone.engines.local.process_pool import Crew
from overtone.engines.local.warm_server import WarmServer
from overtone.engines.loop import Loop
from overtone.engines.prints import write_output
from overtone.errors import ArgumentError, MessageError, OvertoneError
from overtone.worker.message_codec import Message
from overtone.worker.protocol import event as event_of
from overtone.worker.server import requests

NODE = "local"

CLOSE_WITHIN_S = 4.0

StartMethod = Literal["warm", "spawn"]


class Local(Engine):
    """Runs trials on this machine, each in a separate operating system process.

    Processes are forked from a server that has already imported the trainable's modules
    ("warm"), or start as new Python processes ("spawn"). A trial's output has its name in front.

    Args:
        cpus: CPUs for trials; by default all that this process may use.
        gpus: GPUs for trials; by default the GPUs that pynvml finds and CUDA_VISIBLE_DEVICES shows.
        memory: Memory for trials, such as "16GB"; by default all.
        resources: Amounts of other resources, by name.
        start_method: "warm" or "spawn"; by default "warm" on Linux and "spawn" elsewhere.
        grace_s: Seconds from a Halt to SIGTERM; by default the Job's.
        max_processes: Maximum number of processes at once; by default as many as the limit of
            open files allows.

    Attributes:
        on_output: Receives lines with the trial's name and pid in front. By default they are
            written to `sys.stdout` and `sys.stderr`.

    Raises:
        ResourceError: An amount is invalid.
    """

    capabilities = Capabilities(isolates=True)
    _crew: Crew

    def __init__(
        self,
        cpus: float | None = None,
        gpus: int | None = None,
        memory: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        start_method: StartMethod | None = None,
        grace_s: float | None = None,
        max_processes: int | None = None,
    ) -> None:
        if start_method not in (None, "warm", "spawn"):
            raise ArgumentError(f'start_method={start_method!r}: choose "warm" or "spawn"')
        if max_processes is not None and max_processes < 1:
            raise ArgumentError(f"max_processes={max_processes!r}: at least one is needed")
        self.on_output = write_output
        self._is_warm = start_method == "warm" or (start_method is None and sys.platform == "linux")
        self._asked_grace_s = grace_s
        self._max_processes = max_processes
        self._capacity = Capacity(cpus, gpus, memory, resources)
        self._loop = Loop()
        self._events: list[Event] = []
        self._queue: deque[Start] = deque()
        self._running: dict[str, LocalAttempt] = {}
        self._is_open = False
        self._has_told_of_threads = False

    # --- the Engine ------------------------------------------------------------------

    def open(self, job: Job) -> None:
        """Start the server, which prepares itself while the driver continues.

        Raises:
            TrainableError: The Job cannot be sent to another process.
        """
        self._loop.restart_clock(job.elapsed_s)
        self._job = job
        if self._is_open:
            raise OvertoneError("this Local engine has run an experiment already: make another, Local(...)")
        self._discards = Discards(job.store, self.wake)
        server = WarmServer(*take())  # first: it prepares itself while the Job is pickled
        try:
            payload = self._payload(job)
        except BaseException:
            server.end(CLOSE_WITHIN_S)
            raise
        self._crew = Crew(
            job,
            server,
            payload,
            self._max_processes,
            self._loop.selector,
            on_messages=self._on_messages,
            on_lines=self._on_lines,
            on_exit=self._on_exit,
            on_notice=self._on_notice,
            on_largest=self._on_largest,
            on_ready=self._on_ready,
        )
        self._is_open = True
        grace_s = job.grace_s if self._asked_grace_s is None else self._asked_grace_s
        self._patience = Patience(self._loop, grace_s, self._crew.signal)
        self._events.append(CapacityChanged(self.now(), {NODE: self._capacity.amounts()}))

    def _payload(self, job: Job) -> int:
        """Return the descriptor of the payload for the server."""
        return write_payload(job, self._capacity.gpu_ids, self._is_warm)

    def now(self) -> float:
        return self._loop.now()

    def describe(self) -> str:
        return f"local engine: {self._capacity}"

    def submit(self, commands: Sequence[Command]) -> None:
        with self._loop.may_close():
            for command in commands:
                if self._loop.is_closed:
                    return
                self._carry_out(command)

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Start):
            self._queue.append(command)
            self._start_what_fits()
        elif isinstance(command, (Proceed, Halt)):
            self._pass_on(command)
        elif isinstance(command, Discard):
            self._discards.put(command.uri)
        elif isinstance(command, Wake):
            self._loop.at(command.time, lambda: self._events.append(Tick(self.now())))
        elif isinstance(command, (Suggest, Observe, Want)):
            pass  # the searcher's host, and elastic engines
        else:
            raise TypeError(f"{command!r} is no command")

    def poll(self, timeout_s: float | None) -> Sequence[Event]:
        return self._loop.poll(timeout_s, self._events, self._gather)

    def _gather(self) -> None:
        if self._is_open:
            self._events += [Discarded(self.now(), uri) for uri in self._discards.done()]

    def wake(self) -> None:
        self._loop.wake()

    def close(self) -> None:
        if self._loop.is_closed:
            return
        self._loop.is_closed = True
        try:
            if self._is_open:
                self._crew.close(CLOSE_WITHIN_S)
                self._discards.close(CLOSE_WITHIN_S)
        finally:
            self._loop.close()

    # --- starting --------------------------------------------------------------------

    def _start_what_fits(self) -> None:
        if not self._is_open:
            raise RuntimeError("open() comes before submit()")
        while self._queue:
            start = self._queue[0]
            if self._crew.broken is not None:
                self._end(start, "raised", *self._crew.broken, is_hopeless=True)
            else:
                shape = self._capacity.shape(start)
                try:
                    processes = self._crew.take(shape, len(start.ranks))
                except OSError as error:
                    self._end(start, "killed", f"could not be started: {error}")
                else:
                    if not processes:
                        return
                    self._hand_over(start, shape, processes)
            self._queue.popleft()
        if not self._job.reuse:
            self._crew.make_spares()

    def _hand_over(self, start: Start, shape: Shape, processes: list[TrialProcess]) -> None:
        attempt = LocalAttempt(start, processes)
        try:
            orders = [start] if start.world_size == 1 else starts_of(start)
            for process, order in zip(processes, orders, strict=True):
                self._crew.send(process, order)
                process.attempt, process.shape = attempt, shape
        except Exception as error:
            self._crew.put_back(processes)
            self._end(start, "raised", unsendable(error), is_hopeless=True)
            return
        self._running[start.trial_id] = attempt
        self._crew.watch(attempt)

    def _on_ready(self, note: str) -> None:
        if note:
            self._say(f"trials of {self._job.name} start as new processes, which takes longer: {note}")
        self._start_what_fits()

    # --- orders ----------------------------------------------------------------------

    def _pass_on(self, order: Proceed | Halt) -> None:
        attempt = self._running.get(order.trial_id)
        if attempt is None:
            self._halt_queued(order)
            return
        if attempt.start.attempt != order.attempt or attempt.ended is not None:
            return  # it ended meanwhile
        try:
            for process in attempt.processes:
                self._crew.send(process, order)
        except Exception as error:
            attempt.end(("raised", unsendable(error), "", False))
            self._crew.signal(attempt, requests.KILL)
            return
        if isinstance(order, Proceed):
            attempt.is_halted = False
            self._patience.stop(attempt)
            if attempt.is_parked:
                attempt.is_parked = False
                self._crew.watch(attempt)
        elif not attempt.processes[0].pid and not self._crew.is_ready:
            self._crew.abandon(attempt)
            del self._running[order.trial_id]
            self._end(attempt.start, "halted")
        else:
            attempt.is_halted = True
            self._patience.start(attempt, order.grace_s)

    def _halt_queued(self, order: Proceed | Halt) -> None:
        for start in self._queue:
            if (start.trial_id, start.attempt) == (order.trial_id, order.attempt) and isinstance(order, Halt):
                self._queue.remove(start)
                self._end(start, "halted")
                return

    # --- messages of processes ---------------------------------------------------------

    def _on_messages(self, process: TrialProcess, messages: list[Message]) -> None:
        now = self.now()
        for message in messages:
            kind = message[0]
            try:
                attempt = process.attempt_of(message)
                if attempt is None:
                    continue
                event = None if kind in NO_EVENTS else self._event(attempt, message, now)
            except MessageError as error:
                self._on_nonsense(process, str(error))
                return
            if kind == "save_failed":
                self._patience.stop(attempt)  # the trial is parked until its next order
                attempt.is_parked = True
                self._crew.watch(attempt, False)
            if event is not None:
                self._events.append(event)
            elif kind == "ended":
                self._on_ended(process, attempt, message, now)
            elif kind == "no_room":
                self._say(f"trial {message[1]}: {message[3]}")
            else:
                self._on_left_threads(process, message)

    def _on_nonsense(self, process: TrialProcess, error: str) -> None:
        """Kill a process that sent an invalid message; its trial has failed."""
        if process.attempt is not None and process.attempt.ended is None:
            text = f"its process was killed, since it sent what no trial sends: {error}"
            process.attempt.end(("killed", text, "", False))
        self._crew.refuse(process)

    def _event(self, attempt: LocalAttempt, message: Message, now: float) -> Event:
        event = event_of(message, now, NODE)
        attempt.results.take(event)
        return event

    def _on_ended(self, process: TrialProcess, attempt: LocalAttempt, message: Message, now: float) -> None:
        """Handle the last message of a process; only the head and a failure end the attempt."""
        if process is not attempt.head and message[3] in ("returned", "halted"):
            process.has_returned = True
            return
        attempt.end((message[3], message[4], message[5], False))
        if self._job.reuse and not process.leaves_threads and attempt.start.world_size == 1:
            self._crew.watch(attempt, False)
            self._crew.drain(process)
            self._forget(attempt, now)
            self._crew.put_back(attempt.processes)
            self._start_what_fits()
        else:
            self._patience.start(attempt)  # the Ended event follows when all processes are gone

    def _on_left_threads(self, process: TrialProcess, message: Message) -> None:
        """End a process with its trial, although processes are reused."""
        process.leaves_threads = True
        if not self._has_told_of_threads:
            self._has_told_of_threads = True
            self._say(
                f"trial {message[1]} left threads running ({message[3]}): processes of such trials are not "
                "reused. Join the threads before the trial ends, or set reuse_actors=False"
            )

    def _forget(self, attempt: LocalAttempt, now: float) -> None:
        """Add the Ended event of an attempt that has ended; start it again if it never ran."""
        self._patience.forget(attempt)
        del self._running[attempt.start.trial_id]
        if attempt.ended is NEVER_RAN and not attempt.is_halted:
            self._queue.appendleft(attempt.start)
            return
        assert attempt.ended is not None
        cause, error, traceback, is_hopeless = attempt.ended
        if attempt.is_noticed and cause == "raised" and not is_hopeless:
            cause = "lost"  # the user's own signal handler ended it
        start = attempt.start
        self._events.append(Ended(now, start.trial_id, start.attempt, cause, error, traceback, is_hopeless))

    def _on_notice(self, process: TrialProcess) -> None:
        attempt = process.attempt
        if attempt is None or process.is_terminated or attempt.is_noticed:
            return
        self._patience.start(attempt)
        attempt.is_noticed = True
        if attempt.ended is None:  # else the user's own signal handler ended it, and that message came first
            about = attempt.start.trial_id, attempt.start.attempt
            self._events.append(Noticed(self.now(), *about, self._patience.grace_s))

    def _on_largest(self, attempt: LocalAttempt, text: str) -> None:
        """Do nothing; called if a process of this attempt uses the most memory on this machine."""

    def _on_exit(self, process: TrialProcess, text: str, was_taken: bool) -> None:
        """Handle the exit of a process; the others of its attempt end with it, unless it had returned."""
        attempt, process.attempt = process.attempt, None
        if attempt is not None:
            if attempt.ended is None and not process.has_returned:
                attempt.end(account_of(process, attempt, text, was_taken, self._crew.broken))
            attempt.processes.remove(process)
            if not attempt.processes:
                self._forget(attempt, self.now())
            elif attempt.ended is not None:
                self._crew.signal(attempt, requests.KILL)
        if not self._loop.is_closed:
            self._start_what_fits()

    def _end(
        self, start: Start, cause: Cause, error: str = "", traceback: str = "", is_hopeless: bool = False
    ) -> None:
        ended = Ended(self.now(), start.trial_id, start.attempt, cause, error, traceback, is_hopeless)
        self._events.append(ended)

    def _say(self, text: str) -> None:
        self.on_output("", "stderr", f"overtone: {text}\n")

    def _on_lines(self, process: TrialProcess, stream: str, lines: list[str]) -> None:
        start = process.attempt.start if process.attempt is not None else process.last
        if start is not None:  # else printed before its first trial
            name = start.name or f"{self._job.name}_{start.trial_id}"
            self._show(start.trial_id, name, process.shown_pid, stream, lines)

    def _show(self, trial_id: str, name: str, pid: int, stream: str, lines: list[str]) -> None:
        """Pass on the lines that a process of a trial printed."""
        self.on_output(trial_id, stream, "".join(f"({name} pid={pid}) {line}\n" for line in lines))
