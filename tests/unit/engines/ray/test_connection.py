"""Connections to the driver: who does not show the token is not listened to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from overtone.engines.loop import Loop
from overtone.engines.ray.connection import TOKEN_BYTES, Line, Port, call
from overtone.worker.message_codec import message_frame
from overtone.worker.protocol import order_reader

TOKEN = b"t" * TOKEN_BYTES


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def calls(loop: Loop) -> Iterator[tuple[Port, list[socket.socket]]]:
    found: list[socket.socket] = []
    port = Port(loop, "127.0.0.1", TOKEN, found.append)
    yield port, found
    port.close()
    for sock in found:
        sock.close()


def wait(loop: Loop, is_there: Callable[[], Any]) -> None:
    until = loop.now() + 10
    while not is_there():
        assert loop.now() < until
        loop.wait(loop.now() + 0.1)


def test_who_shows_the_token_is_put_through(loop: Loop, calls: tuple[Port, list[socket.socket]]) -> None:
    port, found = calls
    with call(port.address, TOKEN):
        wait(loop, lambda: found)


def test_who_shows_another_is_hung_up_on(loop: Loop, calls: tuple[Port, list[socket.socket]]) -> None:
    port, found = calls
    with call(port.address, b"x" * TOKEN_BYTES) as caller:
        caller.setblocking(False)

        def is_hung_up() -> bool:
            try:
                return caller.recv(1) == b""
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True

        wait(loop, is_hung_up)
    assert found == []


def test_messages_go_both_ways_and_the_end_is_told(loop: Loop) -> None:
    mine, theirs = socket.socketpair()
    mine.setblocking(False)
    heard: list[Any] = []
    ended: list[Line] = []
    line = Line(loop, mine, lambda _, messages: heard.extend(messages), ended.append)
    large = ("large", "x" * 3_000_000)
    line.put(large)
    line.flush()  # more than the socket takes at once
    theirs.sendall(message_frame(("node", "one", 1, True)) + message_frame(("node", "two", 2, True)))
    wait(loop, lambda: len(heard) == 2)
    assert heard == [("node", "one", 1, True), ("node", "two", 2, True)]
    reader, got = order_reader(), []
    theirs.setblocking(False)

    def has_all() -> bool:
        try:
            got.extend(reader.feed(theirs.recv(1 << 20)))
        except BlockingIOError:
            pass
        return bool(got)

    wait(loop, has_all)
    assert got == [large]
    theirs.close()
    wait(loop, lambda: ended)
    assert not line.is_open
    line.close()  # twice is safe
