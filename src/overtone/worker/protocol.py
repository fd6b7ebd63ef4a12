"""Messages between an engine and a worker.

A worker sends tuples; the first item names the message:

    ("started", trial_id, attempt, pid, hostname, checkpoint | None)
    ("reported", trial_id, attempt, t, raw_json, checkpoint | None)
    ("saved", trial_id, attempt, checkpoint)
    ("save_failed", trial_id, attempt, error)
    ("left_threads", trial_id, attempt, names)  # before the end, if the process is not reused for it
    ("gpu_memory", trial_id, attempt, bytes)  # before the end: its peak, if that is to be estimated
    ("ended", trial_id, attempt, cause, error, traceback)
    ("make_ranks", trial_id, attempt, generation, num_workers, address, token)  # see `gang.plan.GangPlan`
    ("end_ranks", trial_id, attempt, generation)

Messages travel as JSON and are checked (`message_codec`), because the worker also runs the user's
code. An engine sends the commands Start, Proceed and Halt, and None to shut down, as pickles: their
configs hold the user's own objects. A process for a rank gets a RankOrder instead of a Start. The trial's
process gets RanksGone once no rank is left, as it asked, or if the ranks could not be made.
"""

from __future__ import annotations

import copyreg
import math
import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from overtone.core.json_encoder import encoder
from overtone.core.messages import (
    Ended,
    Event,
    Halt,
    Noticed,
    Proceed,
    Reported,
    Saved,
    SaveFailed,
    Start,
    Started,
)
from overtone.core.resources import Placement, Resources
from overtone.core.sizes import MOST_LEVELS
from overtone.core.types import Checkpoint
from overtone.errors import MessageError
from overtone.tagged_json import MARK, tagged, untagged
from overtone.worker.frames import FrameReader, framed
from overtone.worker.message_codec import Message, message_frame, scan, scanner

if TYPE_CHECKING:
    from socket import socket
    from typing import TypeAlias

    from overtone.worker.gang.plan import RankOrder

Order: TypeAlias = "Start | Proceed | Halt | RankOrder | RanksGone | None"
"""An order of an engine; None shuts the worker down."""


@dataclass(frozen=True, slots=True)
class RanksGone:
    """An engine's answer to the head: no rank of this generation, or of an earlier one, is left.

    Attributes:
        error: Why the ranks could not be made; "" if this answers the head's wish that they end.
    """

    trial_id: str
    attempt: int
    generation: int
    error: str = ""


class Nothing:
    """The type of `NOTHING`."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""Return value of `receive(wait=False)` if no order has arrived."""

CHUNK_BYTES = 1 << 16
LOOK_EVERY_S = 0.001

_LARGEST_ORDER = (1 << 32) - 1


class Channel(ABC):
    """A worker's end of the connection to its engine.

    Attributes:
        why_no_ranks: Why the engine makes no ranks of distributed training; "" if it does.
    """

    why_no_ranks = "this engine makes no ranks of distributed training"

    @abstractmethod
    def send(self, message: Message) -> None:
        """Send a message; raises EOFError if the driver is gone."""

    @abstractmethod
    def receive(self, wait: bool) -> Order | Nothing:
        """Return the next order; NOTHING if none has arrived and `wait` is False.

        Raises:
            EOFError: The driver is gone.
        """

    def put_back(self, orders: list[Order]) -> None:
        """Make `orders` the next ones that `receive` returns, for a channel whose engine makes ranks."""
        raise NotImplementedError

    def spend(self, seconds: float) -> None:
        """Let `seconds` of training pass."""
        sleep(seconds)

    def close(self) -> None:
        """Close the connection; calling it twice is safe."""


def order_frame(order: Any) -> bytes:
    """Return `order` as the bytes of a frame.

    Objects that plain pickle cannot carry, or would reference by name in the user's script (a lambda
    or a class in a config), are pickled by value.
    """
    if type(order) is Start:
        order = _start_fields(order)
    return framed(pickled(order))


def pickled(value: Any) -> bytes:
    """Return `value` as a pickle, by value where the receiver might not find an object by its name."""
    try:
        body = pickle.dumps(value, protocol=5)
        return _dumps_by_value(value) if b"__main__" in body else body
    except (pickle.PicklingError, AttributeError, TypeError):
        return _dumps_by_value(value)


def order_reader() -> FrameReader[Any]:
    """Return a reader of orders, for processes that trust the sender, as trials trust their driver."""
    return FrameReader(_read_order, _LARGEST_ORDER)


# A trial's Start travels as its fields: naming classes in a pickle is most of its cost.
_start_fields = attrgetter(
    "trial_id", "attempt", "index", "config", "resources.bundles", "resources.strategy", "resources.auto",
    "placement.nodes", "placement.gpus", "checkpoint", "until_t", "tag", "name", "fallbacks", "devices",
)  # fmt: skip
_N_START_FIELDS = 15


