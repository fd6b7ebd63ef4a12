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
    def of(outcomes: Sequence[Outcome], encoding: Encoding) -> Evidence:
        """The evidence of some outcomes."""
        import numpy as np

        points = np.array([one.point for one in outcomes], float)
        scores = _filled([one.scores for one in outcomes])
        violations = _filled([one.violations for one in outcomes])
        return Evidence(points, encoding.columns(points), scores, violations)

    def with_more(self, other: Evidence) -> Evidence:
        """Both, where their rows are of one kind."""
        import numpy as np

        pairs = (
            (self.points, other.points), (self.x, other.x), (self.scores, other.scores),
            (self.violations, other.violations),
        )  # fmt: skip
        return Evidence(*map(np.vstack, pairs))

    def rows(self, chosen: Any) -> Evidence:
        """Some of the rows."""
        return Evidence(self.points[chosen], self.x[chosen], self.scores[chosen], self.violations[chosen])

    def __len__(self) -> int:
        return len(self.points)

    @property
    def is_allowed(self) -> Array:
        """Whether each keeps all constraints; one that failed does, for all that is known."""
        import numpy as np

        return np.nan_to_num(self.violations, nan=-1.0).max(1, initial=-1.0) <= 0

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

        order = np.argsort(-np.nan_to_num(self.score(), nan=-np.inf, posinf=np.inf), kind="stable")
        top, others = order[: most // 2], order[most // 2 :]
        apart = self.x[others] - self.x[top[0]]
        distance = np.einsum("ij,ij->i", apart, apart)
        nearest = others[np.argsort(distance, kind="stable")[: most - len(top)]]
        return self.rows(np.sort(np.append(top, nearest)))


class Growing:
    """The evidence of a list of outcomes that only grows."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._known: Evidence | None = None

    def of(self, outcomes: Sequence[Outcome]) -> Evidence:
        """The evidence of all of them; what was known before is not looked at again."""
        known = self._known
        if known is None or len(known) < len(outcomes):
            more = Evidence.of(outcomes[len(known) if known else 0 :], self._encoding)
            is_like = known is not None and _kind(known) == _kind(more)
            self._known = (
                known.with_more(more) if known and is_like else Evidence.of(outcomes, self._encoding)
            )
        assert self._known is not None
        return self._known


def seconds_between(outcomes: Sequence[Outcome], n_pending: int) -> float | None:
    """How often a suggestion is wanted, by the median of the newest trials; None where they do not say."""
    known = [one.seconds for one in outcomes[-100:] if one.seconds is not None]
    return median(known) / (n_pending + 1) if known else None


def _kind(evidence: Evidence) -> tuple[int, int]:
    return evidence.scores.shape[1], evidence.violations.shape[1]


def _filled(rows: Sequence[tuple[float, ...]]) -> Array:
    import numpy as np

    n = max(map(len, rows), default=0)
    return np.array([row if len(row) == n else (np.nan,) * n for row in rows], float).reshape(len(rows), n)
