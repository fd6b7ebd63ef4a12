"""DEHB: differential evolution in HyperBand's brackets (Awad et al. 2021, "DEHB: Evolutionary
Hyperband for Scalable, Robust and Efficient Hyperparameter Optimization", arXiv 2105.09821).

Each budget has a population. The first brackets fill them, by successive halving of random
configurations. After that a rung's configurations evolve: a mutant of three parents (of the best
of the next lower budget, or of the population itself at a bracket's lowest), crossed with a member
of the budget's population, which it replaces if it is no worse (rand/1/bin).

Deviations: a configuration is trained from its beginning at each budget. Where a rung waits for
results the next bracket begins, so that no worker is idle (the paper's asynchronous form).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import Searcher
from overtone.core.randomness import Random, keyed
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import WORST, Config, Result, Why
from overtone.schedulers.arguments import checked
from overtone.schedulers.base import TrialScheduler
from overtone.space import Cube


@dataclass
class _Member:
    point: list[float]
    score: float = WORST


@dataclass
class _Bracket:
    """`sizes[k]` configurations at budget `first` + k: those of rung k, and the best of the one below."""

    number: int  # from 1
    first: int
    sizes: list[int]
    k: int = 0
    asked: int = 0
    done: list[_Member] = field(default_factory=list)
    best: list[_Member] = field(default_factory=list)


@dataclass
class _Job:
    bracket: _Bracket
    budget: int
    member: _Member
    target: int | None


@checked
class DEHB(TrialScheduler, Searcher):
    """Chooses configurations and their budgets; give it as `scheduler`, without `search_alg`.

    `num_samples` is the number of configs that are trained.

    Args:
        time_attr, metric, mode: The metric that serves as the clock, and the goal.
        max_t: The largest budget, in units of `time_attr`.
        grace_period: Lower bound of the smallest budget, in the same units.
        reduction_factor: Ratio of successive budgets. The first brackets promote the best 1/reduction_factor.
        mutation_factor, crossover_prob: F and p of differential evolution.
    """

    replay = "asked"

    def __init__(
        self, time_attr: str = "training_iteration", metric: str | None = None, mode: str | None = None,
        max_t: int = 81, grace_period: int = 1, reduction_factor: int = 3, mutation_factor: float = 0.5,
        crossover_prob: float = 0.5,
    ) -> None:  # fmt: skip
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self._eta, self._f, self._p = reduction_factor, mutation_factor, crossover_prob
        budgets = [float(max_t)]
        while budgets[-1] / reduction_factor >= grace_period:
            budgets.append(budgets[-1] / reduction_factor)
        self._budgets = budgets[::-1]
        self._cube: Cube | None = None

    def on_start(self, start: Any, seed: int | None = None) -> None:
        """Handle the start: with the view as a scheduler, with the space and the seed as a searcher."""
        if not isinstance(start, View):
            self._cube = Cube(start)
            return
        self._view, self._n_asked, self._n_begun = start, 0, 0
        self._jobs: deque[_Job] = deque()  # suggested, and no trials yet
        self._running: dict[str, _Job] = {}
        self._brackets: list[_Bracket] = []
        self._populations: list[list[_Member]] = [[] for _ in self._budgets]
        plans = [self._plan(s) for s in range(len(self._budgets))]
        self._capacities = [
            max(sizes[k - first] for first, sizes in plans if 0 <= k - first < len(sizes))
            for k in range(len(self._budgets))
        ]

    # --- as a searcher -----------------------------------------------------------------

    def suggest(self, index: int) -> Config | None:
        if self._cube is None:
            raise RuntimeError("DEHB is its own searcher: omit search_alg")
        bracket = next((one for one in self._brackets if one.asked < one.sizes[one.k]), None)
        if bracket is None:
            plan = self._plan(self._n_begun % len(self._budgets))
            self._n_begun += 1
            bracket = _Bracket(self._n_begun, *plan)
            self._brackets.append(bracket)
        random = self._view.random("dehb", t=self._n_asked)
        self._n_asked += 1
        budget = bracket.first + bracket.k
        point, target = self._point(bracket, budget, random)
        bracket.asked += 1
        self._jobs.append(_Job(bracket, budget, _Member(point), target))
        seed = random.getrandbits(32)
        return self._cube.from_unit(point, lambda key: keyed(seed, key))

    def _point(self, bracket: _Bracket, budget: int, random: Random) -> tuple[list[float], int | None]:
        """Return the point of the next config, and the index of the member that it may replace."""
        assert self._cube is not None
        fresh = [random.random() for _ in range(len(self._cube))]
        population = self._populations[budget]
        if len(population) < self._capacities[budget]:  # still to be filled
            return (bracket.best[bracket.asked].point if bracket.k else fresh), None
        pool = population
        if bracket.k:
            pool = sorted(self._populations[budget - 1], key=lambda one: -one.score)
            pool = pool[: max(3, bracket.sizes[bracket.k])]
        parents = [one.point for one in random.sample(pool, min(3, len(pool)))]
        parents += [[random.random() for _ in fresh] for _ in range(3 - len(parents))]
        mutant = [a + self._f * (b - c) for a, b, c in zip(*parents, strict=True)]
        mutant = [u if 0 <= u <= 1 else random.random() for u in mutant]
        place = bracket.asked % len(population)
        kept, forced = population[place].point, random.randrange(max(1, len(fresh)))
        crossed = [
            new if i == forced or random.random() < self._p else old
            for i, (new, old) in enumerate(zip(mutant, kept, strict=True))
        ]
        return crossed, place

    def _plan(self, n_before: int) -> tuple[int, list[int]]:
        """Return the first budget and the sizes of HyperBand's bracket number `n_before`, from 0."""
        n_budgets, eta = len(self._budgets), self._eta
        s = n_budgets - 1 - n_before
        n = -(-n_budgets * eta**s // (s + 1))
        return n_before, [max(1, int(n // eta**k)) for k in range(s + 1)]

    # --- as a scheduler ----------------------------------------------------------------

    def on_trial_add(self, trial: Trial) -> None:
        if self._jobs and trial.id not in self._running:
            self._running[trial.id] = self._jobs.popleft()

    def next_decision(self, trial: Trial) -> float:
        job = self._running.get(trial.id)
        return self._budgets[job.budget if job else -1]

    def on_result(self, trial: Trial, result: Result) -> Decision:  # type: ignore[override]
        budget = self.next_decision(trial)
        if result.t < budget:
            return CONTINUE
        job = self._running.get(trial.id)
        bracket, note = job.bracket.number if job else None, f"reached its budget of {budget:g}"
        self._count(trial, result.score)
        return Stop(Why("budget", result.t, budget, note=note, bracket=bracket))

    def on_trial_end(self, trial: Trial) -> None:
        self._count(trial, trial.last.score if trial.last is not None and trial.last.is_ruled else WORST)

    def describe(self) -> str:
        sizes = ", ".join(
            f"{budget:g}: {len(population)}"
            for budget, population in zip(self._budgets, self._populations, strict=True)
        )
        return f"Using DEHB: {self._n_begun} brackets begun, populations by budget {sizes}"

    def _count(self, trial: Trial, score: float) -> None:
        """Record a config's score: it joins the population or replaces a member, and may end its rung."""
        job = self._running.pop(trial.id, None)
        if job is None:
            return
        job.member.score = score
        population, bracket = self._populations[job.budget], job.bracket
        if job.target is None:
            population.append(job.member)
        elif score >= population[job.target].score:
            population[job.target] = job.member
        bracket.done.append(job.member)
        if len(bracket.done) < bracket.sizes[bracket.k]:
            return
        if bracket.k + 1 == len(bracket.sizes):
            self._brackets.remove(bracket)
            return
        bracket.best = sorted(bracket.done, key=lambda one: -one.score)
        bracket.k, bracket.asked, bracket.done = bracket.k + 1, 0, []
