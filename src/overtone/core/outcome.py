"""The controller's answer to an event: choices for the journal, and commands for the engine."""

from __future__ import annotations

from typing import NamedTuple

from overtone.core.messages import Choice, Command


class Outcome(NamedTuple):
    """The consequences of an event.

    Attributes:
        choices: The decisions, for the journal; implied ones are left out.
        commands: The commands to carry out now, in this order.
        is_stale: Whether the event was late or a duplicate, and is not for the journal.
    """

    choices: tuple[Choice, ...]
    commands: list[Command]
    is_stale: bool = False
