"""Changes of trials' resources during training, through a checkpoint.

After each result an allocation function returns the resources for a trial. If they differ from
its current ones, the trial saves, and continues from that checkpoint with the new resources.
Another scheduler decides when trials stop.

Allocation functions have the arguments that Ray Tune's have. The first is the read-only view of the
experiment; it and the trial also have the attributes of Ray Tune's controller and trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from overtone.core.decision import SAVE, Continue, Decision, Restart, Save, as_decision
from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.resources import Resources, bundle
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Result, Why
from overtone.errors import UsageError
from overtone.schedulers.adapter import inner
from overtone.schedulers.allocation import AllocationHooks, AllocationView, as_resources, whole_units
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.schedulers.tune_trial import TuneTrial

Allocation = Callable[[View, Trial, Result, "ResourceChangingScheduler"], Any]
"""Returns a trial's resources, as Resources or amounts by name; None for no change."""


@checked
class DistributeResources:
    """Gives each trial an equal share of all resources, at least its initial resources.

    Args:
        add_bundles: Whether a trial gets new bundles; by default its bundles grow.
        increase_by: The amounts that a trial grows by; by default one CPU or GPU, where it
            began with any.
        increase_by_times: Largest number of increases; below 1 for no limit.
        reserve_resources: Amounts that no trial gets.
    """

    def __init__(
        self, add_bundles: bool = False, increase_by: Mapping[str, float] | None = None,
        increase_by_times: int = -1, reserve_resources: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.add_bundles, self.increase_by_times = add_bundles, increase_by_times
        self.increase_by, self.reserve_resources = dict(increase_by or {}), dict(reserve_resources or {})
        self._unit, self._reserved = dict(bundle(self.increase_by)), dict(bundle(self.reserve_resources))

    def __call__(
        self, view: View, trial: Trial, result: Result, scheduler: ResourceChangingScheduler
    ) -> Resources | None:
        """Return the resources for `trial`; None for no change."""
        base = scheduler.base_of(trial)
        unit = self._unit or {name: 1.0 for name in ("cpu", "gpu") if base.total().get(name)}
        if not unit:
            return None
        times = self.times(view, trial, unit, scheduler)
        times = times if self.increase_by_times < 1 else min(times, self.increase_by_times)
        while times > 0 and not view.is_feasible(self._grown(base, unit, times)):
            times -= 1  # No node is large enough.
        return self._grown(base, unit, times)

    def times(
        self, view: View, trial: Trial, unit: Mapping[str, float], scheduler: ResourceChangingScheduler
    ) -> int:
        """Return by how many units `trial` should exceed its initial resources."""
        live = sorted(view.live(), key=lambda one: one.index)
        held = [scheduler.base_of(one).total() for one in live]
        spare = {
            name: view.total.get(name, 0.0)
            - self._reserved.get(name, 0.0)
            - sum(one.get(name, 0.0) for one in held)
            for name in unit
        }
        units = max(0, whole_units(spare, unit))
        share = units // len(live) + (live.index(trial) < units % len(live))
        return min(share, self.now(trial, unit, scheduler) + self.fitting(view, unit))

    def now(self, trial: Trial, unit: Mapping[str, float], scheduler: ResourceChangingScheduler) -> int:
        """Return by how many units `trial` exceeds its initial resources."""
        held, began = trial.resources.total(), scheduler.base_of(trial).total()
        return whole_units({name: held.get(name, 0.0) - began.get(name, 0.0) for name in unit}, unit)

    def fitting(self, view: View, unit: Mapping[str, float]) -> int:
        """Return the number of free units."""
        free = {name: view.free.get(name, 0.0) - self._reserved.get(name, 0.0) for name in unit}
        return max(0, whole_units(free, unit))

    def _grown(self, base: Resources, unit: Mapping[str, float], times: int) -> Resources:
        if self.add_bundles:
            return Resources((*base.bundles, *[bundle(unit)] * times), base.strategy)
        grown = [dict(one) for one in base.bundles]
        for i in range(times):
            one = grown[i % len(grown)]
            for name, amount in unit.items():
                one[name] = one.get(name, 0.0) + amount
        return Resources(tuple(bundle(one) for one in grown), base.strategy)


@checked
class DistributeResourcesToTopJob(DistributeResources):
    """Gives the best trial all free resources; earlier best trials keep theirs.

    Args:
        metric, mode: As in Ray Tune; the experiment's goal is what counts.
    """

    def __init__(
        self, add_bundles: bool = False, increase_by: Mapping[str, float] | None = None,
        increase_by_times: int = -1, reserve_resources: Mapping[str, float] | None = None,
        metric: str | None = None, mode: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(add_bundles, increase_by, increase_by_times, reserve_resources)
        self.metric, self.mode = metric, mode

    def times(
        self, view: View, trial: Trial, unit: Mapping[str, float], scheduler: ResourceChangingScheduler
    ) -> int:
        """Return by how many units `trial` should exceed its initial resources."""
        top = max(view.live(), key=lambda one: (one.last.score if one.last else WORST, -one.index))
        more = self.fitting(view, unit) if top is trial else 0
        return self.now(trial, unit, scheduler) + more


class ResourceChangingScheduler(AllocationHooks, TrialScheduler):
    """Changes the resources of running trials; another scheduler makes all other decisions.

    Args:
        base_scheduler: Makes the other decisions; FIFO by default.
        resources_allocation_function: Returns a trial's resources, such as a `PlacementGroupFactory`
            or {"cpu": 2}, or None for no change, from (view, trial, result, this scheduler);
            `DistributeResources()` by default.

    Raises:
        UsageError: `resources_allocation_function` is not a function.
    """

    pauses = True

    def __init__(
        self, base_scheduler: TrialScheduler | None = None,
        resources_allocation_function: Allocation | None = None,
    ) -> None:  # fmt: skip
        self._base = inner(base_scheduler, "ResourceChangingScheduler") or FIFOScheduler()
        given = resources_allocation_function
        self._allocate: Allocation = DistributeResources() if given is None else given
        if not callable(self._allocate):
            raise UsageError(
                f"resources_allocation_function={self._allocate!r:.100}: give a function of (view, trial, "
                "result, scheduler), or DistributeResources()"
            )
        named = [one for one in (self._base, self._allocate) if getattr(one, "metric", None)]
        self.metric = getattr(named[0], "metric", None) if named else None
        self.mode = getattr(named[0], "mode", None) if named else self._base.mode
        self.time_attr, self.replayable = self._base.time_attr, self._base.replayable
        self.needs_population = self._base.needs_population
        self.needs_checkpoints, self.ends_trials = self._base.needs_checkpoints, self._base.ends_trials
        self.parks = self._base.parks
        self.needs_metric = self._base.needs_metric or isinstance(self._allocate, DistributeResourcesToTopJob)

    @property
    def base_trial_resources(self) -> PlacementGroupFactory | None:
        """The initial resources of the first trial; None before there is a trial."""
        return None if self._first is None else PlacementGroupFactory.of(self._first)

    _base_trial_resources = base_trial_resources

    def base_of(self, trial: Trial) -> Resources:
        """Return the initial resources of `trial`."""
        return self._began.get(trial.id, trial.resources)

    def complete(self, space: Mapping[str, Any], earlier: Callable[[str], Any]) -> Mapping[str, Any]:
        return self._base.complete(space, earlier)

    def on_start(self, view: View) -> None:
        self._view = view
        self._began: dict[str, Resources] = {}
        self._asked_at: dict[str, int] = {}  # The t at which a trial was asked to save for a resize.
        self._n_resized = 0
        self._first: Resources | None = None  # The initial resources of the first trial.
        self._base.on_start(view)

    def on_trial_add(self, trial: Trial) -> None:
        self._began.setdefault(trial.id, trial.resources)
        self._first = self._first or trial.resources
        self._base.on_trial_add(trial)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        decision = as_decision(self._base.on_result(trial, result), type(self._base).__name__)
        if isinstance(decision, Restart) and decision.resources is None:
            return replace(decision, resources=trial.resources)
        if not isinstance(decision, (Continue, Save)) or getattr(decision, "config", None) is not None:
            return decision
        wanted = self._wanted(trial, result)
        if wanted is None:
            self._asked_at.pop(trial.id, None)
            return decision
        asked_at = self._asked_at.setdefault(trial.id, trial.ruled_t)
        if trial.checkpoint is None or trial.checkpoint.t < asked_at:
            return SAVE
        shown = TuneTrial(trial, AllocationView(self._view))
        if not self.set_trial_resources(shown, PlacementGroupFactory.of(wanted)):
            return decision
        note = f"{trial.resources} -> {wanted}"
        return Restart(trial.config, None, Why("resize", result.t, note=note), wanted)

    def _wanted(self, trial: Trial, result: Result) -> Resources | None:
        """Return new resources for `trial`; None for no change."""
        shown = AllocationView(self._view)
        wanted = self.reallocate_trial_resources_if_needed(shown, TuneTrial(trial, shown), result)
        plain = None if wanted is None else as_resources(wanted)
        return None if plain == as_resources(trial.resources) else plain

    def allocated(self, view: AllocationView, trial: TuneTrial, result: Result) -> Any:
        """Return what the allocation function wants for a trial; None for no change."""
        if isinstance(self._allocate, DistributeResources):
            return self._allocate(view.view, trial.native, result, self)
        return self._allocate(view, trial, result, self)  # type: ignore[arg-type]

    def next_decision(self, trial: Trial) -> float:
        return 0.0

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Restart) and decision.why.rule == "resize":
            self._asked_at.pop(trial.id, None)
            self._n_resized += 1
        self._base.on_decision(trial, decision)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return self._base.choose_trial_to_run(trials)

    def review(self, trials: View) -> Iterable[tuple[str, Decision]]:
        for trial_id, decision in self._base.review(trials):
            if isinstance(decision, Restart) and decision.resources is None:
                decision = replace(decision, resources=self._view.trials[trial_id].resources)
            yield trial_id, decision

    def on_trial_end(self, trial: Trial) -> None:
        self._asked_at.pop(trial.id, None)
        self._began.pop(trial.id, None)
        self._base.on_trial_end(trial)

    def describe(self) -> str:
        return f"{self._base.describe()}\nResourceChangingScheduler: {self._n_resized} trials resized"
