"""SIGTERM to a trial's process, such as a spot machine's notice: the trial may save first.

If its trial can save, a process catches SIGTERM and ends at its next report, after saving. Other
processes end at once, as without a handler. A handler of the user's own has precedence. Python's
C signal handler also notes the SIGTERM on a board, even if Python code cannot run. The server
reads the board, and the engine ends the process when its grace period is over.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid

T = TypeVar("T")

_board: int | None = None  # None: this process does not belong to a single trial
_armed: Notice | None = None
_is_fork_seen_to = False
_held: list[set[int]] = []  # signal masks, while a thread forks


class _Noticed(BaseException):
    """Raised by the SIGTERM handler if a trial just waits for an order."""


class Board:
    """Channel on which the trials of a server note a SIGTERM (Linux only; elsewhere nobody reads it).

    Attributes:
        reader: Socket to select for reading.
        writer: The descriptor that every trial's process inherits.
    """

    def __init__(self) -> None:
        self.reader, self._writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.reader.setblocking(False)
        self._writer.setblocking(False)
        if sys.platform == "linux":
            self.reader.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.writer = self._writer.fileno()

    def read(self) -> list[int]:
        """Return the pids of the processes that got a SIGTERM since the last call."""
        found: list[int] = []
        while True:
            try:
                data, extra, _, _ = self.reader.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
            except BlockingIOError:
                return found
            if data == bytes([signal.SIGTERM]) and extra:
                found.append(_CREDENTIALS.unpack(extra[0][2])[0])

    def close(self) -> None:
        """Close both ends."""
        self.reader.close()
        self._writer.close()


class Notice:
    """The state of SIGTERM handling in one trial's session.

    Attributes:
        is_given: Whether a SIGTERM came.
    """

    def __init__(self) -> None:
        self.is_given = False
        self._waiting_thread: int | None = None

    def arm(self) -> None:
        """Note a SIGTERM here from now on; a handler of the user's own, if any, stays."""
        global _armed
        if _board is None or _armed is not None:
            return
        try:
            _armed = self
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, _on_sigterm)
            taken = signal.set_wakeup_fd(_board, warn_on_full_buffer=False)
            if taken != -1:
                signal.set_wakeup_fd(taken)
        except ValueError:
            _armed = None  # not the main thread: SIGTERM ends the process, as without this
        else:
            _see_to_forks()

    def disarm(self) -> None:
        """Let a SIGTERM end this process from now on."""
        if _armed is self:
            _disarm()

    def unless_given(self, wait: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """Return the result of `wait`, or that of `otherwise` if a SIGTERM came before or comes meanwhile."""
        try:
            self._waiting_thread = threading.get_ident()
            try:
                return otherwise() if self.is_given else wait()
            finally:
                self._waiting_thread = None
        except _Noticed:
            self._waiting_thread = None
            return otherwise()

    def give(self) -> None:
        """Note a SIGTERM that came to this thread."""
        self.is_given = True
        if self._waiting_thread == threading.get_ident():
            raise _Noticed


def listen(board: int) -> None:
    """Note that this process belongs to one trial, with `board` the descriptor of its server's board."""
    global _board
    _board = board


def _disarm() -> None:
    global _armed
    if _armed is None:
        return
    _armed = None
    try:
        if signal.getsignal(signal.SIGTERM) is _on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        taken = signal.set_wakeup_fd(-1)
        if taken not in (-1, _board):
            signal.set_wakeup_fd(taken)
    except ValueError:
        pass  # not the main thread


def _see_to_forks() -> None:
    """Make forks of the trial end at a SIGTERM, as multiprocessing expects of its workers."""
    global _is_fork_seen_to
    if not _is_fork_seen_to:
        _is_fork_seen_to = True
        os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release_child)


def _hold() -> None:
    """Block SIGTERM during a fork: before Python is ready in the child, the signal would be lost."""
    if _armed is not None:
        _held.append(signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]))


def _release() -> None:
    if _held:
        signal.pthread_sigmask(signal.SIG_SETMASK, _held.pop())


def _release_child() -> None:
    _disarm()
    _release()


def _on_sigterm(signum: int, frame: FrameType | None) -> None:
    if _armed is not None:
        _armed.give()
