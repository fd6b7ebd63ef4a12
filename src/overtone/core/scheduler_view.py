"""The schedulers' read-only view: trials, resources, the goal and keyed randomness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overtone.core.randomness import Random, keyed
from overtone.core.trial import Status, Trial

if TYPE_CHECKING:
    from overtone.core.goal import Goal
    from overtone.core.queue import Queue
    from overtone.core.resources import Resources


class View:
    """A read-only window on a running experiment.

    Attributes:
        trials: Every trial by id, in the order of creation.
        goal: The experiment's goal.
        seed: The experiment's seed.
        search_is_over: Whether no further trial will be suggested.
    """

    def __init__(
        self,
        trials: Mapping[str, Trial],
        goal: Goal,
        seed: int,
        queue: Queue,
        amounts: Callable[[], tuple[dict[str, float], dict[str, float]]],
        earlier: Callable[[str], Any] | None = None,
    ) -> None:
        self.trials = trials
        self.goal = goal
        self.seed = seed
        self.search_is_over = False
        self._queue = queue
        self._amounts = amounts
        self._earlier = earlier

    @property
    def free(self) -> dict[str, float]:
        """The free resources, summed over nodes."""
        return self._amounts()[0]

    @property
    def total(self) -> dict[str, float]:
        """All resources, summed over nodes."""
        return self._amounts()[1]

    def runnable(self) -> Iterator[Trial]:
        """Return the pending, then the paused trials that fit now; by priority, then oldest first."""
        return self._queue.runnable()

    def first_runnable(self) -> Trial | None:
        """Return the first of `runnable()`, or None."""
        return self._queue.first_runnable()

    @property
    def n_waiting(self) -> int:
        """The number of waiting trials, pending or paused, whether they fit now or not."""
        return len(self._queue)

    def fits(self, trial: Trial) -> bool:
        """Return whether `trial` could start now."""
        return self._queue.fits(trial)

    def is_feasible(self, resources: Resources) -> bool:
        """Return whether a trial could get `resources` if no other trial ran."""
        return self._queue.is_feasible(resources)

    def paused(self) -> list[Trial]:
        """Return the paused trials, oldest first."""
        return self._queue.paused()

    def live(self) -> Iterator[Trial]:
        """Return the trials that have not ended."""
        return (trial for trial in self.trials.values() if not trial.status.is_final)

    def running(self) -> Iterator[Trial]:
        """Return the trials that have a process."""
        return (trial for trial in self.trials.values() if trial.status in (Status.STARTING, Status.RUNNING))

    def random(self, purpose: str, trial: str = "", t: float = 0) -> Random:
        """Return a generator that depends on the seed and the arguments alone."""
        return keyed(self.seed, purpose, trial, t)

    def earlier(self, path: str) -> Any:
        """Return the results of another experiment, from its folder.

        Raises:
            LookupError: This run has no way to read other experiments.
        """
        if self._earlier is None:
            raise LookupError(f"{path}: earlier experiments cannot be read here")
        return self._earlier(path)
