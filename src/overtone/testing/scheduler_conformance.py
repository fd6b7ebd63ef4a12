"""Conformance tests for schedulers: subclass the test class and define `make_scheduler`.

class TestMyScheduler(SchedulerConformance):
    def make_scheduler(self):
        return MyScheduler(max_t=9)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.decision import Continue
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.protocols import TrialScheduler
from overtone.core.randomness import keyed
from overtone.core.types import Config
from overtone.testing.random_requests import random_request, releases
from overtone.testing.trial_life import Perils
from overtone.testing.world import World

NODES = {"node": {"cpu": 3.0}}
PERILS = Perils(
    silent=0.03, raised=0.04, killed=0.04, lost=0.04, save_failed=0.3, repeated=0.1, latency_s=0.5
)  # fmt: skip


def _drawn(config: Config, t: int) -> float:
    return keyed(config["x"], "drawn", t=t).random()


PEOPLE = ("pause_trial", "pause_trial", "resume_trial", "add", "set_limits", "set_priority", "stop_trial")
"""The requests that a scheduler must cope with."""

METRICS: dict[str, Callable[[Config, int], float]] = {
    "random": _drawn,
    "steady": lambda config, t: keyed(config["x"], "steady").random() - 1 / t,
    "constant": lambda config, t: 1.0,
    "nan": lambda config, t: float("nan"),
    "nan now and then": lambda config, t: float("nan") if _drawn(config, t) < 0.3 else _drawn(config, -t),
    "each better": lambda config, t: float(config["x"]),
    "each worse": lambda config, t: -float(config["x"]),
    "upside down": lambda config, t: float(config["x"] if t % 2 else -config["x"]),
    "infinite": lambda config, t: (float("inf"), -float("inf"), 1e308, -1e308)[(config["x"] + t) % 4],
}
"""Metrics that trials may report, by name; `x` is a trial's number."""


