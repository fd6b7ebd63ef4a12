"""Brackets that are halved as a whole: the base of the synchronous halving schedulers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from overtone.core.decision import CONTINUE, Decision, Pause, Stop
from overtone.core.messages import NEVER
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Result, Why
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.rungs import first_pending

Plan = Sequence[tuple[int, int]]
"""One bracket: (number of trials, their t) at each rung."""


class Bracket:
    """Trials that are halved together.

    Attributes:
        plan: Its numbers of trials and their t.
        number: Its number, from 1, in the order in which brackets begin.
        k: Its current rung, from 0.
        is_full: Whether no further trial joins it.
        trials: All trials that ever joined.
        members: Trials at the current rung or on their way to it, by id.
        scores: Scores of the members that have reached the current rung.
        n_began: Number of trials that began the current rung.
    """

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan, self.number, self.k, self.is_full, self.n_began = plan, number, 0, False, 0
        self.trials: list[Trial] = []
        self.members: dict[str, Trial] = {}
        self.scores: dict[str, float] = {}

    @property
    def milestone(self) -> int:
        """The t up to which its members run."""
        return self.plan[self.k][1]

    @property
    def is_last(self) -> bool:
        """Whether the current rung is the last, without a decision."""
        return self.k == len(self.plan) - 1

    def join(self, trial: Trial) -> None:
        """Add a new trial."""
        self.trials.append(trial)
        self.members[trial.id] = trial
        self.n_began += 1
        self.is_full = self.n_began >= self.plan[0][0]

    def leave(self, trial: Trial, counts: bool) -> None:
        """Record the end of a trial; if it `counts`, its last result is its score at this rung."""
        if counts and trial.id in self.members and trial.last is not None and not self.is_last:
            self.scores.setdefault(trial.id, trial.last.score)
        else:
            self.members.pop(trial.id, None)
            self.scores.pop(trial.id, None)

    def halve(self, eta: float, rule: str) -> Iterator[tuple[str, Stop]]:
        """Yield Stops for the losers and begin the next rung, if all members have arrived.

        Of the n trials that began, floor(n / eta) win, at least one; NaN never wins, and ties go to
        the older trial. A winner that has already ended keeps its place.
        """
        while self.is_full and 0 < len(self.members) == len(self.scores) and not self.is_last:
            ranked = sorted(self.members.values(), key=lambda one: (-self.scores[one.id], one.index))
            n, t = max(1, int(self.n_began // eta)), self.milestone
            winners = [one for one in ranked[:n] if self.scores[one.id] > WORST]
            bar = self.scores[winners[-1].id] if winners else None
            for rank, one in enumerate(ranked, 1):
                if rank > len(winners) and not one.status.is_final:
                    yield one.id, Stop(Why(rule, t, t, bar, rank, len(ranked), bracket=self.number))
            self.k, self.n_began = self.k + 1, len(winners)
            self.members = {one.id: one for one in winners if not (self.is_last and one.status.is_final)}
            self.scores = {
                name: self.scores[name] for name, one in self.members.items() if one.status.is_final
            }

    def __str__(self) -> str:
        steps = [n * (t - t0) for (n, t), (_, t0) in zip(self.plan, ((0, 0), *self.plan), strict=False)]
        n, t = self.plan[self.k]
        done = sum(steps[: self.k]) + steps[self.k] * min(1.0, len(self.scores) / n)
        counts = sorted(Counter(one.status.shown for one in self.trials).items())
        states = ", ".join(f"{status}: {count}" for status, count in counts)
        return (
            f"Bracket(Max Size (n)={n}, Milestone (r)={t}, completed={done / sum(steps):.1%}): {{{states}}}"
        )


class Brackets(TrialScheduler):
    """Fills one bracket after the other; they run at the same time.

    A winner stays paused until it is chosen, before any new trial.

    Attributes:
        plans: The brackets of a round, in order; then the round repeats.
        eta: The share of trials that continue at a rung is 1/eta.
        stops_last: Whether a trial ends at its last rung.
        rule: The name of the scheduler, for reasons.
    """

    plans: Sequence[Plan]
    eta: float
    stops_last: bool
    rule: str
    pauses = True

    def on_start(self, view: View) -> None:
        self.n_stopped = self.n_made = 0
        self.brackets: list[Bracket] = []  # Unfinished brackets; all but the newest are full.
        self._of: dict[str, Bracket] = {}
        self._ready: dict[str, Trial] = {}  # Winners that have not resumed yet, oldest first.
        self._changed: dict[Bracket, None] = {}

    def on_trial_add(self, trial: Trial) -> None:
        if not self.brackets or self.brackets[-1].is_full:
            plan = self.plans[self.n_made % len(self.plans)]
            self.n_made += 1
            self.brackets.append(Bracket(plan, self.n_made))
        self._of[trial.id] = self.brackets[-1]
        self.brackets[-1].join(trial)

    def next_decision(self, trial: Trial) -> float:
        bracket = self._of[trial.id]
        return bracket.milestone if self.stops_last or not bracket.is_last else NEVER

    def on_result(self, trial: Trial, result: Result) -> Decision:
        if result.t < self.next_decision(trial):
            return CONTINUE
        bracket = self._of[trial.id]
        if bracket.is_last:
            note = f"reached max_t={bracket.milestone}"
            return Stop(Why("max_t", t=result.t, note=note, bracket=bracket.number))
        bracket.scores.setdefault(trial.id, result.score)
        self._changed[bracket] = None
        why = Why(self.rule, result.t, bracket.milestone, bracket=bracket.number)
        return Pause(why) if result.score > WORST else Stop(why)

    def on_trial_end(self, trial: Trial) -> None:
        bracket, rule = self._of.pop(trial.id), trial.why.rule if trial.why is not None else ""
        self.n_stopped += rule == self.rule
        is_ruled = trial.last is not None and trial.last.is_ruled
        by_itself = trial.status is Status.TERMINATED and rule not in (self.rule, "stop_trial")
        bracket.leave(trial, counts=is_ruled and by_itself)
        self._ready.pop(trial.id, None)
        self._changed[bracket] = None

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        if trials.search_is_over and self.brackets and not self.brackets[-1].is_full:
            self.brackets[-1].is_full = True
            self._changed[self.brackets[-1]] = None
        for bracket in self._changed:
            k = bracket.k
            yield from bracket.halve(self.eta, self.rule)
            if bracket.k > k:
                live = (one for one in bracket.members.values() if not one.status.is_final)
                self._ready.update((one.id, one) for one in live)
            if bracket.is_full and not bracket.members and bracket in self.brackets:
                self.brackets.remove(bracket)
        self._changed.clear()

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        if trials.first_runnable() is None:
            return None
        for trial in self._ready.values():
            if not trial.status.is_placed and trials.fits(trial):
                del self._ready[trial.id]
                return trial
        return first_pending(trials, lambda trial: trial.id in self._of[trial.id].scores)
