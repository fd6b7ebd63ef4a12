"""Position of each trial among the rungs: the base of the asynchronous halving schedulers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from overtone.core.decision import Stop
from overtone.core.messages import NEVER
from overtone.core.randomness import keyed
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import Why
from overtone.schedulers.rungs import Rung, first_pending, milestones

R = TypeVar("R", bound=Rung)


class BracketDraw:
    """The bracket of each trial: drawn by its id and the seed, in proportion to the sizes of HyperBand's.

    Args:
        rule: The name of the scheduler.
        first, last: Bracket s has the rungs first * factor^k < last from k = s on.
        factor: The inverse of the share of trials that continue at a rung.
        brackets: Number of brackets, limited to the number of rungs; one if there are no rungs.

    Attributes:
        milestones: The rungs of each bracket, ascending.
    """

    def __init__(self, rule: str, first: float, last: float, factor: float, brackets: int = 1) -> None:
        self.rule, self.factor = rule, factor
        most = len(milestones(first, last, factor)) + 1
        self.milestones = [milestones(first, last, factor, k) for k in range(min(brackets, most))]
        self._sizes = [factor ** len(rungs) / (len(rungs) + 1) for rungs in self.milestones]

    def number(self, seed: int, trial_id: str) -> int | None:
        """Return the number of a trial's bracket, from 1; None if there is only one."""
        if len(self._sizes) == 1:
            return None
        draw = keyed(seed, f"{self.rule} bracket", trial_id)
        return 1 + draw.choices(range(len(self._sizes)), self._sizes)[0]


class Ladders(Generic[R]):
    """Rungs of a search with one or several brackets.

    Args:
        draw: Draws the bracket of each trial.
        make: Makes the rung of a milestone.

    Attributes:
        rungs: All rungs, the highest milestone first.
    """

    def __init__(self, view: View, draw: BracketDraw, make: Callable[[float], R]) -> None:
        self._view, self._draw, self._rule, self._factor = view, draw, draw.rule, draw.factor
        self._brackets = [[make(rung) for rung in rungs] for rungs in draw.milestones]
        self._n_stopped = 0
        self._number: dict[str, int] = {}  # The bracket's number by trial id, if there are several.
        self._next: dict[str, tuple[list[R], int]] = {}  # Bracket and next rung, by trial id.
        every = [rung for rungs in self._brackets for rung in rungs]
        self.rungs = sorted(every, key=lambda rung: rung.milestone, reverse=True)

    def add(self, trial: Trial) -> None:
        """Add a trial below all rungs; a retried trial above the rungs that it has passed."""
        rungs = self._brackets[0]
        if (number := self._draw.number(self._view.seed, trial.id)) is not None:
            rungs, self._number[trial.id] = self._brackets[number - 1], number
        self._next[trial.id] = (rungs, _passed(rungs, trial.last.t) if trial.last else 0)

    def bracket(self, trial_id: str) -> int | None:
        """Return the number of a live trial's bracket, from 1; None if there is only one."""
        return self._number.get(trial_id)

    def following(self, trial: Trial) -> float:
        """Return the milestone of the trial's next rung."""
        rungs, k = self._next[trial.id]
        return rungs[k].milestone if k < len(rungs) else NEVER

    def arrive(self, trial: Trial, t: float) -> R | None:
        """Return the rung that the trial has just reached; the highest if it passed several."""
        rungs, k = self._next[trial.id]
        passed = k
        while passed < len(rungs) and t >= rungs[passed].milestone:
            passed += 1
        if passed == k:
            return None
        self._next[trial.id] = (rungs, passed)
        return rungs[passed - 1]

    def finish(self, trial: Trial, t: float, max_t: float) -> Stop:
        """Return the Stop of a trial that has come to `max_t`."""
        return Stop(Why("max_t", t=t, note=f"reached max_t={max_t}", bracket=self.bracket(trial.id)))

    def end(self, trial: Trial) -> None:
        """Count the last result of an ended trial at its next rung, unless this scheduler stopped it."""
        rungs, k = self._next.pop(trial.id)
        self._number.pop(trial.id, None)
        waited = k > 0 and rungs[k - 1].leave(trial.id)
        rule = trial.why.rule if trial.why is not None else ""
        self._n_stopped += rule == self._rule
        if (
            waited
            or k == len(rungs)
            or trial.status is not Status.TERMINATED
            or rule in (self._rule, "max_t")
        ):
            return
        if trial.last is not None and trial.last.is_ruled:
            rungs[k].count(trial.last)

    def promoted(self, trials: View, below: float = NEVER) -> Trial | None:
        """Return the trial to run now: the best promotable, from the highest rung down, or a new one."""
        if trials.first_runnable() is None:
            return None
        for rung in self.rungs:
            for trial_id in rung.ready(self._factor) if rung.milestone < below else ():
                trial = trials.trials[trial_id]
                if not trial.status.is_placed and trials.fits(trial):
                    rung.leave(trial_id)
                    return trial
        return first_pending(trials, self._waits)

    def leftover(self, trials: View, below: float = NEVER) -> Iterator[tuple[str, Stop]]:
        """Yield Stops for waiting trials once none of them can be promoted and no trial will arrive."""
        if not trials.search_is_over or len(self._next) != sum(rung.n_waiting for rung in self.rungs):
            return
        if any(True for rung in self.rungs if rung.milestone < below for _ in rung.ready(self._factor)):
            return
        for rung in self.rungs:
            for trial_id in rung.waiting():
                note = f"not among the best 1/{self._factor:g} at {rung.milestone:g}, and no other will come"
                why = Why(
                    self._rule, rung.milestone, rung.milestone, of=len(rung), note=note,
                    bracket=self.bracket(trial_id),
                )  # fmt: skip
                yield trial_id, Stop(why)

    def describe(self, name: str = "AsyncHyperBand") -> str:
        """Return the cutoff at each rung in the user's metric, in the format of Ray Tune."""
        lines, value = [f"Using {name}: num_stopped={self._n_stopped}"], self._view.goal.value
        for rungs in self._brackets:
            bars = [(rung.milestone, rung.cutoff(self._factor)) for rung in reversed(rungs)]
            shown = [f"Iter {t:.3f}: {bar if bar is None else f'{value(bar):.4g}'}" for t, bar in bars]
            lines.append("Bracket: " + " | ".join(shown))
        return "\n".join(lines)

    def _waits(self, trial: Trial) -> bool:
        rungs, k = self._next[trial.id]
        return k > 0 and trial.id in rungs[k - 1]


def _passed(rungs: list[R], t: float) -> int:
    """Return the number of rungs at or below t."""
    return bisect_right(rungs, t, key=lambda rung: rung.milestone)
