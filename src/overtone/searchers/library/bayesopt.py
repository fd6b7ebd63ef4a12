"""The Gaussian process of bayesian-optimization (Nogueira 2014): https://bayesian-optimization.github.io

Numbers are searched as quantiles of their domains. What waits counts as already having the mean result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from overtone.core.types import Config
from overtone.errors import ArgumentError, MissingPackageError, SpaceError
from overtone.searchers.base import by_hand_too
from overtone.searchers.flat import Flat, flattened
from overtone.searchers.library.library import LibrarySearcher
from overtone.searchers.library.settings import settings
from overtone.searchers.variant_generator import parse_spec_vars
from overtone.space import Float, uniform
from overtone.space.tree import Pick

_MOST_CLIMBED = 50  # with more axes, its climbs by numerical gradients would take minutes
_UTILITY = {"kind": ("ucb", "ei", "poi"), "kappa": (2.576, 0.0, inf), "xi": (0.01, 0.0, inf)}
_KINDS = {"ucb": "UpperConfidenceBound", "ei": "ExpectedImprovement", "poi": "ProbabilityOfImprovement"}


class BayesOptSearch(LibrarySearcher):
    """Searcher that uses a Gaussian process, for numbers and plain choices.

    Args:
        space: As for every searcher; or {"x": (lower, upper)}.
        utility_kwargs: {"kind": "ucb", "kappa": 2.576} or {"kind": "ei" or "poi", "xi": 0.01}.
        random_state: Used instead of the experiment's seed.
        random_search_steps: Number of random suggestions at the beginning.
        verbose: Without effect: the library prints nothing.
        patience: The search ends when a config was suggested more than this number of times, 1 or more.
            None for no limit.
        skip_duplicate: Whether another config is tried instead of one that was suggested before.
        analysis: The analysis of an earlier search, whose trials the searcher learns from.
        repeat_float_precision: Digits after the point in which numbers must agree for two configs to be
            the same.

    Raises:
        ValueError: `patience` is below 1, or a setting is not valid.
    """

    lookahead, is_slow = 1, True  # its suggestions take seconds

    def __init__(
        self, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        utility_kwargs: Mapping[str, Any] | None = None, random_state: int | None = None,
        random_search_steps: int = 10, verbose: int = 0, patience: int | None = None,
        skip_duplicate: bool = False, analysis: Any = None, repeat_float_precision: int = 5, *,
        evaluated_rewards: Sequence[float] | None = None, num_samples: int | None = None, **others: Any,
    ) -> None:  # fmt: skip
        if patience is not None and patience < 1:
            raise ArgumentError(f"patience={patience!r}: must be a number of 1 or more, or None")
        if isinstance(space, Mapping):
            space = {name: uniform(*one) if _is_pair(one) else one for name, one in space.items()} or None
        rest = evaluated_rewards, random_state, num_samples
        super().__init__(space, metric, mode, points_to_evaluate, *rest, **others)
        self.utility_kwargs, self.random_search_steps = utility_kwargs, random_search_steps
        self.patience, self.skip_duplicate = patience, skip_duplicate
        self.repeat_float_precision = repeat_float_precision
        self._utility = settings("utility_kwargs", utility_kwargs, _UTILITY)
        if analysis is not None:
            self.register_analysis(analysis)

    def register_analysis(self, analysis: Any) -> None:
        """Learn from the trials of an earlier search.

        Args:
            analysis: Its analysis; it knows the metric, if this searcher does not.
        """
        self.add_evaluated_trials(analysis, self.metric or analysis.default_metric)

    @staticmethod
    def convert_search_space(spec: Mapping[str, Any], join: bool = False) -> dict[str, Any]:  # type: ignore[override]
        """Return the bounds of the domains by path, as the library has them.

        Args:
            join: Whether constants are in the result, too.

        Raises:
            SpaceError: A domain is not `uniform`.
        """
        constants, domains, grids = parse_spec_vars(spec)
        found = {"/".join(map(str, path)): value for path, value in constants if join}
        for path, domain in (*domains, *grids):
            if not isinstance(domain, Float):
                raise SpaceError(f"{'/'.join(map(str, path))}: {domain!r} has no bounds: use uniform")
            found["/".join(map(str, path))] = (domain.lower, domain.upper)
        return found

    def begin(self) -> None:
        self.refuse_branches()
        self._n_suggested: Counter[Any] = Counter()
        self._has_converged = False
        try:
            import bayes_opt.acquisition  # noqa: F401 - which version 1 lacks
        except ImportError:
            raise MissingPackageError("bayesian-optimization", "bayesopt", "BayesOptSearch") from None
        parts = {k: range(len(n.options)) if isinstance(n, Pick) else (None,) for k, n in self.nodes.items()}
        self._axes = {f"{name}={i}": (name, i) for name, given in parts.items() for i in given}

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        config = None if self._has_converged else super().suggest(index)
        if config is not None and self.patience is not None:
            self._has_converged = self._n_suggested[self._rounded(config)] >= self.patience
        return None if self._has_converged else config

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        self._n_suggested[self._rounded(config)] += 1

    def is_skipped(self, config: Config) -> bool:
        n_earlier = self._n_suggested[self._rounded(config)]
        if not self.skip_duplicate or not n_earlier:
            return False
        self._n_suggested[self._rounded(config)] += 1
        return self.patience is None or n_earlier < self.patience

    def _rounded(self, config: Config) -> tuple[tuple[str, Any], ...]:
        """Return the searched values of a config, rounded to `repeat_float_precision` digits."""
        flat = sorted(flattened(self.root, config).items())
        digits = self.repeat_float_precision
        return tuple((name, round(one, digits) if type(one) is float else one) for name, one in flat)

    def propose(self, index: int, seed: int) -> Flat:
        losses = self.losses()
        if len(losses) < max(1, self.random_search_steps):
            return self.anywhere(seed)
        from bayes_opt import BayesianOptimization, acquisition

        name = "kappa" if self._utility["kind"] == "ucb" else "xi"
        utility = getattr(acquisition, _KINDS[self._utility["kind"]])(**{name: self._utility[name]})
        utility.suggest = partial(utility.suggest, n_smart=10 if len(self._axes) <= _MOST_CLIMBED else 0)
        model = BayesianOptimization(None, dict.fromkeys(self._axes, (0, 1)), utility, None, seed, verbose=0)
        facts = [(one.flat, -loss) for one, loss in zip(self.told, losses, strict=True)]
        facts += [(flat, -sum(losses) / len(losses)) for _, flat in sorted(self.waiting.items())]
        points: dict[tuple[float, ...], list[float]] = {}
        for flat, score in facts:
            units = self.units(flat)
            at = (units[k] if i is None else float(units[k] == i) for k, i in self._axes.values())
            points.setdefault(tuple(at), []).append(score)
        for point, scores in points.items():  # the library prints a line for a known point
            model.register(dict(zip(self._axes, point, strict=True)), sum(scores) / len(scores))
        return self._decoded(model.suggest())

    def _decoded(self, point: Mapping[str, Any]) -> Flat:
        """Return the number of each domain, and of each choice the option with the largest."""
        best: dict[str, tuple[float, float]] = {}
        for axis, (name, i) in self._axes.items():
            best[name] = max(best.get(name, (-1.0, 0)), (point[axis], point[axis] if i is None else i))
        return self.values({name: unit for name, (_, unit) in best.items()})


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and all(isinstance(one, (int, float)) for one in value)
