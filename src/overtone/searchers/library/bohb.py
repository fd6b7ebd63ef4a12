"""The model of BOHB (Falkner et al. 2018, arXiv 1807.01774, section 3.2), the partner of HyperBandForBOHB.

What is likely among the good results at the largest budget that has enough of them, and unlikely among the
others, is suggested. A budget is a t that trials report at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.randomness import Random
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.searchers.flat import Flat
from overtone.searchers.library.kernel_density import KernelDensity
from overtone.searchers.library.library import LibrarySearcher
from overtone.searchers.library.settings import settings
from overtone.space.tree import Pick

_CONFIG = {
    "min_points_in_model": (None, 1, math.inf), "top_n_percent": (15, 0.0, 100.0),
    "num_samples": (64, 1, 1_000_000), "random_fraction": (1 / 3, 0.0, 1.0),
    "bandwidth_factor": (3.0, 1e-9, 1e9), "min_bandwidth": (1e-3, 1e-9, 1.0),
}  # fmt: skip


class TuneBOHB(LibrarySearcher):
    """Searcher that uses BOHB's model; needs no other package.

    Args:
        bohb_config: Settings of the model, with HpBandSter's names:
            min_points_in_model, top_n_percent, num_samples, random_fraction, bandwidth_factor, min_bandwidth.
        max_concurrent: Maximum number of trials that run at the same time; 0 for as many as fit.
    """

    def __init__(
        self, space: Any = None, bohb_config: Mapping[str, Any] | None = None, metric: Any = None,
        mode: Any = None, points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        seed: int | None = None, max_concurrent: int = 0, *, num_samples: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(space, metric, mode, points_to_evaluate, None, seed, num_samples)
        self.bohb_config, self.max_concurrent = bohb_config, max_concurrent
        self._config = settings("bohb_config", bohb_config, _CONFIG)

    def begin(self) -> None:
        self._found: dict[float, dict[int, tuple[Flat, float]]] = {}
        self._n_options = [len(n.options) if isinstance(n, Pick) else 0 for n in self.nodes.values()]
        self._enough = (self._config["min_points_in_model"] or len(self.nodes) + 1) + 2

    def on_result(self, trial: Trial, result: Result) -> None:
        super().on_result(trial, result)
        flat = self.chosen_for(trial)
        if flat is None or not result.is_ruled or result.t < self._budget():
            return
        self._found.setdefault(result.t, {})[trial.index] = flat, result.score
        largest = self._budget()  # smaller ones are never looked at again
        self._found = {t: found for t, found in self._found.items() if t >= largest}

    def on_trial_end(self, trial: Trial) -> None:
        if trial.status is Status.ERROR and (flat := self.chosen_for(trial)) is not None:
            for found in self._found.values():
                found[trial.index] = flat, -math.inf
        super().on_trial_end(trial)

    def _budget(self) -> float:
        return max((t for t, found in self._found.items() if len(found) >= self._enough), default=-math.inf)

    def propose(self, index: int, seed: int) -> Flat:
        rng, budget = Random(seed), self._budget()
        if budget < 0 or rng.random() < self._config["random_fraction"]:
            return self.anywhere(rng.getrandbits(31))
        import numpy as np

        found = sorted(self._found[budget].values(), key=lambda one: -one[1])
        points = np.array([self._point(rng, flat) for flat, _ in found])
        least, narrowest = self._enough - 2, self._config["min_bandwidth"]
        n_good = max(least, int(len(points) * self._config["top_n_percent"] // 100))
        good = KernelDensity(points[:n_good], self._n_options, narrowest)
        others = KernelDensity(points[-max(least, len(points) - n_good) :], self._n_options, narrowest)
        near = [good.drawn(rng, self._config["bandwidth_factor"]) for _ in range(self._config["num_samples"])]
        best = near[int(np.argmax(good.log(near) - others.log(near)))]
        return self.values(dict(zip(self.nodes, best, strict=True)))

    def _point(self, rng: Random, flat: Flat) -> list[float]:
        """Return the coordinates of a result; those of branches that were not taken are drawn."""
        units, drawn = self.units(flat), (rng.randrange(n) if n else rng.random() for n in self._n_options)
        return [units.get(name, u) for name, u in zip(self.nodes, drawn, strict=True)]
