from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from overtone.core.messages import Halt
from overtone.core.types import Checkpoint
from overtone.engines.local.process import PRINT_BYTES, Stream, TrialProcess
from overtone.worker.message_codec import message_frame
from overtone.worker.protocol import order_reader


class Line:
    """A socket that takes `room` bytes, and has `says` to be read."""

    def __init__(self, room: int = 0, says: list[bytes | Exception] | None = None) -> None:
        self.room = room
        self.says = says or []
        self.sent = b""

    def send(self, data: bytes) -> int:
        if not self.room:
            raise BlockingIOError
        taken = bytes(data[: self.room])
        self.sent += taken
        self.room -= len(taken)
        return len(taken)

    def recv(self, size: int) -> bytes:
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def process(line: Line) -> TrialProcess:
    return TrialProcess(1, line, [])  # type: ignore[arg-type]


def test_what_the_line_does_not_take_is_sent_later() -> None:
    line = Line(room=5)
    one = process(line)
    orders = [Halt("a", 0), Halt("b", 0)]
    for order in orders:
        one.send(order)
    assert one.unsent
    line.room = 10_000
    one.flush()
    assert not one.unsent
    assert order_reader().feed(line.sent) == orders


def test_an_order_that_cannot_be_pickled_leaves_the_line_as_it_was() -> None:
    line = Line(room=10_000)
    one = process(line)
    import threading

    with pytest.raises(TypeError, match="pickle"):
        one.send(Halt("a", threading.Lock()))  # type: ignore[arg-type]
    assert (line.sent, bytes(one.unsent)) == (b"", b"")


def test_messages_arrive_and_a_hung_up_line_is_closed() -> None:
    saved = ("saved", "a", 0, Checkpoint("a", 1, "uri"))
    data = message_frame(saved)
    one = process(Line(says=[data[:3], BlockingIOError(), data[3:], b""]))
    assert [one.read() for _ in range(3)] == [[], [], [saved]]
    assert one.is_open
    assert one.read() == []
    assert not one.is_open


def test_a_reset_line_is_closed() -> None:
    one = process(Line(says=[ConnectionResetError()]))
    assert one.read() == []
    assert not one.is_open


@pytest.mark.parametrize("last", [b"", BlockingIOError(), ConnectionResetError()])
def test_the_rest_is_all_there_is(last: bytes | Exception) -> None:
    messages = [("save_failed", "a", 0, str(n)) for n in range(3)]
    data = b"".join(map(message_frame, messages))
    assert process(Line(says=[data[:9], data[9:], last])).read_rest() == messages


@pytest.fixture
def pipe() -> Iterator[tuple[Stream, int]]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    yield Stream("stdout", read), write
    os.close(read)


def test_a_stream_is_read_line_by_line(pipe: tuple[Stream, int]) -> None:
    stream, write = pipe
    assert stream.read() == []
    os.write(write, b"one\ntw")
    assert stream.read() == ["one"]
    os.write(write, b"o")
    assert stream.drain() == ["two"]
    os.close(write)
    assert stream.read() is None


def test_a_drain_ends_although_somebody_writes_for_ever() -> None:
    stream = Stream("stdout", os.open("/dev/zero", os.O_RDONLY))
    try:
        shown = stream.drain(budget_bytes=4 * PRINT_BYTES)
    finally:
        os.close(stream.descriptor)
    assert sum(map(len, shown)) == 4 * PRINT_BYTES
