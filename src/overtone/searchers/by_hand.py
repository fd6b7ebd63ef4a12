"""A native searcher under Ray Tune's calls, which name trials by ids: by hand, or from a subclass."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result

_DEMAND = Resources.of({"cpu": 1})


class ByHand:
    """The state of a searcher's use by hand: data alone, so that it goes where the searcher's state goes.

    Attributes:
        space: The space of `set_search_properties`.
        known: Configs that were evaluated elsewhere: (config, value of the metric or None if it failed).
    """

    def __init__(self) -> None:
        self.space: Mapping[str, Any] = {}
        self.known: list[tuple[Config, float | None]] = []
        self._goal: Goal | None = None
        self._n = 0
        self._live: dict[str, Trial] = {}
        self._paused: set[str] = set()

    def anew(self) -> ByHand:
        """Return the state for another run: with the known configs alone."""
        made = ByHand()
        made.known = self.known
        return made

    def suggest(
        self, searcher: Any, trial_id: str, suggest: Callable[[Any, int], Config | None]
    ) -> Config | None:
        """Return a config for the trial, or None if there is none now.

        Args:
            suggest: The searcher's native method.
        """
        self._begin(searcher)
        n_running = len(self._live.keys() - self._paused)
        if searcher.max_concurrent and n_running >= searcher.max_concurrent:
            return None
        config = suggest(searcher, self._n)
        if config is not None:
            self._add(searcher, trial_id, config)
        return config

    def report(self, searcher: Any, trial_id: str, result: Mapping[str, Any]) -> None:
        """Pass on a result of a trial that has not ended."""
        trial = self._live.get(trial_id)
        if trial is not None:
            trial.n_results += 1
            found = self._result(result, trial)
            searcher.on_result(trial, found)

    def complete(self, searcher: Any, trial_id: str, result: Mapping[str, Any] | None, error: bool) -> None:
        """Pass on the end of a trial, once."""
        if result is not None and not error:
            self.report(searcher, trial_id, result)
        trial = self._live.pop(trial_id, None)
        self._paused.discard(trial_id)
        if trial is not None:
            trial.status = Status.ERROR if error else Status.TERMINATED
            searcher.on_trial_end(trial)

    def pause(self, trial_id: str, is_paused: bool) -> None:
        """Take note that a trial is paused, and does not count as running, or runs again."""
        if is_paused:
            self._paused.add(trial_id)
        else:
            self._paused.discard(trial_id)

    def add(self, searcher: Any, config: Config, value: float | None) -> None:
        """Keep a config that was evaluated elsewhere, for `on_start`, or pass it on if that has been."""
        self.known.append((config, value))
        if self._goal is not None:
            trial_id = f"evaluated {self._n}"
            self._add(searcher, trial_id, config)
            self.complete(searcher, trial_id, {self._goal.metric or "": value}, value is None)

    def _begin(self, searcher: Any) -> None:
        if self._goal is not None:
            return
        self._goal = searcher.goal = Goal(searcher.metric, searcher.mode)
        searcher.on_start(self.space, random.getrandbits(31))

    def _add(self, searcher: Any, trial_id: str, config: Config) -> None:
        searcher.on_suggested(self._n, config)
        self._live[trial_id] = Trial(trial_id, self._n, config, _DEMAND, Status.RUNNING, suggestion=self._n)
        self._n += 1

    def _result(self, metrics: Mapping[str, Any], trial: Trial) -> Result:
        assert self._goal is not None
        trial.last = self._goal.result(metrics, metrics.get("training_iteration", trial.n_results))
        return trial.last
