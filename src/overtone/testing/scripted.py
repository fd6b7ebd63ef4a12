"""Drives an engine with the raw protocol: no controller, only a script of answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from overtone.core import messages as m
from overtone.core.protocols import Engine
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint, Config

Answer = Callable[[m.Event], Sequence[m.Command]]
"""A function from an event to the commands that answer it."""


def go_on(event: m.Event) -> Sequence[m.Command]:
    """Let every report return, one at a time."""
    return [proceed(event)] if isinstance(event, m.Reported) else []


def proceed(event: Any, **more: Any) -> m.Proceed:
    """Return the Proceed that answers a report; by default the next report waits again."""
    return m.Proceed(event.trial_id, event.attempt, more.pop("until_t", 0.0), **more)


def halt(event: Any, save: bool = False, park: bool = False) -> m.Halt:
    """Return the Halt of the trial of an event."""
    return m.Halt(event.trial_id, event.attempt, save, park)


class Script:
    """Starts trials as there are CPUs for them, and answers their events.

    Args:
        engine: An open one.
        answer: What to do about each event.

    Attributes:
        events: All that happened, in order.
    """

    def __init__(self, engine: Engine, answer: Answer = go_on) -> None:
        self.engine = engine
        self.answer = answer
        self.events: list[m.Event] = []
        self._node, self._free = "", 0.0
        self._queue: list[m.Start] = []
        self._running: set[tuple[str, int]] = set()
        engine.attach(self.handle)

    def start(
        self,
        trial_id: str = "t",
        config: Config | None = None,
        checkpoint: Checkpoint | None = None,
        until_t: float = 0.0,
        attempt: int = 0,
        n_ranks: int = 0,
    ) -> None:
        """Queue a trial of one CPU, which its ranks share."""
        demand = Resources.of([{}, *[{"cpu": 1 / n_ranks}] * n_ranks] if n_ranks else {"cpu": 1})
        place = Placement(("",) * (1 + n_ranks), ((),) * (1 + n_ranks))
        self._queue.append(m.Start(
            trial_id, attempt, len(self._queue), config or {}, demand, place, checkpoint, until_t,
        ))  # fmt: skip

    def handle(self, events: Sequence[m.Event]) -> None:
        """Note events, answer them, and start what fits."""
        commands: list[m.Command] = []
        for event in events:
            self.events.append(event)
            if isinstance(event, m.CapacityChanged) and event.nodes:
                self._node, amounts = next(iter(event.nodes.items()))
                self._free = amounts["cpu"]
            elif isinstance(event, m.Ended):
                self._running.discard((event.trial_id, event.attempt))
                self._free += 1
            commands.extend(self.answer(event))
        while self._queue and self._free >= 1:
            queued = self._queue.pop(0)
            self._free -= 1
            self._running.add((queued.trial_id, queued.attempt))
            nodes = (self._node,) * len(queued.resources.bundles)
            commands.append(replace(queued, placement=replace(queued.placement, nodes=nodes)))
        if commands:
            self.engine.submit(commands)

    def run(self, within_s: float = 100.0) -> list[m.Event]:
        """Go on until every trial has ended; all events."""
        return self.run_until(lambda: not self._queue and not self._running, within_s)

    def run_until(self, is_over: Callable[[], bool], within_s: float = 100.0) -> list[m.Event]:
        """Go on until `is_over`; all events.

        Raises:
            TimeoutError: It took longer than `within_s`; shows what did happen.
        """
        end = time.monotonic() + within_s
        self.handle([])
        while not is_over():
            if time.monotonic() > end:
                raise TimeoutError(f"after {within_s:g} s there were only {self.story()[-50:]}")
            self.handle(self.engine.poll(0.2))
        return self.events

    def of(self, trial_id: str = "t") -> list[m.Event]:
        """Return the events of one trial."""
        return [event for event in self.events if getattr(event, "trial_id", None) == trial_id]

    def story(self, trial_id: str | None = None) -> list[str]:
        """Return the events in words: "started", "reported 1", "saved 2", "ended raised", ..."""
        events = self.events if trial_id is None else self.of(trial_id)
        return [_word(event) for event in events if not isinstance(event, m.CapacityChanged)]


def _word(event: m.Event) -> str:
    if isinstance(event, m.Reported):
        return f"reported {event.t}"
    if isinstance(event, m.Saved):
        return f"saved {event.checkpoint.t}"
    if isinstance(event, m.Ended):
        return f"ended {event.cause}"
    return "save failed" if isinstance(event, m.SaveFailed) else type(event).__name__.lower()
