"""Streams that cannot be written to, as a service, a hung-up terminal or a log on a full disk has them."""

import io
import sys

import pytest

from overtone import standard_streams
from overtone.observers.display.safe_stream import Writer
from overtone.standard_streams import say, show


class Full(io.StringIO):
    """Takes nothing while `is_full`."""

    is_full = True

    def write(self, text):
        if self.is_full:
            raise OSError(28, "No space left on device")
        return super().write(text)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, closed(), Full()], ids=["missing", "closed", "full"])
def test_nothing_that_is_said_raises(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", stream)
    say("one")
    show("two\n")
    Writer().lines(["three"])
    with pytest.raises((OSError, ValueError)):
        standard_streams.write(sys.stderr, "four")


def test_what_a_stream_cannot_encode_is_escaped(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(raw, encoding="ascii"))
    say("é \ud800")
    assert raw.getvalue() == b"overtone: \\xe9 \\ud800\n"


def test_a_display_goes_on_once_there_is_room_again():
    stream = Full()
    writer = Writer(stream)
    writer.write("one\n")
    stream.is_full = False
    writer.write("two\n")
    assert stream.getvalue() == "two\n"
