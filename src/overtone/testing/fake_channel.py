"""A worker's line without an engine at its other end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from overtone.core.messages import Halt, Proceed, Start
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint, Config
from overtone.worker.message_codec import Message
from overtone.worker.protocol import NOTHING, Channel, Nothing, Order


class FakeChannel(Channel):
    """Gives out prepared orders, and remembers what was sent.

    Args:
        orders: What `receive(wait=True)` returns, in order. When none is left the driver is
            gone: EOFError.

    Attributes:
        early: What `receive(wait=False)` returns, in order; then NOTHING.
        sent: The messages, in order.
        on_wait: Called before each wait.
    """

    def __init__(self, orders: Iterable[Order] = ()) -> None:
        self.orders: deque[Order] = deque(orders)
        self.early: deque[Order] = deque()
        self.sent: list[Message] = []
        self.on_wait: Callable[[], None] = lambda: None

    why_no_ranks = ""

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def put_back(self, orders: list[Order]) -> None:
        self.early.extendleft(reversed(orders))

    def receive(self, wait: bool) -> Order | Nothing:
        if not wait:
            return self.early.popleft() if self.early else NOTHING
        self.on_wait()
        if not self.orders:
            raise EOFError("no order is left")
        return self.orders.popleft()

    @property
    def kinds(self) -> list[str]:
        """The names of the messages that were sent."""
        return [message[0] for message in self.sent]


def start(
    config: Config | None = None,
    checkpoint: Checkpoint | None = None,
    until_t: float = 0.0,
    trial_id: str = "t",
    **more: Any,
) -> Start:
    """Return the Start of a trial, by default of one CPU."""
    place = more.pop("placement", None) or Placement(("local",), ((),))
    demand = more.pop("resources", None) or Resources.of({"cpu": 1})
    attempt = more.pop("attempt", 0)
    return Start(
        trial_id,
        attempt,
        0,
        config if config is not None else {},
        demand,
        place,
        checkpoint,
        until_t,
        **more,
    )


def proceed(until_t: float = 0.0, **more: Any) -> Proceed:
    """Return a Proceed for the trial of `start()`."""
    return Proceed("t", 0, until_t, **more)


def halt(save: bool = False, park: bool = False) -> Halt:
    """Return a Halt for the trial of `start()`."""
    return Halt("t", 0, save, park)
