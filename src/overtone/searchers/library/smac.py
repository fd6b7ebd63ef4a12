"""SMAC (Lindauer et al. 2022): random forests that know conditional spaces. https://automl.github.io/SMAC3

Numbers are searched as quantiles of their domains. Each suggestion builds a new model of all results;
pending suggestions count as the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import MissingPackageError
from overtone.searchers.flat import Flat
from overtone.searchers.library.library import LibrarySearcher
from overtone.searchers.library.losses import scaled
from overtone.space import Cube


class SMACSearch(LibrarySearcher):
    """Searcher that uses SMAC's random forest, also for conditional spaces.

    Args:
        n_initial_points: Number of random suggestions at the beginning.
    """

    lookahead, is_slow = 1, True  # its suggestions take seconds

    def __init__(
        self, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None, n_initial_points: int = 10, *,
        evaluated_rewards: Sequence[float] | None = None, seed: int | None = None,
        num_samples: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(space, metric, mode, points_to_evaluate, evaluated_rewards, seed, num_samples)
        self.n_initial_points = n_initial_points

    def begin(self) -> None:
        try:
            import ConfigSpace
            import smac  # noqa: F401
        except ImportError:
            raise MissingPackageError("smac", "smac", "SMACSearch") from None
        space, cube = ConfigSpace.ConfigurationSpace(), Cube(self.root)
        self._space, Categorical, Float = space, ConfigSpace.Categorical, ConfigSpace.Float
        for one in (one for one in cube.dimensions if one.key in self.nodes):
            n = len(one.values)
            space.add(known := Categorical(one.key, range(n)) if n else Float(one.key, (0, 1)))
            above = [(cube.dimensions[i].key, option) for i, option in one.conditions]
            # only the innermost branch, which has its own conditions
            for parent, option in [it for it in above if it[0] in self.nodes][-1:]:
                space.add(ConfigSpace.EqualsCondition(known, space[parent], option))

    def propose(self, index: int, seed: int) -> Flat:
        losses = scaled(self.losses())  # SMAC adds 1e-10 to what it takes logarithms of
        if len(losses) < max(1, self.n_initial_points):
            return self.anywhere(seed)
        import logging
        from tempfile import TemporaryDirectory

        from ConfigSpace import Configuration
        from joblib import parallel_config
        from smac import HyperparameterOptimizationFacade as Facade
        from smac import Scenario
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        logging.getLogger("smac").setLevel(logging.ERROR)  # it warns that it starts with given results
        facts = [(one.flat, loss) for one, loss in zip(self.told, losses, strict=True)]
        facts += [(flat, max(losses)) for _, flat in sorted(self.waiting.items())]
        # SMAC writes what it is asked, and asks small forests a thousand times, by threads each time
        with TemporaryDirectory() as folder, parallel_config(backend="sequential"):
            self._space.seed(seed)
            scenario = Scenario(
                self._space, output_directory=folder, deterministic=True, n_trials=10**6, seed=seed
            )
            first = Facade.get_initial_design(scenario, n_configs=0)
            n_climbs = 10 if len(self.nodes) <= 50 else 1  # each looks at all neighbours of many points
            search = Facade.get_acquisition_maximizer(
                scenario, challengers=1000, local_search_iterations=n_climbs
            )
            parts = {"initial_design": first, "acquisition_maximizer": _in_order(search)}
            facade = Facade(scenario, _never, **parts, logging_level=False, overwrite=True)
            for flat, loss in facts:
                config = Configuration(self._space, values=self.units(flat))
                facade.tell(TrialInfo(config, seed=0), TrialValue(loss), save=False)
            return self.values(dict(facade.ask().config))


def _never(config: Any, seed: int = 0) -> float:
    raise AssertionError("trials are run elsewhere")


def _in_order(search: Any) -> Any:
    """Let a `LocalAndSortedRandomSearch` climb from its points in the order of their values; return it.

    It begins from a set, whose order follows from hashes of text, which differ from process to process: a
    search that is resumed would suggest something else.
    """
    climb = search._local_search._search

    def in_their_order(points: Sequence[Any]) -> Any:
        return climb(sorted(points, key=lambda one: one.get_array().tobytes()))

    search._local_search._search = in_their_order
    return search
