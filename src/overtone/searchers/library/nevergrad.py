"""The optimizers of Nevergrad (Rapin and Teytaud 2018): https://facebookresearch.github.io/nevergrad

Numbers are searched as quantiles of their domains. Parameters of branches that are not taken are there, too,
and have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.types import Config
from overtone.errors import ArgumentError, MissingPackageError
from overtone.lazy import nearest
from overtone.searchers.flat import Flat
from overtone.searchers.library.library import Finished, LibrarySearcher
from overtone.space.tree import Pick


class NevergradSearch(LibrarySearcher):
    """Searcher that uses an optimizer of Nevergrad; a resume repeats the calls of the optimizer.

    Args:
        optimizer: The name of an optimizer, such as "TwoPointsDE", "CMA" or "OnePlusOne"; a class, or a
            configured optimizer.
        optimizer_kwargs: Arguments of the optimizer, such as {"budget": 200, "num_workers": 8}, which are
            the defaults, except that the budget is the number of trials if that is known.
    """

    replay = "asked"

    def __init__(
        self, optimizer: Any = "TwoPointsDE", optimizer_kwargs: Mapping[str, Any] | None = None,
        space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        *, evaluated_rewards: Sequence[float] | None = None, seed: int | None = None,
        num_samples: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(space, metric, mode, points_to_evaluate, evaluated_rewards, seed, num_samples)
        self.optimizer, self.optimizer_kwargs = optimizer, optimizer_kwargs

    def begin(self) -> None:
        try:
            import nevergrad as ng
        except ImportError:
            raise MissingPackageError("nevergrad", "nevergrad", "NevergradSearch") from None
        made = self.optimizer
        if isinstance(made, str):
            if made not in ng.optimizers.registry:
                close = nearest(made, ng.optimizers.registry)
                raise ArgumentError(f"optimizer={made!r} is none of Nevergrad's{close}")
            made = ng.optimizers.registry[made]
        parts = {
            name: ng.p.Choice(range(len(n.options))) if isinstance(n, Pick) else ng.p.Scalar(lower=0, upper=1)
            for name, n in self.nodes.items()
        }
        space = ng.p.Dict(**parts)
        space.random_state.seed(self.seed_of(-1))
        given = {"budget": self.total or 100, "num_workers": 8, **(self.optimizer_kwargs or {})}
        self._optimizer: Any = made(parametrization=space, **given) if self.nodes else None
        self._asked: dict[int, Any] = {}

    def propose(self, index: int, seed: int) -> Flat:
        self._asked[index] = self._optimizer.ask()
        return self.values(self._asked[index].value)

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        self._asked.setdefault(index, None)

    def learn(self, told: Finished) -> None:
        loss, candidate = self.newest_loss(), self._asked.pop(told.index, None)
        if loss is None or self._optimizer is None:
            return
        if candidate is None:
            units = {name: 0 if isinstance(node, Pick) else 0.5 for name, node in self.nodes.items()}
            candidate = self._optimizer.parametrization.spawn_child({**units, **self.units(told.flat)})
        self._optimizer.tell(candidate, loss)

    def forget(self, index: int) -> None:
        self._asked.pop(index, None)
