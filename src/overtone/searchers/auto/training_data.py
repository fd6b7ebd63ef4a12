"""Observations as the arrays that models are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

from overtone.searchers.auto.encoding import Encoding
from overtone.searchers.auto.observations import Observation
from overtone.searchers.auto.targets import scalarised

Array = Any
"""A numpy array of floats."""


@dataclass(slots=True)
class Evidence:
    """One row for each trial.

    Attributes:
        points: In the unit cube, of shape (n, d).
        x: Their columns, as the encoding has them.
        scores: Every objective as last observed, of shape (n, m); NaN for trials that failed.
        violations: The constraint metrics; NaN where they are not known.
        seconds: How long each trial has run; NaN if unknown.
        levels: How far each trial has come, as `Observation.level`.
        is_complete: Whether each trial ended, and no scheduler stopped it early.
        curves: The scores when each trial came to level 0, 1, ..., of shape (n, k, m); NaN if it did not.
            k is 0 if no trial was observed at two levels.
    """

    points: Array
    x: Array
    scores: Array
    violations: Array
    seconds: Array
    levels: Array
    is_complete: Array
    curves: Array

    def rows(self, chosen: Any) -> Evidence:
        """Some of the rows."""
        return Evidence(*(getattr(self, one.name)[chosen] for one in fields(self)))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def is_allowed(self) -> Array:
        """Whether each trial satisfies all constraints; failed trials without values count as allowed."""
        import numpy as np

        if not self.violations.shape[1]:
            return np.ones(len(self), bool)
        return np.nan_to_num(self.violations, nan=-1.0).max(1) <= 0

    def score(self, weights: Array | None = None) -> Array:
        """Return one number for each row: see `mixture`."""
        return mixture(self.scores, weights)

    def excess(self) -> Array:
        """By how much constraints are broken in all."""
        import numpy as np

        return np.minimum(np.nan_to_num(np.maximum(self.violations, 0.0)).sum(1), 1e300)

    def violation(self, i: int) -> Array:
        """Constraint metric `i` in units of its size; what failed has broken it, as far as anybody knows."""
        import numpy as np

        values = self.violations[:, i]
        finite = values[np.isfinite(values)]
        worst = max(float(finite.max()), 0.0) if len(finite) else 1.0
        values = np.where(np.isfinite(values), values, worst)
        return values / (float(np.sqrt(np.square(values).mean())) or 1.0)

    def farthest(self, n: int) -> Array:
        """Return which rows are among the `n` that came farthest; those that came as far are, too."""
        import numpy as np

        is_far: Array = self.levels >= np.sort(self.levels)[-min(n, len(self))]
        return is_far

    def best(self, most: int) -> Evidence:
        """Return at most `most` rows: one half the best rows, the other half the nearest to the very best."""
        if len(self) <= most:
            return self
        import numpy as np

        scores = self.score()
        keys = -(scores if np.isfinite(scores).all() else np.nan_to_num(scores, nan=-np.inf, posinf=np.inf))
        top = _least(keys, most // 2)
        apart = self.x - self.x[top[np.argmin(keys[top])]]
        distances = np.einsum("ij,ij->i", apart, apart)
        distances[top] = np.inf
        nearest = _least(distances, most - len(top), keys)
        return self.rows(np.sort(np.append(top, nearest)))


def mixture(scores: Array, weights: Array | None = None) -> Array:
    """Return one number for each row of scores: a mixture of several objectives, even without weights."""
    import numpy as np

    n = scores.shape[1]
    return scores[:, 0] if n == 1 else scalarised(scores, np.full(n, 1 / n) if weights is None else weights)


class Growing:
    """The evidence of a list of observations that only grows."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._n = 0
        self._columns: list[Array] = []

    def of(self, observations: Sequence[Observation], n_trials: int | None = None) -> Evidence:
        """Return the evidence of all observations; earlier observations are not processed again.

        Args:
            n_trials: Leave out observations made after this many trials had one; None for none.
        """
        import numpy as np

        self._grow(observations)
        trial, points, x, scores, violations, seconds, levels, is_complete = (
            one[: len(observations)] for one in self._columns
        )
        trial = trial.astype(int)
        if n_trials is not None:
            # trials are numbered in the order of their first observations
            trial = trial[: int(np.argmax(trial == n_trials - 1)) + 1]
        n = int(trial.max()) + 1
        last = np.empty(n, int)
        last[trial] = np.arange(len(trial))
        curves = np.full((n, 0, scores.shape[1]), np.nan)
        if len(trial) > n:
            back = np.arange(len(trial))[::-1].copy()
            first = np.empty(n, int)
            first[trial[back]] = back
            back = back[(levels[last] > levels[first])[trial[back]]]
            if len(back):
                at = levels[back].astype(int)
                curves = np.full((n, int(at.max()) + 1, scores.shape[1]), np.nan)
                curves[trial[back], at] = scores[back]  # backwards, so that the first at each level stays
        return Evidence(
            points[last], x[last], scores[last], violations[last], seconds[last], levels[last],
            is_complete[last] > 0, curves,
        )  # fmt: skip

    def _grow(self, observations: Sequence[Observation]) -> None:
        n = len(observations)
        if self._n >= n:
            return
        new = self._arrays(observations[self._n :])
        if self._columns and any(a.shape[1:] != b.shape[1:] for a, b in zip(self._columns, new, strict=True)):
            new, self._n = self._arrays(observations), 0  # more objectives are known now
        if not self._n:
            self._columns = new
        else:
            if len(self._columns[0]) < n:
                self._columns = [_with_room(one, 2 * n) for one in self._columns]
            for mine, some in zip(self._columns, new, strict=True):
                mine[self._n : n] = some
        self._n = n

    def _arrays(self, some: Sequence[Observation]) -> list[Array]:
        import numpy as np

        kind = [one.shape[1] for one in self._columns[3:5]] or [0, 0]
        points = np.array([one.point for one in some], float)
        return [
            np.array([one.trial for one in some], float),
            points,
            self._encoding.columns(points),
            _filled([one.scores for one in some], kind[0]),
            _filled([one.violations for one in some], kind[1]),
            np.array([np.nan if one.seconds is None else one.seconds for one in some], float),
            np.array([one.level for one in some], float),
            np.array([one.is_complete for one in some], float),
        ]


def seconds_between(every: Evidence, n_pending: int) -> float | None:
    """Return the expected seconds between suggestions, by the median of new trials; None if unknown."""
    known = [one for one in every.seconds[-100:].tolist() if one == one]
    return median(known) / (n_pending + 1) if known else None


def _with_room(array: Array, n: int) -> Array:
    import numpy as np

    return np.concatenate([array, np.empty((n - len(array), *array.shape[1:]))])


def _least(keys: Array, n: int, then: Array | None = None) -> Array:
    """Return the indices of the n least keys, unordered; ties go to the least of `then`, or the first."""
    import numpy as np

    last = np.partition(keys, n - 1)[n - 1]
    below, equal = np.flatnonzero(keys < last), np.flatnonzero(keys == last)
    if then is not None:
        equal = equal[np.argsort(then[equal], kind="stable")]
    return np.append(below, equal[: n - len(below)])


def _filled(rows: Sequence[tuple[float, ...]], least: int) -> Array:
    import numpy as np

    n = max([least, *map(len, rows)])
    return np.array([row if len(row) == n else (np.nan,) * n for row in rows], float).reshape(len(rows), n)
