"""Base class of the searchers that use another library's algorithm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from overtone.core.randomness import Random, key, keyed
from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result
from overtone.errors import GoalError, OvertoneError, SpaceError
from overtone.searchers.base import Searcher, by_hand_too
from overtone.searchers.first_points import FirstPoints, checked_rewards, score_of
from overtone.searchers.flat import Flat, branches, built, flattened, refuse_foreign, searched
from overtone.searchers.library.losses import Finished, finite_losses, loss
from overtone.searchers.library.old_arguments import refuse_others
from overtone.searchers.samples import check_counts, total_of
from overtone.space import parse, sample
from overtone.space.constraint import allows
from overtone.space.tree import Drawn, Group, Pick

_PROPOSALS, _SLOW_PROPOSALS, _TRIES = 20, 3, 20_000

_COUNTS = ("n_initial_points", "random_search_steps", "max_concurrent")
"""Arguments of children that are whole numbers."""


class LibrarySearcher(Searcher):
    """A searcher on another library: suggestions depend only on observations, the space and a seed.

    A child defines `propose`, and `begin`, which checks that the library is installed and supports the
    space. It works on flat configurations: by node key, the value of each domain and the index of
    each option, for the branches that are taken.

    Args:
        space: The search space, if it is not given to `tune.run` or the Tuner; a space given there
            is added to each configuration.
        metric: The metric to optimise, if it is not given to `tune.run` or the Tuner.
        mode: "max" or "min", if it is not given to `tune.run` or the Tuner.
        points_to_evaluate: Configurations to suggest first; missing values are drawn.
        evaluated_rewards: Known values of the metric at the first of these points, which are observed
            and not evaluated.
        seed: A seed to use instead of the experiment's.
        num_samples: Number of trials, 1 or more, or -1 for no limit; None leaves it to `tune.run`.
        others: Unknown arguments of a child: see `refuse_others`.

    Attributes:
        nodes: The searched domains and choices, by key; single options are left out.
        told: Every trial that ended, in this order.
        waiting: Suggestions whose trial has not ended, by index.
        is_numeric: Whether a suggestion uses numerical threads and is limited to one, as slow ones are.
    """

    takes_constraint, counts_samples, is_numeric = True, True, False

    def __init__(
        self,
        space: Any = None,
        metric: str | Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        seed: int | None = None,
        num_samples: int | None = None,
        **others: Any,
    ) -> None:
        if others:
            refuse_others(self, others)
        self.space, self.metric, self.mode = space, metric, mode  # type: ignore[assignment]
        self.points_to_evaluate = points_to_evaluate or []
        self.evaluated_rewards: Any = evaluated_rewards or ()
        if points_to_evaluate:
            checked_rewards(self.evaluated_rewards, points_to_evaluate)
        self.seed, self.num_samples = seed, num_samples

    @staticmethod
    def convert_search_space(spec: Mapping[str, Any], **options: Any) -> Any:
        """Return `spec`: the argument `space` takes it as it is."""
        return spec

    def begin(self) -> None:
        """Prepare the library's algorithm, once the space is known.

        Raises:
            MissingPackageError: The library is not installed.
            SpaceError: It cannot search this space.
        """

    @abstractmethod
    def propose(self, index: int, seed: int) -> Flat:
        """Return the next suggestion; called again with another seed if the constraint forbids it."""

    def is_skipped(self, config: Config) -> bool:
        """Return whether another config is suggested instead; it is asked about each allowed one."""
        return False

    def learn(self, told: Finished) -> None:
        """Observe a trial that ended and that is already in `told`."""

    def forget(self, index: int) -> None:
        """Forget a suggestion: its trial ended without results, or the constraint forbids it."""

    def forget_silent(self, trial: Trial, index: int) -> None:
        """Forget a suggestion whose trial ended without an error and without results."""
        self.forget(index)

    # --- the facts ---------------------------------------------------------------------

    def on_start(self, space: Any, seed: int) -> None:
        self._rest, self._has_rest = parse(space), self.space is not None
        self.root = self._rest if self.space is None else parse(self.space)
        check_counts(self, _COUNTS)
        self._seed = seed if self.seed is None else self.seed
        self.total = None if self.num_samples is None else total_of(self.num_samples)
        found = [node for node in searched(self.root) if _has_choice(node)]
        self.nodes: dict[str, Drawn | Pick] = {node.key: node for node in found}
        grid = next((one for one in found if isinstance(one, Pick) and one.is_grid), None)
        if grid is not None:
            raise SpaceError(
                f"{grid.path}: grid_search tries every point, but {type(self).__name__} "
                f"chooses points by earlier results: write choice({grid.values!r})"
            )
        refuse_foreign(self.root, type(self).__name__)
        self._first = FirstPoints(self.root, self.points_to_evaluate, self._seed, self.evaluated_rewards)
        self.waiting: dict[int, Flat] = {}
        self.told: list[Finished] = []
        self._last: dict[str, Result] = {}
        self._ranges: dict[int, tuple[float, float]] = {}
        self.begin()
        for config, reward in self._first.known:
            self._learn(Finished(-1, flattened(self.root, config), self._rewarded(reward)))
        for config, value in self.hand().known:
            result = None if value is None else self._rewarded(value)
            self._learn(Finished(-1, flattened(self.root, config), result))

    def searched_space(self, space: Group) -> Group:
        if self.space is None:
            return space
        if not self.root.items:
            raise OvertoneError(
                f"warm_start: {type(self).__name__} draws its space trial by trial, so that nobody knows yet "
                "where earlier results belong: write the space as a dict, or go on in Optuna's own storage"
            )
        return self.root

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        config = self._first.config(index)
        if config is not None and not self.is_skipped(config):
            return self._whole(config, index)
        for attempt in range(_TRIES):
            flat = self._tried(index, attempt) if self.nodes else {}
            config = self._whole(built(self.root, flat, lambda name: self._rng(name, index)), index)
            if allows(self.root, config) and allows(self._rest, config) and not self.is_skipped(config):
                return config
        raise SpaceError(
            f"the constraint of the space allowed none of {_TRIES:,} configurations, suggested by "
            f"{type(self).__name__} and drawn at random: write the space so that most of it is allowed"
        )

    def on_suggested(self, index: int, config: Config) -> None:
        self.waiting[index] = flattened(self.root, config)

    def on_result(self, trial: Trial, result: Result) -> None:
        if result.is_ruled:
            self._last[trial.id] = result

    def on_trial_end(self, trial: Trial) -> None:
        result, flat = self._last.pop(trial.id, None), self.chosen_for(trial)
        index = -1 if trial.suggestion is None else trial.suggestion
        self.waiting.pop(index, None)
        if flat is None:
            return
        has_failed = trial.status is Status.ERROR
        if result is not None or has_failed:
            self._learn(Finished(index, flat, None if has_failed else result, trial.is_cut_short))
        else:
            self.forget_silent(trial, index)

    def seed_of(self, index: int, attempt: int = 0) -> int:
        """Return the seed of the suggestion for `index`: a number below 2^31."""
        return key(self._seed, "suggest", str(index), attempt) % 2**31

    def _tried(self, index: int, attempt: int) -> Flat:
        """Return an attempt at a suggestion; later attempts are random, to escape forbidden regions."""
        seed = self.seed_of(index, attempt)
        n_proposals = _SLOW_PROPOSALS if self.is_slow else _PROPOSALS
        if attempt < n_proposals:
            return self._proposed(index, seed)
        if attempt == n_proposals:
            self.forget(index)
        return self.anywhere(seed)

    def _proposed(self, index: int, seed: int) -> Flat:
        if not (self.is_slow or self.is_numeric):
            return self.propose(index, seed)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # matrices are small, and the other cores belong to the trials
            return self.propose(index, seed)

    def _learn(self, told: Finished) -> None:
        self.told.append(told)
        self.learn(told)

    def _rng(self, name: str, index: int) -> Random:
        return keyed(self._seed, f"space:{name}", str(index))

    def _whole(self, config: Config, index: int) -> Config:
        """Return `config` with the values of the space given to `tune.run`."""
        return (
            {**sample(self._rest, lambda name: self._rng(name, index)), **config}
            if self._has_rest
            else config
        )

    def _rewarded(self, reward: float) -> Result:
        mode = self.goal.mode if self.goal is not None else self.mode
        if mode is None:
            raise GoalError('evaluated_rewards: needs mode="max" or mode="min"')
        score, metric = score_of(reward, mode), self.goal.metric if self.goal is not None else None
        return Result(1, score, (score,), (), {} if metric is None else {metric: reward})

    # --- what children need ------------------------------------------------------------

    def chosen_for(self, trial: Trial) -> Flat | None:
        """Return the choices of a trial; None for a scheduler's config that is not in the space."""
        known = self.waiting.get(-1 if trial.suggestion is None else trial.suggestion)
        try:
            return flattened(self.root, trial.config) if known is None else known
        except SpaceError:
            return None

    def losses(self) -> list[float]:
        """Of each of `told`, the score with its sign turned: smaller is better, and all are finite.

        What failed, is NaN or violates a constraint counts as the worst that was found.
        """
        return finite_losses(self.told)

    def newest_loss(self) -> float | None:
        """Return the last of `losses`; None while all trials count as the worst."""
        return self.losses()[-1] if any(isfinite(loss(one)) for one in self.told) else None

    def finite(self, told: Finished) -> list[float] | None:
        """Return the scores of `told`, infinite ones as the best and the worst that were told so far.

        None where it failed, or where nothing is known to take instead.
        """
        scores = () if told.result is None else told.result.scores
        for i, score in enumerate(scores):
            if isfinite(score):
                low, high = self._ranges.get(i, (score, score))
                self._ranges[i] = min(low, score), max(high, score)
        if not scores or not all(i in self._ranges for i in range(len(scores))):
            return None
        return [min(max(score, self._ranges[i][0]), self._ranges[i][1]) for i, score in enumerate(scores)]

    def anywhere(self, seed: int) -> Flat:
        """Return a random flat configuration."""
        rng = Random(seed)
        return self.values({
            name: rng.randrange(len(node.options)) if isinstance(node, Pick) else rng.random()
            for name, node in self.nodes.items()
        })  # fmt: skip

    def units(self, flat: Flat) -> dict[str, float]:
        """Return the numbers in `flat` as coordinates from 0 to 1, the options as their indices."""
        return {
            name: float(node.domain.cdf(flat[name])) if isinstance(node, Drawn) else flat[name]
            for name, node in self.nodes.items()
            if name in flat
        }

    def values(self, units: Mapping[str, Any]) -> Flat:
        """Return the flat configuration of `units`, the inverse of that method."""
        return {
            name: node.domain.quantile(units[name]) if isinstance(node, Drawn) else int(units[name])
            for name, node in self.nodes.items()
            if name in units
        }

    def refuse_branches(self) -> None:
        """Refuse a space with branches, for libraries that know flat spaces only.

        Raises:
            SpaceError: The space has branches.
        """
        for node in branches(self.root):
            raise SpaceError(
                f"{node.path}: {type(self).__name__} cannot search a choice with branches; OptunaSearch "
                'and HyperOptSearch can, and so can search_alg="auto"'
            )


def _has_choice(node: Drawn | Pick) -> bool:
    return (len(node.options) if isinstance(node, Pick) else node.domain.size) > 1


__all__ = ["Finished", "LibrarySearcher"]
