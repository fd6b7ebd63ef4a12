"""A rank's connection to its head, and the thread that looks after it.

The thread sends a sign of life at intervals, and ends the process when the head is gone, whatever the user's
code does at that time. It reads nothing: the head's messages are for the thread that waits for them.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from overtone.errors import GangError
from overtone.worker.gang import wire
from overtone.worker.gang.plan import EXIT_HEAD_GONE, GangPlan

_CONNECT_S = 30.0
_IS_OVER = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR

Message = tuple[Any, ...]


class HeadLine:
    """The connection of this process, which is a rank, to its head.

    Attributes:
        head: The head's "host:port".
        address: The address of this rank's end, at which other ranks reach this host.

    Raises:
        GangError: The head refuses this rank, or is not its head.
        OSError: The head cannot be reached.
    """

    def __init__(self, plan: GangPlan, rank: int) -> None:
        self.head = plan.address
        host, _, port = plan.address.rpartition(":")
        self._sock = socket.create_connection((host, int(port)), timeout=_CONNECT_S)
        self._lock = threading.Lock()
        self._reader = wire.frame_reader()
        self._messages: deque[Message] = deque()
        self._is_closing = False
        try:
            self._shake_hands(plan, rank)
            wire.tune_socket(self._sock, is_head=False)
        except BaseException:
            self._sock.close()
            raise
        wire.close_in_forks(self._sock)
        self.address = str(self._sock.getsockname()[0])

    def _shake_hands(self, plan: GangPlan, rank: int) -> None:
        self._sock.settimeout(wire.HANDSHAKE_S)
        challenge_data = self._read_exactly(wire.CHALLENGE_BYTES)
        identity = (plan.generation, rank, os.urandom(wire.NONCE_BYTES))
        self._sock.sendall(wire.hello(plan.token, challenge_data, *identity))
        wire.read_welcome(plan.token, challenge_data, identity, self._read_exactly(wire.WELCOME_BYTES))
        self._sock.settimeout(None)

    def _read_exactly(self, n_bytes: int) -> bytes:
        data = b""
        while len(data) < n_bytes:
            more = self._sock.recv(n_bytes - len(data))
            if not more:
                raise GangError(
                    "the head of the gang has closed the connection: another generation has begun"
                )
            data += more
        return data

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            EOFError: The head is gone.
            GangError: The message is too long.
        """
        data = wire.frame(message)
        try:
            with self._lock:
                self._sock.sendall(data)
        except OSError as error:
            raise EOFError("the head of the gang is gone") from error

    def receive(self) -> Message:
        """Wait for the head's next message, and return it.

        Raises:
            EOFError: The head is gone.
        """
        while not self._messages:
            try:
                data = self._sock.recv(wire.CHUNK_BYTES)
            except OSError as error:
                raise EOFError("the head of the gang is gone") from error
            if not data:
                raise EOFError("the head of the gang is gone")
            self._messages.extend(self._reader.feed(data))
        return self._messages.popleft()

    def look_after(self, every_s: float, is_noticed: Callable[[], bool], ends_process: bool = True) -> None:
        """Start the thread that shows the head that this process lives, and ends it with the head.

        Args:
            every_s: Seconds between two signs of life.
            is_noticed: Returns whether this process got a SIGTERM, which the head is told.
            ends_process: Whether this process ends with the head.
        """
        arguments = (every_s, is_noticed, ends_process)
        thread = threading.Thread(target=self._look_after, args=arguments, name="overtone-rank", daemon=True)
        thread.start()

    def _look_after(self, every_s: float, is_noticed: Callable[[], bool], ends_process: bool) -> None:
        ends, room = select.poll(), select.poll()
        ends.register(self._sock, _IS_OVER)
        room.register(self._sock, select.POLLOUT)
        while not self._is_closing:
            if ends.poll(every_s * 1000) and not self._is_closing:
                if not ends_process:
                    return
                os._exit(EXIT_HEAD_GONE)
            # A busy head reads nothing: a sign of life that finds no room is left out. So is one beside
            # another message, which is a sign of life itself.
            if not self._is_closing and room.poll(0) and self._lock.acquire(blocking=False):
                try:
                    self._sock.sendall(wire.frame(("alive", is_noticed())))
                except OSError:
                    continue  # the next look ends the process
                finally:
                    self._lock.release()

    def close(self) -> None:
        """Close the connection; its end ends this process no longer."""
        self._is_closing = True
        with suppress(OSError):  # the head is gone
            self._sock.shutdown(socket.SHUT_RDWR)  # a thread that waits for the socket would keep it open
        self._sock.close()
