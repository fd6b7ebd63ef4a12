"""The processes of an experiment, from their start by the server to their end."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from overtone.core.job import Job
from overtone.engines.local.prestart import take
from overtone.engines.local.process import (
    LocalAttempt,
    Shape,
    Stream,
    TrialProcess,
    open_process,
)
from overtone.engines.local.restarts import pause_before
from overtone.engines.local.room import Room
from overtone.engines.local.waiting_processes import WaitingProcesses
from overtone.engines.local.warm_server import WarmServer, end_text, kill_group, was_taken
from overtone.worker.limits.memory_guard import declared_memory
from overtone.worker.message_codec import WRONG, Message
from overtone.worker.protocol import Order
from overtone.worker.server import requests

SPARES = 2
"""Number of processes that are forked ahead for the next trials."""

_OF_SERVER = frozenset({"ready", "broken", WRONG})


class ProcessPool:
    """Makes processes and reports their ends; it does not interpret trials' messages.

    Args:
        job: The Job that the processes run.
        server: The server, just started; the crew takes it over.
        payload: The descriptor of the pickled Job; the crew takes it over.
        max_processes: Maximum number of processes at once; see `Room`.
        selector: The selector for sockets and pipes; the data of each key is a callable.
        on_messages: Called with a process and its new messages.
        on_lines: Called with a process, the name of its stream, and the lines that it printed.
        on_exit: Called with a process that is gone, how it ended (text for people), and whether it
            was ended from outside: by SIGKILL or SIGTERM, or together with the server.
        on_notice: Called with a process to which another program sent a SIGTERM; it may save first.
        on_largest: Called with the attempt that would be ended first if memory ran short, and its
            memory use as text.
        on_ready: Called with a note when the server is ready or broken; then `broken` has the error.

    Attributes:
        room: The number of processes that may run at once.
    """

    def __init__(
        self,
        job: Job,
        server: WarmServer,
        payload: int,
        max_processes: int | None,
        selector: selectors.BaseSelector,
        on_messages: Callable[[TrialProcess, list[Message]], None],
        on_lines: Callable[[TrialProcess, str, list[str]], None],
        on_exit: Callable[[TrialProcess, str, bool], None],
        on_notice: Callable[[TrialProcess], None],
        on_largest: Callable[[LocalAttempt, str], None],
        on_ready: Callable[[str], None],
    ) -> None:
        self.broken: tuple[str, str] | None = None
        self.is_warm = False
        self._job = job
        self._payload = payload
        self._selector = selector
        self._on_messages = on_messages
        self._on_lines = on_lines
        self._on_exit = on_exit
        self._on_notice = on_notice
        self._on_largest = on_largest
        self._on_ready = on_ready
        self._null = os.open(os.devnull, os.O_WRONLY)
        self._processes: dict[int, TrialProcess] = {}
        self._waiting = WaitingProcesses()
        self.room = Room(max_processes)
        self._made = 0
        self._restarts = 0
        self._server = server
        self._brief(server)

    # --- the server -----------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        return self._server.is_ready

    def _brief(self, server: WarmServer) -> None:
        """Send a server its Job, and register its socket and its output."""
        self._selector.register(server.line, selectors.EVENT_READ, self._on_server)
        self._selector.register(server.prints, selectors.EVENT_READ, self._on_server_prints)
        server.ask(requests.JOB, 0, [os.dup(self._payload)])
        if self._job.memory_share is not None:
            server.ask(requests.GUARD, int(1e6 * self._job.memory_share))

    def _on_server(self, mask: int) -> None:
        server = self._server
        if mask & selectors.EVENT_WRITE:
            server.flush()
        answers = server.hear() if mask & selectors.EVENT_READ else []
        for answer in answers or ():
            self._on_answer(answer)
        if answers is None:
            self._on_server_end()
            return
        self._watch_server()

    def _watch_server(self) -> None:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._server.has_backlog else 0)
        if self._selector.get_key(self._server.line).events != wanted:
            self._selector.modify(self._server.line, wanted, self._on_server)

    def _on_server_prints(self, mask: int) -> None:
        server = self._server
        # an earlier event of the same round may have ended the server and closed its pipe
        if server.prints >= 0 and not server.read_prints():
            self._selector.unregister(server.prints)

    def _on_answer(self, answer: Message) -> None:
        kind = answer[0]
        if kind in _OF_SERVER:
            self._on_server_answer(answer)
        elif (process := self._processes.get(answer[1])) is None:
            pass  # it is gone
        elif kind == "forked":
            process.pid = answer[2]
        elif kind == "exited":
            self._bury(process, end_text(answer[2]), was_taken(answer[2]))
        elif kind == "failed":
            self._bury(process, f"could not be started: {answer[2]}")
        elif kind == "noticed":
            self._on_notice(process)
        elif process.attempt is None or process.has_returned or process.attempt.start.index != answer[2]:
            pass  # its trial has ended meanwhile
        elif kind == "largest":
            self._on_largest(process.attempt, answer[3])
        else:
            process.attempt.excess = ("limit" if kind == "limit" else "killed"), answer[3]

    def _on_server_answer(self, answer: Message) -> None:
        if answer[0] == "ready":
            self._server.is_ready = True
            self.is_warm = answer[1]
            self._on_ready(answer[2])
        elif answer[0] == "broken":
            self.broken = (answer[1], answer[2])
        else:
            self._server.kill()  # `_on_server_end` follows and starts another server

    def _on_server_end(self) -> None:
        """Replace a server that is gone, with its processes, unless `pause_before` gives up."""
        server = self._server
        for descriptor in (server.line, server.prints):
            if descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)
        obituary = server.obituary()
        server.forget()
        self._restarts += 1
        pause_s = pause_before(self._restarts, server.is_ready, server.was_taken)
        if self.broken is None and pause_s is None:
            doing = "made trial processes" if server.is_ready else "imported the trainable's modules"
            self.broken = (f"the process that {doing} {obituary}", "")
        if self.broken is None:
            time.sleep(pause_s or 0.0)  # nothing else can happen: all processes ended with the server
            try:
                self._server = WarmServer(*take())
                self._brief(self._server)
            except OSError as error:
                self.broken = (f"the process that made trial processes {obituary}; another: {error}", "")
        for process in list(self._processes.values()):
            if process.pid:
                kill_group(process.pid)
            self._bury(process, f"lost with the server of all processes, which {obituary}", True)
        if self.broken is not None:
            self._on_ready("")

    # --- processes ------------------------------------------------------------------

    def take(self, shape: Shape, most: int = 1) -> TrialProcess | None:
        """Return a waiting or new process for the head of an attempt; None if there is no room.

        Args:
            shape: The setup of the process.
            most: Number of processes for which there must be room, with those of the ranks.

        Raises:
            OSError: This process cannot open more files.
        """
        if (most > 1 or self.room.kept) and not self.room.fits(self._busy, most):
            return None
        waiting = self._waiting.take(shape)
        if waiting is not None:
            return waiting
        self._dismiss(self._waiting.unlike(shape))
        if not self.has_room:
            return None
        process = self._make()
        process.was_waiting = False
        return process

    def take_ranks(self, attempt: LocalAttempt, shapes: Sequence[Shape]) -> list[TrialProcess]:
        """Return a process that has run nothing for each rank of an attempt.

        Empty if processes that wait have to end first; they were told to.

        Raises:
            OSError: This process cannot open more files; or there is no room for so many processes.
        """
        if self._busy + len(shapes) > self.room.most or not self.room.fits(self._busy, len(shapes), attempt):
            raise OSError(
                f"there is no room for {len(shapes)} more processes: at most {self.room.most} run at once, "
                "as max_processes= or the limit of open files says"
            )
        for shape in shapes:
            self._dismiss(self._waiting.unlike(shape))
        new = self._waiting.take_new(len(shapes))
        surplus = len(self._processes) + len(shapes) - len(new) - self.room.most
        try:
            if surplus > 0:
                self._dismiss(list(self._waiting)[:surplus])
            else:
                while len(new) < len(shapes):
                    new.append(self._make())
        finally:
            if len(new) < len(shapes):  # all or none
                for process in new:
                    self._waiting.add(process)
        return new if len(new) == len(shapes) else []

    def put_back(self, process: TrialProcess) -> None:
        """Let a process wait for its next attempt."""
        if process.attempt is not None:
            process.last, process.attempt = process.attempt.start, None
        process.was_waiting = True
        self._waiting.add(process)

    def make_spares(self) -> None:
        """Fork processes ahead, so that the next trials start at once."""
        if self.is_warm and self.is_ready and self.broken is None:
            while len(self._waiting) < SPARES and self.has_room:
                self._waiting.add(self._make())

    def _dismiss(self, processes: Iterable[TrialProcess]) -> None:
        """Tell processes that wait to end."""
        for process in processes:
            self._waiting.dismiss(process)
            self.send(process, None)

    def abandon(self, attempt: LocalAttempt) -> None:
        """Forget processes that the server has not made yet."""
        self.signal(attempt, requests.KILL)
        for process in attempt.processes:
            self._bury(process, "")

    def send(self, process: TrialProcess, order: Order) -> None:
        """Send an order to a process, now or when its socket can be written to.

        Raises:
            Exception: The order holds a value that cannot be pickled.
        """
        process.send(order)
        self._watch_line(process)

    def watch(
        self, attempt: LocalAttempt, is_on: bool = True, processes: Sequence[TrialProcess] | None = None
    ) -> None:
        """Start (or stop, if not `is_on`) checking the limits of an attempt: of `processes`, or of all."""
        if self._job.limits is None and self._job.memory_share is None:
            return
        what = requests.WATCH if is_on else requests.UNWATCH
        amount = declared_memory(attempt.start)
        for process in attempt.processes if processes is None else processes:
            self._server.ask(what, process.number, index=attempt.start.index, amount=amount)
        self._watch_server()

    def signal(self, attempt: LocalAttempt, what: bytes) -> None:
        """Send TERMINATE or KILL of `requests` for all processes of an attempt, with their descendants."""
        self.signal_each([one for one in attempt.processes if one is not attempt.kept], what)

    def signal_each(self, processes: Iterable[TrialProcess], what: bytes) -> None:
        """Send TERMINATE or KILL of `requests` for some processes, with their descendants."""
        for process in processes:
            self._server.ask(what, process.number)

    def refuse(self, process: TrialProcess) -> None:
        """Kill a process, and do not read its further messages."""
        if process.is_open:
            process.is_open = False
            self._selector.unregister(process.sock)
        self._server.ask(requests.KILL, process.number)

    @property
    def has_room(self) -> bool:
        """True if one more process, with its descriptors, can be made."""
        return len(self._processes) < self.room.most

    @property
    def _busy(self) -> int:
        """Number of processes with a trial."""
        return len(self._processes) - self._waiting.n_idle

    def _make(self) -> TrialProcess:
        self._made += 1
        to_file = self._job.log_to_file is not None  # the trial's files, once the trial is known
        process, theirs = open_process(
            self._made, self._job.captures_output and not to_file, self._null if to_file else None
        )
        self._processes[process.number] = process
        self._selector.register(process.sock, selectors.EVENT_READ, partial(self._on_line, process))
        for stream in process.streams:
            call = partial(self._on_prints, process, stream)
            self._selector.register(stream.descriptor, selectors.EVENT_READ, call)
        self._server.ask(requests.NEW, process.number, theirs)
        self._watch_server()
        return process

    def _watch_line(self, process: TrialProcess) -> None:
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if process.unsent else 0)
        if process.is_open and wanted != process.watched:
            process.watched = wanted
            self._selector.modify(process.sock, wanted, partial(self._on_line, process))

    def _on_line(self, process: TrialProcess, mask: int) -> None:
        if process.number not in self._processes or not process.is_open:
            return  # handled earlier in the same round of events
        if mask & selectors.EVENT_WRITE:
            process.flush()
            self._watch_line(process)
        if mask & selectors.EVENT_READ:
            messages = process.read()
            if not process.is_open:
                self._selector.unregister(process.sock)
            if messages:
                self._restarts = 0  # the processes of this server work
                self._on_messages(process, messages)

    def _on_prints(self, process: TrialProcess, stream: Stream, mask: int) -> None:
        if process.number not in self._processes:
            return
        if not process.shown_pid:
            self._on_line(process, selectors.EVENT_READ)  # the message with its pid, sent before the output
        lines = stream.read()
        if lines is None:
            self._selector.unregister(stream.descriptor)
        elif lines:
            self._on_lines(process, stream.name, lines)

    def drain(self, process: TrialProcess) -> None:
        """Pass on the output of a process until now."""
        for stream in process.streams:
            lines = stream.drain()
            if lines:
                self._on_lines(process, stream.name, lines)

    def _bury(self, process: TrialProcess, text: str, was_taken: bool = False) -> None:
        """Read the last messages and output of a process that is gone, and forget it."""
        if text:
            messages = process.read_rest()
            if messages:
                self._on_messages(process, messages)
            self.drain(process)
        self._close(process)
        if text:
            self._on_exit(process, text, was_taken)

    def _close(self, process: TrialProcess) -> None:
        del self._processes[process.number]
        self._waiting.forget(process)
        if process.is_open:
            self._selector.unregister(process.sock)
        watched = self._selector.get_map()
        for stream in process.streams:
            if stream.descriptor in watched:
                self._selector.unregister(stream.descriptor)
        process.close()

    def close(self, patience_s: float) -> None:
        """Kill all processes, their descendants, and the server."""
        if self._job.reuse:
            self._waiting.let_go(patience_s)
        has_killed_all = self._server.end(patience_s)
        for process in list(self._processes.values()):
            if process.pid and not has_killed_all:
                kill_group(process.pid)
            self.drain(process)
            process.close()
        self._processes.clear()
        self._waiting.clear()
        os.close(self._null)
        os.close(self._payload)
