"""Population based training (Jaderberg et al. 2017, arXiv 1711.09846).

All trials are one population. Every `perturbation_interval` a member that is among the worst
goes on from the checkpoint of one among the best (exploit: truncation selection) with new
hyperparameters around those of that member (explore). So a search finds a schedule of
hyperparameters rather than values, in the time that one training takes.

Deviations: asynchronous unless `synch`, each compared by its score at its own last comparison,
as in Ray Tune; a clone has its source's. None goes on from NaN, or without a checkpoint.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from overtone.core.decision import CONTINUE, SAVE, Decision, Pause, Restart
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Config, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.explore import changes, checked_mutations, clock, completed, explore


@checked
class PopulationBasedTraining(TrialScheduler):
    """Lets the worst members of a population go on from the best, with new hyperparameters.

    Args:
        time_attr, metric, mode: The clock, in whose units times are; the goal.
        perturbation_interval, burn_in_period: The time between comparisons; before the first.
        hyperparam_mutations: What is explored, see `explore`; what the space lacks is drawn.
        quantile_fraction: The share of the worst members, and of the best.
        resample_probability, perturbation_factors, custom_explore_fn: See `explore`.
        log_config: Whether each member's schedule is written to pbt_policy_<trial>.txt.
        require_attrs, synch: A result without the clock is an error; members wait for each other.
        clone_config: False to clone checkpoints alone: a clone explores from its own config.
    """

    def __init__(
        self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None,
        perturbation_interval: float = 60.0, burn_in_period: float = 0.0,
        hyperparam_mutations: Mapping[str, Any] | None = None, quantile_fraction: float = 0.25,
        resample_probability: float = 0.25, perturbation_factors: Sequence[float] = (1.2, 0.8),
        custom_explore_fn: Callable[[Config], Config] | None = None, log_config: bool = True,
        require_attrs: bool = True, synch: bool = False, clone_config: bool = True,
    ) -> None:  # fmt: skip
        self.mutations = checked_mutations(hyperparam_mutations, custom_explore_fn)
        self.time_attr, self.metric, self.mode, self.log_config = time_attr, metric, mode, log_config
        self._is_synch, self._is_strict = synch, require_attrs
        self.needs_population = self.needs_checkpoints = self.pauses = True
        self._every, self._burn_in, self._share = perturbation_interval, burn_in_period, quantile_fraction
        self._how, self._whole = (resample_probability, perturbation_factors, custom_explore_fn), clone_config

    def complete(self, space: Mapping[str, Any], earlier: object = None) -> dict[str, Any]:
        return completed(space, self.mutations)

    def on_start(self, view: View) -> None:
        self._view, self._n_saves, self._n_clones = view, 0, 0
        self._last: dict[str, float] = {}  # when each member was compared
        self._scores: dict[str, float] = {}  # and its score then
        self._cloned_at: dict[str, float] = {}  # up to where it clones none: it was there before
        self._held: set[str] = set()  # those that wait for the others

    def on_trial_add(self, trial: Trial) -> None:
        self._last[trial.id] = 0.0

    def next_decision(self, trial: Trial) -> float:
        return max(self._burn_in, self._last[trial.id] + self._every)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if clock(result, self.time_attr, self._is_strict) < self.next_decision(trial):
            return CONTINUE
        self._last[trial.id], self._scores[trial.id] = result.t, result.score
        if self._is_synch:
            return Pause(Why("pbt", result.t, note="waits for the population"))
        if (clone := self._cloned(trial)) is not None:
            return clone
        waiting = (one for one in self._view.live() if one.status in (Status.PENDING, Status.PAUSED))
        if any(self._last[one.id] < result.t for one in waiting):
            return Pause(Why("pbt", result.t, note="lets others train"))
        return SAVE if trial.id in self._quantiles()[1] else CONTINUE

    def review(self, trials: View) -> Iterable[tuple[str, Decision]]:
        members = list(trials.live()) if self._held and trials.search_is_over else []
        if not members or any(trial.id not in self._held for trial in members):
            return []  # somebody still trains
        self._held.clear()
        return [(trial.id, clone) for trial in members if (clone := self._cloned(trial)) is not None]

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        free = (trial for trial in trials.runnable() if trial.id not in self._held)
        return min(free, key=lambda trial: (self._last[trial.id], trial.index), default=None)

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        self._n_saves += decision is SAVE
        if self._is_synch and isinstance(decision, Pause):
            self._held.add(trial.id)
        elif isinstance(decision, Restart) and decision.source in self._scores:
            self._n_clones, self._cloned_at[trial.id] = self._n_clones + 1, self._last[trial.id]
            self._last[trial.id] = self._last[decision.source]
            self._scores[trial.id] = self._scores[decision.source]

    def on_trial_end(self, trial: Trial) -> None:
        self._held.discard(trial.id)
        del self._last[trial.id]
        self._scores.pop(trial.id, None)

    def describe(self) -> str:
        return f"PopulationBasedTraining: {self._n_saves} checkpoints, {self._n_clones} perturbs"

    def explored(self, trial: Trial, source: Trial, t: float) -> Config:
        """Return the config with which `trial` goes on from the checkpoint of `source`."""
        random, start = self._view.random("explore", trial.id, t), source if self._whole else trial
        return explore(start.config, self.mutations, random, *self._how)

    def _quantiles(self) -> tuple[list[str], list[str]]:
        ranked = sorted(self._scores, key=self._scores.__getitem__)
        n = min(ceil(len(ranked) * self._share), len(ranked) // 2)
        return ranked[:n], ranked[len(ranked) - n :]

    def _cloned(self, trial: Trial) -> Restart | None:
        (worst, best), trials, t = self._quantiles(), self._view.trials, self._last[trial.id]
        sources = [trials[one] for one in best if trials[one].checkpoint and self._scores[one] > WORST]
        if trial.id not in worst or not sources or t <= self._cloned_at.get(trial.id, 0.0):
            return None
        source = self._view.random("exploit", trial.id, t).choice(sources)
        config, n = self.explored(trial, source, t), len(self._scores)
        bar, rank, news = self._scores[best[0]], n - worst.index(trial.id), changes(trial.config, config)
        return Restart(config, source.id, Why("pbt", t, None, bar, rank, n, (source.id,), news))
