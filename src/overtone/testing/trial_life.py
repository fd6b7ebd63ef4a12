"""The life of one trial process in a `World`: what it says, and how it takes orders."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from overtone.core import messages as m
from overtone.core.types import Checkpoint, Config, Metrics


@dataclass(frozen=True, slots=True)
class Perils:
    """Failures in a simulated world, each with a probability from 0 to 1.

    Attributes:
        silent: A process ends before its first message.
        raised, killed, lost: A trial ends in this way, instead of its next result.
        save_failed: A requested save fails.
        repeated: A message arrives a second time, later.
        latency_s: Maximum delay of a message or an order, in seconds; not a probability.
        damaged: A checkpoint is damaged when a trial resumes from it.
    """

    silent: float = 0.0
    raised: float = 0.0
    killed: float = 0.0
    lost: float = 0.0
    save_failed: float = 0.0
    repeated: float = 0.0
    latency_s: float = 0.0
    damaged: float = 0.0


def climb(config: Config, t: int) -> Metrics:
    """Return a `score` that starts at `config["score"]` and grows by `config["slope"]`."""
    return {"score": config.get("score", 0.0) + t * config.get("slope", 1.0)}


class Surroundings(Protocol):
    """The interface of the world to a trial's process."""

    random: Random
    perils: Perils
    kept: set[str]

    def say(self, life: TrialLife, event: m.Event) -> None:
        """Send a message."""

    def later(self, in_s: float, action: Callable[..., None], *about: Any) -> None:
        """Call `action` after `in_s` seconds."""

    def let_go(self, life: TrialLife) -> None:
        """Release the resources of the process."""

    def is_alive(self, life: TrialLife) -> bool:
        """Return whether the process is still there."""

    def bury(self, life: TrialLife) -> None:
        """Remove the process."""


class TrialLife:
    """A process that starts, reports, saves, waits, parks and ends, as its config says.

    Args:
        start: What it runs: `config` has `length`, `pace_s` and `saves`, see `World`.
        metrics: What it reports.
        world: Where it lives.

    Attributes:
        heard_at, told_at: When its last message and the last order to it arrive.
    """

    def __init__(
        self, start: m.Start, metrics: Callable[[Config, int], Mapping[str, Any]], world: Surroundings
    ) -> None:
        self.start = start
        self.heard_at = self.told_at = 0.0
        self._metrics, self._world = metrics, world
        self._name = (start.trial_id, start.attempt)
        self._t = start.checkpoint.t if start.checkpoint else 0
        self._until_t = start.until_t
        self._waits = self._wants_save = False
        self._orders: deque[m.Proceed | m.Halt] = deque()

    def begin(self) -> None:
        """Let the process begin: it says so, or dies first."""
        world, saved = self._world, self.start.checkpoint
        if not world.is_alive(self):
            return
        assert saved is None or saved.uri in world.kept, f"{self._name} starts from {saved}, which is gone"
        if saved is not None and world.perils.damaged:
            saved = self._first_whole((saved, *self.start.fallbacks))
            self._t = saved.t if saved else 0
        if world.random.random() < world.perils.silent:
            self.end("killed", "it died before its first word")
            return
        node = self.start.placement.nodes[0]
        world.say(self, m.Started(0.0, *self._name, node, 1, restored=saved))
        self._go_on()

    def tell(self, order: m.Proceed | m.Halt) -> None:
        """Receive an order."""
        if not self._world.is_alive(self):
            return
        if self._waits:
            self._obey(order)
        else:
            self._orders.append(order)

    def end(self, cause: m.Cause, error: str = "") -> None:
        """End the process."""
        self._world.bury(self)
        self._world.say(self, m.Ended(0.0, *self._name, cause, error))

    def _go_on(self) -> None:
        self._waits = False
        self._world.later(self.start.config.get("pace_s", 1.0), self._iterate)

    def _iterate(self) -> None:
        """Report an iteration that is over, or end."""
        if not self._world.is_alive(self):
            return
        config, cause = self.start.config, self._fate()
        if cause is not None:
            self.end(cause, "" if cause == "returned" else f"{cause} before t={self._t + 1}")
            return
        halts = [order for order in self._orders if not self._take(order)]
        self._orders.clear()
        self._t += 1
        metrics = {**self._metrics(config, self._t), "training_iteration": self._t}
        saved = self._save() if config.get("saves", "reports") == "reports" else None
        self._world.say(self, m.Reported(0.0, *self._name, self._t, metrics, saved))
        self._waits = True
        if halts:
            self._obey(halts[0])
        elif self._t < self._until_t:
            self._save_if_wanted()
            self._go_on()

    def _fate(self) -> m.Cause | None:
        """Return how the trial ends before its next report; None if it does not."""
        if self._t >= self.start.config.get("length", 3):
            return "returned"
        perils, chance = self._world.perils, self._world.random.random()
        if chance < perils.raised:
            return "raised"
        if chance < perils.raised + perils.killed:
            return "killed"
        return "lost" if chance < perils.raised + perils.killed + perils.lost else None

    def _take(self, order: m.Proceed | m.Halt) -> bool:
        """Note a Proceed; False for a Halt."""
        if isinstance(order, m.Halt):
            return False
        self._until_t = order.until_t
        self._wants_save = self._wants_save or order.save
        return True

    def _obey(self, order: m.Proceed | m.Halt) -> None:
        """Obey an order that the process waits for."""
        if self._take(order):
            self._save_if_wanted()
            self._go_on()
            return
        assert isinstance(order, m.Halt)
        if order.save and self._cannot_save():
            self._world.say(self, m.SaveFailed(0.0, *self._name, "no checkpoint"))
            if order.park:
                self._world.let_go(self)
                return
        elif order.save:
            self._wants_save = True
            self._save_if_wanted()
        self.end("halted")

    def _first_whole(self, checkpoints: Iterable[Checkpoint]) -> Checkpoint | None:
        for saved in checkpoints:
            # a fallback is not held: its trial may have saved something better meanwhile
            if saved.uri in self._world.kept and self._world.random.random() >= self._world.perils.damaged:
                return saved
        return None

    def _cannot_save(self) -> bool:
        saves = self.start.config.get("saves", "reports")
        return saves == "never" or (
            saves == "asked" and self._world.random.random() < self._world.perils.save_failed
        )

    def _save_if_wanted(self) -> None:
        if self._wants_save and self.start.config.get("saves") == "asked":
            self._world.say(self, m.Saved(0.0, *self._name, self._save()))
        self._wants_save = False

    def _save(self) -> Checkpoint:
        trial_id, attempt = self._name
        uri = f"{trial_id}/{self._t}" + (f"-{attempt}" if attempt else "")
        saved = Checkpoint(trial_id, self._t, uri, self.start.config.get("saved_bytes", 0))
        self._world.kept.add(saved.uri)
        return saved
