"""A limit for the number of concurrent trials of a searcher."""

from __future__ import annotations

from typing import Any

from overtone.core.trial import Trial
from overtone.core.types import Config
from overtone.errors import ArgumentError
from overtone.searchers.base import by_hand_too
from overtone.searchers.wrapper import Wrapper


class ConcurrencyLimiter(Wrapper):
    """Wrapper that lets at most `max_concurrent` trials of `searcher` run, without early suggestions.

    Results are more informative than predictions for running trials: fewer concurrent trials give
    better suggestions and a longer search.

    Args:
        searcher: The searcher that suggests.
        max_concurrent: Maximum number of trials that run at the same time, 1 or more.
        batch: Whether to wait until all of them have ended before the searcher is told of their ends, and
            the next trials begin.

    Raises:
        ValueError: `max_concurrent` is not a whole number of 1 or more.
    """

    lookahead = 0

    def __init__(self, searcher: Any, max_concurrent: int, batch: bool = False) -> None:
        super().__init__(searcher)
        is_whole = hasattr(max_concurrent, "__index__") and not isinstance(max_concurrent, bool)
        if not is_whole or max_concurrent < 1:
            raise ArgumentError(f"max_concurrent={max_concurrent!r} must be a whole number, 1 or more")
        inner, number = self.searcher, int(max_concurrent)
        limits_itself = inner.set_max_concurrency(number)
        self._limit_concurrency = not limits_itself
        self.max_concurrent, self.batch = (0, False) if limits_itself else (number, batch)
        self._batch: set[int] = set()
        self._ended: list[Trial] = []

    def on_start(self, space: object, seed: int) -> None:
        super().on_start(space, seed)
        self._batch, self._ended = set(), []

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        if self.batch and len(self._batch) >= self.max_concurrent:
            return None
        return super().suggest(index)

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        if self.batch:
            self._batch.add(index)

    def on_trial_end(self, trial: Trial) -> None:
        if trial.suggestion not in self._batch:
            super().on_trial_end(trial)
            return
        self._ended.append(trial)
        if len(self._ended) == len(self._batch):
            ended, self._batch, self._ended = self._ended, set(), []
            for one in ended:
                super().on_trial_end(one)
