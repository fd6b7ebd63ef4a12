"""Requests without an answer yet, which a resume sends again."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.core.messages import CapacityChanged, Command, Discard, Discarded, Event, Suggest, Suggested

QUESTIONS = frozenset({Suggest, Discard})
"""The commands that expect an answer."""

ANSWERS = frozenset({Suggested, Discarded, CapacityChanged})
"""The events that answer a command, or that the next driver must know."""


class Outstanding:
    """Follows the commands and the events of an experiment.

    Attributes:
        asked: The indices requested from the searcher.
        discards: Checkpoints whose deletion was requested and not confirmed.
        nodes: The newest capacity.
    """

    def __init__(self) -> None:
        self.asked: set[int] = set()
        self.discards: dict[str, None] = {}
        self.nodes: Mapping[str, Mapping[str, float]] = {}

    def on_command(self, command: Command) -> None:
        """Record a command."""
        if type(command) is Suggest:
            self.asked.add(command.index)
        elif type(command) is Discard:
            self.discards[command.uri] = None

    def on_event(self, event: Event) -> None:
        """Record an event, which may be an answer."""
        kind = type(event)
        if kind is Suggested:
            self.asked.discard(event.index)  # type: ignore[union-attr]
        elif kind is Discarded:
            self.discards.pop(event.uri, None)  # type: ignore[union-attr]
        elif kind is CapacityChanged:
            self.nodes = event.nodes  # type: ignore[union-attr]
