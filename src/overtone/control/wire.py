"""Requests and answers as frames of JSON on a socket."""

from __future__ import annotations

from typing import Any

from overtone.errors import MessageError
from overtone.journal.text import dumps, loads
from overtone.worker.frames import FrameReader, framed

PROTOCOL = 1
"""The version of requests and answers; a driver refuses requests of another version."""

MOST_BYTES = 1 << 20
"""The longest request or answer, in bytes of JSON."""

RECEIVED_BYTES = 1 << 16
"""The most bytes that are taken from a socket at once."""


def frame_of(document: dict[str, Any]) -> bytes:
    """Return a request or an answer as bytes.

    Raises:
        MessageError: It is longer than `MOST_BYTES`.
    """
    body = dumps(document).encode()
    if len(body) > MOST_BYTES:
        raise MessageError(f"a request may have up to {MOST_BYTES:,} bytes, and this one has {len(body):,}")
    return framed(body)


def reader() -> FrameReader[dict[str, Any]]:
    """Return a reader of frames; its `feed` raises MessageError for anything else."""
    return FrameReader(_document, MOST_BYTES)


def _document(body: memoryview) -> dict[str, Any]:
    try:
        document = loads(str(body, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise MessageError(f"a message that is not JSON: {error}") from None
    if type(document) is not dict:
        raise MessageError(f"a message that is not an object: {document!r:.40}")
    return document
