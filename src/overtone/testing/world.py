"""A simulated world for a controller: trials that run, save, fail and end on a virtual clock.

There are no processes and no real waiting: the world is a heap of future events. All random choices
come from the given `Random`, so that a seed determines the history. Orders and messages are
delayed; messages of one trial keep their order, and some messages arrive a second time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.resources import Placement, Resources
from overtone.core.types import Config, Metrics
from overtone.testing.trial_life import Perils, TrialLife, climb

Nodes = Mapping[str, Mapping[str, float]]

ONE_NODE: Nodes = {"node": {"cpu": 4.0}}


class World:
    """A world that executes a controller's commands and reports events to the controller.

    A trial's config determines its course: `length` results (3), `pace_s` seconds each (1), and
    `saves`: "reports" (each has a checkpoint of `saved_bytes`; the default), "asked" (on
    request, as classes do) or "never".

    Args:
        controller: A new controller.
        random: The source of all random choices.
        suggest: The searcher: returns a config for an index, or None.
        nodes: The initial nodes.
        perils: The failures, and their probabilities.
        metrics: Returns the metrics that a trial of a config reports at t.

    Attributes:
        now: The time, in seconds.
        records: The records logged so far.
        stale: The events that the controller ignored.
        kept: The uris of the checkpoints that were not discarded.
        observed: The searcher's observations: (trial id, t), or (trial id, None) for an end.
        started: The start time of each (trial id, attempt).

    Raises:
        AssertionError: The controller started a trial that does not fit, or twice, or from a
            discarded checkpoint; discarded a needed checkpoint; or got stuck.
    """

    def __init__(
        self,
        controller: Controller,
        random: Random,
        suggest: Callable[[int], Config | None],
        nodes: Nodes = ONE_NODE,
        perils: Perils | None = None,
        metrics: Callable[[Config, int], Metrics] = climb,
    ) -> None:
        self.now = 0.0
        self.random = random
        self.perils = perils or Perils()
        self.records: list[m.Record] = []
        self.stale: list[m.Event] = []
        self.kept: set[str] = set()
        self.observed: list[tuple[str, float | None]] = []
        self.started: dict[tuple[str, int], float] = {}
        self._controller, self._suggest, self._metrics = controller, suggest, metrics
        self._nodes: Nodes = {}
        self._lives: dict[tuple[str, int], TrialLife] = {}
        self._held: dict[str, tuple[Resources, Placement]] = {}
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._n_pushed = 0
        self._answered_at = 0.0
        self.at(0.0, m.CapacityChanged(0.0, nodes))

    def at(self, time: float, event: m.Event) -> None:
        """Let `event` happen at `time`: a change of capacity, a request, an interruption."""
        self._push(time, self._deliver, event)

    def run(self, at_most: int = 20_000) -> list[m.Record]:
        """Go on until the controller is done; all records."""
        for _ in range(at_most):
            if self._controller.is_done:
                assert not self._lives, f"done, but these still run: {list(self._lives)}"
                return self.records
            assert self.step(), f"nothing will happen any more, but it is not done: {self._states()}"
        raise AssertionError(f"not done after {at_most} steps: {self._states()}")

    def step(self) -> bool:
        """Let the next thing happen; False where nothing will."""
        if not self._heap:
            return False
        self.now, _, action, about = heapq.heappop(self._heap)
        action(*about)
        return True

    # --- the controller ----------------------------------------------------------------

    def _deliver(self, event: m.Event) -> None:
        event = replace(event, time=self.now)
        if isinstance(event, m.CapacityChanged):
            self._nodes = event.nodes
        choices, commands, is_stale = self._controller.handle(event)
        if is_stale:
            self.stale.append(event)
            return
        self.records.append(m.Record(len(self.records) + 1, event, choices))
        for choice in choices:
            if isinstance(choice, m.Moved) and choice.placement is not None:
                self._hold(choice.trial_id, choice.placement)
        if isinstance(event, m.CapacityChanged):
            for life in list(self._lives.values()):
                _, placement = self._held.get(life.start.trial_id, (None, None))
                if placement is not None and not set(placement.nodes) <= set(self._nodes):
                    life.end("lost", "its node is gone")
        for command in commands:
            self._carry_out(command)

    def _carry_out(self, command: m.Command) -> None:
        match command:
            case m.Suggest(index):
                self._answered_at = max(self._answered_at, self.now + self._latency())
                self._push(self._answered_at, self._answer, index)
            case m.Observe(trial, result):
                self.observed.append((trial.id, result.t if result is not None else None))
            case m.Start():
                self._start(command)
            case m.Proceed(trial_id, attempt) | m.Halt(trial_id, attempt):
                life = self._lives.get((trial_id, attempt))
                if life is not None:
                    life.told_at = max(life.told_at, self.now + self._latency())
                    self._push(life.told_at, life.tell, command)
            case m.Discard(uri):
                assert uri in self.kept, f"{uri} is not there to be discarded"
                trials = self._controller.trials.values()
                needs = [one.id for one in trials if one.checkpoint and one.checkpoint.uri == uri]
                assert not needs, f"{uri} was discarded, but {needs} would go on from it"
                self.kept.remove(uri)
                self.at(self.now, m.Discarded(0.0, uri))
            case m.Wake(time):
                self.at(max(time, self.now), m.Tick(0.0))
            case m.Want():
                pass  # what there is does not grow upon request
            case _:
                raise TypeError(f"{command!r} is not a command")

    def _answer(self, index: int) -> None:
        self._deliver(m.Suggested(0.0, index, self._suggest(index)))

    def _start(self, start: m.Start) -> None:
        name = (start.trial_id, start.attempt)
        others = [other for other in self._lives if other[0] == start.trial_id]
        assert not others, f"{name} was started while {others} still runs"
        assert name not in self.started, f"{name} was started twice"
        self.started[name] = self.now
        self._lives[name] = life = TrialLife(start, self._metrics, self)
        self.later(self._latency(), life.begin)

    def _hold(self, trial_id: str, placement: Placement) -> None:
        """Note what a trial was given, and that it was there to give."""
        self._held[trial_id] = (self._controller.trials[trial_id].resources, placement)
        used: dict[tuple[str, str], float] = {}
        for resources, placed in self._held.values():
            for node, name, amount in _amounts(resources, placed):
                used[node, name] = used.get((node, name), 0.0) + amount
        for node, name, _ in _amounts(*self._held[trial_id]):
            has = self._nodes.get(node, {})
            there = has.get(name, 0.0)
            if name.startswith("gpu "):
                there = float(int(name.removeprefix("gpu ")) < has.get("gpu", 0))
            amount = used[node, name]
            assert amount <= there + 1e-6, f"{trial_id}: {amount} of {there} {name} on {node} in use"

    def _states(self) -> str:
        return ", ".join(f"{one.id} {one.status.value}" for one in self._controller.trials.values())

    # --- what trials need --------------------------------------------------------------

    def say(self, life: TrialLife, event: m.Event) -> None:
        """Send a trial's message, after those before it; perhaps it comes again."""
        life.heard_at = max(life.heard_at, self.now + self._latency())
        self._push(life.heard_at, self._deliver, event)
        # a SaveFailed has nothing to tell a repetition from the next one
        if self.random.random() < self.perils.repeated and not isinstance(event, m.SaveFailed):
            self._push(life.heard_at + self.random.expovariate(0.2), self._deliver, event)

    def later(self, in_s: float, action: Callable[..., None], *about: Any) -> None:
        """Do something after so many seconds."""
        self._push(self.now + in_s, action, *about)

    def let_go(self, life: TrialLife) -> None:
        """Release the resources of a process."""
        self._held.pop(life.start.trial_id, None)

    def is_alive(self, life: TrialLife) -> bool:
        """Return whether a process is still there."""
        return self._lives.get((life.start.trial_id, life.start.attempt)) is life

    def bury(self, life: TrialLife) -> None:
        """Remove a process."""
        self.let_go(life)
        del self._lives[life.start.trial_id, life.start.attempt]

    # --- time --------------------------------------------------------------------------

    def _latency(self) -> float:
        return self.random.uniform(0, self.perils.latency_s) if self.perils.latency_s else 0.0

    def _push(self, time: float, action: Callable[..., None], *about: Any) -> None:
        self._n_pushed += 1
        heapq.heappush(self._heap, (time, self._n_pushed, action, about))


def _amounts(resources: Resources, placement: Placement) -> Iterator[tuple[str, str, float]]:
    """Return (node, name, amount) of all that a demand holds; "gpu 0" is one device."""
    for bundle, node, gpus in zip(resources.bundles, placement.nodes, placement.gpus, strict=True):
        for name, amount in bundle:
            yield node, name, amount
        for index, share in gpus:
            yield node, f"gpu {index}", share
