"""What an engine and a worker say to each other, and how it travels.

A worker sends tuples; the first item names the message:

    ("started", trial_id, attempt, pid, hostname, checkpoint | None)
    ("reported", trial_id, attempt, t, raw_json, checkpoint | None)
    ("saved", trial_id, attempt, checkpoint)
    ("save_failed", trial_id, attempt, error)
    ("left_threads", trial_id, attempt, names)  # before the end, if the process is not reused for it
    ("ended", trial_id, attempt, cause, error, traceback)

An engine sends the commands Start, Proceed and Halt themselves, and None to shut down. A
frame is its length (4 bytes, little-endian) and a pickle.
"""

from __future__ import annotations

import copyreg
import json
import math
import pickle
import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol

from overtone.core.json_encoder import encoder
from overtone.core.messages import Ended, Event, Halt, Proceed, Reported, Saved, SaveFailed, Start, Started
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint

if TYPE_CHECKING:
    from socket import socket

Message = tuple[Any, ...]
"""What a worker sends; see the list above."""

Order = Start | Proceed | Halt | None
"""What an engine sends; None shuts the worker down."""


class Nothing:
    """The type of `NOTHING`."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""What `receive(wait=False)` returns when no order is there."""

CHUNK_BYTES = 1 << 16
LOOK_EVERY_S = 0.001

_LENGTH = struct.Struct("<I")


class Channel(Protocol):
    """A worker's end of the line to its engine."""

    def send(self, message: Message) -> None:
        """Send; raises EOFError when the driver is gone."""

    def receive(self, wait: bool) -> Order | Nothing:
        """The next order; NOTHING when there is none and `wait` is False.

        Raises:
            EOFError: The driver is gone.
        """


def frame(message: Message | Order) -> bytes:
    """`message` as it travels.

    What plain pickle cannot carry, or would only name as part of a script (a lambda or a
    class in a config), goes by value.
    """
    try:
        body = pickle.dumps(message, protocol=5)
        if b"__main__" in body:
            body = _dumps_by_value(message)
    except (pickle.PicklingError, AttributeError, TypeError):
        body = _dumps_by_value(message)
    return _LENGTH.pack(len(body)) + body


def _pickle_as_call(kind: type) -> None:
    """Let a `kind` travel as a call with its fields: a dataclass's own way asks for their names each time."""
    values = attrgetter(*[one.name for one in fields(kind) if one.init])
    copyreg.pickle(kind, lambda one: (kind, values(one)))


for _kind in (Start, Proceed, Halt, Resources, Placement, Checkpoint):
    _pickle_as_call(_kind)


def _dumps_by_value(message: Message | Order) -> bytes:
    import cloudpickle

    body: bytes = cloudpickle.dumps(message, protocol=5)
    return body


class FrameReader:
    """Turns a stream of bytes, cut anywhere, back into messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The messages that `data` completes, in order."""
        if self._rest:
            self._rest += data
            if len(self._rest) < 4 or len(self._rest) < 4 + _LENGTH.unpack_from(self._rest)[0]:
                return []
            data = bytes(self._rest)
            self._rest.clear()
        messages: list[Any] = []
        view, position, end = memoryview(data), 0, len(data)
        while position + 4 <= end:
            stop = position + 4 + _LENGTH.unpack_from(data, position)[0]
            if stop > end:
                break
            messages.append(pickle.loads(view[position + 4 : stop]))
            position = stop
        if position < end:
            self._rest += view[position:]
        return messages


class SocketChannel:
    """A channel over a connected AF_UNIX stream socket, which it owns."""

    def __init__(self, sock: socket) -> None:
        from socket import MSG_DONTWAIT

        sock.setblocking(True)
        self._sock = sock
        self._flags = MSG_DONTWAIT
        self._reader = FrameReader()
        self._orders: deque[Order] = deque()
        self._look_at = 0.0

    def send(self, message: Message) -> None:
        try:
            self._sock.sendall(frame(message))
        except OSError as error:
            raise EOFError("the driver is gone") from error

    def receive(self, wait: bool) -> Order | Nothing:
        while not self._orders:
            if not wait:
                now = monotonic()
                if now < self._look_at:
                    return NOTHING
                self._look_at = now + LOOK_EVERY_S
            try:
                data = self._sock.recv(CHUNK_BYTES, 0 if wait else self._flags)
            except BlockingIOError:
                return NOTHING
            except OSError as error:
                raise EOFError("the driver is gone") from error
            if not data:
                raise EOFError("the driver is gone")
            self._orders.extend(self._reader.feed(data))
        return self._orders.popleft()

    def close(self) -> None:
        """Hang up. Twice is safe."""
        self._sock.close()


# --- numbers that JSON does not have ----------------------------------------------------


_encode = encoder()

_TAGGED: dict[str, float] = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encode(metrics: Mapping[str, Any]) -> str:
    """`metrics` as JSON text; NaN and the infinities become {"__float__": "nan"}.

    Raises:
        TypeError, ValueError: Something in it is not plain data.
    """
    try:
        return _encode(metrics)
    except ValueError:
        return _encode(_tag(metrics))


def _tag(value: Any) -> Any:
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"__float__": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, Mapping):
        return {key: _tag(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tag(one) for one in value]
    return value


def decode(raw: str) -> dict[str, Any]:
    """The metrics in JSON text that `encode` wrote."""
    metrics: dict[str, Any] = json.loads(raw, object_hook=_untag) if '"__float__"' in raw else json.loads(raw)
    return metrics


def _untag(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        return _TAGGED.get(value.get("__float__", ""), value)
    return value


# --- messages to events -----------------------------------------------------------------


def event(message: Message, time: float, node: str) -> Event:
    """The event that a worker's message is, seen at `time` from a worker on `node`."""
    kind, trial_id, attempt = message[:3]
    if kind == "reported":
        _, _, _, t, raw, checkpoint = message
        return Reported(time, trial_id, attempt, t, decode(raw), checkpoint, raw)
    if kind == "started":
        _, _, _, pid, hostname, checkpoint = message
        return Started(time, trial_id, attempt, node, pid, hostname, checkpoint)
    if kind == "saved":
        return Saved(time, trial_id, attempt, message[3])
    if kind == "save_failed":
        return SaveFailed(time, trial_id, attempt, message[3])
    if kind == "ended":
        _, _, _, cause, error, traceback = message
        return Ended(time, trial_id, attempt, cause, error, traceback)
    raise ValueError(f"a worker sent {message!r}, which is none of its messages")
