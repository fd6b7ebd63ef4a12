"""Population-based bandits (Parker-Holder et al. 2020, "Provably Efficient Online
Hyperparameter Optimization with Population-Based Bandits", arXiv 2002.02518).

As in population based training, the worst members restore checkpoints of the best (see `pbt`), but new
hyperparameters are not perturbed: a Gaussian process models by how much a score improves in
one interval, as a function of t and of the hyperparameters that were used in it (section 4).
Its kernel is a squared exponential times (1 - epsilon)^(|t - t'| / 2), so that old intervals
are forgotten, and the hyperparameters with the highest upper confidence bound are taken, where
those that others just took count as observed for the bound's width (Algorithm 1).

Deviations: the kernel's three parameters are the likeliest of a grid, where the authors follow
gradients; beta_t = 0.2 + log(0.4 n), as in their code. Values that are whole stay so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import isfinite
from typing import Any

from overtone.core.decision import Decision
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.errors import ArgumentError
from overtone.schedulers.arguments import checked
from overtone.schedulers.explore import inside
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.space import uniform

N_RECENT = 200
"""Number of newest intervals in the model, whose cost grows with their cube."""

N_CANDIDATES = 500


@checked
class PB2(PopulationBasedTraining):
    """Population based training whose hyperparameters a time-varying bandit chooses.

    Args:
        hyperparam_bounds: By name [lower, upper], or the same one level down.

    For the other arguments, see PopulationBasedTraining.

    Raises:
        ValueError: There are no bounds.
    """

    next_decision = PopulationBasedTraining.next_decision

    def __init__(
        self, time_attr: str = "time_total_s", metric: str | None = None, mode: str | None = None,
        perturbation_interval: float = 60.0, hyperparam_bounds: Mapping[str, Any] | None = None,
        quantile_fraction: float = 0.25, log_config: bool = True, require_attrs: bool = True,
        synch: bool = False, custom_explore_fn: Callable[[Config], Config] | None = None,
    ) -> None:  # fmt: skip
        if not hyperparam_bounds or not isinstance(hyperparam_bounds, Mapping):
            raise ArgumentError('there is nothing to explore: give hyperparam_bounds={"lr": [1e-4, 1e-1]}')
        self._paths = dict(_flat(hyperparam_bounds))
        super().__init__(
            time_attr, metric, mode, perturbation_interval, quantile_fraction=quantile_fraction,
            hyperparam_mutations=_domains(hyperparam_bounds), log_config=log_config,
            require_attrs=require_attrs, synch=synch,
        )  # fmt: skip
        self._custom = custom_explore_fn

    def on_start(self, view: View) -> None:
        super().on_start(view)
        self._seen: list[tuple[float, list[float], float]] = []  # t, the point in the unit cube, the gain
        self._taken: dict[str, list[float]] = {}  # points whose gain is not known yet

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t >= self.next_decision(trial) and trial.id in self._scores:
            before, score, since = self._scores[trial.id], result.score, result.t - self._last[trial.id]
            if isfinite(score - before) and since > 0:
                self._seen.append((result.t, self._point(trial.config), (score - before) / since))
        self._taken.pop(trial.id, None)
        return super().on_result(trial, result)

    def on_trial_end(self, trial: Trial) -> None:
        self._taken.pop(trial.id, None)
        super().on_trial_end(trial)

    def explored(self, trial: Trial, source: Trial, t: float) -> Config:
        """Return the config of `source` with the hyperparameters of the highest upper confidence bound."""
        random = self._view.random("pb2", trial.id, t)
        candidates = [[random.random() for _ in self._paths] for _ in range(N_CANDIDATES)]
        candidates += [
            [min(1.0, max(0.0, u + random.gauss(0, 0.05))) for u in self._point(source.config)]
            for _ in range(N_CANDIDATES // 5)
        ]
        point = candidates[0]
        if len(self._seen) > 1:
            from threadpoolctl import threadpool_limits

            with threadpool_limits(1):  # matrices are small, and the other cores belong to the trials
                point = _best(self._seen[-N_RECENT:], list(self._taken.values()), candidates, t)
        self._taken[trial.id] = point
        config = source.config
        for (path, domain), u in zip(self._paths.items(), point, strict=True):
            config = _put(config, path, domain.lower + u * (domain.upper - domain.lower), domain)
        return dict(self._custom(config)) if self._custom else config

    def _point(self, config: Config) -> list[float]:
        """Return the point of a config in the unit cube of the bounds."""
        return [domain.cdf(_get(config, path, domain.lower)) for path, domain in self._paths.items()]


def _best(
    seen: Sequence[tuple[float, list[float], float]],
    taken: Sequence[list[float]],
    candidates: Sequence[list[float]],
    t: float,
) -> list[float]:
    """Return the candidate with the highest upper confidence bound at t."""
    import numpy as np

    def kernel(a: Any, s: Any, b: Any, u: Any, length: float, epsilon: float) -> Any:
        squares = ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)
        return np.exp(-squares / (2 * length**2)) * (1 - epsilon) ** (np.abs(s[:, None] - u[None, :]) / 2)

    times, points, gains = (np.array(column, float) for column in zip(*seen, strict=True))
    unit = float(np.median(np.diff(np.unique(np.append(times, t))))) if t != times.min() else 1.0
    times, now = times / unit, t / unit  # one interval is one unit of time
    y = (gains - gains.mean()) / (gains.std() or 1.0)
    likeliest: tuple[float, Any] = (-np.inf, (0.2, 0.1, 0.1))
    for length, epsilon in product((0.1, 0.2, 0.4, 0.8, 1.6), (0.0, 0.1, 0.4)):
        k = kernel(points, times, points, times, length, epsilon)
        for noise in (0.01, 0.1, 0.5):
            low = np.linalg.cholesky(k + (noise + 1e-8) * np.eye(len(y)))
            fit = -0.5 * float((np.linalg.solve(low, y) ** 2).sum()) - float(np.log(np.diag(low)).sum())
            if fit > likeliest[0]:
                likeliest = (fit, (length, epsilon, noise))
    length, epsilon, noise = likeliest[1]
    x, when = np.array(candidates), np.full(len(candidates), now)
    k = kernel(points, times, points, times, length, epsilon) + (noise + 1e-8) * np.eye(len(y))
    mean = kernel(x, when, points, times, length, epsilon) @ np.linalg.solve(k, y)
    if taken:
        points, times = np.vstack([points, np.array(taken)]), np.append(times, np.full(len(taken), now))
        k = kernel(points, times, points, times, length, epsilon) + (noise + 1e-8) * np.eye(len(points))
    cross = kernel(x, when, points, times, length, epsilon)
    variance = 1 - (cross * np.linalg.solve(k, cross.T).T).sum(1)
    beta = 0.2 + max(0.0, float(np.log(0.4 * len(y))))
    bound = mean + np.sqrt(beta * np.maximum(variance, 0))
    return candidates[int(bound.argmax())]


def _flat(bounds: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, given in bounds.items():
        if isinstance(given, Mapping):
            yield from _flat(given, (*above, name))
        else:
            if not isinstance(given, (list, tuple)) or len(given) != 2:
                raise ArgumentError(f"hyperparam_bounds[{name!r}]={given!r}: give [lower, upper]")
            yield (*above, name), uniform(*given)


def _domains(bounds: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _domains(given) if isinstance(given, Mapping) else uniform(*given)
        for name, given in bounds.items()
    }


def _get(config: Config, path: tuple[str, ...], default: Any) -> Any:
    value: Any = config
    for part in path:
        value = value.get(part, default) if isinstance(value, Mapping) else default
    return value


def _put(config: Config, path: tuple[str, ...], value: float, domain: Any) -> Config:
    old = config.get(path[0])
    if len(path) > 1:
        return {**config, path[0]: _put(old or {}, path[1:], value, domain)}
    is_whole = isinstance(old, int) and not isinstance(old, bool)
    return {**config, path[0]: round(value) if is_whole else inside(domain, value)}
