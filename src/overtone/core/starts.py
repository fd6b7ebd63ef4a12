"""The choice of the trials that start next."""

from __future__ import annotations

from overtone.core import messages as m
from overtone.core.additions import Additions
from overtone.core.bounds import Bounds
from overtone.core.decision import check_choice
from overtone.core.fairness import Fairness
from overtone.core.protocols import TrialScheduler, overrides
from overtone.core.roster import Roster
from overtone.core.rulings import Rulings
from overtone.core.scheduler_view import View
from overtone.core.suggestion_quota import Supply
from overtone.core.trial import Trial, equal
from overtone.core.types import Why


class Starts:
    """Starts waiting trials while they fit: the scheduler chooses, and a journal's choice wins.

    Trials that a request paused and another one released come first: their scheduler waits for no
    trial that it did not pause.
    """

    def __init__(
        self,
        roster: Roster,
        scheduler: TrialScheduler,
        view: View,
        rulings: Rulings,
        supply: Supply,
        bounds: Bounds,
        additions: Additions,
    ) -> None:
        self.fairness = Fairness(roster.queue, roster.ledger)
        self._roster, self._queue, self._ledger = roster, roster.queue, roster.ledger
        self._scheduler = scheduler
        self._takes_first = not overrides(scheduler, TrialScheduler.choose_trial_to_run)
        self._view = view
        self._rulings = rulings
        self._supply = supply
        self._bounds = bounds
        self._has_priorities = additions.template.priority is not equal
        self._has_started = False

    def fill(self, time: float) -> None:
        """Start the trials that fit now."""
        if not self._has_started and self._supply.outstanding and self._has_priorities:
            return  # Later suggestions may have a higher priority.
        if self._queue.has_elastic:
            self._resize()
        cap = self._bounds.now.max_concurrent or m.NEVER
        while self._queue and len(self._ledger) < cap:
            trial = self._choose()
            if trial is None:
                break
            check_choice(trial, type(self._scheduler).__name__)
            if not self._takes_first and trial.id in self._queue.held:  # from a list of the scheduler's own
                break
            placement = self._ledger.place(trial.id, trial.resources)
            if placement is None:
                break
            self._roster.start(trial, placement, time, self._rulings.next_decision(trial))
            self.fairness.on_start(trial.resources, time)
            self._has_started = True

    def _resize(self) -> None:
        """Give waiting trials whose number of workers may vary as many as all nodes together can hold.

        The size changes before a trial starts and never while it runs. What other trials hold does not count:
        a trial waits for them rather than start smaller.
        """
        for shape, trials in self._queue.adaptable():
            wanted = self._ledger.largest(shape)
            if wanted is None or wanted == shape:
                continue
            why = Why("elastic", note=f"{len(wanted.bundles) - 1} workers, as many as the nodes can hold")
            for trial in trials:
                self._roster.resize(trial, wanted, why)

    def _choose(self) -> Trial | None:
        """Return the trial to start now, or None."""
        past = self._roster.past
        released = self._queue.first_released() if self._queue.released else None
        if past is None and released is not None:
            return released
        if past is None and self._takes_first:
            return self._view.first_runnable()
        if past is None:
            return self._scheduler.choose_trial_to_run(self._view) if self._queue.has_runnable() else None
        now = released
        if now is None and self._scheduler.replayable:
            now = self._scheduler.choose_trial_to_run(self._view)
        now = now if now is not None and self._view.fits(now) else None
        if now is None and self._scheduler.replayable and not past.is_late:
            return None  # The scheduler may choose after a review, later in the same event.
        return past.started(now, self._roster.trials)
