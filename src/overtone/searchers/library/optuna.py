"""The samplers of Optuna (Akiba et al. 2019, arXiv 1907.10902), in a separate study or in a storage.

A named sampler gets a new seed for each suggestion. A sampler object of the user's is used unchanged: if
trials run one at a time, it suggests the same as in a plain study of Optuna, and a resume repeats its calls
in the logged order. It is told what an objective of Optuna would tell: a trial that was stopped is pruned,
and NaN is a failure. For a named sampler, a stopped trial counts with its last value, and NaN is the worst.
Values in steps are searched as numbers of steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite, isnan
from typing import Any

from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.searchers.base import by_hand_too
from overtone.searchers.flat import Flat
from overtone.searchers.library.library import Finished, LibrarySearcher
from overtone.searchers.library.optuna_params import decoded, defined, distributions, drawn, encoded
from overtone.searchers.library.optuna_samplers import (
    asked,
    constrain,
    fail,
    prune,
    replay_of,
    sampler,
    still_open,
    stored,
    study,
    tell,
)
from overtone.space import flatten, nested

_LARGEST_STORED = 2**31 - 1
"""The largest step that every database takes."""


class OptunaSearch(LibrarySearcher):
    """Suggests by an Optuna sampler, for one objective or several, with pending trials and constraints.

    Args:
        space: As for every searcher; or a function of an Optuna trial that draws with its
            `suggest_...` and may return constants; or a dict of Optuna distributions.
        sampler: "tpe", "gp", "cmaes", "nsga2", "nsga3", "random", "auto" (of OptunaHub, which
            keeps what it downloads), or a new sampler of Optuna; None for Optuna's default.
        study_name, storage: As in `optuna.create_study`; a study that exists is gone on with.
    """

    counts_samples = True

    def __init__(
        self, space: Any = None, metric: Any = None, mode: Any = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None, sampler: Any = None,
        study_name: str | None = None, storage: Any = None, seed: int | None = None,
        evaluated_rewards: Sequence[float] | None = None, *, num_samples: int | None = None,
    ) -> None:  # fmt: skip
        self._define, rest = defined(space), (points_to_evaluate, evaluated_rewards, seed, num_samples)
        super().__init__({} if self._define else space, metric, mode, *rest)
        self._points, self._rewards = self.points_to_evaluate, self.evaluated_rewards
        if self._define:  # it learns of these itself, and draws before a constraint could be asked
            self.points_to_evaluate, self.evaluated_rewards, self.takes_constraint = (), (), False
        self.sampler, self.study_name, self.storage = sampler, study_name, storage
        self.replay, self.is_numeric = replay_of(sampler), sampler == "gp"
        self._is_named = sampler is None or isinstance(sampler, str)

    @staticmethod
    def convert_search_space(spec: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:  # type: ignore[override]
        """Return the domains of a space as Optuna's distributions, by path; constants are left out."""
        return distributions(spec, prefix)

    def begin(self) -> None:
        modes = (self.goal.modes if self.goal else ()) or ("max",)
        self._signs = [1 if one == "max" else -1 for one in modes]
        self.study = study(self.storage, self.study_name, modes)
        self._is_over = False
        self.study.stop = self._end  # a sampler has gone through its grid, and there is no `optimize` to end
        self._used = sampler(self.sampler, self._seed, root=self.root if self.storage is None else None)
        known = stored(self.study, self._seed)  # by an earlier driver, where the storage outlives it
        self._stored = {index: one.params for index, one in known.items()}
        self._trials: dict[int, Any] = {index: one.number for index, one in known.items()}
        for point, reward in zip(self._points, self._rewards if self._define else (), strict=False):
            self.study.tell(self._ask(-1, 0, flatten(point))[0], reward)

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        if self._is_over:
            return None
        if self._define is None:
            return super().suggest(index)
        return self._whole(nested(self.propose(index, self.seed_of(index))), index)

    def propose(self, index: int, seed: int) -> Flat:
        if index in self._stored:
            return decoded(self.nodes, self._stored.pop(index))
        self.forget(index)  # which the space's constraint forbade
        params = dict(enumerate(self._points[len(self._rewards) :] if self._define else ())).get(index)
        self._trials[index], flat = self._ask(index, seed, params)
        return flat

    def on_suggested(self, index: int, config: Config) -> None:
        super().on_suggested(index, config)
        if self._stored.pop(index, None) is not None:
            return
        params = flatten(config) if self._define else encoded(self.nodes, self.waiting[index])
        if self.replay == "asked" and index in self._trials and not _has(self._trials[index], params):
            self.forget(index)  # asked again, the sampler drew something else: it has no seed
        if index not in self._trials:
            self._trials[index], _ = self._ask(index, 0, params)

    def learn(self, told: Finished) -> None:
        result, trial = told.result, self._trials.get(told.index)
        values = None if result is None else self._values(told, result)
        if result is None or values is None or (trial is None and self._define):
            self.forget(told.index)
            return
        if trial is None:
            trial, _ = self._ask(-1, 0, encoded(self.nodes, told.flat))
        trial = still_open(self.study, trial)
        if trial is None:  # an earlier driver told of its end
            return
        constrain(trial, result.violations)
        if told.is_cut_short and not self._is_named:
            step = _step(result.t, inf if self.storage is None else _LARGEST_STORED)
            prune(self.study, trial, values[0] if len(values) == 1 else None, step)
        elif any(map(isnan, values)):
            fail(self.study, trial)
        else:
            tell(self.study, trial, values)

    def _values(self, told: Finished, result: Result) -> list[float] | None:
        """Return the objectives to tell; None where no finite value is known to take instead."""
        if not self._is_named and self.goal is not None and self.goal.metrics:
            return self.goal.values(result)
        scores = self.finite(told) if self._is_named else result.scores
        if scores is None:
            return None
        return [sign * score for sign, score in zip(self._signs, scores, strict=True)]

    def forget_silent(self, trial: Trial, index: int) -> None:
        if trial.is_cut_short and trial.attempt > 0 and not self._is_named:  # it ran
            prune(self.study, still_open(self.study, self._trials.get(index)))
        self.forget(index)

    def forget(self, index: int) -> None:
        fail(self.study, self._trials.pop(index, None))

    def _end(self) -> None:
        self._is_over = True

    def _ask(self, index: int, seed: int, params: Mapping[str, Any] | None) -> tuple[Any, Flat]:
        """Return a new trial of the study and what it suggests: `params` where they are given."""
        self.study.sampler = self._used = sampler(self.sampler, seed, self._used)
        trial = asked(self.study, params, (self._seed, index) if self.storage is not None else None)
        return trial, self._define(trial) if self._define else drawn(self.root, self.nodes, trial)


def _step(t: float, most: float) -> int:
    """Return a trial's t as a step of Optuna, a whole number of at least 0."""
    return int(min(max(0, t), most)) if isfinite(t) else 0


def _has(trial: Any, params: Mapping[str, Any]) -> bool:
    """Return whether Optuna's `trial` has these parameters; True if only its number is known."""
    return isinstance(trial, int) or all(params.get(name) == one for name, one in trial.params.items())
