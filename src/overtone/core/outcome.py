"""What the controller makes of an event: choices for the journal, and commands for the engine."""

from __future__ import annotations

from typing import NamedTuple

from overtone.core.messages import Choice, Command


class Outcome(NamedTuple):
    """What came of an event.

    Attributes:
        choices: What was decided, for the journal; what is implied is left out.
        commands: What is to be done now, in this order.
        is_stale: The event was late or a duplicate, and is not for the journal.
    """

    choices: tuple[Choice, ...]
    commands: list[Command]
    is_stale: bool = False