class SchedulerConformance(ABC):
    """The contract of a scheduler: it ends in all cases, and repeats its decisions in a resume.

    Attributes:
        n: The number of trials.
        length: The number of results of a trial that is not stopped.
        kills: The number of events, evenly spread, at which the driver is killed; None for every event.
        objectives: The names of the metrics.
    """

    n = 9
    length = 12
    kills: int | None = 4
    objectives: Sequence[str] = ("score",)

    @abstractmethod
    def make_scheduler(self) -> TrialScheduler:
        """Return a scheduler, which should rule by about t = 9, on training_iteration."""

    @pytest.mark.parametrize("name", METRICS)
    def test_it_comes_to_its_end(self, name: str) -> None:
        controller, world = self._search(METRICS[name], Perils())
        world.run()
        self._all_ended(controller)
        assert controller.view.search_is_over

    @pytest.mark.parametrize("name", METRICS)
    def test_it_comes_to_its_end_where_trials_die(self, name: str) -> None:
        controller, world = self._search(METRICS[name], PERILS)
        world.run()
        self._all_ended(controller)

    def test_trials_may_join_late(self) -> None:
        late = Random(5)

        def suggest(index: int) -> Config | None:
            runs = next(controller.view.running(), None) is not None
            return None if runs and late.random() < 0.7 else self._config(index)

        controller, world = self._search(METRICS["random"], PERILS, suggest)
        world.run()
        self._all_ended(controller)

    def test_nodes_may_come_and_go(self) -> None:
        controller, world = self._search(METRICS["steady"], Perils())
        for time, cpus in ((4.0, 1.0), (9.0, 5.0), (15.0, 0.0), (20.0, 2.0)):
            world.at(time, m.CapacityChanged(time, {"node": {"cpu": cpus}} if cpus else {}))
        world.run()
        self._all_ended(controller)

    def test_trials_may_be_stopped_by_people(self) -> None:
        controller, world = self._search(METRICS["steady"], Perils())
        chance = Random(3)
        while not controller.is_done:
            if controller.trials and chance.random() < 0.1:
                world.at(world.now, m.Requested(0.0, "stop_trial", chance.choice(list(controller.trials))))
            assert world.step()
        self._all_ended(controller)

    @pytest.mark.parametrize("seed", range(3))
    def test_people_may_pause_and_add_trials_and_change_limits(self, seed: int) -> None:
        """At random moments, with a driver that is killed in between; held trials are resumed in the end."""
        controller, world = self._search(METRICS["random"], PERILS)
        chance = Random(seed)
        kept: list[frozenset[str]] = []
        for _ in range(2_000):
            if controller.is_done or not world.step():
                break
            if controller.trials and chance.random() < 0.15 and world.now < 100:
                what = chance.choice(PEOPLE)
                config = self._config(len(controller.trials))
                world.at(world.now, random_request(chance, controller, config, what, self.n + 3))
            kept += [frozenset(world.kept)] * (len(world.records) - len(kept))
        self._released_to_the_end(controller, world)
        assert self._replayed(world.records).is_done
        n = len(kept) // 2
        self._resume(world.records[:n], set(kept[n - 1]))

    def test_nothing_is_ruled_before_the_next_decision(self) -> None:
        scheduler = self.make_scheduler()
        on_result, n_ruled = scheduler.on_result, 0

        def watched(trial: Any, result: Any) -> Any:
            nonlocal n_ruled
            bound = scheduler.next_decision(trial)
            decision = on_result(trial, result)
            assert result.t >= bound or isinstance(decision, Continue), f"{decision} at {result.t} < {bound}"
            n_ruled += 1
            return decision

        scheduler.on_result = watched  # type: ignore[method-assign]
        _, world = self._search(METRICS["random"], PERILS, scheduler=scheduler)
        world.run()
        assert n_ruled

    def test_it_describes_itself_at_any_time(self) -> None:
        scheduler = self.make_scheduler()
        controller, world = self._search(METRICS["nan now and then"], PERILS, scheduler=scheduler)
        while not controller.is_done:
            assert world.step()
            if controller.trials:
                assert scheduler.describe().strip()

    @pytest.mark.parametrize("name", ["random", "constant", "nan now and then"])
    def test_a_replay_decides_the_same(self, name: str) -> None:
        _, world = self._search(METRICS[name], PERILS)
        records = world.run()
        assert self._replayed(records).is_done

    def test_it_survives_that_its_driver_is_killed(self) -> None:
        """And what came before and after the resume is decided the same in a replay."""
        _, world = self._search(METRICS["random"], PERILS)
        kept: list[frozenset[str]] = []
        while not world._controller.is_done:
            assert world.step()
            kept += [frozenset(world.kept)] * (len(world.records) - len(kept))
        at = range(1, len(kept), max(1, len(kept) // self.kills) if self.kills else 1)
        for n in at:
            self._resume(world.records[:n], set(kept[n - 1]))

    # --- how ---------------------------------------------------------------------------

    def _search(
        self,
        metric: Callable[[Config, int], float],
        perils: Perils,
        suggest: Callable[[int], Config | None] | None = None,
        scheduler: TrialScheduler | None = None,
    ) -> tuple[Controller, World]:
        controller = self._controller(scheduler)
        world = World(controller, Random(1), suggest or self._config, NODES, perils, self._reporting(metric))
        return controller, world

    def _controller(self, scheduler: TrialScheduler | None = None) -> Controller:
        scheduler = scheduler or self.make_scheduler()
        goal = Goal(self.objectives, "max", scheduler.time_attr, is_needed=scheduler.needs_metric)
        return Controller(scheduler, goal, limits=self._limits(), seed=7)

    def _limits(self) -> Limits:
        return Limits(total=self.n, max_failures=1)

    def _config(self, index: int) -> Config:
        saves = ("reports", "asked", "never")[index % 3]
        return {"x": index, "length": self.length, "pace_s": 1.0 + index % 4, "saves": saves}

    def _reporting(
        self, metric: Callable[[Config, int], float]
    ) -> Callable[[Config, int], Mapping[str, Any]]:
        def report(config: Config, t: int) -> Mapping[str, Any]:
            return {name: metric(config, t + k) for k, name in enumerate(self.objectives)}

        return report

    def _released_to_the_end(self, controller: Controller, world: World) -> None:
        """Resume what people hold, and let all trials come to their end."""
        for event in releases(controller):
            world.at(world.now, event)
        world.run()
        self._all_ended(controller)

    def _all_ended(self, controller: Controller) -> None:
        ends = {trial.id: trial.status.value for trial in controller.trials.values()}
        assert len(ends) >= min(self.n, controller.limits.total or self.n)
        assert set(ends.values()) <= {"TERMINATED", "ERROR"}, ends
        forgotten = [one.id for one in controller.trials.values() if one.why and one.why.rule == "not chosen"]
        assert not forgotten, f"the scheduler neither chose nor stopped {forgotten}"

    def _replayed(self, records: Sequence[m.Record]) -> Controller:
        """Return a fresh controller that was told of all that happened, and chose the same."""
        controller = self._controller()
        for record in records:
            outcome = controller.handle(record.event)
            assert not outcome.is_stale
            assert repr(outcome.choices) == repr(record.choices), record.n  # a NaN equals no other
        return controller

    def _resume(self, records: Sequence[m.Record], kept: set[str]) -> None:
        """Go on as a new driver does, to the end."""
        controller, now = self._replayed(records), records[-1].event.time
        if controller.is_done:
            return
        world = World(controller, Random(2), self._config, {}, PERILS, self._reporting(METRICS["random"]))
        world.kept = kept
        world.at(now, m.Resumed(now, self._limits()))
        world.at(now, m.CapacityChanged(now, NODES))
        world.step()  # the world begins without nodes
        first = len(world.records)
        while not (controller.is_done or controller.held) and world.step():
            pass
        self._released_to_the_end(controller, world)
        renumbered = [*records, *world.records]
        assert first == 1
        self._replayed(renumbered)
