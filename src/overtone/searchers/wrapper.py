"""A searcher around another one."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from overtone.core import protocols
from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.errors import OvertoneError
from overtone.searchers.adapter import known_form
from overtone.searchers.base import Searcher, by_hand_too
from overtone.space.tree import Group


class Wrapper(Searcher):
    """A searcher that passes all calls to another `searcher`; children override methods.

    Raises:
        OvertoneError: `searcher` is not a searcher.
    """

    def __init__(self, searcher: Any) -> None:
        searcher = known_form(searcher)
        if not isinstance(searcher, protocols.Searcher):
            raise OvertoneError(
                f"{type(self).__name__} is put around a searcher, such as OptunaSearch() or "
                f'tune.create_searcher("auto"), and not around {searcher!r}'
            )
        self.searcher: protocols.Searcher = searcher
        self.metric, self.mode, self.replay = searcher.metric, searcher.mode, searcher.replay
        self.takes_constraint, self.is_slow = searcher.takes_constraint, searcher.is_slow
        self.counts_samples, self.max_concurrent = searcher.counts_samples, searcher.max_concurrent

    @property
    def num_samples(self) -> int | None:
        """The number of samples of the space; None leaves it to `tune.run`."""
        return self.searcher.num_samples

    @num_samples.setter
    def num_samples(self, number: int | None) -> None:
        self.searcher = copy(self.searcher)  # it may serve another run
        self.searcher.num_samples = number

    def take_properties(self, metric: Any, mode: Any, config: Mapping[str, Any]) -> bool:
        super().take_properties(metric, mode, config)
        inner: Any = self.searcher
        return bool(inner.set_search_properties(metric, mode, config))

    def add_evaluated_point(
        self, parameters: Config, value: float, error: bool = False, pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:  # fmt: skip
        inner: Any = self.searcher
        inner.add_evaluated_point(parameters, value, error, pruned, intermediate_values)

    def on_pause(self, trial_id: str) -> None:
        inner: Any = self.searcher
        inner.on_pause(trial_id)

    def on_unpause(self, trial_id: str) -> None:
        inner: Any = self.searcher
        inner.on_unpause(trial_id)

    def on_start(self, space: Any, seed: int) -> None:
        self.searcher.goal = self.goal
        self.searcher.on_start(space, seed)
        self.total = self.searcher.total

    def total_for(self, num_samples: int) -> int | None:
        return self.searcher.total_for(num_samples)

    def searched_space(self, space: Group) -> Group:
        return self.searcher.searched_space(space)

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        return self.searcher.suggest(index)

    def on_suggested(self, index: int, config: Config) -> None:
        self.searcher.on_suggested(index, config)

    def on_result(self, trial: Trial, result: Result) -> None:
        self.searcher.on_result(trial, result)

    def on_trial_end(self, trial: Trial) -> None:
        self.searcher.on_trial_end(trial)

    def on_trial_pause(self, trial: Trial) -> None:
        self.searcher.on_trial_pause(trial)

    def on_trial_unpause(self, trial: Trial) -> None:
        self.searcher.on_trial_unpause(trial)
