"""What the searchers share whose algorithm is another library's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from overtone.core.protocols import Searcher
from overtone.core.randomness import Random, key, keyed
from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result
from overtone.errors import GoalError, SpaceError
from overtone.searchers.first_points import FirstPoints
from overtone.searchers.flat import Flat, built, flattened, refuse_foreign, searched
from overtone.searchers.samples import total_of
from overtone.space import parse, sample
from overtone.space.constraint import allows
from overtone.space.tree import Drawn, Pick

_TRIES = 100


@dataclass(frozen=True, slots=True)
class Finished:
    """A trial that ended.

    Attributes:
        index: Of its suggestion; -1 for one that was known before, or added by a scheduler.
        flat: What was chosen for it.
        result: Its last one; None where it failed.
    """

    index: int
    flat: Flat
    result: Result | None


class LibrarySearcher(Searcher):
    """Keeps the facts and the space; what a child proposes follows from them and a seed alone.

    A child has `begin`, which sees that its library is there and can search the space, and
    `propose`. It works on flat configurations: by node key, the value of each domain and the index of
    each option, of those that are taken.

    Args:
        space: What to search, where it is not given to `tune.run` or the Tuner; what is given there
            is added to each configuration.
        metric, mode: The goal, where it is not named there.
        points_to_evaluate: Configurations to try first; what a point leaves open is drawn.
        evaluated_rewards: The metric's values at the first of these points, which are learnt from
            and not tried.
        seed: Used instead of the experiment's.
        num_samples: 1 or more, or -1 to go on without end; None leaves it to `tune.run`.

    Attributes:
        nodes: What is searched, by key; options that leave no choice are left out.
        told: Every trial that ended, in this order.
        waiting: What was suggested and has not ended, by index.
    """

    takes_constraint = True

    def __init__(
        self,
        space: Any = None,
        metric: str | Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        seed: int | None = None,
        num_samples: int | None = None,
    ) -> None:
        self.space, self.metric, self.mode = space, metric, mode  # type: ignore[assignment]
        self.points_to_evaluate, self.evaluated_rewards = points_to_evaluate or (), evaluated_rewards or ()
        self.seed, self.num_samples = seed, num_samples

    def begin(self) -> None:
        """Called when the space is known.

        Raises:
            MissingPackageError: The library is not installed.
            SpaceError: It cannot search this space.
        """

    @abstractmethod
    def propose(self, index: int, seed: int) -> Flat:
        """What to try next; asked again with another seed where the space's constraint forbids it."""

    def learn(self, told: Finished) -> None:
        """A trial ended, and is in `told` by now."""

    def forget(self, index: int) -> None:
        """A trial ended without having shown anything."""

    # --- the facts ---------------------------------------------------------------------

    def on_start(self, space: Any, seed: int) -> None:
        self._rest, self._has_rest = parse(space), self.space is not None
        self.root = self._rest if self.space is None else parse(self.space)
        self._seed = seed if self.seed is None else self.seed
        self.total = None if self.num_samples is None else total_of(self.num_samples)
        found = [node for node in searched(self.root) if not isinstance(node, Pick) or len(node.options) > 1]
        self.nodes: dict[str, Drawn | Pick] = {node.key: node for node in found}
        grid = next((one for one in found if isinstance(one, Pick) and one.is_grid), None)
        if grid is not None:
            raise SpaceError(
                f"{grid.path}: grid_search is gone through point by point, and {type(self).__name__} "
                f"chooses by what it has learnt: write choice({grid.values!r})"
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

    def suggest(self, index: int) -> Config | None:
        config = self._first.config(index)
        if config is not None:
            return self._whole(config, index)
        for attempt in range(_TRIES):
            flat = self.propose(index, self.seed_of(index, attempt)) if self.nodes else {}
            config = built(self.root, flat, lambda name: self._rng(name, index))
            if allows(self.root, config):
                return self._whole(config, index)
        raise SpaceError(
            f"{type(self).__name__} suggested nothing that the constraint of the space allows in "
            f"{_TRIES} attempts: write the space so that most of it is allowed"
        )

    def on_suggested(self, index: int, config: Config) -> None:
        self.waiting[index] = flattened(self.root, config)

    def on_result(self, trial: Trial, result: Result) -> None:
        if result.is_ruled:
            self._last[trial.id] = result

    def on_trial_end(self, trial: Trial) -> None:
        result = self._last.pop(trial.id, None)
        index = -1 if trial.suggestion is None else trial.suggestion
        flat = self.waiting.pop(index, None)
        try:
            flat = flattened(self.root, trial.config) if flat is None else flat
        except SpaceError:
            return  # a scheduler's own, and none of the space's
        has_failed = trial.status is Status.ERROR
        if result is not None or has_failed:
            self._learn(Finished(index, flat, None if has_failed else result))
        else:
            self.forget(index)

    def seed_of(self, index: int, attempt: int = 0) -> int:
        """What seeds the suggestion for `index`: a number below 2^31."""
        return key(self._seed, "suggest", str(index), attempt) % 2**31

    def _learn(self, told: Finished) -> None:
        self.told.append(told)
        self.learn(told)

    def _rng(self, name: str, index: int) -> Random:
        return keyed(self._seed, f"space:{name}", str(index))

    def _whole(self, config: Config, index: int) -> Config:
        """With what `tune.run` was given beside the searcher's own space."""
        return (
            {**sample(self._rest, lambda name: self._rng(name, index)), **config}
            if self._has_rest
            else config
        )

    def _rewarded(self, reward: float) -> Result:
        mode = self.goal.mode if self.goal is not None else self.mode
        if mode is None:
            raise GoalError('evaluated_rewards need to know what is better: say mode="max" or "min"')
        score = reward if mode == "max" else -reward
        return Result(1, score, (score,))

    # --- what children need ------------------------------------------------------------

    def losses(self) -> list[float]:
        """Of each of `told`, the score with its sign turned: smaller is better, and all are finite.

        What failed, is NaN or violates a constraint counts as the worst that was found.
        """
        found = [_loss(one.result) for one in self.told]
        known = [loss for loss in found if isfinite(loss)]
        best, worst = min(known, default=0.0), max(known, default=0.0)
        return [min(max(loss, best), worst) for loss in found]

    def finite(self, told: Finished) -> list[float] | None:
        """The scores of `told`, infinite ones as the best and the worst that were told so far.

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
        """A flat configuration that is drawn at random."""
        rng = Random(seed)
        return self.values({
            name: rng.randrange(len(node.options)) if isinstance(node, Pick) else rng.random()
            for name, node in self.nodes.items()
        })  # fmt: skip

    def units(self, flat: Flat) -> dict[str, float]:
        """The numbers in `flat` as coordinates from 0 to 1, the options as their indices."""
        return {
            name: float(node.domain.cdf(flat[name])) if isinstance(node, Drawn) else flat[name]
            for name, node in self.nodes.items()
            if name in flat
        }

    def values(self, units: Mapping[str, Any]) -> Flat:
        """The inverse of `units`."""
        return {
            name: node.domain.quantile(units[name]) if isinstance(node, Drawn) else int(units[name])
            for name, node in self.nodes.items()
            if name in units
        }

    def refuse_branches(self) -> None:
        """For libraries that know flat spaces only.

        Raises:
            SpaceError: The space has branches.
        """
        for node in self.nodes.values():
            if isinstance(node, Pick) and any(next(searched(one), None) for one in node.options):
                raise SpaceError(
                    f"{node.path}: {type(self).__name__} cannot search a choice with branches; OptunaSearch "
                    'and HyperOptSearch can, and so can search_alg="auto"'
                )


def _loss(result: Result | None) -> float:
    return inf if result is None or any(one > 0 for one in result.violations) else -result.score
