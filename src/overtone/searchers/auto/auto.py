"""`search_alg="auto"`: a searcher for any space, without settings.

First, d + 1 scrambled Sobol' points (d: number of dimensions; minimum 4, maximum 20). While their results
are pending, free slots get more Sobol' points. Then a Gaussian process is fitted to all results (see
`gaussian_process`), and the point with the highest expected improvement per second is suggested. Running
points are imputed with their predicted values. Seconds are those of a whole trial, predicted by a separate
process; they count if they differ and suggestions are not urgent. Suggestions alternate: one half uses only
the order of results, the other half their values, transformed to be as normal as possible. In each half,
every second suggestion searches everywhere, and the others near the best points.

A process costs the cube of its number of results. With more than 300 results, it uses 300: the best ones and
the nearest ones to the very best. If trials are cheap, it uses 120, with kernels that follow from earlier
kernels. Trials are cheap if the median trial time divided by the number of running trials is below 1 s.
Candidates differ from a good point in about 20 dimensions at a time. All configurations of a finite space of
up to 1,000 are evaluated by the model, and no configuration of a finite space is suggested twice, except that
values computed at random differ each time (see `without_repeats`).

A trial that runs, waits or was stopped by a scheduler counts with its predicted final value and the
uncertainty of the prediction (see `final_values`). If a scheduler stops trials, one suggestion in four is a
Sobol' point, and the others are the best of 16 random points (see `exploration`). Half of these use only the
results of the trials that came farthest, since early values can mislead.

Several objectives get new weights for each suggestion (see `targets.scalarised`). Each constraint metric
has a separate process; the improvement is multiplied by the probability that all are 0 or less
(Gardner et al. 2014, "Bayesian Optimization with Inequality Constraints").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from overtone.core.randomness import key
from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.errors import GoalError
from overtone.searchers.auto.exploration import Exploration
from overtone.searchers.auto.observations import Told
from overtone.searchers.base import Searcher, by_hand_too
from overtone.searchers.first_points import FirstPoints, score_of
from overtone.searchers.samples import checked_samples, total_of
from overtone.searchers.sobol import Sobol
from overtone.searchers.without_repeats import Distinct

MOST_LISTED = 1_000
"""The maximum size of a finite space of which all points are evaluated by the model."""


class AutoSearch(Searcher):
    """Bayesian optimization for any space and any number of concurrent trials.

    The first d + 1 suggestions (d: number of dimensions; minimum 4, maximum 20) are scrambled Sobol' points.
    Then a Gaussian process with expected improvement suggests. It uses up to 300 results: with more results,
    the 300 most informative ones, or 120 if trials are cheap (the median trial time divided by the number of
    running trials is below 1 s).

    Args:
        metric: The metric to optimise, if it is not given elsewhere.
        mode: "max" or "min", if it is not given elsewhere.
        points_to_evaluate: Configs to suggest first; missing values are drawn.
        evaluated_rewards: Known values of the metric for the first of these points, which are then not
            evaluated; needs `mode`.
        num_samples: Number of trials, 1 or more, or -1 for no limit; None leaves it to `tune.run`.
    """

    takes_constraint = counts_samples = True

    def __init__(
        self,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Iterable[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        *,
        num_samples: int | None = None,
    ) -> None:
        super().__init__(metric, mode)
        self.points_to_evaluate = list(points_to_evaluate or ())
        self.evaluated_rewards = list(evaluated_rewards or ())
        self.num_samples = None if num_samples is None else checked_samples(num_samples)

    def on_start(self, space: Any, seed: int) -> None:
        self._seed = seed
        self._distinct = Distinct(space, seed)
        self._told = Told(self._distinct.cube.to_unit)
        self._first = FirstPoints(space, self.points_to_evaluate, seed, self.evaluated_rewards)
        self._sobol = Sobol(len(self._distinct.cube), seed)
        self._exploration = Exploration()
        self._model: Any = None
        self.total = total_of(self.num_samples)
        mode = self.mode or (self.goal and self.goal.mode)
        if self._first.known and mode not in ("max", "min"):
            raise GoalError(f'evaluated_rewards needs mode="max" or "min", not {mode!r}')
        for config, reward in self._first.known:
            self._told.add_known(self._distinct.take(config), (score_of(reward, mode),))
        for config, value in self.hand().known:
            if value is not None:
                self._told.add_known(self._distinct.take(config), (score_of(value, mode),))

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        config = self._first.config(index)
        return self._distinct.first_new(index, self._candidates(index)) if config is None else config

    def on_suggested(self, index: int, config: Config) -> None:
        self._told.pending[index] = self._distinct.take(config)

    def on_result(self, trial: Trial, result: Result) -> None:
        self._told.on_result(trial, result)
        self._exploration.on_result(trial)

    def on_trial_end(self, trial: Trial) -> None:
        n = len(self._told.observations)
        self._told.on_trial_end(trial)
        self._exploration.on_trial_end(trial)
        # includes configs of an earlier search or of a scheduler
        self._distinct.taken.update(one.point for one in self._told.observations[n:])

    @property
    def _n_first(self) -> int:
        return min(max(4, len(self._distinct.cube) + 1), 20)

    def _candidates(self, index: int) -> Iterator[Sequence[float]]:
        has_few = self._told.n_scored < self._n_first or not len(self._distinct.cube)
        # A slot is free though no trial has ended: a scheduler paused trials, and no final value is near.
        if has_few or not self._told.n_ended or self._exploration.is_due(index):
            yield self._sobol.point(index)
        if has_few:
            return
        import numpy as np

        from overtone.searchers.auto.surrogate import Surrogate

        if self._model is None:
            self._model = Surrogate(self._distinct.cube)
        self._model.is_finite = self._distinct.size < inf
        generator = np.random.default_rng(key(self._seed, "auto", str(index)))
        listed = self._distinct.unseen() if self._distinct.size <= MOST_LISTED else None
        if listed == []:
            return
        told, draw = self._told, self._exploration.draw(index)
        yield from self._model.ranked(
            told.observations, told.unobserved(), len(told.pending), index, generator, listed, draw
        )
