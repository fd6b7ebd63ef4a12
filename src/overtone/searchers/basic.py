"""Random search and grid search, which are one: every grid point, drawn `num_samples` times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from copy import copy
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.randomness import Random, key
from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.searchers.algorithm import VariantTrials
from overtone.searchers.base import Searcher
from overtone.searchers.samples import ENDLESS, checked_samples
from overtone.space import Variants, parse, pin
from overtone.space.allowed import Allowed
from overtone.standard_streams import say

if TYPE_CHECKING:
    from overtone.space import RngFor


class BasicVariantGenerator(VariantTrials, Searcher):
    """Grid and random search: the whole grid `num_samples` times, with new random values for each trial.

    A 3 x 3 grid with num_samples=2 makes 18 trials; a space without grids, `num_samples` trials.
    Each value depends only on the seed, its place in the space and the trial's index.

    Args:
        points_to_evaluate: Configs to evaluate first. Each point replaces one of the `num_samples`. Its
            missing values are drawn, and all points of its missing grids are evaluated. All points
            are evaluated, even if there are more points than samples. A value outside its domain is
            evaluated, and told.
        max_concurrent: Maximum number of trials that run at the same time; 0 for as many as fit.
        constant_grid_search: Whether to draw random values once per sample, for all points of the
            grid.
        random_state: A seed to use instead of the experiment's; also a numpy RandomState or Generator.
        num_samples: 1 or more, or -1 for no limit. None leaves it to `tune.run`, and otherwise
            means 1.

    Attributes:
        num_samples: May be set until `on_start`.
        total: The number of trials, known after `on_start`; None for no limit.

    Raises:
        SpaceError: `max_concurrent`, `num_samples`, `random_state` or a point to evaluate is not valid.
    """

    lookahead = 200
    takes_constraint = counts_samples = True

    def __init__(
        self,
        points_to_evaluate: Iterable[Mapping[str, Any]] | None = None,
        max_concurrent: int = 0,
        constant_grid_search: bool = False,
        random_state: Any = None,
        *,
        num_samples: int | None = None,
    ) -> None:
        self.points_to_evaluate = _points(points_to_evaluate)
        if isinstance(max_concurrent, bool) or not hasattr(max_concurrent, "__index__") or max_concurrent < 0:
            raise SpaceError(f"max_concurrent={max_concurrent!r} must be a whole number, 0 for no limit")
        self.max_concurrent = max_concurrent
        self.constant_grid_search = constant_grid_search
        self.num_samples = None if num_samples is None else checked_samples(num_samples)
        self._own_seed = seed_of(random_state)
        self._seed = 0
        self._random = Random()  # Serves all draws in turn: each draw seeds it by its key.
        self._first: list[Variants] = []
        self._first_ends: list[int] = []
        self._rest = Variants({})

    def on_start(self, space: Any, seed: int) -> None:
        samples = checked_samples(1 if self.num_samples is None else self.num_samples)
        root = parse(space)
        self._seed = seed if self._own_seed is None else self._own_seed
        self._rest = Allowed(root)
        self._first = []
        for i, point in enumerate(self.points_to_evaluate):
            try:
                self._first.append(Allowed(pin(root, point, partial(_tell, i))))
            except SpaceError as error:
                raise SpaceError(f"points_to_evaluate[{i}]: {error}") from None
        self._first_ends = list(accumulate(variants.size for variants in self._first))
        self.total = self.total_for(samples)

    def total_for(self, num_samples: int) -> int | None:
        left = max(0, num_samples - len(self._first))
        listed = self._first_ends[-1] if self._first else 0
        return None if num_samples == ENDLESS else listed + left * self._rest.size

    def suggest(self, index: int) -> Config | None:
        sample = bisect_right(self._first_ends, index)
        if sample < len(self._first):
            variants = self._first[sample]
            point = index - (self._first_ends[sample - 1] if sample else 0)
        else:
            variants = self._rest
            beyond = index - (self._first_ends[-1] if self._first else 0)
            more, point = divmod(beyond, variants.size)
            sample += more
        return variants.config(point, self._rng_for(index, sample))

    def save_to_dir(self, dirpath: str, session_str: str = "default", **options: Any) -> None:  # type: ignore[override]
        """Save to a file in a folder, with the trials that are not made yet."""
        self._left = iter(list(self._left))
        Searcher.save_to_dir(self, dirpath, session_str)

    def restore_from_dir(self, dirpath: str) -> None:
        """Restore from the newest file in a folder."""
        Searcher.restore_from_dir(self, dirpath)

    def has_checkpoint(self, dirpath: str) -> bool:
        """Return whether the folder has such a file."""
        return next(Path(dirpath).glob(self.CKPT_FILE_TMPL.format("*")), None) is not None

    def _fresh(self, num_samples: int) -> BasicVariantGenerator:
        made = copy(self)
        made.num_samples = num_samples
        return made

    def _rng_for(self, index: int, sample: int) -> RngFor:
        trial = f"sample {sample}" if self.constant_grid_search else str(index)

        def rng_for(name: str) -> Random:
            self._random.seed(key(self._seed, f"space:{name}", trial))
            return self._random

        return rng_for


RandomSearch = BasicVariantGenerator


def _tell(i: int, misfit: str) -> None:
    say(f"points_to_evaluate[{i}]: {misfit} (it is evaluated as it is)")


def _points(points: Any) -> list[Mapping[str, Any]]:
    if points is None:
        return []
    if isinstance(points, (Mapping, str)) or not hasattr(points, "__iter__"):
        raise SpaceError(f'points_to_evaluate={points!r} must be a list of dicts, such as [{{"lr": 0.01}}]')
    return list(points)


def seed_of(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if hasattr(random_state, "__index__"):
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(0, 2**31 - 1))
    raise SpaceError(f"random_state={random_state!r} must be a whole number, such as 42, or None")
