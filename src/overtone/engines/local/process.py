"""An attempt of a trial, and the driver's end of each of its processes: socket and output."""

from __future__ import annotations

import os
import select
import socket
from selectors import EVENT_READ
from typing import TYPE_CHECKING

from overtone.core.messages import Cause, Start
from overtone.engines.message_check import ResultCheck, check
from overtone.errors import MessageError
from overtone.worker.message_codec import TRIAL, WRONG, Message, message_reader
from overtone.worker.output import OutputLines
from overtone.worker.protocol import Order, order_frame

if TYPE_CHECKING:
    from overtone.worker.gang.plan import RankOrder

Account = tuple[Cause, str, str, bool]
"""The cause, the error, its traceback, and whether another try is hopeless."""

NEVER_RAN: Account = ("halted", "", "", False)
"""The account of an attempt that is over because a process died while it waited for a Start."""

READ_BYTES = 1 << 18
PRINT_BYTES = 1 << 16
"""Maximum size of one read of a trial's output: the rest waits in the pipe."""

_FDS_A_PROCESS = 4  # its socket, its two pipes, and one for descriptors being handed over
_FDS_OF_OTHERS = 100

NO_EVENTS = frozenset({"ended", "left_threads", "no_room", "gpu_memory", "make_ranks", "end_ranks"})
"""Messages that are not events."""

OF_RANKS = frozenset({"started", "ended"})
"""Messages that a rank may send; all others come from the head alone."""

Shape = tuple[tuple[tuple[str, str], ...], int]
"""Setup of a process: (name, value) of the variables that show accelerators, and threads."""


class Stream:
    """A trial's stdout or stderr, as it arrives."""

    __slots__ = ("_waiting", "descriptor", "lines", "name")

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self.descriptor = descriptor
        self.lines = OutputLines()
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


def most_processes() -> int:
    """Return the number of processes that the limit of open files allows."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        limit = 1 << 16
    return max(4, (limit - _FDS_OF_OTHERS) // _FDS_A_PROCESS)


def _dup(descriptor: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)  # a driver without a stdout


class TrialProcess:
    """An operating system process that runs one trial, or with `reuse` one trial after the other.

    Attributes:
        number: The number of the process between the driver and the server.
        pid: The process id as the server reported it; 0 until then.
        shown_pid: The process id for people: `pid`, or until then the id that the process sent.
        attempt: The attempt in the process; None while it waits for a trial.
        order: The rank in the process; None if it is, or will be, the head of an attempt.
        last: The Start of the newest former attempt in the process.
        shape: The setup of the process, made by its first Start.
        was_waiting: Whether the process existed before its attempt was handed to it.
        has_returned: Whether the end of this rank's process is expected, and ends no attempt.
        is_terminated: Whether the engine sent a SIGTERM because the trial did not halt.
        leaves_threads: Whether the trial left threads running, so that the process ends with it.
        is_open: Whether the socket can still be read.
        watched: The selector events that the socket is registered for.
    """

    __slots__ = (
        "attempt", "has_returned", "is_open", "is_terminated", "last", "leaves_threads", "number", "order",
        "pid", "reader", "said_pid", "shape", "sock", "streams", "unsent", "was_waiting", "watched",
    )  # fmt: skip

    def __init__(self, number: int, sock: socket.socket, streams: list[Stream]) -> None:
        self.number = number
        self.sock = sock
        self.streams = streams
        self.reader = message_reader(TRIAL)
        self.pid = self.said_pid = 0
        self.attempt: LocalAttempt | None = None
        self.order: RankOrder | None = None
        self.last: Start | None = None
        self.shape: Shape | None = None
        self.unsent = bytearray()
        self.is_open = self.was_waiting = True
        self.watched = EVENT_READ
        self.has_returned = self.is_terminated = self.leaves_threads = False

    @property
    def shown_pid(self) -> int:
        return self.pid or self.said_pid

    def attempt_of(self, message: Message) -> LocalAttempt | None:
        """Return the attempt that a message counts for; None if it is late, or counts for nothing.

        Raises:
            MessageError: It is not a message of this attempt, nor of the one before; or it is one that a
                rank must not send.
        """
        attempt, kind = self.attempt, message[0]
        if attempt is not None and kind == "reported" and message[5] is None:  # as nearly all are
            start = attempt.start
            if message[1] == start.trial_id and message[2] == start.attempt and attempt.head is self:
                return attempt
        last = self.last
        if last and message[1] == last.trial_id and kind != WRONG and message[2] == last.attempt:
            return None
        if attempt is None:
            raise MessageError("it has no trial")
        check(message, attempt.start)
        if kind == "started":
            self.said_pid = message[3]
            if self.pid not in (0, self.said_pid):
                raise MessageError(f"it says that it is process {self.said_pid}, and is {self.pid}")
        attempt.has_spoken = True
        if attempt.head is self:
            return attempt
        if attempt.ended is not None:
            return None
        if kind not in OF_RANKS:
            raise MessageError(f"{kind!r} of a rank, which only the trial's own process may send")
        return attempt if kind == "ended" else None

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

    def close(self) -> None:
        """Close the descriptors of a process that is gone."""
        self.sock.close()
        for stream in self.streams:
            os.close(stream.descriptor)

    def read_rest(self) -> list[Message]:
        """Return the messages that the process sent before it ended."""
        messages: list[Message] = []
        try:
            while self.is_open and (data := self.sock.recv(READ_BYTES)):
                messages += self.reader.feed(data)
        except OSError:
            pass  # all is read; a descendant that got away still holds the other end
        return messages


class LocalAttempt:
    """One attempt of a trial: its head, and the ranks that the head has asked for.

    The head alone reports for the attempt and gets orders; signals go to all processes. The attempt is
    over when its head ends, or when a rank fails or dies; the other processes are then killed. It has
    ended when all its processes are gone.

    Attributes:
        start: The Start of the attempt.
        head: The process that reports for the attempt; None when it is over, or if it is elsewhere.
        kept: The head that has ended, and will be used again when the ranks are gone.
        processes: The processes that are not gone yet.
        has_spoken: Whether a process has sent a message about the attempt.
        ended: How the attempt ended; None until it is over.
        grace_s: The newest grace period, in seconds.
        is_halted: Whether the attempt was told to halt.
        is_parked: Whether the attempt failed to save, and waits for an order.
        is_noticed: Whether another program sent a SIGTERM to a process, so that the trial may save first.
        excess: (cause, description of the excess) if a process was killed for exceeding a limit.
        results: The check of the results.
    """

    __slots__ = (
        "ended", "excess", "grace_s", "has_spoken", "head", "is_halted", "is_noticed", "is_parked",
        "kept", "processes", "results", "start",
    )  # fmt: skip

    def __init__(self, start: Start, head: TrialProcess | None) -> None:
        self.start = start
        self.head = head
        self.kept: TrialProcess | None = None
        self.processes = [] if head is None else [head]
        self.has_spoken = self.is_halted = self.is_parked = self.is_noticed = False
        self.ended: Account | None = None
        self.grace_s = 0.0
        self.excess: tuple[Cause, str] | None = None
        self.results = ResultCheck()

    def end(self, account: Account) -> None:
        """Make the attempt over: from now on no message about it counts."""
        self.ended, self.head = account, None

    @property
    def is_terminated(self) -> bool:
        """Whether the engine sent a SIGTERM because the trial did not halt."""
        return any(process.is_terminated for process in self.processes)
