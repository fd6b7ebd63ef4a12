"""The Gaussian process of scikit-optimize (Head et al. 2018): https://scikit-optimize.readthedocs.io

Numbers are searched as quantiles of their domains. What waits counts as already having the mean result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import MissingPackageError, OvertoneError
from overtone.searchers.flat import Flat
from overtone.searchers.library.library import LibrarySearcher
from overtone.space import choice, randint, uniform
from overtone.space.domain import is_number
from overtone.space.tree import Pick


class SkOptSearch(LibrarySearcher):
    """Searcher that uses the Gaussian process of scikit-optimize, for spaces without branches.

    Args:
        optimizer: None: an optimizer of the library is made for the space.
        space: As for every searcher; or {"x": (lower, upper), "kind": ["a", "b"]}.
        n_initial_points: Number of random suggestions at the beginning.
        convert_to_python: Accepted without effect: values are Python's.

    Raises:
        OvertoneError: `optimizer` is given.
    """

    is_numeric = True

    def __init__(
        self, optimizer: Any = None, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None, convert_to_python: bool = True, *,
        n_initial_points: int = 10, seed: int | None = None, num_samples: int | None = None,
    ) -> None:  # fmt: skip
        if optimizer is not None:
            raise OvertoneError(
                f"SkOptSearch(optimizer={optimizer!r:.80}): give the space as SkOptSearch(space={{...}}) "
                "or to tune.run; its setting is n_initial_points"
            )
        if isinstance(space, Mapping):
            space = {name: _domain(one) for name, one in space.items()} or None
        rest = evaluated_rewards, seed, num_samples
        super().__init__(space, metric, mode, points_to_evaluate, *rest)
        self.n_initial_points = n_initial_points

    def begin(self) -> None:
        self.refuse_branches()
        try:
            import skopt  # noqa: F401
        except ImportError:
            raise MissingPackageError("scikit-optimize", "", "SkOptSearch") from None

    def propose(self, index: int, seed: int) -> Flat:
        losses = self.losses()
        if len(losses) < max(1, self.n_initial_points):
            return self.anywhere(seed)
        from skopt import Optimizer
        from skopt.space import Categorical, Real

        axes = [
            Categorical(range(len(node.options))) if isinstance(node, Pick) else Real(0.0, 1.0)
            for node in self.nodes.values()
        ]
        optimizer = Optimizer(axes, n_initial_points=1, random_state=seed)
        facts = [(one.flat, loss) for one, loss in zip(self.told, losses, strict=True)]
        facts += [(flat, sum(losses) / len(losses)) for _, flat in sorted(self.waiting.items())]
        points = [[self.units(flat)[name] for name in self.nodes] for flat, _ in facts]
        optimizer.tell(points, [loss for _, loss in facts])
        return self.values(dict(zip(self.nodes, optimizer.ask(), strict=True)))


def _domain(given: Any) -> Any:
    """Return the domain of a tuple of bounds or a list of options; anything else stays."""
    if type(given) is list:
        return choice(given)
    if type(given) is not tuple or len(given) != 2 or not all(map(is_number, given)):
        return given
    low, high = given
    return randint(low, high + 1) if type(low) is type(high) is int else uniform(low, high)
