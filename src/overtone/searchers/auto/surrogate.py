"""The model of `auto` and its search for the point with the highest expected improvement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from threadpoolctl import ThreadpoolController

from overtone.searchers.auto.acquisition import log_feasible, log_improvement
from overtone.searchers.auto.encoding import Encoding
from overtone.searchers.auto.exploration import Draw
from overtone.searchers.auto.final_values import final_values, log_seconds
from overtone.searchers.auto.gaussian_process import Kernel, Process
from overtone.searchers.auto.kernels import MOST_FITTED, Fitted, Kernels
from overtone.searchers.auto.observations import Observation, Point
from overtone.searchers.auto.targets import powered, ranked
from overtone.searchers.auto.training_data import Evidence, Growing, seconds_between
from overtone.space import Cube

Array = Any
"""A numpy array of floats."""

CHEAP_S = 1.0
"""Seconds between two suggestions below which trials would wait for the searcher."""

_FARTHEST, _NEAREST = 0.2, 0.1
_KEPT = 8

_LEAST_FAR = 8
"""The least number of trials that came farthest from which a model is made; d + 1 if that is more."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort for a suggestion.

    Attributes:
        most_seen: Maximum number of results for a process.
        n_first: Number of initial candidates: one half anywhere, one half near good points.
        n_moved: Number of candidates added in each round.
        n_rounds: Number of rounds in which candidates move towards the best of them.
    """

    most_seen: int
    n_first: int
    n_moved: int
    n_rounds: int = 4


FULL = Effort(300, 512, 96)
QUICK = Effort(120, 256, 48)


class Surrogate:
    """Ranks points by what is to be expected of them.

    Args:
        cube: The space.

    Attributes:
        is_finite: Whether no point is tried twice, so that noise at a point that was tried promises nothing.
    """

    def __init__(self, cube: Cube) -> None:
        self._encoding = Encoding(cube)
        self._d = len(cube)
        self.is_finite = False
        self._evidence = Growing(self._encoding)
        self._kernels = Kernels(self._encoding.groups)
        self._pools = ThreadpoolController()

    def ranked(
        self,
        observations: Sequence[Observation],
        pending: Sequence[Point],
        n_running: int,
        index: int,
        rng: Any,
        listed: Sequence[Point] | None = None,
        draw: Draw | None = None,
    ) -> list[list[float]]:
        """Candidates, the most promising first.

        Args:
            pending: Points of which nothing is known yet.
            n_running: How many trials have not ended.
            index: Of the suggestion: one in two ranks results by their order alone, and of these and
                of the others one in two stays near the best points.
            rng: A numpy generator.
            listed: Choose among these; None to search the whole cube.
            draw: Choose among random points of these; None for all.
        """
        # matrices are small, and the other cores belong to the trials
        with self._pools.limit(limits=1):
            if draw is not None:
                listed = self._drawn(listed, draw.n, rng)
            is_far = draw is not None and draw.is_far
            return self._ranked(observations, pending, n_running, index, rng, listed, is_far)

    def _drawn(self, listed: Sequence[Point] | None, n: int, rng: Any) -> Sequence[Point]:
        """Return random points of those that are listed, or of the cube."""
        if listed is None:
            points: list[Point] = self._encoding.snapped(rng.random((n, self._d))).tolist()
            return points
        return [listed[i] for i in rng.permutation(len(listed))[:n].tolist()]

    def _ranked(
        self,
        observations: Sequence[Observation],
        pending: Sequence[Point],
        n_running: int,
        index: int,
        rng: Any,
        listed: Sequence[Point] | None,
        is_far: bool,
    ) -> list[list[float]]:
        import numpy as np

        target = ranked if index // 2 % 2 else powered
        every = self._evidence.of(observations)
        gap = seconds_between(every, n_running)
        is_quick = len(every) > MOST_FITTED and gap is not None and gap < CHEAP_S
        effort = QUICK if is_quick else FULL
        seen = every.best(effort.most_seen)
        weights = rng.dirichlet(np.ones(seen.scores.shape[1]))

        def kernel(what: str, fitted: Callable[[Evidence], Fitted]) -> Kernel:
            def first(n: int) -> Fitted:
                return fitted(self._evidence.of(observations, n).best(MOST_FITTED))

            return self._kernels.of(what, len(every), first, is_quick)

        def limit(i: int) -> Process:
            found = kernel(f"limit {i}", lambda some: (some.x, some.violation(i), 0.0))
            return Process(found, seen.x, seen.violation(i))

        def known(some: Evidence) -> Array:
            return some.farthest(max(_LEAST_FAR, self._d + 1)) if is_far else np.ones(len(some), bool)

        def final(some: Evidence, weights: Array | None = None) -> Fitted:
            values, noise = final_values(some, target, weights)
            rows = known(some)
            return some.x[rows], values[rows], noise[rows]

        waiting = self._encoding.columns(np.array(pending, float)) if pending else None
        x, values, noise = final(seen, weights)
        found = kernel(f"{target.__name__} {is_far}", final)
        interpolates = self.is_finite or bool(noise.any())
        process = Process(found, x, values, noise, waiting, interpolates)
        limits = [limit(i) for i in range(seen.violations.shape[1])]
        times = None if is_quick else log_seconds(seen)
        cost, spread = None, 1.0
        if times is not None:
            spread = float(times.std())
            cost = Process(kernel("seconds", _standard_times), seen.x, times / spread)
        mean, allowed = process.seen_mean, seen.is_allowed[known(seen)]
        best = float(mean[allowed].max()) if allowed.any() else None

        def worth(candidates: Array) -> Array:
            at = self._encoding.columns(candidates)
            # while nothing is feasible the first aim is that something is
            found = np.zeros(len(at)) if best is None else log_improvement(*process.predict(at), best)
            if cost is not None:
                found = found - spread * cost.predict(at)[0]
            return sum((log_feasible(*limit.predict(at)) for limit in limits), found)

        if listed is not None:
            candidates = np.array(listed, float)
            return _by_worth(candidates, worth(candidates))
        merit = mean if allowed.all() else np.where(allowed, mean, float(mean.min()) - 1 - seen.excess())
        top = seen.points[np.argsort(-merit, kind="stable")[:5]]
        return self._searched(top, bool(index % 2), worth, effort, rng)

    def _searched(
        self, top: Array, is_near: bool, worth: Callable[[Array], Array], effort: Effort, rng: Any
    ) -> list[list[float]]:
        """Return the best candidates of a random search that narrows around its best candidates."""
        import numpy as np

        half = effort.n_first // 2
        candidates = self._moved(top, effort.n_first if is_near else half, _FARTHEST, rng)
        if not is_near:
            candidates = np.vstack([rng.random((half, self._d)), candidates])
        candidates = self._encoding.snapped(candidates)
        worths = worth(candidates)
        for i in range(effort.n_rounds):
            order = np.argsort(-worths, kind="stable")[:64]
            moved = self._moved(candidates[order[:_KEPT]], effort.n_moved, _NEAREST * 0.3**i, rng)
            moved = self._encoding.snapped(moved)
            candidates = np.vstack([candidates[order], moved])
            worths = np.append(worths[order], worth(moved))
        return _by_worth(candidates, worths)

    def _moved(self, around: Array, n: int, most: float, rng: Any) -> Array:
        """Points that differ from one of `around` in about 20 dimensions at most."""
        import numpy as np

        chosen = around[rng.integers(len(around), size=n)]
        mask = rng.random(chosen.shape) < min(1.0, 20 / self._d) * (0.3 + 0.7 * rng.random((n, 1)))
        mask[np.arange(n), rng.integers(self._d, size=n)] = True
        step = most * 10 ** (rng.random((n, 1)) - 1.0)
        moved = chosen + mask * (step * rng.standard_normal(chosen.shape))
        moved = self._encoding.jumped(moved, mask, rng)
        return np.abs(1 - np.abs(1 - moved))  # reflected at the cube's faces


def _standard_times(some: Evidence) -> Fitted:
    times = log_seconds(some)
    return (some.x, some.seconds * 0.0, 1.0) if times is None else (some.x, times / float(times.std()), 0.0)


def _by_worth(candidates: Array, worths: Array) -> list[list[float]]:
    import numpy as np

    found: list[list[float]] = candidates[np.argsort(-worths, kind="stable")].tolist()
    return found
