"""The actors of trials that use Ray themselves: their start, their limits and their end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from overtone.core.messages import Cause, Halt
from overtone.engines.loop import Loop
from overtone.engines.ray import agents
from overtone.engines.ray.limits import NOTHING, Used
from overtone.engines.ray.node_agent import Errand
from overtone.engines.ray.state import Node, NodePart, RayAttempt
from overtone.worker.message_codec import Message

LAST_MESSAGES_S = 0.2
"""Seconds that the last messages of an actor that has ended may take."""


class Actors:
    """Starts and ends the actors of attempts.

    Args:
        folder: Folder of the experiment if trials have limits; it stores the amounts that they used.
        loop: The loop with the clock and the timers.
        errand: Returns the errand for an actor on the node of this name.
        wake_for: Turns a function into one for other threads, which runs it in the engine's thread.
        give_up: Called with a node on which no process of this run can work, and the error.
        end: Ends an attempt, given the cause and the error.
    """

    def __init__(
        self,
        folder: Path | None,
        loop: Loop,
        errand: Callable[[str], Errand],
        wake_for: Callable[[Callable[[], None]], Callable[[], None]],
        give_up: Callable[[Node, str], None],
        end: Callable[[RayAttempt, Cause, str], None],
    ) -> None:
        self._loop, self._errand, self._wake_for = loop, errand, wake_for
        self._give_up, self._end = give_up, end
        self._used = Used(folder) if folder is not None else None

    def send(self, attempt: RayAttempt) -> None:
        """Start the actor of an attempt that has its lease."""
        part, used = attempt.head, self._used
        assert attempt.lease is not None
        part.is_sent = True
        part.actor, reference = agents.send_trial(
            attempt.lease, self._errand(part.node.name), attempt.start, attempt.name,
            used.of(attempt.start.index) if used is not None else NOTHING,
        )  # fmt: skip
        agents.on_end(reference, lambda error: self._wake_for(partial(self._on_end, part, error))())

    def on_halt(self, attempt: RayAttempt, halt: Halt, grace_s: float) -> None:
        """Kill the actor of an attempt if it does not halt in time."""
        grace_s = min(one for one in (grace_s, halt.grace_s) if one is not None)
        attempt.was_killed = f"did not halt within {grace_s:g} s"
        self._loop.at(self._loop.now() + grace_s, partial(self._on_grace_end, attempt))

    def take_used(self, index: int, message: Message) -> None:
        """Record the amounts of its limits that a trial has used."""
        if self._used is not None:
            self._used.take(index, message[3:5])

    def close(self) -> None:
        """Store the amounts that trials have used."""
        if self._used is not None:
            self._used.keep()

    def _on_grace_end(self, attempt: RayAttempt) -> None:
        if attempt.was_killed and attempt.ended is None:
            attempt.kill()

    def _on_end(self, part: NodePart, error: str) -> None:
        if part.line is not None and part.line.is_open:
            self._loop.at(self._loop.now() + LAST_MESSAGES_S, partial(self._on_gone, part, error))
        else:
            self._on_gone(part, error)

    def _on_gone(self, part: NodePart, error: str) -> None:
        attempt, part.is_sent = part.attempt, False
        cause: Cause = "lost" if agents.means_loss(error) else "killed"
        if agents.is_hopeless(error) and attempt.ended is None:
            self._give_up(part.node, error)
            cause = "lost"
        self._end(attempt, cause, attempt.was_killed or error or "its process ended")
