"""The driver's side of the warm server: starts it, requests processes, and receives their ends."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import deque
from collections.abc import Sequence

from overtone.worker.message_codec import SERVER, Message, message_reader
from overtone.worker.protocol import CHUNK_BYTES
from overtone.worker.server.requests import REQUEST

_TAIL_BYTES = 8192


class WarmServer:
    """One server process, which starts while the driver continues.

    The arguments are the fields of a `prestart.Newborn`.

    Attributes:
        line: The socket to the server, to be selected for reading.
        prints: The descriptor of the server's output, to be selected for reading.
        is_ready: Whether the server has reported that it is ready.
        was_taken: Whether the server was killed; set by `obituary`.
        has_backlog: Whether requests wait until `line` can be written to.
    """

    def __init__(self, line: socket.socket, prints: int, pid: int) -> None:
        self.line, self.prints, self._pid = line, prints, pid
        self.is_ready = False
        self.was_taken = False
        self._reader = message_reader(SERVER)
        self._requests: deque[tuple[bytes, Sequence[int]]] = deque()
        self._tail = b""
        self.line.setblocking(False)
        os.set_blocking(self.prints, False)

    @property
    def has_backlog(self) -> bool:
        return bool(self._requests)

    def ask(
        self, what: bytes, number: int = 0, descriptors: Sequence[int] = (), index: int = 0, amount: int = 0
    ) -> None:
        """Send a request now, or later by `flush`; closes the descriptors once they are sent."""
        self._requests.append((REQUEST.pack(what, number, index, amount), descriptors))
        self.flush()

    def flush(self) -> None:
        """Send the waiting requests, as far as the socket takes them."""
        while self._requests:
            request, descriptors = self._requests[0]
            try:
                socket.send_fds(self.line, [request], descriptors)
            except BlockingIOError:
                return
            except OSError:
                pass  # the server is gone; reading from the line will say so
            self._requests.popleft()
            for one in descriptors:
                os.close(one)

    def hear(self) -> list[Message] | None:
        """Return the server's messages that are available now; None when the server is gone."""
        try:
            data = self.line.recv(CHUNK_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return self._reader.feed(data) if data else None

    def read_prints(self) -> bool:
        """Keep the end of the server's output; return False once the output has ended."""
        try:
            data = os.read(self.prints, CHUNK_BYTES)
        except BlockingIOError:
            return True
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        return bool(data)

    def obituary(self) -> str:
        """Return how the server ended ("exited ...", "was killed ..."), with the end of its output."""
        status = self._wait(1.0)
        self.was_taken = status is not None and was_taken(status)
        if self.prints >= 0:
            self.read_prints()
        tail = self._tail.decode("utf-8", "replace").strip()
        how = end_text(status)
        return ("was " if how.startswith("killed") else "") + how + (f"; it printed:\n{tail}" if tail else "")

    def end(self, patience_s: float) -> bool:
        """Have the server kill its descendants and exit; return whether it did. Safe to call twice."""
        try:
            self.line.shutdown(socket.SHUT_WR)
            self.line.settimeout(patience_s)
            while self.line.recv(CHUNK_BYTES):
                pass
        except OSError:
            pass  # it is gone, or it does not answer
        has_ended = self._wait(patience_s) is not None
        for signum in (signal.SIGTERM, signal.SIGKILL):  # at SIGTERM the guard kills all processes
            if self._pid:
                _signal(self._pid, signum)
                _signal(self._pid, signal.SIGCONT)  # should it be stopped
                self._wait(patience_s)
        self.forget()
        return has_ended

    def kill(self) -> None:
        """Kill the server and its descendants; the end of `line` shows that they are gone."""
        if self._pid:
            _signal(self._pid, signal.SIGTERM)

    def forget(self) -> None:
        """Close this process's descriptors of the server."""
        self.line.close()
        if self.prints >= 0:
            os.close(self.prints)
            self.prints = -1
        for _, descriptors in self._requests:
            for one in descriptors:
                os.close(one)
        self._requests.clear()

    def _wait(self, patience_s: float) -> int | None:
        """Return the server's exit status, as from waitpid; None while it runs, or if unknown."""
        give_up_at = time.monotonic() + patience_s
        while self._pid:
            try:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:
                self._pid = 0  # other code waits for this process's children
                return None
            if pid:
                self._pid = 0
                return status
            if time.monotonic() > give_up_at:
                return None
            time.sleep(0.001)
        return None


def end_text(status: int | None) -> str:
    """Return how a process with this `waitpid` status ended, as text for people."""
    if status is None:
        return "ended, nobody knows how"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


def was_taken(status: int) -> bool:
    """Return whether a process with this `waitpid` status was killed, and did not crash."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGTERM)


def _signal(pid: int, signum: int) -> None:
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        pass


def kill_group(pid: int) -> None:
    """Kill the process group that `pid` leads."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # it is gone already
