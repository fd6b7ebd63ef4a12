"""The asynchronous sequential RACOS of ZOOpt (Liu et al. 2018, arXiv 1801.00329): https://github.com/polixir/ZOOpt

Numbers are searched as quantiles of their domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.types import Config
from overtone.errors import ArgumentError, MissingPackageError
from overtone.searchers.flat import Flat
from overtone.searchers.library.library import Finished, LibrarySearcher
from overtone.searchers.variant_generator import parse_spec_vars
from overtone.space.function import seeded
from overtone.space.tree import Pick


class ZOOptSearch(LibrarySearcher):
    """Searcher that uses ZOOpt's asynchronous RACOS, for spaces without branches.

    Args:
        algo: "asracos" (or "sracos"), the one algorithm.
        budget: Number of trials for which its parameters are set; by default the number of the run, or 100.
        parallel_num: Number of trials that run at the same time.

    Attributes:
        optimizer: ZOOpt's object, from the first suggestion on.

    Raises:
        ArgumentError: `algo` is another one.
    """

    replay, is_numeric = "asked", True
    optimizer: Any = None

    def __init__(
        self, algo: str = "asracos", budget: int | None = None, dim_dict: Any = None, metric: Any = None,
        mode: Any = None, points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        parallel_num: int = 1, *, space: Any = None, evaluated_rewards: Sequence[float] | None = None,
        seed: int | None = None, num_samples: int | None = None,
    ) -> None:  # fmt: skip
        if algo.lower() not in ("asracos", "sracos"):
            raise ArgumentError(f'algo={algo!r}: ZOOpt suggests step by step only by "asracos"')
        super().__init__(
            dim_dict if space is None else space, metric, mode, points_to_evaluate, evaluated_rewards, seed,
            num_samples,
        )  # fmt: skip
        self.algo, self.budget, self.parallel_num = algo, budget, parallel_num

    @staticmethod
    def convert_search_space(spec: Mapping[str, Any], join: bool = False) -> dict[str, Any]:  # type: ignore[override]
        """Return the domains of `spec`, which `dim_dict` takes; with `join`, its constants, too."""
        return {
            name: value for name, value in spec.items() if join or any(parse_spec_vars({name: value})[1:])
        }

    def begin(self) -> None:
        self.refuse_branches()
        try:
            from zoopt import Dimension2, Parameter, ValueType
            from zoopt.algos.opt_algorithms.racos.sracos import SRacosTune
        except ImportError:
            raise MissingPackageError("zoopt", "", "ZOOptSearch") from None
        axes = [
            (ValueType.GRID, list(range(len(node.options))))
            if isinstance(node, Pick)
            else (ValueType.CONTINUOUS, [0.0, 1.0], 1e-10)
            for node in self.nodes.values()
        ]
        budget = self.budget or self.total or 100
        self.optimizer = (
            SRacosTune(Dimension2(axes), Parameter(budget=budget), parallel_num=self.parallel_num)
            if axes
            else None
        )
        self._asked: dict[int, Any] = {}

    def propose(self, index: int, seed: int) -> Flat:
        with seeded(self._rng("zoopt", index)):
            found = self.optimizer.suggest() if self.optimizer else None
        if found is None or isinstance(found, str):  # It waits for results, or its budget is spent.
            return self.anywhere(seed)
        self._asked[index] = found
        return self.values(dict(zip(self.nodes, found.get_x(), strict=True)))

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        asked = self._asked.get(index)
        if (
            asked is not None
            and self.values(dict(zip(self.nodes, asked.get_x(), strict=True))) != self.waiting[index]
        ):
            self.forget(index)

    def learn(self, told: Finished) -> None:
        loss, asked = self.newest_loss(), self._asked.pop(told.index, None)
        if asked is not None and self.optimizer is not None:
            self.optimizer.complete(asked, 1e30 if loss is None else loss)

    def forget(self, index: int) -> None:
        self._asked.pop(index, None)
