"""A limit for the number of concurrent trials of a searcher."""

from __future__ import annotations

from overtone.core.protocols import Searcher
from overtone.core.trial import Trial
from overtone.core.types import Config
from overtone.errors import ArgumentError
from overtone.searchers.wrapper import Wrapper


class ConcurrencyLimiter(Wrapper):
    """Wrapper that lets at most `max_concurrent` trials of `searcher` run, without early suggestions.

    Results are more informative than predictions for running trials: fewer concurrent trials give
    better suggestions and a longer search.

    Args:
        searcher: The searcher that suggests.
        max_concurrent: Maximum number of trials that run at the same time, 1 or more.
        batch: Whether to wait until all of them have ended before the next trials begin.

    Raises:
        ValueError: `max_concurrent` is not a whole number of 1 or more.
    """

    lookahead = 0

    def __init__(self, searcher: Searcher, max_concurrent: int, batch: bool = False) -> None:
        super().__init__(searcher)
        is_whole = hasattr(max_concurrent, "__index__") and not isinstance(max_concurrent, bool)
        if not is_whole or max_concurrent < 1:
            raise ArgumentError(f"max_concurrent={max_concurrent!r} must be a whole number, 1 or more")
        self.max_concurrent, self.batch = int(max_concurrent), batch
        self._batch: set[int] = set()
        self._n_ended = 0

    def on_start(self, space: object, seed: int) -> None:
        super().on_start(space, seed)
        self._batch, self._n_ended = set(), 0

    def suggest(self, index: int) -> Config | None:
        if self.batch and len(self._batch) >= self.max_concurrent:
            return None
        return super().suggest(index)

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        self._batch.add(index)

    def on_trial_end(self, trial: Trial) -> None:
        super().on_trial_end(trial)
        if trial.suggestion in self._batch:
            self._n_ended += 1
            if self._n_ended == len(self._batch):
                self._batch, self._n_ended = set(), 0
