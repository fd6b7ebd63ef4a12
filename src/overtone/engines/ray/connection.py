"""The driver's end of a connection to a node or a trial, and the port that they connect to."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Callable
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any

from overtone.engines.loop import Loop
from overtone.worker.message_codec import CALLER, Message, message_reader
from overtone.worker.protocol import order_frame

TOKEN_BYTES = 32
READ_BYTES = 1 << 18


class Line:
    """A connection that receives messages and sends orders, both in whole frames.

    Args:
        loop: The loop that reads the connection.
        sock: A connected socket whose caller has shown the token.
        on_messages: Called with the line and the new messages; a message of the kind WRONG is the last.
        on_end: Called with the line when the other end has hung up.
    """

    def __init__(
        self,
        loop: Loop,
        sock: socket.socket,
        on_messages: Callable[[Line, list[Message]], None],
        on_end: Callable[[Line], None],
    ) -> None:
        self.is_open = True
        self._loop, self._sock = loop, sock
        self._on_messages, self._on_end = on_messages, on_end
        self._reader = message_reader(CALLER)
        self._unsent = bytearray()
        self._events = EVENT_READ
        loop.selector.register(sock, EVENT_READ, self._on_ready)

    def put(self, order: Any) -> None:
        """Queue an order for the next `flush`.

        Raises:
            Exception: The order holds a value that cannot be pickled.
        """
        self._unsent += order_frame(order)

    def flush(self) -> None:
        """Send the queued bytes that the connection takes; the rest follows when it is writable."""
        if not self.is_open:
            return
        try:
            while self._unsent:
                del self._unsent[: self._sock.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()  # the other end has hung up; reading reports it
        events = EVENT_READ | (EVENT_WRITE if self._unsent else 0)
        if events != self._events:
            self._events = events
            self._loop.selector.modify(self._sock, events, self._on_ready)

    def close(self) -> None:
        """Close the connection; safe to call twice. The other end still reads what was sent."""
        if self.is_open:
            self.is_open = False
            self._loop.selector.unregister(self._sock)
            self._sock.close()

    def _on_ready(self, mask: int) -> None:
        if mask & EVENT_WRITE:
            self.flush()
        if mask & EVENT_READ and self.is_open:
            try:
                data = self._sock.recv(READ_BYTES)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                messages = self._reader.feed(data)
                if messages:
                    self._on_messages(self, messages)
                return
            self.close()
            self._on_end(self)


class Port:
    """The port of the driver to which the nodes and trials of one run connect.

    A caller sends the run's token first; a caller with another token is disconnected.

    Args:
        loop: The loop that reads the port.
        ip: IP address of the driver, as other nodes see it.
        token: Token of the run.
        on_call: Called with the socket of a caller that has sent the token.
    """

    def __init__(self, loop: Loop, ip: str, token: bytes, on_call: Callable[[socket.socket], None]) -> None:
        self._loop, self._token, self._on_call = loop, token, on_call
        self._callers: dict[socket.socket, bytes] = {}
        self._sock = socket.create_server((ip, 0), backlog=512)
        self._sock.setblocking(False)
        self.address: tuple[str, int] = (ip, self._sock.getsockname()[1])
        loop.selector.register(self._sock, EVENT_READ, self._on_caller)

    def close(self) -> None:
        """Stop accepting connections."""
        for sock in (self._sock, *self._callers):
            sock.close()

    def _on_caller(self, mask: int) -> None:
        try:
            caller, _ = self._sock.accept()
        except OSError:
            return
        set_up(caller)
        caller.setblocking(False)
        self._callers[caller] = b""
        self._loop.selector.register(caller, EVENT_READ, partial(self._on_token, caller))

    def _on_token(self, caller: socket.socket, mask: int) -> None:
        shown = self._callers[caller]
        try:
            data = caller.recv(TOKEN_BYTES - len(shown))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        shown += data
        if data and len(shown) < TOKEN_BYTES:
            self._callers[caller] = shown
            return
        del self._callers[caller]
        self._loop.selector.unregister(caller)
        if hmac.compare_digest(shown, self._token):
            self._on_call(caller)
        else:
            caller.close()


def call(address: tuple[str, int], token: bytes, within_s: float = 30.0) -> socket.socket:
    """Connect to the port at `address`, send the token, and return the socket."""
    sock = socket.create_connection(address, timeout=within_s)
    sock.settimeout(None)
    set_up(sock)
    sock.sendall(token)
    return sock


def set_up(sock: socket.socket) -> None:
    """Set up a socket: send small messages at once, and detect within a minute that the host is gone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000)
