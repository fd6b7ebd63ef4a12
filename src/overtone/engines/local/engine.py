"""`Local`: runs each trial in a separate process, from one single-threaded loop."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Literal

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.messages import Cause, Command, Ended, Event, Halt, Proceed, Start
from overtone.core.protocols import Capabilities, Engine
from overtone.engines.discards import Discards
from overtone.engines.local.capacity import Capacity
from overtone.engines.local.exits import account_of, left_threads_text, unsendable
from overtone.engines.local.gangs import Gangs, ranks_of
from overtone.engines.local.gpu_memory import GpuMemoryWatch
from overtone.engines.local.grace_period import Patience
from overtone.engines.local.payload import write_payload
from overtone.engines.local.prestart import take
from overtone.engines.local.printed import Printed
from overtone.engines.local.process import NEVER_RAN, NO_EVENTS, Account, LocalAttempt, TrialProcess
from overtone.engines.local.process_pool import ProcessPool
from overtone.engines.local.starts import Starts
from overtone.engines.local.warm_server import WarmServer
from overtone.engines.loop import Loop
from overtone.engines.prints import write_output
from overtone.errors import ArgumentError, MessageError, OvertoneError
from overtone.worker.message_codec import Message
from overtone.worker.protocol import RanksGone
from overtone.worker.protocol import event as event_of
from overtone.worker.server import requests
from overtone.worker.stacks import stacks_of
from overtone.worker.trial_gpu_memory import is_counted

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
        gpu_memory: Memory of each GPU for trials, such as "24GB", or a list; by default as NVML says.

    Attributes:
        on_output: Receives lines with the trial's name and pid in front. By default they are
            written to `sys.stdout` and `sys.stderr`.

    Raises:
        ResourceError: An amount is invalid.
    """

    capabilities = Capabilities(isolates=True)
    _crew: ProcessPool

    def __init__(
        self,
        cpus: float | None = None,
        gpus: int | None = None,
        memory: float | str | None = None,
        resources: Mapping[str, float] | None = None,
        start_method: StartMethod | None = None,
        grace_s: float | None = None,
        max_processes: int | None = None,
        gpu_memory: float | str | Sequence[float | str] | None = None,
    ) -> None:
        if start_method not in (None, "warm", "spawn"):
            raise ArgumentError(f'start_method={start_method!r}: choose "warm" or "spawn"')
        if max_processes is not None and max_processes < 1:
            raise ArgumentError(f"max_processes={max_processes!r}: at least one is needed")
        self.on_output = write_output
        self._is_warm = start_method == "warm" or (start_method is None and sys.platform == "linux")
        self._asked_grace_s = grace_s
        self._max_processes = max_processes
        self._capacity = Capacity(cpus, gpus, memory, resources, gpu_memory)
        self._loop = Loop()
        self._events: list[Event] = []
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
        self._printed = Printed(job, self._show)
        self._crew = ProcessPool(
            job, server, payload, self._max_processes, self._loop.selector,
            on_messages=self._on_messages, on_lines=self._printed.take, on_exit=self._on_exit,
            on_notice=self._on_notice, on_largest=self._on_largest, on_ready=self._on_ready,
        )  # fmt: skip
        self._begin_with(self._crew)
        self._is_open = True
        grace_s = job.grace_s if self._asked_grace_s is None else self._asked_grace_s
        self._patience = Patience(self._loop, grace_s, self._crew.signal)
        if note := self._gpus.begin():
            self._say(note)

    def _begin_with(self, crew: ProcessPool) -> None:
        """Make the parts that use the processes."""
        shape = self._capacity.shape
        self._gpus = GpuMemoryWatch(self._capacity, self._running, self._loop, self._events, NODE)
        self._gangs = Gangs(crew, self._loop, shape, self._answer_head, self._fail)
        self._starts = Starts(crew, shape, self._running, self._end, makes_spares=not self._job.reuse)

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
            if not self._is_open:
                raise RuntimeError("open() comes before submit()")
            self._gpus.on_start(command)
            self._starts.put(command)
        elif isinstance(command, (Proceed, Halt)):
            self._pass_on(command)
        elif isinstance(command, m.Discard):
            self._discards.put(command.uri)
        elif isinstance(command, m.Wake):
            self._loop.at(command.time, lambda: self._events.append(m.Tick(self.now())))
        elif isinstance(command, (m.Suggest, m.Observe, m.Want)):
            pass  # the searcher's host, and elastic engines
        else:
            raise TypeError(f"{command!r} is not a command")

    def poll(self, timeout_s: float | None) -> Sequence[Event]:
        return self._loop.poll(timeout_s, self._events, self._gather)

    def _gather(self) -> None:
        if self._is_open:
            self._events += [m.Discarded(self.now(), uri) for uri in self._discards.done()]

    def wake(self) -> None:
        self._loop.wake()

    def stacks(self, trial_id: str) -> str:
        attempt = self._running.get(trial_id)
        return stacks_of([one.shown_pid for one in list(attempt.processes)] if attempt else [], trial_id)

    def close(self) -> None:
        if self._loop.is_closed:
            return
        self._loop.is_closed = True
        try:
            if self._is_open:
                self._crew.close(CLOSE_WITHIN_S)
                self._printed.close()
                self._discards.close(CLOSE_WITHIN_S)
        finally:
            self._loop.close()

    def _on_ready(self, note: str) -> None:
        if note:
            self._say(f"trials of {self._job.name} start as new processes, which takes longer: {note}")
        self._starts.begin()

    # --- orders ----------------------------------------------------------------------

    def _pass_on(self, order: Proceed | Halt) -> None:
        attempt = self._running.get(order.trial_id)
        if attempt is None:
            if isinstance(order, Halt):
                self._starts.halt(order)
            return
        head = attempt.head
        if head is None or attempt.start.attempt != order.attempt:
            return  # it ended meanwhile
        try:
            self._crew.send(head, order)
        except Exception as error:
            self._fail(attempt, ("raised", unsendable(error), "", False))
            return
        if isinstance(order, Proceed):
            attempt.is_halted = False
            self._patience.stop(attempt)
            if attempt.is_parked:
                attempt.is_parked = False
                self._crew.watch(attempt)
        elif not head.pid and not self._crew.is_ready:
            self._crew.abandon(attempt)
            self._gangs.forget(attempt)
            del self._running[order.trial_id]
            self._end(attempt.start, "halted", "", "", False)
        else:
            attempt.is_halted = True
            self._patience.start(attempt, order.grace_s)

    # --- messages of processes ---------------------------------------------------------

    def _on_messages(self, process: TrialProcess, messages: list[Message]) -> None:
        now = self.now()
        for message in messages:
            kind = message[0]
            try:
                attempt = process.attempt_of(message)
                if attempt is None:
                    continue
                if kind in NO_EVENTS:
                    self._on_other(process, attempt, message)
                    continue
                event = self._event(attempt, message, now)
            except MessageError as error:
                self._on_nonsense(process, str(error))
                return
            if kind == "save_failed":
                self._patience.stop(attempt)  # the trial is parked until its next order
                attempt.is_parked = True
                self._crew.watch(attempt, False)
            self._events.append(event)

    def _on_other(self, process: TrialProcess, attempt: LocalAttempt, message: Message) -> None:
        """Handle a message that is no event."""
        kind = message[0]
        if kind == "ended":
            self._on_ended(process, attempt, message)
        elif kind == "no_room":
            self._say(f"trial {message[1]}: {message[3]}")
        elif kind == "left_threads":
            self._on_left_threads(process, message)
        elif kind == "gpu_memory":
            self._gpus.on_peak(attempt.start.trial_id, message[3])
        else:
            self._on_request(attempt, message)

    def _on_request(self, attempt: LocalAttempt, message: Message) -> None:
        """Handle what the head of an attempt asks for."""
        self._gangs.on_message(attempt, message)

    def _answer_head(self, attempt: LocalAttempt, answer: RanksGone) -> None:
        """Tell the head of an attempt that its ranks are gone."""
        if attempt.head is not None:
            self._crew.send(attempt.head, answer)

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

    def _on_ended(self, process: TrialProcess, attempt: LocalAttempt, message: Message) -> None:
        """Handle the last message of a process; only the head and a failure end the attempt."""
        _, _, _, cause, error, traceback = message
        if process.order is not None:
            process.has_returned = True
            if cause != "returned":  # it has not reached its head, or has lost it
                account = (cause, f"rank {process.order.place.rank}: {error}", traceback, False)
                self._gangs.blame_later(attempt, account)
            return
        attempt.end((cause, error, traceback, False))
        ranks = ranks_of(attempt) if len(attempt.processes) > 1 else ()
        self._crew.signal_each(ranks, requests.KILL)
        if not self._job.reuse or process.leaves_threads or is_counted(attempt.start):
            self._patience.start(attempt)  # the Ended event follows when all processes are gone
        elif ranks:
            attempt.kept = process
            self._patience.forget(attempt)
        else:
            self._use_again(process, attempt)

    def _use_again(self, process: TrialProcess, attempt: LocalAttempt) -> None:
        """Let the head of an attempt that has ended wait for the next one."""
        self._crew.watch(attempt, False)
        self._crew.drain(process)
        self._forget(attempt)
        self._crew.put_back(process)
        self._starts.begin()

    def _on_left_threads(self, process: TrialProcess, message: Message) -> None:
        """End a process with its trial, although processes are reused."""
        process.leaves_threads = True
        if not self._has_told_of_threads:
            self._has_told_of_threads = True
            self._say(left_threads_text(message[1], message[3]))

    def _forget(self, attempt: LocalAttempt) -> None:
        """Add the Ended event of an attempt that has ended; start it again if it never ran."""
        self._patience.forget(attempt)
        del self._running[attempt.start.trial_id]
        if attempt in self._crew.room.kept:
            self._gangs.forget(attempt)
        if attempt.ended is NEVER_RAN and not attempt.is_halted:
            self._starts.put_first(attempt.start)
            return
        assert attempt.ended is not None
        cause, error, traceback, is_hopeless = attempt.ended
        if attempt.is_noticed and cause == "raised" and not is_hopeless:
            cause = "lost"  # the user's own signal handler ended it
        self._end(attempt.start, cause, error, traceback, is_hopeless)

    def _on_notice(self, process: TrialProcess) -> None:
        attempt = process.attempt
        if attempt is None or process.is_terminated or attempt.is_noticed:
            return
        if process.order is not None and attempt.head is not None:
            self._crew.signal_each([attempt.head], requests.TERMINATE)  # it may save first, as at its own
        self._patience.start(attempt)
        attempt.is_noticed = True
        if attempt.ended is None:  # else the user's own signal handler ended it, and that message came first
            start, grace_s = attempt.start, self._patience.grace_s
            self._events.append(m.Noticed(self.now(), start.trial_id, start.attempt, grace_s))

    def _on_largest(self, attempt: LocalAttempt, text: str) -> None:
        """Do nothing; called if a process of this attempt uses the most memory on this machine."""

    def _on_exit(self, process: TrialProcess, text: str, was_taken: bool) -> None:
        """Handle the exit of a process; the others of its attempt end with it, unless it had returned."""
        attempt, process.attempt = process.attempt, None
        if attempt is not None:
            if attempt.ended is None and not process.has_returned:
                account = account_of(process, attempt, text, was_taken, self._crew.broken)
                self._gangs.end_by(process, attempt, text, account)
            attempt.processes.remove(process)
            self._gangs.on_exit(attempt)
            if attempt.ended is not None:
                self._end_others(attempt)
        if not self._loop.is_closed:
            self._gangs.make_waiting()
            self._starts.begin()

    def _fail(self, attempt: LocalAttempt, account: Account) -> None:
        """End an attempt, and its processes."""
        attempt.end(account)
        self._end_others(attempt)

    def _end_others(self, attempt: LocalAttempt) -> None:
        """Go on with an attempt that is over: end its other processes, or forget it."""
        if not attempt.processes:
            self._forget(attempt)
        elif attempt.processes == [attempt.kept]:
            self._use_again(attempt.processes[0], attempt)
        else:
            self._crew.signal(attempt, requests.KILL)

    def _end(self, start: Start, cause: Cause, error: str, traceback: str, is_hopeless: bool) -> None:
        peak = self._gpus.on_end(start)
        self._events.append(
            Ended(self.now(), start.trial_id, start.attempt, cause, error, traceback, is_hopeless, peak)
        )

    def _say(self, text: str) -> None:
        self.on_output("", "stderr", f"overtone: {text}\n")

    def _show(self, trial_id: str, name: str, pid: int, stream: str, lines: list[str]) -> None:
        """Pass on the lines that a process of a trial printed."""
        self.on_output(trial_id, stream, "".join(f"({name} pid={pid}) {line}\n" for line in lines))
