"""The driver's end of one trial process: its socket, its output, and the trial in it."""

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
"""Maximum size of one read of a trial's output: the rest waits in the pipe."""

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
        """Return the next whole lines; None when all writers are gone."""
        try:
            data = os.read(self.descriptor, PRINT_BYTES)
        except BlockingIOError:
            return []
        return self.lines.feed(data) if data else None

    def drain(self, budget_bytes: int = 1 << 20) -> list[str]:
        """Return the lines that are available now, up to a budget, with the last, incomplete line."""
        lines: list[str] = []
        while budget_bytes > 0 and self._waiting.poll(0):  # most are empty, and an error costs more
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
    """Return a `TrialProcess` that is not started yet, and the descriptors for it: line, stdout, stderr.

    Args:
        number: The number of the process.
        captures_output: Whether the output of the process goes to its `streams`.
        null: Descriptor for output that is not captured; None for this process's stdout and stderr.

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
    """A process that runs one trial, or with `reuse` one trial after the other.

    Attributes:
        number: The number of the process between the driver and the server.
        pid: The process id as the server reported it; 0 until then.
        shown_pid: The process id for people: `pid`, or until then the id that the process sent.
        former: The (trial_id, attempt) that ran in the process before `start`.
        start: The Start of the trial in the process; None while it waits for a trial.
        last: The Start of the newest former trial in the process.
        shape: The setup of the process, made by its first Start.
        has_spoken: Whether the process has sent a message about `start`.
        was_waiting: Whether the process existed before `start` was handed to it.
        ended: The message about the end of `start`.
        grace_s: The newest grace period of the process, in seconds.
        halted: Whether `start` was told to halt.
        is_parked: Whether the process failed to save, and waits for an order.
        is_terminated: Whether the engine sent a SIGTERM because the trial did not halt.
        is_noticed: Whether another program sent a SIGTERM, so that the trial may save first.
        leaves_threads: Whether `start` left threads running, so that the process ends with it.
        excess: (cause, description of the excess) if `start` was killed for exceeding a limit.
        is_open: Whether the socket can still be read.
        results: The check of the results of `start`.
        watched: The selector events that the socket is registered for.
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
        """Reset the state of the trial, so that the process can take the next one."""
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
        """Send as much of an order as the socket takes; `flush` sends the rest.

        Raises:
            Exception: The order holds a value that cannot be pickled.
        """
        self.unsent += order_frame(order)
        self.flush()

    def flush(self) -> None:
        """Send the unsent bytes, as far as the socket takes them."""
        try:
            del self.unsent[: self.sock.send(self.unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent.clear()  # the process has ended; the server will report how

    def read(self) -> list[Message]:
        """Return the messages that are available now.

        `is_open` is False after the end of the stream and after an invalid message.
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
        """Return the messages that the process sent before it ended."""
        messages: list[Message] = []
        try:
            while self.is_open and (data := self.sock.recv(READ_BYTES)):
                messages += self.reader.feed(data)
        except OSError:
            pass  # all is read; a descendant that got away still holds the other end
        return messages
