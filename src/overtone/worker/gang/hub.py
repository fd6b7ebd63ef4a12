"""The head's side of the connections to its ranks.

A hub has no thread: it reads and writes when the head waits in `poll`. Nobody else can make it wait: sockets
do not block, a stranger has `HANDSHAKE_S` to prove that it is a rank, and only so many strangers are kept.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from overtone.worker.frames import FrameReader
from overtone.worker.gang import wire

MOST_STRANGERS = 64
"""Connections without a completed handshake that are kept at once; the oldest is closed beyond that."""

_PAUSE_S = 0.01
_ABSENCE_S = 2.0  # after a longer pause between two polls, all ranks count as heard of just now

Message = tuple[Any, ...]


@dataclass(eq=False)
class _Stranger:
    """A connection before the end of its handshake."""

    sock: socket.socket
    nonce: bytes
    give_up_at: float
    received: bytearray = field(default_factory=bytearray)


@dataclass(eq=False)
class _Peer:
    """The connection of a rank."""

    rank: int
    sock: socket.socket
    heard_at: float
    reader: FrameReader[Message] = field(default_factory=wire.frame_reader)
    unsent: deque[memoryview] = field(default_factory=deque)
    source: Iterator[bytes] = field(default_factory=lambda: iter(()))
    """Frames that are made as the connection has room for them: files."""

    is_writing: bool = False


class Hub:
    """Accepts the ranks of one generation, and carries messages between them and the head.

    Args:
        host: The address to listen at.
        token: The gang's secret.

    Attributes:
        address: "host:port", where it listens.
        lost: Why the connection of a rank ended, by rank.
    """

    def __init__(self, host: str, token: str, generation: int, num_workers: int) -> None:
        self._token, self._generation, self._num_workers = token, generation, num_workers
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        self._selector = selectors.DefaultSelector()
        self._strangers: list[_Stranger] = []
        self._peers: dict[int, _Peer] = {}
        self._polled_at = time.monotonic()
        self.lost: dict[int, str] = {}
        try:
            self._listener.bind((host, 0))
            self._listener.listen(num_workers + MOST_STRANGERS)
            self._listener.setblocking(False)
            wire.close_in_forks(self._listener)
            self._selector.register(self._listener, selectors.EVENT_READ)
        except BaseException:
            self.close()
            raise
        self.address = f"{host}:{self._listener.getsockname()[1]}"

    @property
    def missing(self) -> list[int]:
        """The ranks that have not connected."""
        return [rank for rank in range(self._num_workers) if rank not in self._peers]

    def send(self, rank: int, message: Message) -> None:
        """Send a message, as far as the connection has room now; `poll` sends the rest.

        A rank whose connection has ended gets nothing.
        """
        self._write(rank, wire.frame(message))

    def send_to_all(self, message: Message, ranks: list[int] | None = None) -> None:
        """Send one message to all ranks, or to `ranks`."""
        data = wire.frame(message)
        for rank in range(self._num_workers) if ranks is None else ranks:
            self._write(rank, data)

    def stream(self, rank: int, messages: Iterator[Message]) -> None:
        """Send messages that are made one by one, when the connection has room."""
        peer = self._peers.get(rank)
        if peer is not None and rank not in self.lost:
            peer.source = (wire.frame(message) for message in messages)
            self._flush(peer)

    def poll(self, timeout_s: float) -> list[tuple[int, Message]]:
        """Return what ranks have sent, as (rank, message); wait up to `timeout_s` until anything happens.

        A rank that is accepted counts as a message ("connected",).
        A rank whose connection has ended is in `lost` afterwards.
        """
        now = time.monotonic()
        if now - self._polled_at > _ABSENCE_S:  # the head did not listen: their silence is not their fault
            for peer in self._peers.values():
                peer.heard_at = now
        messages: list[tuple[int, Message]] = []
        for key, events in self._selector.select(timeout_s):
            self._serve(key, events, messages)
        now = self._polled_at = time.monotonic()
        for stranger in [one for one in self._strangers if one.give_up_at <= now]:
            self._dismiss(stranger)
        return messages

    def silence_s(self, rank: int) -> float:
        """Return for how long the head has listened to a rank and heard nothing, in seconds."""
        return self._polled_at - self._peers[rank].heard_at

    def stop_listening(self) -> None:
        """Accept no more connections."""
        for stranger in list(self._strangers):
            self._dismiss(stranger)
        if self._listener.fileno() >= 0:
            with suppress(KeyError):
                self._selector.unregister(self._listener)
            self._listener.close()

    def close(self) -> None:
        """Close all connections; calling it twice is safe."""
        self.stop_listening()
        for peer in self._peers.values():
            self._lose(peer, "the head closed it")
        self._selector.close()

    # --- reading and writing ----------------------------------------------------------

    def _serve(self, key: selectors.SelectorKey, events: int, messages: list[tuple[int, Message]]) -> None:
        if key.fileobj is self._listener:
            self._accept()
        elif isinstance(key.data, _Stranger):
            self._shake_hands(key.data, messages)
        else:
            peer: _Peer = key.data
            if events & selectors.EVENT_READ:
                self._read(peer, messages)
            if events & selectors.EVENT_WRITE and peer.rank not in self.lost:
                self._flush(peer)

    def _read(self, peer: _Peer, messages: list[tuple[int, Message]]) -> None:
        try:
            data = peer.sock.recv(wire.CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(peer, str(error))
            return
        if not data:
            self._lose(peer, "its process closed it")
            return
        peer.heard_at = time.monotonic()
        try:
            of_rank = peer.reader.feed(data)
        except Exception as error:  # any, since it unpickles
            self._lose(peer, f"it sent what is not a message: {error}")
            return
        messages += [(peer.rank, message) for message in of_rank]

    def _write(self, rank: int, data: bytes) -> None:
        peer = self._peers.get(rank)
        if peer is not None and rank not in self.lost:
            peer.unsent.append(memoryview(data))
            self._flush(peer)

    def _flush(self, peer: _Peer) -> None:
        """Send as much as the connection takes, and be told when it takes more."""
        try:
            while peer.unsent or self._refill(peer):
                n_sent = peer.sock.send(peer.unsent[0])
                if n_sent < len(peer.unsent[0]):
                    peer.unsent[0] = peer.unsent[0][n_sent:]
                else:
                    peer.unsent.popleft()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self._lose(peer, str(error))
            return
        self._watch(peer, is_writing=bool(peer.unsent))

    def _refill(self, peer: _Peer) -> bool:
        data = next(peer.source, None)
        if data is not None:
            peer.unsent.append(memoryview(data))
        return data is not None

    def _watch(self, peer: _Peer, is_writing: bool) -> None:
        if peer.is_writing != is_writing:
            peer.is_writing = is_writing
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if is_writing else 0)
            self._selector.modify(peer.sock, events, peer)

    def _lose(self, peer: _Peer, why: str) -> None:
        if peer.rank not in self.lost:
            self.lost[peer.rank] = why
            self._drop(peer.sock)

    def _drop(self, sock: socket.socket) -> None:
        with suppress(KeyError, ValueError):  # ValueError: a fork or the user closed the socket
            self._selector.unregister(sock)
        sock.close()

    # --- handshakes -------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:  # it has gone; or too many files are open: the next poll tries again
            time.sleep(_PAUSE_S)
            return
        sock.setblocking(False)
        wire.close_in_forks(sock)
        stranger = _Stranger(sock, os.urandom(wire.NONCE_BYTES), time.monotonic() + wire.HANDSHAKE_S)
        self._strangers.append(stranger)
        self._selector.register(sock, selectors.EVENT_READ, stranger)
        if len(self._strangers) > MOST_STRANGERS:
            self._dismiss(self._strangers[0])
        self._say(stranger, wire.challenge(stranger.nonce))

    def _shake_hands(self, stranger: _Stranger, messages: list[tuple[int, Message]]) -> None:
        try:
            data = stranger.sock.recv(wire.HELLO_BYTES - len(stranger.received))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        stranger.received += data
        if not data:
            self._dismiss(stranger)
        if not data or len(stranger.received) < wire.HELLO_BYTES:
            return
        identity = wire.read_hello(self._token, stranger.nonce, bytes(stranger.received))
        if identity is None:
            self._dismiss(stranger)
            return
        generation, rank, _ = identity
        is_accepted = generation == self._generation and rank in self.missing
        is_sent = self._say(stranger, wire.welcome(self._token, stranger.nonce, identity, is_accepted))
        if not is_accepted:
            self._dismiss(stranger)
        elif is_sent:
            self._strangers.remove(stranger)
            wire.tune_socket(stranger.sock, is_head=True)
            peer = self._peers[rank] = _Peer(rank, stranger.sock, time.monotonic())
            self._selector.modify(stranger.sock, selectors.EVENT_READ, peer)
            messages.append((rank, ("connected",)))

    def _say(self, stranger: _Stranger, data: bytes) -> bool:
        """Send a message of a handshake, which fits into the empty buffer of a new connection."""
        with suppress(OSError):
            if stranger.sock.send(data) == len(data):
                return True
        self._dismiss(stranger)
        return False

    def _dismiss(self, stranger: _Stranger) -> None:
        if stranger in self._strangers:
            self._strangers.remove(stranger)
            self._drop(stranger.sock)
