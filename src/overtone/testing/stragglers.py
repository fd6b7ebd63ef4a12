"""The simulation of appendix A.1 of the ASHA paper: jobs of random lengths on many workers.

A job takes a configuration from one rung to the next, in as many units of time as there are units
of resource between them, times 1 + |z|, where z is normal with mean 0. The loss of a
configuration is drawn once. To be fast it calls the scheduler as a controller would, without one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from overtone.core.decision import Continue, Decision, Pause, Stop
from overtone.core.goal import Goal
from overtone.core.ledger import Ledger
from overtone.core.protocols import TrialScheduler
from overtone.core.queue import Queue
from overtone.core.randomness import keyed
from overtone.core.resources import Resources
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.schedulers.rungs import milestones


class Endless(View):
    """A view in which all trials fit and another new trial is always available."""

    def __init__(self, seed: int) -> None:
        trials: dict[str, Trial] = {}
        super().__init__(trials, Goal("loss", "min"), seed, Queue(trials, Ledger()), lambda: ({}, {}))
        self.every, self.next = trials, Trial("", 0, {}, Resources.of({"cpu": 1}))
        self._scores = keyed(seed, "loss")

    def add(self, scheduler: TrialScheduler) -> None:
        """Add the next trial."""
        index, config = len(self.every), {"score": self._scores.random()}
        self.next = self.every[str(index)] = Trial(str(index), index, config, self.next.resources)
        scheduler.on_trial_add(self.next)

    def runnable(self) -> Iterator[Trial]:
        yield self.next

    def first_runnable(self) -> Trial | None:
        return self.next

    def fits(self, trial: Trial) -> bool:
        return True


def completed(
    scheduler: TrialScheduler, sd: float, seed: int, workers: int = 25, units: float = 2000.0,
    first: int = 1, factor: int = 4, last: int = 256,
) -> int:  # fmt: skip
    """Return the number of configurations that reached `last` within `units` of time.

    Args:
        sd: The standard deviation of z.
    """
    random, rungs, view = (
        keyed(seed, "straggler"),
        [*map(int, milestones(first, last, factor)), last],
        Endless(seed),
    )
    scheduler.on_start(view)
    view.add(scheduler)
    heap: list[tuple[float, int, Trial]] = []
    at: dict[str, int] = {}
    n_begun = n_done = 0

    def begin(trial: Trial, now: float) -> None:
        nonlocal n_begun
        n_begun, before = n_begun + 1, at.get(trial.id, 0)
        at[trial.id] = next(rung for rung in rungs if rung > before)
        length = (at[trial.id] - before) * (1 + abs(random.gauss(0, sd)))
        heapq.heappush(heap, (now + length, n_begun, trial))

    def end(trial: Trial, decision: Decision) -> None:
        trial.why = decision.why if isinstance(decision, (Stop, Pause)) else None
        trial.status = Status.TERMINATED if isinstance(decision, Stop) else Status.PAUSED
        if trial.status is Status.TERMINATED:
            scheduler.on_trial_end(trial)

    def fill(now: float) -> None:
        while len(heap) < workers and (trial := scheduler.choose_trial_to_run(view)) is not None:
            trial.status = Status.RUNNING
            begin(trial, now)
            if trial is view.next:
                view.add(scheduler)

    fill(0.0)
    while heap[0][0] <= units:
        now, _, trial = heapq.heappop(heap)
        n_done += at[trial.id] == last
        score = trial.config["score"]
        trial.last = Result(at[trial.id], score, (score,))
        decision = scheduler.on_result(trial, trial.last)
        if isinstance(decision, Continue):
            begin(trial, now)
            continue
        end(trial, decision)
        for trial_id, ruled in scheduler.review(view):
            if not view.every[trial_id].status.is_final:
                end(view.every[trial_id], ruled)
        fill(now)
    return n_done
