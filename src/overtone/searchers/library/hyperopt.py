"""The tree of Parzen estimators of Hyperopt (Bergstra et al. 2011, "Algorithms for Hyper-Parameter
Optimization"): http://hyperopt.github.io/hyperopt

Numbers are searched as quantiles of their domains. What waits counts as the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.searchers.flat import Flat
from overtone.searchers.library.hyperopt_space import from_hyperopt, to_hyperopt
from overtone.searchers.library.library import LibrarySearcher
from overtone.space.domain import is_number
from overtone.space.tree import Drawn, Group, Node, Pick, Series


class HyperOptSearch(LibrarySearcher):
    """Searcher that uses Hyperopt's TPE, also for conditional spaces.

    Args:
        n_initial_points: Number of random suggestions at the beginning.
        space: As for every searcher; or with Hyperopt's expressions, such as `hp.uniform("x", 0, 1)`.
        random_state_seed: A seed to use instead of the experiment's seed.
        gamma: The share of the results that counts as good.

    Raises:
        ValueError: `gamma` is not between 0 and 1.
    """

    def __init__(
        self, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None, n_initial_points: int = 20,
        random_state_seed: int | None = None, gamma: float = 0.25, *,
        evaluated_rewards: Sequence[float] | None = None, num_samples: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            from_hyperopt(space),
            metric,
            mode,
            points_to_evaluate,
            evaluated_rewards,
            random_state_seed,
            num_samples,
        )
        self.n_initial_points, self.random_state_seed, self.gamma = n_initial_points, random_state_seed, gamma
        if not (is_number(gamma) and 0 < gamma < 1):
            raise ArgumentError(f"gamma={gamma!r} must be between 0 and 1, such as 0.25")

    @staticmethod
    def convert_search_space(spec: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:  # type: ignore[override]
        """Return a space with Hyperopt's expressions; `prefix` is accepted without effect."""
        converted: dict[str, Any] = to_hyperopt(spec)
        return converted

    def begin(self) -> None:
        try:
            from hyperopt.base import Domain
        except ImportError:
            raise MissingPackageError("hyperopt", "hyperopt", "HyperOptSearch") from None
        space = self._expression(self.root) if self.nodes else [0]  # it knows no empty dict
        self._domain = Domain(None, space, pass_expr_memo_ctrl=False)

    def propose(self, index: int, seed: int) -> Flat:
        from hyperopt import Trials, tpe

        trials, told = Trials(), list(zip(self.told, self.losses(), strict=True))
        facts: list[tuple[Flat, float | None]] = [(one.flat, loss) for one, loss in told]
        facts += [(flat, None) for _, flat in sorted(self.waiting.items())]
        if facts:
            trials.insert_trial_docs([self._document(i, *fact) for i, fact in enumerate(facts)])
            trials.refresh()
        (found,) = tpe.suggest(
            [len(facts)], self._domain, trials, seed, n_startup_jobs=self.n_initial_points, gamma=self.gamma,
            verbose=False,
        )  # fmt: skip
        return self.values({name: one[0] for name, one in found["misc"]["vals"].items() if len(one)})

    def _document(self, i: int, flat: Flat, loss: float | None) -> dict[str, Any]:
        """Return a trial as Hyperopt's document; a pending trial has no loss."""
        units = self.units(flat)
        misc = {
            "tid": i, "cmd": self._domain.cmd, "workdir": None,
            "idxs": {name: [i] if name in units else [] for name in self.nodes},
            "vals": {name: [units[name]] if name in units else [] for name in self.nodes},
        }  # fmt: skip
        result = {"status": "new"} if loss is None else {"status": "ok", "loss": loss}
        rest = dict.fromkeys(("spec", "exp_key", "owner", "book_time", "refresh_time"))
        state = 1 if loss is None else 2
        return {"state": state, "tid": i, "result": result, "misc": misc, "version": 0, **rest}

    def _expression(self, node: Node) -> Any:
        """Return the space as Hyperopt writes it."""
        from hyperopt import hp

        if isinstance(node, Drawn):
            return hp.uniform(node.key, 0, 1) if node.key in self.nodes else 0
        if isinstance(node, Pick):
            options = [self._expression(option) for option in node.options]
            return hp.choice(node.key, options) if len(options) > 1 else options[0]
        if isinstance(node, Group):
            return {str(name): self._expression(item) for name, item in node.items.items()}
        return [self._expression(item) for item in node.items] if isinstance(node, Series) else 0
