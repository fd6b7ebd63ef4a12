"""Waiting trials, in the order in which they should start."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator

from overtone.core.ledger import Ledger
from overtone.core.resources import Resources
from overtone.core.trial import PENDING, Trial

_Key = tuple[int, float, int, str]


class Queue:
    """Pending trials, then paused trials; each group by priority, then oldest first.

    Trials of one shape fit or do not fit together, so each shape has a sorted list. The cost of
    finding the first trial that fits is proportional to the number of shapes.

    Attributes:
        held: The ids of trials that a request holds. Such a trial is in no list while it waits.
        released: The ids of trials that a request paused and another one released: no scheduler
            waits for them, so they start as soon as they fit.
        n_pending: The number of pending trials that are not held.
        has_elastic: Whether a trial whose number of workers may vary was ever added.
    """

    def __init__(self, trials: dict[str, Trial], ledger: Ledger) -> None:
        self._trials = trials
        self._ledger = ledger
        self._waiting: dict[Resources, list[_Key]] = {}
        self.held: set[str] = set()
        self.released: dict[str, None] = {}
        self.n_pending = 0
        self.has_elastic = False

    def add(self, trial: Trial) -> None:
        """Add `trial`, as pending or paused by its status."""
        if self.held and trial.id in self.held:
            return
        keys = self._waiting.get(trial.resources)
        if keys is None:
            keys = self._waiting[trial.resources] = []
            self.has_elastic = self.has_elastic or trial.resources.workers is not None
        insort(keys, _key(trial))
        self.n_pending += trial.status is PENDING

    def remove(self, trial: Trial) -> None:
        """Remove `trial`, which must still have the status that it was added with."""
        if self.held and trial.id in self.held:
            return
        keys = self._waiting[trial.resources]
        at = bisect_left(keys, _key(trial))
        if at == len(keys) or keys[at][3] != trial.id:
            raise KeyError(trial.id)
        del keys[at]
        if not keys:
            del self._waiting[trial.resources]
        self.n_pending -= trial.status is PENDING

    def reorder(self, trial: Trial, priority: float) -> None:
        """Give `trial` another priority, whether it waits or not."""
        if _waits(trial):
            self.remove(trial)
        trial.priority = priority
        if _waits(trial):
            self.add(trial)

    def hold(self, trial: Trial) -> None:
        """Hold `trial`: from now on, it does not start."""
        if _waits(trial):
            self.remove(trial)
        self.released.pop(trial.id, None)
        self.held.add(trial.id)

    def release(self, trial: Trial, at_once: bool) -> None:
        """Release `trial`: it may start again.

        Args:
            at_once: Whether it starts as soon as it fits; otherwise, the scheduler chooses.
        """
        self.held.discard(trial.id)
        if _waits(trial):
            self.add(trial)
        if at_once:
            self.released[trial.id] = None

    def adaptable(self) -> Iterator[tuple[Resources, list[Trial]]]:
        """Yield the waiting trials whose workers or GPU memory may change, by their present demand."""
        for shape, keys in list(self._waiting.items()):
            if shape.workers is not None or shape.auto is not None:
                yield shape, [self._trials[key[3]] for key in keys]

    def first_released(self) -> Trial | None:
        """Return the first released trial that fits now, or None."""
        too_large: set[Resources] = set()
        for trial_id in list(self.released):
            trial = self._trials[trial_id]
            if trial.status.is_final:
                del self.released[trial_id]
            elif _waits(trial) and trial.resources not in too_large:
                if self.fits(trial):
                    return trial
                too_large.add(trial.resources)
        return None

    def runnable(self) -> Iterator[Trial]:
        """Yield the trials that fit now, in order."""
        owner = self._ledger.reserved_for
        if owner is not None and (first := self._trials.get(owner)) is not None and self.fits(first):
            yield first
        fitting = [keys for shape, keys in self._waiting.items() if self._ledger.fits(shape)]
        merged = fitting[0] if len(fitting) == 1 else heapq.merge(*fitting)
        for *_, trial_id in merged:
            if trial_id != owner:
                yield self._trials[trial_id]

    def first_runnable(self) -> Trial | None:
        """Return the first of `runnable()`, or None."""
        if self._ledger.reserved_for is not None:
            return next(self.runnable(), None)
        first: _Key | None = None
        for shape, keys in self._waiting.items():
            if (first is None or keys[0] < first) and self._ledger.fits(shape):
                first = keys[0]
        return None if first is None else self._trials[first[3]]

    def has_runnable(self) -> bool:
        """Return whether any waiting trial may fit now."""
        if self._ledger.reserved_for is not None:
            return True
        fits = self._ledger.fits
        for shape in self._waiting:  # noqa: SIM110 - any() makes a generator, and this is hot
            if fits(shape):
                return True
        return False

    def fits(self, trial: Trial) -> bool:
        """Return whether `trial` could start now."""
        return trial.id not in self.held and self._ledger.fits(trial.resources, trial.id)

    def is_feasible(self, resources: Resources) -> bool:
        """Return whether a trial could get these resources if no other trial ran."""
        return self._ledger.is_feasible(resources)

    def head(self) -> Trial | None:
        """Return the first pending trial, whether it fits or not; None if there is none."""
        firsts = [keys[0] for keys in self._waiting.values() if keys[0][0] == 0]
        return self._trials[min(firsts)[3]] if firsts else None

    def short_of(self) -> dict[Resources, int]:
        """Return the number of pending trials of each shape that does not fit, by their first trial."""
        found = {
            shape: (keys[0], bisect_left(keys, (1,)))
            for shape, keys in self._waiting.items()
            if keys[0][0] == 0 and not self._ledger.fits(shape)
        }
        return {shape: found[shape][1] for shape in sorted(found, key=lambda shape: found[shape][0])}

    def newest(self) -> Resources | None:
        """Return the resources that the newest trial asks for; None before the first trial."""
        newest = next(reversed(self._trials.values()), None)
        return None if newest is None else newest.resources

    def paused(self) -> list[Trial]:
        """Return the paused trials, oldest first."""
        found = [key for keys in self._waiting.values() for key in keys[bisect_left(keys, (1,)) :]]
        return [self._trials[key[3]] for key in sorted(found, key=lambda key: key[2])]

    def pending(self) -> list[Trial]:
        """Return the pending trials, in order."""
        found = [key for keys in self._waiting.values() for key in keys[: bisect_left(keys, (1,))]]
        return [self._trials[key[3]] for key in sorted(found)]

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))


def _waits(trial: Trial) -> bool:
    return not (trial.status.is_placed or trial.status.is_final)


def _key(trial: Trial) -> _Key:
    return (0 if trial.status is PENDING else 1, -trial.priority, trial.index, trial.id)
