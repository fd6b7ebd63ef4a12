"""The driver's end of one trial process: its line, its prints, and the trial in it."""

from __future__ import annotations

import os
import select
import socket
from selectors import EVENT_READ

from overtone.core.messages import Cause, Start
from overtone.engines.message_check import ResultCheck, check
from overtone.errors import MessageError
from overtone.worker.message_codec import TRIAL, WRONG, Message, message_reader
from overtone.worker.output import Lines
from overtone.worker.protocol import Order, order_frame

READ_BYTES = 1 << 18
PRINT_BYTES = 1 << 16
"""Read of a trial's prints at a time: what it floods beyond that waits in its pipe."""

Shape = tuple[tuple[tuple[str, str], ...], int]
"""Setup of a process: (name, value) of the variables that show accelerators, and threads."""


class Stream:
    """A trial's stdout or stderr, as it arrives."""

    __slots__ = ("_waiting", "descriptor", "lines", "name")

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self.descriptor = descriptor
        self.lines = Lines()
        self._waiting = select.poll()
        self._waiting.register(descriptor, select.POLLIN)

    def read(self) -> list[str] | None:
        """The next whole lines; None when all writers are gone."""
        try:
            data = os.read(self.descriptor, PRINT_BYTES)
        except BlockingIOError:
            return []
        return self.lines.feed(data) if data else None

    def drain(self, budget_bytes: int = 1 << 20) -> list[str]:
        """What is there now, up to a budget, with the line that was only begun."""
        lines: list[str] = []
        while budget_bytes > 0 and self._waiting.poll(0):  # asked: most have nothing, and an error costs more
            try:
                data = os.read(self.descriptor, PRINT_BYTES)
            except BlockingIOError:
                break
            if not data:
                break
            budget_bytes -= len(data)
            lines += self.lines.feed(data)
        return lines + self.lines.end()


def open_process(number: int, captures_output: bool, null: int | None) -> tuple[TrialProcess, list[int]]:
    """A process that is still to be made, and the descriptors for it: line, stdout, stderr.

    Args:
        number: Its name.
        captures_output: Whether what it prints comes to its `streams`.
        null: Otherwise, where it goes; None for where this process's own goes.

    Raises:
        OSError: No more files can be opened.
    """
    mine, theirs = socket.socketpair()
    mine.setblocking(False)
    streams: list[Stream] = []
    outs: list[int] = []
    for name, own in (("stdout", 1), ("stderr", 2)):
        if captures_output:
            read, write = os.pipe()
            os.set_blocking(read, False)
            streams.append(Stream(name, read))
            outs.append(write)
        else:
            outs.append(_dup(own if null is None else null))
    return TrialProcess(number, mine, streams), [theirs.detach(), *outs]


def _dup(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)  # a driver without a stdout


class TrialProcess:
    """One process, in which one trial runs, or with `reuse` one after the other.

    Attributes:
        number: Its name between the driver and the server.
        pid: Its process id; 0 until the server has said so.
        shown_pid: The same for people, who may read of it before: then as it has said itself.
        former: The trial and attempt that were in it before `start`.
        start: The trial in it; None while it waits for one.
        last: The newest trial in it, also while it waits for another.
        shape: What it was set up for by its first Start.
        has_spoken: Whether it has said a word about `start`.
        was_waiting: Whether it was there before `start` was handed to it.
        ended: What it said about the end of `start`.
        grace_s: What it was given to end by itself, when it was told to last.
        halted: Whether `start` was told to halt.
        is_parked: Whether it has said that it cannot save, and waits to be told.
        is_terminated: Whether it was sent a SIGTERM, for not halting.
        is_noticed: Whether somebody else has sent it one, and it may save first.
        leaves_threads: Whether `start` does, so that the process ends with it.
        excess: (cause, what it used too much of) if `start` was killed for that.
        is_open: Whether its line can still be read.
        results: Follows the results of `start`.
        watched: The selector's events that its line is registered for.
    """

    __slots__ = (
        "ended", "excess", "former", "grace_s", "halted", "has_spoken", "is_noticed", "is_open", "is_parked",
        "is_terminated", "last", "leaves_threads", "number", "pid", "reader", "results", "said_pid", "shape",
        "sock", "start", "streams", "unsent", "was_waiting", "watched",
    )  # fmt: skip

    def __init__(self, number: int, sock: socket.socket, streams: list[Stream]) -> None:
        self.number = number
        self.sock = sock
        self.streams = streams
        self.reader = message_reader(TRIAL)
        self.pid = self.said_pid = 0
        self.former: tuple[str, int] | None = None
        self.start: Start | None = None
        self.shape: Shape | None = None
        self.unsent = bytearray()
        self.is_open = True
        self.watched = EVENT_READ
        self.is_terminated = False
        self.grace_s = 0.0
        self.last: Start | None = None
        self.forget_trial()

    def forget_trial(self) -> None:
        """Wait for a trial."""
        if self.start is not None:
            self.last = self.start
            self.former = self.start.trial_id, self.start.attempt
        self.start = None
        self.has_spoken = False
        self.was_waiting = True
        self.ended: Message | None = None
        self.halted = self.is_noticed = self.is_parked = self.leaves_threads = False
        self.excess: tuple[Cause, str] | None = None
        self.results = ResultCheck()

    @property
    def shown_pid(self) -> int:
        return self.pid or self.said_pid

    def is_about_trial(self, message: Message) -> bool:
        """Return whether a message is about the trial in this process, and not late.

        Raises:
            MessageError: It is not a message of this trial, nor of the one before.
        """
        start = self.start
        is_plain = message[0] == "reported" and message[5] is None  # as nearly all are
        if is_plain and start and message[1] == start.trial_id and message[2] == start.attempt:
            return self.ended is None
        if message[1:3] == self.former and message[0] != WRONG:
            return False
        if start is None:
            raise MessageError("it has no trial")
        check(message, start)
        if message[0] == "started":
            self.said_pid = message[3]
            if self.pid not in (0, self.said_pid):
                raise MessageError(f"it says that it is process {self.said_pid}, and is {self.pid}")
        return self.ended is None

    def send(self, order: Order) -> None:
        """Send an order, as far as the line takes it; the rest with `flush`.

        Raises:
            Exception: The order holds a value that cannot be pickled.
        """
        self.unsent += order_frame(order)
        self.flush()

    def flush(self) -> None:
        """Send what is left over."""
        try:
            del self.unsent[: self.sock.send(self.unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent.clear()  # it has ended; the server will say how

    def read(self) -> list[Message]:
        """What it says now; empty, and not `is_open`, when it has hung up.

        After what is no message nothing is read.
        """
        try:
            data = self.sock.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.is_open = False
        messages = self.reader.feed(data)
        if messages and messages[-1][0] == WRONG:
            self.is_open = False
        return messages

    def read_rest(self) -> list[Message]:
        """What it had said before it ended."""
        messages: list[Message] = []
        try:
            while self.is_open and (data := self.sock.recv(READ_BYTES)):
                messages += self.reader.feed(data)
        except OSError:
            pass  # all is read; a descendant that got away still holds the other end
        return messages
