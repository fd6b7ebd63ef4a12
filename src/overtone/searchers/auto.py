"""`search_alg="auto"`: a good searcher for any space, without reading anything.

The rule. Scrambled Sobol' points first: as many as there are dimensions and one, at least 4 and at most
20; while they are waited for, as many more as there are free slots. Then a Gaussian process over all
results (see `gaussian_process`), and the point with the highest expected improvement a second, where the
points that are being tried count as known to be what the process expects of them. Seconds are those of a
whole trial, from a process of their own, and count if they differ and suggestions are not urgent. Suggestions
take turns: one in two looks at the order of results alone and the others at their values, made as normal as
can be; of both one in two searches everywhere, the others near the best points. A process costs the cube of
its results, so that beyond 300 it is made of 300: the best ones and those nearest to the very best; and of
120, with kernels that follow from earlier ones, where trials are cheap: where the median trial, over the
number of those that run, takes less than a second. The number of dimensions changes nothing else: candidates
differ from a good point in about 20 of them at a time. A finite space of up to 1,000 configurations is looked
at as a whole, and nothing in a finite space is tried twice.

A trial that runs, waits or was stopped by a scheduler counts with its predicted value at the end and the
uncertainty of that (see `final_values`). If a scheduler stops trials, three quarters of their time and slots
go to Sobol' points (see `exploration`).

Several objectives are weighted anew for each suggestion (see `targets.scalarised`). Constraint metrics
have a process of their own each, and the improvement counts with the chance that all are 0 or less
(Gardner et al. 2014, "Bayesian Optimization with Inequality Constraints").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from overtone.core.protocols import Searcher
from overtone.core.randomness import key
from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.errors import GoalError
from overtone.searchers.exploration import Exploration
from overtone.searchers.first_points import FirstPoints, score_of
from overtone.searchers.observations import Told
from overtone.searchers.samples import checked_samples, total_of
from overtone.searchers.sobol import Sobol
from overtone.searchers.without_repeats import Distinct

MOST_LISTED = 1_000
"""Finite spaces up to so many points are looked at as a whole."""


class AutoSearch(Searcher):
    """Learns from results which configurations to try next; any space, any number of trials at once.

    The rule, of which the module tells more: Sobol' points, as many as dimensions and one (4 to 20), then a
    Gaussian process with expected improvement; made of all results up to 300, beyond of the 300 that tell
    most, or of 120 where trials are so cheap that they would wait for a suggestion (the median trial, over
    the number of those that run, takes less than a second).

    Args:
        metric, mode: The goal, if it is not named elsewhere.
        points_to_evaluate: What to try first; what a point leaves open is drawn.
        evaluated_rewards: Values of the metric for the first of these points, which are not tried
            again then; needs `mode`.
        num_samples: 1 or more, or -1 to go on without end; None leaves it to `tune.run`.
    """

    takes_constraint = True

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

    def suggest(self, index: int) -> Config | None:
        config = self._first.config(index)
        return self._distinct.first_new(index, self._candidates(index)) if config is None else config

    def on_suggested(self, index: int, config: Config) -> None:
        point = self._told.pending[index] = self._distinct.take(config)
        # recognised by its point, since a resume has the config alone
        drawn = self._distinct.allowed(index, self._sobol.point(index))
        explores = drawn is not None and tuple(self._distinct.cube.to_unit(drawn)) == point
        self._exploration.add(index, explores)

    def on_result(self, trial: Trial, result: Result) -> None:
        self._told.on_result(trial, result)
        self._exploration.on_result(trial, result)

    def on_trial_end(self, trial: Trial) -> None:
        n = len(self._told.observations)
        self._told.on_trial_end(trial)
        self._exploration.on_trial_end(trial)
        # also what others tried: an earlier search, or a scheduler
        self._distinct.taken.update(one.point for one in self._told.observations[n:])

    @property
    def _n_first(self) -> int:
        return min(max(4, len(self._distinct.cube) + 1), 20)

    def _candidates(self, index: int) -> Iterator[Sequence[float]]:
        has_few = self._told.n_scored < self._n_first or not len(self._distinct.cube)
        if has_few or self._exploration.is_due:
            yield self._sobol.point(index)
        if has_few:
            return
        import numpy as np

        from overtone.searchers.surrogate import Surrogate

        if self._model is None:
            self._model = Surrogate(self._distinct.cube, self._distinct.size < inf)
        generator = np.random.default_rng(key(self._seed, "auto", str(index)))
        listed = self._distinct.unseen() if self._distinct.size <= MOST_LISTED else None
        if listed == []:
            return
        told = self._told
        yield from self._model.ranked(
            told.observations, told.unobserved(), len(told.pending), index, generator, listed
        )
