"""PriorBand (Mallik et al. 2023, "PriorBand: Practical Hyperparameter Optimization in the Age of Deep
Learning", arXiv 2306.12370).

HyperBand whose new configurations are drawn at random, from the user's prior, or around the incumbent.
Random ones have the share 1 / (1 + eta^r), where r is the rung at which their bracket begins. At first the
rest is the prior's. When the budget of the first bracket is spent and one configuration was trained to the
end, prior and incumbent divide the rest in proportion to the likelihoods that they give to the best known
configurations. So a wrong prior loses its share as soon as better configurations are found elsewhere.

Deviations: the prior is what `tune.normal_prior` says in the space, with its share of doubt. The mode of the
prior is the first trial, judged in its bracket, not trained to the end first. The incumbent's option of a
choice has twice the odds of each other option, where the paper says "higher odds".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, exp, pi, sqrt
from typing import Any

from overtone.core.decision import Decision
from overtone.core.protocols import Searcher
from overtone.core.randomness import Random, keyed
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Config, Result
from overtone.schedulers.bohb import HyperBandForBOHB
from overtone.space import Cube, NormalPrior
from overtone.space.cube import Dimension

MUTATION_RATE = 0.5
"""Probability that a hyperparameter of the incumbent is perturbed; p in the paper."""

MUTATION_SD = 0.25
"""Standard deviation of a perturbation, as a share of the axis; sigma in the paper."""

Point = Sequence[float]
"""Coordinates on the axes of the domains without their priors, from 0 to 1."""


class PriorBand(HyperBandForBOHB, Searcher):
    """Chooses configurations by a prior, and their budgets; give it as `scheduler`, without `search_alg`.

    The space holds the prior: `tune.normal_prior(domain, mean, sd)`.

    Args:
        time_attr, metric, mode: The metric that serves as the clock, and the goal.
        max_t: The largest budget, in units of `time_attr`.
        grace_period: Lower bound of the smallest budget, in the same units.
        reduction_factor, stop_last_trials, sizes: See `HyperBandScheduler`.
    """

    rule = "priorband"
    replay = "asked"
    next_decision = HyperBandForBOHB.next_decision
    _cube: Cube | None = None

    def on_start(self, start: Any, seed: int | None = None) -> None:
        """Handle the start: with the view as a scheduler, with the space and the seed as a searcher."""
        if not isinstance(start, View):
            self._cube = Cube(start)
            return
        super().on_start(start)
        self._view, self._n_asked, self._spent = start, 0, 0
        self._points: dict[str, Point] = {}  # of each trial that came to a rung
        self._best = (WORST, 0, "")  # the score and the rung of the incumbent, and its trial
        steps = zip(self.plans[0], ((0, 0), *self.plans[0]), strict=False)
        self._first_cost = sum(n * (t - before) for (n, t), (_, before) in steps)
        self._ends = [plan[0][0] for plan in self.plans]

    # --- as a searcher -----------------------------------------------------------------

    def suggest(self, index: int) -> Config | None:
        if self._cube is None:
            raise RuntimeError("PriorBand is its own searcher: omit search_alg")
        random, rung = self._view.random("priorband", t=self._n_asked), self._rung(self._n_asked)
        self._n_asked += 1
        kind = random.choices(("random", "prior", "incumbent"), self.weights(rung))[0]
        dimensions = self._cube.dimensions
        if index == 0 and any(isinstance(one.domain, NormalPrior) for one in dimensions):
            point = [_mode(one, random) for one in dimensions]
        elif kind == "prior":
            point = [_axis(one, random.random()) for one in dimensions]
        elif kind == "incumbent":
            centre = self._points[self._best[2]]
            point = [_perturbed(one, u, random) for one, u in zip(dimensions, centre, strict=True)]
        else:
            point = [random.random() for _ in dimensions]
        seed = random.getrandbits(32)
        warped = [_warped(one, u) for one, u in zip(dimensions, point, strict=True)]
        return self._cube.from_unit(warped, lambda key: keyed(seed, key))

    def weights(self, rung: int) -> tuple[float, float, float]:
        """Return the shares of random, prior and incumbent in a bracket that begins at `rung`."""
        at_random = 1 / (1 + self.eta**rung)
        of_prior, of_incumbent = self._scores() if self._knows_incumbent() else (1.0, 0.0)
        rest = (1 - at_random) / (of_prior + of_incumbent)
        return at_random, rest * of_prior, rest * of_incumbent

    def _rung(self, n_before: int) -> int:
        """Return the rung at which the bracket of trial number `n_before`, from 0, begins."""
        place = n_before % sum(self._ends)
        for rung, size in enumerate(self._ends):
            if place < size:
                return rung
            place -= size
        raise AssertionError

    def _knows_incumbent(self) -> bool:
        last = self.plans[0][-1][1]
        return self._spent >= self._first_cost and any(one > WORST for one in self.found[last].values())

    def _scores(self) -> tuple[float, float]:
        """Return S of prior and incumbent: likelihoods of the best at the highest rung with eta results.

        The best are a share of 1 / eta, at least eta of them, weighted by rank: the last counts once.
        """
        assert self._cube is not None
        full = [t for t, scores in self.found.items() if len(scores) >= self.eta]
        if not full:
            return 1.0, 0.0
        scores = self.found[max(full)]
        n = max(int(len(scores) // self.eta), int(self.eta))
        best = sorted(scores, key=lambda name: -scores[name])[:n]
        centre, totals = self._points[self._best[2]], [0.0, 0.0]
        for i, name in enumerate(best):
            weight_prior = weight_incumbent = float(len(best) - i)
            point = self._points[name]
            warped = [_warped(one, u) for one, u in zip(self._cube.dimensions, point, strict=True)]
            for k, dimension in enumerate(self._cube.dimensions):
                if self._cube.is_active(k, warped):
                    weight_prior *= _prior_density(dimension, point[k])
                    weight_incumbent *= _density_around(dimension, centre[k], point[k])
            totals[0] += weight_prior
            totals[1] += weight_incumbent
        return totals[0], totals[1]

    # --- as a scheduler ----------------------------------------------------------------

    def on_result(self, trial: Trial, result: Result) -> Decision:  # type: ignore[override]
        bracket = self._of[trial.id]
        t = bracket.milestone
        if result.t >= t and trial.id not in self.found[t]:
            self._spent += t - (bracket.plan[bracket.k - 1][1] if bracket.k else 0)
            if (result.score, t) > self._best[:2]:
                self._best = result.score, t, trial.id
            if self._cube is not None:
                units = self._cube.to_unit(trial.config)
                dimensions = self._cube.dimensions
                self._points[trial.id] = [_axis(one, u) for one, u in zip(dimensions, units, strict=True)]
        return super().on_result(trial, result)


def _axis(dimension: Dimension, u: float) -> float:
    """Return a coordinate of the cube on the axis of the domain without its prior."""
    prior = dimension.domain
    return prior.domain.cdf(prior.quantile(u)) if isinstance(prior, NormalPrior) else u


def _warped(dimension: Dimension, u: float) -> float:
    """Return the inverse of `_axis`."""
    prior = dimension.domain
    return prior.cdf(prior.domain.quantile(u)) if isinstance(prior, NormalPrior) else u


def _mode(dimension: Dimension, random: Random) -> float:
    """Return the mode of the prior; a random point without a prior."""
    prior = dimension.domain
    return prior.domain.cdf(prior.mean) if isinstance(prior, NormalPrior) else random.random()


def _perturbed(dimension: Dimension, u: float, random: Random) -> float:
    """Return the incumbent's coordinate, perturbed with some probability."""
    if random.random() >= MUTATION_RATE:
        return u
    n = len(dimension.values)
    if not n:
        return min(max(random.gauss(u, MUTATION_SD), 0.0), 1.0)
    mine = min(int(u * n), n - 1)
    return (random.choices(range(n), [2 if i == mine else 1 for i in range(n)])[0] + 0.5) / n


def _prior_density(dimension: Dimension, u: float) -> float:
    return dimension.domain.density(u) if isinstance(dimension.domain, NormalPrior) else 1.0


def _density_around(dimension: Dimension, centre: float, u: float) -> float:
    """Return the density at `u` of a normal distribution around `centre`, cut to the axis."""
    n = len(dimension.values)
    if n:
        return (2 if int(u * n) == int(centre * n) else 1) * n / (n + 1)
    inside = (erf((1 - centre) / MUTATION_SD / sqrt(2)) + erf(centre / MUTATION_SD / sqrt(2))) / 2
    return exp(-(((u - centre) / MUTATION_SD) ** 2) / 2) / (MUTATION_SD * sqrt(2 * pi) * inside)
