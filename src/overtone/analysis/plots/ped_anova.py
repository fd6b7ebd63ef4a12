"""PED-ANOVA: the importance of a hyperparameter for being among the best trials.

Watanabe, Bansal and Hutter 2023, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
Subspaces" (arXiv 2304.10255); for hyperparameters of branches the weights of Theorem 4.2 of "Conditional
PED-ANOVA" (arXiv 2601.20800). The importance is the Pearson divergence between two densities of the
hyperparameter: that of the best trials and that of all trials. Both are kernel densities on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from overtone.reading.columns.trial_columns import Column

_GRID = 50
_TINY = 1e-12
_LEAST_TRIALS = 2


@dataclass(frozen=True, slots=True)
class Histogram:
    """Trials by the value of one hyperparameter.

    Attributes:
        top: The number of the best trials in each cell of the grid, int64, shape (cells,).
        rest: The number of the other trials, int64, shape (cells,).
        n_top: The number of the best trials, with and without the hyperparameter.
        n: The number of all trials, with and without it.
        is_category: Whether cells have no order.
    """

    top: NDArray[np.int64]
    rest: NDArray[np.int64]
    n_top: int
    n: int
    is_category: bool


def best_quantile(losses: NDArray[np.float64], quantile: float = 0.1) -> NDArray[np.bool_]:
    """Return whether each trial is among the best tenth, with all trials that equal the last of them."""
    cutoff = math.ceil(quantile * len(losses)) - 1
    return np.asarray(losses <= np.partition(losses, cutoff)[cutoff])


def histogram(column: Column, used: NDArray[np.bool_], is_top: NDArray[np.bool_], is_log: bool) -> Histogram:
    """Return the trials by cells: one a category, else at most 50 between the least and the greatest value.

    Args:
        column: The hyperparameter.
        used: The trials that count, shape (trials,).
        is_top: Whether each of them is one of the best, shape (trials,).
        is_log: Whether the hyperparameter is searched on a logarithmic scale.
    """
    known = used & ~column.missing
    if column.levels is None:
        known &= np.isfinite(column.values)
        cell = _cells(column.values[known], is_log)
    else:
        cell = np.unique(column.values[known], return_inverse=True)[1]
    n_cells = int(cell.max()) + 1 if len(cell) else 0
    top = is_top[known]
    return Histogram(
        np.bincount(cell[top], minlength=n_cells),
        np.bincount(cell[~top], minlength=n_cells),
        int((used & is_top).sum()),
        int(used.sum()),
        column.levels is not None,
    )


def divergence(trials: Histogram) -> float:
    """Return the importance, >= 0: not yet divided by the sum over the hyperparameters."""
    n_top, n = int(trials.top.sum()), int(trials.top.sum() + trials.rest.sum())
    if len(trials.top) < 2 or not n_top or n < _LEAST_TRIALS:
        return 0.0
    density = _category_density if trials.is_category else _number_density
    top, all_trials = density(trials.top) + _TINY, density(trials.top + trials.rest) + _TINY
    share_top, share_all = n_top / trials.n_top, n / trials.n
    quantile = trials.n_top / trials.n
    weight = share_top**2 / share_all * quantile**2
    return float(weight * (all_trials @ (top / all_trials - 1) ** 2))


def resamples(trials: Histogram, n: int, rng: np.random.Generator) -> list[Histogram]:
    """Return n bootstrap samples: as many of the best trials and as many others, drawn with replacement."""
    tops = _draws(trials.top, trials.n_top, n, rng)
    rests = _draws(trials.rest, trials.n - trials.n_top, n, rng)
    return [replace(trials, top=top, rest=rest) for top, rest in zip(tops, rests, strict=True)]


def _draws(counts: NDArray[np.int64], total: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    shares = np.append(counts, total - counts.sum()) / max(
        total, 1
    )  # last: trials without the hyperparameter
    return rng.multinomial(total, shares, size=n)[:, :-1]


def _cells(values: NDArray[np.float64], is_log: bool) -> NDArray[np.int64]:
    """Return the cell of each value on a grid from the least to the greatest.

    Numbers with a step get a cell each, if these are at most 50; integers on a logarithmic scale one for each
    doubling.
    """
    is_log = is_log and bool((values > 0).all())
    # Halves: the difference of two large numbers may be infinite.
    scaled = np.log(values) if is_log else values / 2
    distinct = np.unique(scaled)
    if len(distinct) < 2:
        return np.zeros(len(values), np.int64)
    low, high = float(distinct[0]), float(distinct[-1])
    n = _GRID
    if is_log and np.all(values == np.round(values)):
        n = min(math.ceil(math.log2(values.max() - values.min() + 1)) + 1, _GRID)
    elif not is_log:
        step = float(np.diff(distinct).min())
        if high - low < _GRID * step:
            steps = (distinct - low) / step
            if np.allclose(steps, np.round(steps), rtol=0, atol=1e-6):
                n = round(float(steps[-1])) + 1
    width = (high - low) / (n - 1)
    # A value in the middle between two cells belongs to the lower one.
    return np.clip(np.ceil((scaled - low) / width - 0.5).astype(np.int64), 0, n - 1)


def _category_density(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a mixture of a smoothed kernel at each category, weighted by its trials, and a uniform one."""
    n, total = len(counts), int(counts.sum())
    prior = 1 / (np.count_nonzero(counts) + 1)
    kernels = (total * prior + counts) / (1 + n * prior)
    return np.asarray((kernels + 1 / n) / (total + 1))


def _number_density(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a mixture of a truncated normal at each cell with trials, weighted by them, and a wide one.

    The bandwidth is that of Scott 1992, "Multivariate Density Estimation".
    """
    n, cells = len(counts), np.flatnonzero(counts)
    weights = counts[cells]
    total = int(weights.sum())
    mean = cells @ weights / total
    deviation = math.sqrt((cells - mean) ** 2 @ weights / max(1, total - 1))
    below = np.cumsum(weights)
    first = cells[np.searchsorted(below, total // 4, side="left")]
    third = cells[min(len(cells) - 1, int(np.searchsorted(below, total * 3 // 4, side="right")))]
    bandwidth = 1.059 * min((third - first) / 1.34, deviation) * total**-0.2
    kernels = weights @ _kernels(n, cells, max(bandwidth, 0.5 / 1.64))
    return np.asarray((kernels + _wide_kernel(n)) / (total + 1))


def _kernels(n: int, cells: NDArray[np.int64], deviation: float) -> NDArray[np.float64]:
    """Return the probability of each of n cells under normals at `cells`, shape (len(cells), n)."""
    scale = deviation * math.sqrt(2)
    half = [math.erf((i + 0.5) / scale) for i in range(n)]
    cdf = np.array([*(-one for one in reversed(half)), *half])  # at the distances -n + 0.5, ..., n - 0.5
    at_borders = cdf[np.arange(n + 1) - cells[:, None] + n - 1]
    return np.asarray(np.diff(at_borders, axis=1) / (at_borders[:, -1:] - at_borders[:, :1]))


@lru_cache
def _wide_kernel(n: int) -> NDArray[np.float64]:
    """Return the probability of each of n cells under a normal in their middle with deviation n."""
    cdf = np.array([math.erf((i - n / 2) / (n * math.sqrt(2))) for i in range(n + 1)])
    return np.asarray(np.diff(cdf) / (cdf[-1] - cdf[0]))
