from __future__ import annotations

import io

import pytest

from overtone.research.worker_pool import receive, send


def test_a_message_arrives_whole_or_not_at_all():
    stream = io.BytesIO()
    send(stream, b"one")
    send(stream, b"")
    whole = stream.getvalue()
    stream.seek(0)
    assert (receive(stream), receive(stream)) == (b"one", b"")
    for torn in (whole[:5], whole[:9], b""):
        with pytest.raises(EOFError, match="the other end is gone"):
            receive(io.BytesIO(torn))
