"""What was asked of others and is not answered yet: it is asked again by whoever goes on."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.core.messages import CapacityChanged, Command, Discard, Discarded, Event, Suggest, Suggested

QUESTIONS = frozenset({Suggest, Discard})
"""The commands that something is expected of."""

ANSWERS = frozenset({Suggested, Discarded, CapacityChanged})
"""The events that tell something that was expected, or that the next driver has to know."""


class Outstanding:
    """Follows the commands and the events of an experiment.

    Attributes:
        asked: The indices that the searcher was asked for.
        discards: The checkpoints that were to be deleted, and may be there still.
        nodes: The newest capacity.
    """

    def __init__(self) -> None:
        self.asked: set[int] = set()
        self.discards: dict[str, None] = {}
        self.nodes: Mapping[str, Mapping[str, float]] = {}

    def on_command(self, command: Command) -> None:
        """Something is asked."""
        if type(command) is Suggest:
            self.asked.add(command.index)
        elif type(command) is Discard:
            self.discards[command.uri] = None

    def on_event(self, event: Event) -> None:
        """Something happened, perhaps an answer."""
        kind = type(event)
        if kind is Suggested:
            self.asked.discard(event.index)  # type: ignore[union-attr]
        elif kind is Discarded:
            self.discards.pop(event.uri, None)  # type: ignore[union-attr]
        elif kind is CapacityChanged:
            self.nodes = event.nodes  # type: ignore[union-attr]
