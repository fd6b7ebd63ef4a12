"""Outcomes as the arrays that models are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from overtone.searchers.encoding import Encoding
from overtone.searchers.targets import scalarised
from overtone.searchers.told import Outcome

Array = Any
"""A numpy array of floats."""


@dataclass(slots=True)
class Evidence:
    """One row for each outcome.

    Attributes:
        points: In the unit cube.
        x: Their columns, as the encoding has them.
        scores: Every objective; NaN for trials that failed.
        violations: The constraint metrics; NaN where they are not known.
    """

    points: Array
    x: Array
    scores: Array
    violations: Array

    @staticmethod
    def of(outcomes: Sequence[Outcome], encoding: Encoding, kind: tuple[int, int] = (0, 0)) -> Evidence:
        """The evidence of some outcomes.

        Args:
            kind: How many objectives and constraint metrics there are at least.
        """
        import numpy as np

        points = np.array([one.point for one in outcomes], float)
        scores = _filled([one.scores for one in outcomes], kind[0])
        violations = _filled([one.violations for one in outcomes], kind[1])
        return Evidence(points, encoding.columns(points), scores, violations)

    @property
    def kind(self) -> tuple[int, int]:
        """How many objectives and constraint metrics there are."""
        return self.scores.shape[1], self.violations.shape[1]

    def with_room(self, n: int) -> Evidence:
        """These rows, and as many that are still empty as make n."""
        import numpy as np

        return Evidence(
            *(np.concatenate([one, np.empty((n - len(one), one.shape[1]))]) for one in self.arrays())
        )

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """All that there is of each row."""
        return self.points, self.x, self.scores, self.violations

    def rows(self, chosen: Any) -> Evidence:
        """Some of the rows."""
        return Evidence(*(one[chosen] for one in self.arrays()))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def is_allowed(self) -> Array:
        """Whether each keeps all constraints; one that failed does, for all that is known."""
        import numpy as np

        if not self.violations.shape[1]:
            return np.ones(len(self), bool)
        return np.nan_to_num(self.violations, nan=-1.0).max(1) <= 0

    def score(self, weights: Array | None = None) -> Array:
        """One number for each row: of several objectives a mixture, which is even without weights."""
        import numpy as np

        n = self.scores.shape[1]
        if n == 1:
            return self.scores[:, 0]
        return scalarised(self.scores, np.full(n, 1 / n) if weights is None else weights)

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

    def best(self, most: int) -> Evidence:
        """At most so many rows: for one half the best ones, for the other those nearest to the very best."""
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


class Growing:
    """The evidence of a list of outcomes that only grows."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._n = 0
        self._room: Evidence | None = None

    def of(self, outcomes: Sequence[Outcome]) -> Evidence:
        """The evidence of all of them; what was known before is not looked at again."""
        n, room = len(outcomes), self._room
        if room is None or self._n < n:
            more = Evidence.of(outcomes[self._n :], self._encoding, room.kind if room else (0, 0))
            if room is None or room.kind != more.kind:
                room = more = Evidence.of(outcomes, self._encoding)
                self._n = 0
            if len(room) < n:
                room = room.with_room(2 * n)
            for mine, new in zip(room.arrays(), more.arrays(), strict=True):
                mine[self._n : n] = new
            self._n, self._room = n, room
        return room.rows(slice(n))


def seconds_between(outcomes: Sequence[Outcome], n_pending: int) -> float | None:
    """How often a suggestion is wanted, by the median of the newest trials; None where they do not say."""
    known = [one.seconds for one in outcomes[-100:] if one.seconds is not None]
    return median(known) / (n_pending + 1) if known else None


def _least(keys: Array, n: int, then: Array | None = None) -> Array:
    """Where the n least keys are, in no order: of equal ones the first, or those with the least of `then`."""
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
