"""A world for a controller: trials that run, save, fail and die on a virtual clock.

There are no processes and nothing waits: it is a heap of what happens next, and every chance
is drawn from the `Random` that is handed in, so that a seed is a history. Orders and messages
take their time; those of one trial keep their order, and some messages come a second time.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.resources import Placement, Resources
from overtone.core.types import Checkpoint, Config, Metrics

Nodes = Mapping[str, Mapping[str, float]]

ONE_NODE: Nodes = {"node": {"cpu": 4.0}}


@dataclass(frozen=True, slots=True)
class Perils:
    """What goes wrong, and how often: each a chance from 0 to 1.

    Attributes:
        silent: A process dies before its first word.
        raised, killed, lost: A trial ends so, instead of its next result.
        save_failed: A save that was asked for fails.
        repeated: A message comes a second time, later.
        latency_s: The longest that a message or an order takes.
    """

    silent: float = 0.0
    raised: float = 0.0
    killed: float = 0.0
    lost: float = 0.0
    save_failed: float = 0.0
    repeated: float = 0.0
    latency_s: float = 0.0


def climb(config: Config, t: int) -> Metrics:
    """A `score` that starts at `config["score"]` and grows by `config["slope"]`."""
    return {"score": config.get("score", 0.0) + t * config.get("slope", 1.0)}


@dataclass(slots=True)
class _Process:
    """One process of a trial: "starting", "running", "waiting" in report(), or "parked" there."""

    start: m.Start
    t: int
    until_t: float
    state: str = "starting"
    wants_save: bool = False
    heard_at: float = 0.0
    told_at: float = 0.0
    orders: deque[m.Proceed | m.Halt] = field(default_factory=deque)


class World:
    """Carries out a controller's commands and tells it what happened.

    A trial's config says how it goes: `length` results (3), `pace_s` seconds each (1), and
    `saves`: "reports" (each carries a checkpoint; the default), "asked" (when told to, as
    classes do) or "never".

    Args:
        controller: A fresh one.
        random: All chance.
        suggest: The searcher: a config for an index, or None.
        nodes: What there is at first.
        perils: What goes wrong.
        metrics: What a trial of a config reports at t.

    Attributes:
        now: The time, in seconds.
        records: What was logged so far.
        stale: The events that the controller ignored.
        kept: The uris of the checkpoints that were not discarded.
        observed: What the searcher was told: (trial id, t), or (trial id, None) for an end.
        started: When each (trial id, attempt) was started.

    Raises:
        AssertionError: The controller started what does not fit, or twice, or from a
            checkpoint that is gone; discarded one that is needed; or got stuck.
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
        self.records: list[m.Record] = []
        self.stale: list[m.Event] = []
        self.kept: set[str] = set()
        self.observed: list[tuple[str, float | None]] = []
        self.started: dict[tuple[str, int], float] = {}
        self._controller, self._random = controller, random
        self._suggest, self._metrics = suggest, metrics
        self._perils = perils or Perils()
        self._nodes: Nodes = {}
        self._processes: dict[tuple[str, int], _Process] = {}
        self._held: dict[str, tuple[Resources, Placement]] = {}
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._n_pushed = self._n_saved = 0
        self._answered_at = 0.0
        self.at(0.0, m.CapacityChanged(0.0, nodes))

    def at(self, time: float, event: m.Event) -> None:
        """Let `event` happen at `time`: a change of capacity, a request, an interruption."""
        self._push(time, self._deliver, event)

    def run(self, at_most: int = 20_000) -> list[m.Record]:
        """Go on until the controller is done; all records."""
        for _ in range(at_most):
            if self._controller.is_done:
                assert not self._processes, f"done, but these still run: {list(self._processes)}"
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
            for process in list(self._processes.values()):
                if not set(self._held_nodes(process.start.trial_id)) <= set(self._nodes):
                    self._end(process, "lost", "its node is gone")
        for command in commands:
            self._carry_out(command)

    def _carry_out(self, command: m.Command) -> None:
        match command:
            case m.Suggest(index):
                self._answered_at = max(self._answered_at, self.now + self._latency())
                self._push(self._answered_at, self._answer, index)
            case m.Observe(trial, result):
                self.observed.append((trial.id, result.t if result is not None else None))
            case m.Start(trial_id, attempt):
                running = [name for name in self._processes if name[0] == trial_id]
                assert not running, f"{trial_id} was started while {running} still runs"
                assert (trial_id, attempt) not in self.started, f"{trial_id} attempt {attempt} started twice"
                self.started[trial_id, attempt] = self.now
                saved = command.checkpoint
                process = _Process(command, saved.t if saved else 0, command.until_t)
                self._processes[trial_id, attempt] = process
                self._push(self.now + self._latency(), self._begin, process)
            case m.Proceed(trial_id, attempt) | m.Halt(trial_id, attempt):
                told = self._processes.get((trial_id, attempt))
                if told is not None:
                    told.told_at = max(told.told_at, self.now + self._latency())
                    self._push(told.told_at, self._tell, told, command)
            case m.Discard(uri):
                assert uri in self.kept, f"{uri} is not there to be discarded"
                needs = [one.id for one in self._controller.trials.values()
                         if one.checkpoint is not None and one.checkpoint.uri == uri]  # fmt: skip
                assert not needs, f"{uri} was discarded, but {needs} would go on from it"
                self.kept.remove(uri)
                self.at(self.now, m.Discarded(0.0, uri))
            case m.Wake(time):
                self.at(max(time, self.now), m.Tick(0.0))
            case m.Want():
                pass  # what there is does not grow upon request
            case _:
                raise TypeError(f"{command!r} is no command")

    def _answer(self, index: int) -> None:
        self._deliver(m.Suggested(0.0, index, self._suggest(index)))

    def _hold(self, trial_id: str, placement: Placement) -> None:
        self._held[trial_id] = (self._controller.trials[trial_id].resources, placement)
        used: dict[tuple[str, object], float] = {}
        for resources, placed in self._held.values():
            for bundle, node, gpus in zip(resources.bundles, placed.nodes, placed.gpus, strict=True):
                for name, amount in (*bundle, *((f"gpu {index}", share) for index, share in gpus)):
                    used[node, name] = used.get((node, name), 0.0) + amount
        mine = set(placement.nodes)
        for (node, name), amount in used.items():
            has = self._nodes.get(node, {})
            there = 1.0 if str(name).startswith("gpu ") else has.get(str(name), 0.0)
            assert node not in mine or amount <= there + 1e-6, f"{name} of {node}: {amount} of {there} used"
            index = int(str(name)[4:]) if str(name).startswith("gpu ") else -1
            assert node not in mine or index < has.get("gpu", 0), f"{node} has no {name}"

    def _held_nodes(self, trial_id: str) -> tuple[str, ...]:
        return self._held[trial_id][1].nodes if trial_id in self._held else ()

    def _states(self) -> str:
        return ", ".join(f"{one.id} {one.status.value}" for one in self._controller.trials.values())

    # --- processes ---------------------------------------------------------------------

    def _begin(self, process: _Process) -> None:
        start = process.start
        if not self._is_alive(process):
            return
        saved = start.checkpoint
        assert saved is None or saved.uri in self.kept, f"{start.trial_id} starts from {saved}, which is gone"
        if self._random.random() < self._perils.silent:
            self._end(process, "killed", "it died before its first word")
            return
        node = start.placement.nodes[0]
        self._say(process, m.Started(0.0, start.trial_id, start.attempt, node, 1, restored=saved))
        self._go_on(process)

    def _go_on(self, process: _Process) -> None:
        process.state = "running"
        self._push(self.now + process.start.config.get("pace_s", 1.0), self._iterate, process)

    def _iterate(self, process: _Process) -> None:
        """An iteration is over: report it, or end."""
        if not self._is_alive(process):
            return
        config, name = process.start.config, (process.start.trial_id, process.start.attempt)
        if process.t >= config.get("length", 3):
            self._end(process, "returned")
            return
        chance, peril = self._random.random(), self._perils
        for cause, limit in (
            ("raised", peril.raised),
            ("killed", peril.raised + peril.killed),
            ("lost", peril.raised + peril.killed + peril.lost),
        ):
            if chance < limit:
                self._end(process, cause, f"{cause} at t={process.t + 1}")  # type: ignore[arg-type]
                return
        orders = [order for order in process.orders if self._take(process, order) is not None]
        process.orders.clear()
        process.t += 1
        metrics = {**self._metrics(config, process.t), "training_iteration": process.t}
        saved = self._save(process) if config.get("saves", "reports") == "reports" else None
        self._say(process, m.Reported(0.0, *name, process.t, metrics, saved))
        process.state = "waiting"
        if orders:
            self._obey(process, orders[0])
        elif process.t < process.until_t:
            self._save_if_wanted(process)
            self._go_on(process)

    def _take(self, process: _Process, order: m.Proceed | m.Halt) -> m.Halt | None:
        if isinstance(order, m.Halt):
            return order
        process.until_t = order.until_t
        process.wants_save = process.wants_save or order.save
        return None

    def _tell(self, process: _Process, order: m.Proceed | m.Halt) -> None:
        """An order arrives."""
        if not self._is_alive(process):
            return
        if process.state in ("waiting", "parked"):
            self._obey(process, order)
        else:
            process.orders.append(order)

    def _obey(self, process: _Process, order: m.Proceed | m.Halt) -> None:
        if isinstance(order, m.Proceed):
            self._take(process, order)
            self._save_if_wanted(process)
            self._go_on(process)
            return
        saves = process.start.config.get("saves", "reports")
        fails = saves == "never" or (saves == "asked" and self._random.random() < self._perils.save_failed)
        if order.save and fails:
            name = (process.start.trial_id, process.start.attempt)
            self._say(process, m.SaveFailed(0.0, *name, "no checkpoint"))
            if order.park:
                process.state = "parked"
                self._held.pop(process.start.trial_id, None)
                return
        elif order.save:
            process.wants_save = True
            self._save_if_wanted(process)
        self._end(process, "halted")

    def _save_if_wanted(self, process: _Process) -> None:
        if process.wants_save and process.start.config.get("saves") == "asked":
            name = (process.start.trial_id, process.start.attempt)
            self._say(process, m.Saved(0.0, *name, self._save(process)))
        process.wants_save = False

    def _save(self, process: _Process) -> Checkpoint:
        self._n_saved += 1
        saved = Checkpoint(process.start.trial_id, process.t, f"{process.start.trial_id}/{self._n_saved}")
        self.kept.add(saved.uri)
        return saved

    def _end(self, process: _Process, cause: m.Cause, error: str = "") -> None:
        start = process.start
        del self._processes[start.trial_id, start.attempt]
        self._held.pop(start.trial_id, None)
        self._say(process, m.Ended(0.0, start.trial_id, start.attempt, cause, error))

    def _is_alive(self, process: _Process) -> bool:
        return self._processes.get((process.start.trial_id, process.start.attempt)) is process

    # --- time --------------------------------------------------------------------------

    def _say(self, process: _Process, event: m.Event) -> None:
        """Send a message, after those before it; perhaps it comes again."""
        process.heard_at = max(process.heard_at, self.now + self._latency())
        self._push(process.heard_at, self._deliver, event)
        if self._random.random() < self._perils.repeated:
            self._push(process.heard_at + self._random.expovariate(0.2), self._deliver, event)

    def _latency(self) -> float:
        return self._random.uniform(0, self._perils.latency_s) if self._perils.latency_s else 0.0

    def _push(self, time: float, action: Callable[..., None], *about: Any) -> None:
        self._n_pushed += 1
        heapq.heappush(self._heap, (time, self._n_pushed, action, about))