def _read_order(body: memoryview) -> Any:
    order = pickle.loads(body)
    if type(order) is not tuple or len(order) != _N_START_FIELDS:
        return order
    trial_id, attempt, index, config, bundles, strategy, auto, nodes, gpus, *rest = order
    resources = Resources(bundles, strategy, auto=auto)
    return Start(trial_id, attempt, index, config, resources, Placement(nodes, gpus), *rest)


def _pickle_as_call(kind: type) -> None:
    """Pickle a `kind` as a call with its fields: a dataclass reads its field names each time."""
    values = attrgetter(*[one.name for one in fields(kind) if one.init])
    copyreg.pickle(kind, lambda one: (kind, values(one)))


for _kind in (Proceed, Halt, Checkpoint):
    _pickle_as_call(_kind)


def _dumps_by_value(order: Any) -> bytes:
    from overtone.by_value import dumps

    return dumps(order)


class SocketChannel(Channel):
    """A channel over a connected AF_UNIX stream socket; closes the socket."""

    why_no_ranks = ""

    def __init__(self, sock: socket) -> None:
        from socket import MSG_DONTWAIT

        sock.setblocking(True)
        self._sock = sock
        self._flags = MSG_DONTWAIT
        self._reader = order_reader()
        self._orders: deque[Order] = deque()
        self._look_at = 0.0

    def send(self, message: Message) -> None:
        try:
            self._sock.sendall(message_frame(message))
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

    def put_back(self, orders: list[Order]) -> None:
        self._orders.extendleft(reversed(orders))

    def close(self) -> None:
        self._sock.close()


# --- values that JSON does not have -----------------------------------------------------


def _tagged(value: Any) -> dict[str, str]:
    """Return a value that JSON does not have with its tag; it is called for no other."""
    found = tagged(value)
    if found is None:
        raise TypeError(f"a {type(value).__name__} is not plain data")
    return found


_encode = encoder(_tagged)
_scan_tagged = scanner(untagged)


def encode(metrics: Mapping[str, Any]) -> str:
    """Return `metrics` as JSON text; what JSON does not have is tagged (see `tagged_json`).

    Raises:
        TypeError, ValueError: `metrics` contains data that is not plain.
    """
    try:
        return _encode(metrics)
    except ValueError:
        return _encode(_tag(metrics))


def _tag(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else tagged(float(value))
    if isinstance(value, Mapping):
        return {key: _tag(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tag(one) for one in value]
    return value


def decode(raw: str) -> dict[str, Any]:
    """Return the metrics in JSON text that `encode` wrote.

    Raises:
        MessageError: The text is not a dict of metrics.
    """
    try:
        metrics, end = (_scan_tagged if MARK in raw else scan)(raw, 0)
        if end != len(raw):
            raise ValueError(f"more follows at character {end}")
        if type(metrics) is not dict:
            raise TypeError("not an object")
        if raw.find("{", 1) > 0 or "[" in raw:
            _refuse_deep(metrics, raw)
    except (ValueError, TypeError, StopIteration, RecursionError) as error:
        why = str(error) or type(error).__name__
        raise MessageError(f"the metrics {raw[:200]!r} are not a result ({why:.200})") from None
    return metrics


def _refuse_deep(metrics: Mapping[str, Any], raw: str) -> None:
    """Raise ValueError if `metrics`, given as JSON in `raw`, are nested too deeply."""
    if raw.count("{") + raw.count("[") > MOST_LEVELS and _depth(metrics) > MOST_LEVELS:
        raise ValueError(f"nested more than {MOST_LEVELS} deep")


def _depth(value: Any, above: int = 0) -> int:
    """Return the nesting depth of a value; counting ends just beyond `MOST_LEVELS`."""
    if not isinstance(value, (dict, list, tuple)) or above > MOST_LEVELS:
        return above
    inner = value.values() if isinstance(value, dict) else value
    return max((_depth(one, above + 1) for one in inner), default=above + 1)


# --- messages to events -----------------------------------------------------------------


def event(message: Message, time: float, node: str) -> Event:
    """Return the event for a worker's message, seen at `time` from a worker on `node`.

    Raises:
        MessageError: A report has no valid metrics, or the kind is not a message of a trial.
    """
    if message[0] == "reported":
        _, trial_id, attempt, t, raw, checkpoint = message
        return Reported(time, trial_id, attempt, t, decode(raw), checkpoint, raw)
    kind, trial_id, attempt = message[:3]
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
    if kind == "hopeless":
        _, _, _, error, traceback = message
        return Ended(time, trial_id, attempt, "raised", error, traceback, is_hopeless=True)
    if kind == "noticed":
        return Noticed(time, trial_id, attempt, message[3])
    raise MessageError(f"{kind!r} is not a message of a trial")
