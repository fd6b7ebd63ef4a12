"""Ax (Olson et al. 2025, "Ax: A Platform for Adaptive Experimentation"), with BoTorch's Gaussian processes:
https://ax.dev

Numbers are searched as quantiles of their domains. Each suggestion builds a new experiment of all
results and pending suggestions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import MissingPackageError
from overtone.searchers.flat import Flat
from overtone.searchers.library.ax_space import from_ax, limited
from overtone.searchers.library.library import LibrarySearcher
from overtone.space.tree import Pick

_MOST_MIXED = 50  # in wider spaces options are parts of an axis: a search over both would take minutes


class AxSearch(LibrarySearcher):
    """Searcher that uses Ax, for numbers and plain choices.

    Args:
        space: As for every searcher; or Ax's own form, a list of dicts with name, type, and bounds or values.
        parameter_constraints: Linear constraints beside the space's own, such as ["x1 + 2*x2 <= 3"].
        n_initial_points: Number of random suggestions at the beginning.
        method: "fast" or "quality": see Ax's `configure_generation_strategy`.
    """

    lookahead, is_slow = 1, True  # its suggestions take seconds
    counts_samples = True

    def __init__(
        self, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None, n_initial_points: int = 6,
        method: Any = "fast", *, parameter_constraints: Sequence[str] | None = None,
        evaluated_rewards: Sequence[float] | None = None, seed: int | None = None,
        num_samples: int | None = None, **others: Any,
    ) -> None:  # fmt: skip
        space, self.parameter_constraints = from_ax(space), parameter_constraints or []
        if space is not None:
            space = limited(space, self.parameter_constraints)
        rest = evaluated_rewards, seed, num_samples
        super().__init__(space, metric, mode, points_to_evaluate, *rest, **others)
        self.n_initial_points, self.method = n_initial_points, method

    def on_start(self, space: Any, seed: int) -> None:
        super().on_start(limited(space, self.parameter_constraints) if self.space is None else space, seed)

    def begin(self) -> None:
        self.refuse_branches()
        try:
            import ax.api.client  # noqa: F401
        except ImportError:
            raise MissingPackageError("ax-platform", "ax", "AxSearch") from None
        self._names = {f"p{i}": name for i, name in enumerate(self.nodes)}
        options = {name: len(node.options) for name, node in self.nodes.items() if isinstance(node, Pick)}
        self._choices, self._relaxed = (options, {}) if len(self.nodes) <= _MOST_MIXED else ({}, options)

    def propose(self, index: int, seed: int) -> Flat:
        losses = self.losses()
        if len(losses) < max(1, self.n_initial_points):
            return self.anywhere(seed)
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            client = self._client(seed)
            for told, loss in zip(self.told, losses, strict=True):
                client.complete_trial(client.attach_trial(self._given(told.flat)), {"loss": loss})
            for _, flat in sorted(self.waiting.items()):
                client.attach_trial(self._given(flat))
            (found,) = client.get_next_trials(max_trials=1).values()
        units = {name: found[given] for given, name in self._names.items()}
        return self.values({**units, **{k: min(int(units[k] * n), n - 1) for k, n in self._relaxed.items()}})

    def _client(self, seed: int) -> Any:
        from ax.api.client import Client
        from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
        from ax.utils.common.logger import set_stderr_log_level

        set_stderr_log_level(40)  # of errors: else it tells of each trial, in each process
        client, parameters = Client(random_seed=seed), list[Any]()
        for given, name in self._names.items():
            if name in self._choices:
                options = list(range(self._choices[name]))
                parameters.append(ChoiceParameterConfig(given, options, "int", is_ordered=False))
            else:
                parameters.append(RangeParameterConfig(given, (0.0, 1.0), "float"))
        client.configure_experiment(parameters)
        client.configure_optimization("-loss")
        first: Any = {"initialization_budget": 0, "initialize_with_center": False}
        client.configure_generation_strategy(self.method, **first)
        return client

    def _given(self, flat: Flat) -> dict[str, float]:
        units = self.units(flat)
        units |= {name: (units[name] + 0.5) / n for name, n in self._relaxed.items()}
        return {given: units[name] for given, name in self._names.items()}
