"""Takes requests from a socket, in one thread, and brings the answers back.

Whatever a client does, it holds up nobody: reads and writes never wait, a connection without a whole
request is closed after some seconds, and the memory of each connection has a bound.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

from overtone.control.answers import ControlError, refusal
from overtone.control.inbox import Inbox
from overtone.control.meeting_place import Listener, listen, peer_user
from overtone.control.questions import Ask, Questions
from overtone.control.requests import requested
from overtone.control.wire import PROTOCOL, RECEIVED_BYTES, frame_of, reader
from overtone.errors import MessageError
from overtone.version import __version__

MOST_CONNECTIONS = 64
"""Connections at the same time; one that asks for nothing makes room for a new one."""

MOST_WAITING = 1024
"""Unanswered requests of a connection beyond which no more of it is read."""

SILENCE_S = 10.0
"""Seconds after which a connection that waits for no answer is closed."""

FAREWELL_S = 1.0
"""Seconds that clients get at the end to read their last answers."""

_UNSENT_BYTES = 1 << 18

_open: WeakSet[ControlServer] = WeakSet()
_is_registered = False


class _Connection:
    """A client. `n_waiting` counts requests without an answer, `unsent` has answers for it."""

    def __init__(self, peer: socket.socket, is_trusted: bool) -> None:
        self.socket = peer
        self.reader = reader()
        self.is_trusted = is_trusted
        self.is_ending = False
        self.n_waiting = 0
        self.unsent = bytearray()
        self.since = time.monotonic()

    @property
    def interest(self) -> int:
        """The events that the selector watches for."""
        is_full = self.n_waiting >= MOST_WAITING or len(self.unsent) >= _UNSENT_BYTES
        reads = 0 if is_full or self.is_ending else selectors.EVENT_READ
        return reads | (selectors.EVENT_WRITE if self.unsent else 0)


class ControlServer:
    """The way in to a running experiment.

    Args:
        folder: The experiment's; the caller holds its lock.
        inbox: Takes the requests.
        questions: Answers the questions that are no requests, by their names.

    Raises:
        OSError: Neither a socket nor a port can be opened.
    """

    def __init__(self, folder: Path, inbox: Inbox, questions: Mapping[str, Ask] | None = None) -> None:
        self._inbox = inbox
        self._questions = Questions(questions or {})
        self._answers: deque[tuple[_Connection, dict[str, Any]]] = deque()
        self._is_closing = False
        self._bell, self._bell_rope = socket.socketpair()
        try:
            self._way: Listener = listen(folder)
        except BaseException:
            self._bell.close()
            self._bell_rope.close()
            raise
        for end in (self._bell, self._bell_rope):
            end.setblocking(False)
        self._connections: dict[socket.socket, _Connection] = {}
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._serve, name="overtone-control", daemon=True)
        _open.add(self)
        _let_go_in_children()
        self._thread.start()

    def close(self) -> None:
        """Close the inbox, send the last answers and remove the way in. Safe to call twice."""
        self._inbox.close()
        self._is_closing = True
        self._ring()
        if self._thread.is_alive():
            self._thread.join()

    # --- the loop's thread -----------------------------------------------------------------

    def _answer(self, connection: _Connection, document: dict[str, Any]) -> None:
        self._answers.append((connection, document))
        if len(self._answers) == 1:
            self._ring()

    def _ring(self) -> None:
        with suppress(OSError):
            self._bell_rope.send(b"\0")

    # --- the server's thread ---------------------------------------------------------------

    def _serve(self) -> None:
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._selector.register(self._way.socket, selectors.EVENT_READ)
        try:
            while not self._is_closing:
                self._turn(SILENCE_S / 2 if self._connections else None)
            give_up_at = time.monotonic() + FAREWELL_S
            self._accept()
            while self._owes() and time.monotonic() < give_up_at:
                self._turn(0.05)
        finally:
            self._way.close()
            for connection in list(self._connections.values()):
                self._drop(connection)
            self._selector.close()
            self._bell.close()
            self._bell_rope.close()

    def _owes(self) -> bool:
        connections = self._connections.values()
        return bool(self._answers) or any(one.unsent or one.n_waiting for one in connections)

    def _turn(self, timeout_s: float | None) -> None:
        for key, events in self._selector.select(timeout_s):
            if key.fileobj is self._bell:
                with suppress(OSError):
                    self._bell.recv(4096)
            elif key.fileobj is self._way.socket:
                self._accept()
            elif (connection := self._connections.get(key.fileobj)) is not None:  # type: ignore[call-overload]
                if events & selectors.EVENT_READ:
                    self._read(connection)
                if connection.unsent:
                    self._send(connection)
        self._pass_on_answers()
        if self._connections:
            self._drop_silent(time.monotonic() - SILENCE_S)

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._way.socket.accept()
            except OSError:  # Nobody waits any more, or this process has too many files open.
                return
            peer.setblocking(False)
            user = peer_user(peer)
            connection = _Connection(peer, is_trusted=not self._way.token)
            self._connections[peer] = connection
            self._selector.register(peer, selectors.EVENT_READ)
            if user not in (None, 0, os.geteuid()):
                self._end(
                    connection, refusal(f"this run belongs to user {os.geteuid()}, not {user}", "foreign")
                )
            elif len(self._connections) > MOST_CONNECTIONS:
                idle = [one for one in self._connections.values() if not one.n_waiting]
                self._drop(min(idle, key=lambda one: one.since))

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.socket.recv(RECEIVED_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(connection)
            return
        try:
            documents = connection.reader.feed(data)
        except MessageError as error:
            self._end(connection, refusal(f"the request cannot be read: {error}", "wrong"))
            return
        for document in documents:
            connection.since = time.monotonic()
            self._take(connection, document)
        self._watch(connection)

    def _take(self, connection: _Connection, document: dict[str, Any]) -> None:
        if connection.is_ending:
            return
        if document.get("protocol") != PROTOCOL:
            self._end(
                connection, refusal(f"the driver runs Overtone {__version__}: use that version", "version")
            )
            return
        if not connection.is_trusted:
            from hmac import compare_digest

            token = str(document.get("token", "")).encode()
            if not compare_digest(token, self._way.token.encode()):
                self._end(connection, refusal("the request does not show the token of this run", "foreign"))
                return
            connection.is_trusted = True
        connection.n_waiting += 1
        if document.get("what") in self._questions:
            self._questions.put(document, partial(self._answer, connection))
            return
        try:
            event = requested(document)
        except ControlError as error:
            self._answers.append((connection, refusal(str(error), "wrong")))
            return
        self._inbox.put(event, partial(self._answer, connection))

    def _pass_on_answers(self) -> None:
        given = set()
        while self._answers:
            connection, document = self._answers.popleft()
            connection.n_waiting -= 1
            if connection.socket in self._connections:
                connection.unsent += frame_of(document)
                given.add(connection)
        for connection in given:
            connection.since = time.monotonic()
            self._send(connection)

    def _end(self, connection: _Connection, document: dict[str, Any]) -> None:
        """Send a last answer and close."""
        connection.is_ending = True
        connection.unsent += frame_of(document)
        self._send(connection)

    def _send(self, connection: _Connection) -> None:
        try:
            sent = connection.socket.send(connection.unsent)
            del connection.unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(connection)
            return
        if connection.is_ending and not connection.unsent:
            self._drop(connection)
        else:
            self._watch(connection)

    def _watch(self, connection: _Connection) -> None:
        if connection.socket not in self._connections:
            return
        interest = connection.interest
        known = self._selector.get_map().get(connection.socket)
        if known is not None and interest != known.events:
            if interest:
                self._selector.modify(connection.socket, interest)
            else:
                self._selector.unregister(connection.socket)
        elif known is None and interest:
            self._selector.register(connection.socket, interest)

    def _drop_silent(self, before: float) -> None:
        for connection in list(self._connections.values()):
            if connection.since < before and (connection.unsent or not connection.n_waiting):
                self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        if self._connections.pop(connection.socket, None) is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(connection.socket)
            connection.socket.close()

    def let_go(self) -> None:
        """Close the descriptors in a forked child: the way in ends with the driver."""
        self._way.let_go()
        for peer in [self._bell, self._bell_rope, *self._connections]:
            peer.close()


def _let_go_in_children() -> None:
    global _is_registered
    if not _is_registered and hasattr(os, "register_at_fork"):  # Windows does not fork
        _is_registered = True
        os.register_at_fork(after_in_child=_release_all)


def _release_all() -> None:
    for server in list(_open):
        server.let_go()
    _open.clear()
