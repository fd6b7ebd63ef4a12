"""How trials end, and the experiment with them."""

from __future__ import annotations

from collections.abc import Callable

from overtone.core import messages as m
from overtone.core.decision import Pause, Restart, Stop
from overtone.core.goal import Goal
from overtone.core.ledger import infeasible
from overtone.core.limits import Limits
from overtone.core.protocols import TrialScheduler
from overtone.core.resources import Resources
from overtone.core.roster import Live, Roster, slim
from overtone.core.suggestion_quota import Supply
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint, Config, Why

_BY_ITSELF = {cause: Why(cause) for cause in ("halted", "returned")}
"""One object each, since most trials end so, and keep their reason."""

NOT_CHOSEN = Why("not chosen", note="the scheduler chose no trial to go on with")

MAX_LOSSES = 3
"""So often in a row, without a new result in between, a trial is lost before that is a failure."""

FAIL_FAST_S = 0.5
"""What the others are given to end by themselves, where the first failed trial ends the search."""


class Endings:
    """Gives trials whose process ended their next status, and ends the search.

    Args:
        observes: Whether the searcher wants to hear of ended trials.
        resources: A config's demand.

    Attributes:
        closing: Why the search is ending; None while it goes on.
        keeps: It ends in order to be resumed: what has not ended stays unended.
    """

    def __init__(
        self,
        roster: Roster,
        scheduler: TrialScheduler,
        goal: Goal,
        limits: Limits,
        supply: Supply,
        observes: bool,
        resources: Callable[[Config], Resources],
    ) -> None:
        self.closing: Why | None = None
        self.keeps = False
        self._roster = roster
        self._scheduler = scheduler
        self._goal = goal
        self._limits = limits
        self._supply = supply
        self._observes = observes
        self._resources = resources
        self._losses: dict[str, tuple[int, int]] = {}  # by trial: its results then, how often since

    def end(self, trial: Trial, event: m.Ended) -> None:
        """A trial's process is gone. The trial has ended, or waits again."""
        live = self._roster.end_process(trial)
        self.settle(trial, live, event)
        if live.restart_from is not None:
            self._roster.unpin(live.restart_from)
        if not trial.status.is_final:
            self._roster.queue.add(trial)

    def reopen(self, event: m.Resumed) -> None:
        """Let all that had not ended wait to be run again, by a new driver."""
        closed, self.closing, self.keeps = self.closing, None, False
        self._limits = event.limits
        self._losses.clear()
        for trial in [self._roster.trials[trial_id] for trial_id in self._roster.live]:
            lost = m.Ended(event.time, trial.id, trial.attempt, "lost", "the driver ended")
            self.end(trial, lost)
        self._losses.clear()  # a driver's end says nothing of its trials
        for trial in self._roster.queue.paused():
            if trial.why is closed:  # no scheduler paused it
                self._again(trial, Why("resumed"))
        if event.errored:
            for trial in [one for one in self._roster.trials.values() if one.status is Status.ERROR]:
                self._revive(trial, event.errored)

    def settle(self, trial: Trial, live: Live, event: m.Ended) -> None:
        """Give a trial whose process ended its next status."""
        intent = live.intent
        if isinstance(intent, Stop):  # it halted, or it had to be killed, or raised on its way out
            self._finish(trial, Status.TERMINATED, intent.why, event.error)
        elif isinstance(intent, Restart) and event.cause in ("halted", "killed", "lost"):
            self._restart(trial, intent, live.restart_from, was_killed=event.cause != "halted")
        elif isinstance(intent, Pause) and event.cause in ("halted", "lost"):
            self._roster.move(trial, Status.PAUSED, intent.why)
        elif self.keeps and event.cause in ("halted", "killed", "lost"):
            self._roster.move(trial, Status.PAUSED, self.closing)
        elif live.leaves and _has_moved(trial, event):
            self._wait_again(trial, Why("moved", note=event.error or "its node goes away"))
        elif event.cause in ("halted", "returned"):
            problem = self._lacks(trial) if intent is None else ""
            if problem:
                self._fail(trial, Why("no metric", note=problem), problem, may_retry=False)
            else:
                self._finish(trial, Status.TERMINATED, _BY_ITSELF[event.cause])
        elif event.cause == "lost":
            self._lose(trial, event.error)
        else:
            trial.failures += 1
            may_retry = event.cause != "limit" and not event.is_hopeless  # it would use as much again
            self._fail(trial, Why(event.cause, note=event.error), event.error, may_retry)

    def _lose(self, trial: Trial, error: str) -> None:
        """Let a trial whose process was taken away run again; too often in a row is a failure."""
        before, count = self._losses.get(trial.id, (-1, 0))
        count = count + 1 if trial.n_results == before else 1
        self._losses[trial.id] = (trial.n_results, count)
        if count < MAX_LOSSES:
            self._wait_again(trial, Why("lost", note=error))
            return
        del self._losses[trial.id]
        trial.failures += 1
        error = (
            f"lost {count} times in a row without a new result, the last time: {error}. If the system "
            'killed it for want of memory, let fewer trials run at once: resources_per_trial={"memory": '
            '"8GB"} or max_concurrent_trials=1'
        )
        self._fail(trial, Why("lost", note=error), error, may_retry=True)

    def _wait_again(self, trial: Trial, why: Why) -> None:
        """Let a trial wait to be started; a parked one waits to be chosen, as it did before."""
        self._roster.move(trial, Status.PAUSED if trial.status is Status.PARKED else Status.PENDING, why)

    def stop(self, trial: Trial, why: Why, save: bool = False, grace_s: float | None = None) -> None:
        """End a trial for good, whatever it does now."""
        if trial.id in self._roster.live:
            self._roster.halt(trial, Stop(why), save, grace_s=grace_s)
        else:
            self._roster.withdraw(trial)
            self._finish(trial, Status.TERMINATED, why)

    def refuse(self, trial: Trial) -> bool:
        """Fail a trial whose demand is above what there is; whether it was."""
        ledger = self._roster.ledger
        if self._limits.is_elastic or ledger.is_feasible(trial.resources):
            return False
        error = infeasible(trial.resources, ledger.total())
        self._fail(trial, Why("infeasible", note=error), error, may_retry=False)
        return True

    def close(self, why: Why, keeps: bool, grace_s: float | None = None) -> None:
        """End the search: running trials save and halt, the others do not start."""
        if self.closing is not None:
            return
        self.closing, self.keeps = why, keeps
        self._roster.choices.append(m.Noted(why.note or why.rule))
        for trial in [one for one in self._roster.trials.values() if not one.status.is_final]:
            if not keeps:
                self.stop(trial, why, save=True, grace_s=grace_s)
            elif trial.id in self._roster.live:
                self._roster.halt(trial, self._roster.live[trial.id].intent, save=True)

    def _lacks(self, trial: Trial) -> str:
        """What is wrong with a trial that returned without what was needed, or nothing."""
        if trial.last is None:
            what = "the trainable ended without a result"
            return f"{what}: call tune.report({{...}}) in it, or return the metrics"
        if trial.best is None and self._goal.is_binding:
            return self._goal.missing(trial.last.metrics)
        if trial.best is not None and self._goal.constraints:
            return self._goal.missing_constraint(trial.last.metrics, trial.best.metrics)
        return ""

    def _fail(self, trial: Trial, why: Why, error: str, may_retry: bool) -> None:
        allowed = self._limits.max_failures
        trial.error = error
        is_open = self.closing is None or self.keeps
        if may_retry and is_open and (allowed < 0 or trial.failures <= allowed):
            self._roster.move(trial, Status.PENDING, why, error)
            return
        self._finish(trial, Status.ERROR, why, error)
        if self._limits.fail_fast:
            self.close(Why("fail_fast", note=f"trial {trial.id} failed"), keeps=False, grace_s=FAIL_FAST_S)

    def _finish(self, trial: Trial, status: Status, why: Why | None, error: str = "") -> None:
        """A trial ends for good; its checkpoint stays pinned, for another may go on from it."""
        self._losses.pop(trial.id, None)
        self._roster.move(trial, status, why, error)
        self._supply.on_end()
        self._scheduler.on_trial_end(trial)
        if self._observes:
            self._roster.commands.append(m.Observe(trial, None))
        last, best = trial.last, trial.best
        if last is not None:
            names = (*self._goal.metrics, "training_iteration", "time_total_s")
            trial.last = slim(last, names)
            trial.best = trial.last if best is last else best and slim(best, names)

    def renew(self, trial: Trial, decision: Restart) -> None:
        """A waiting trial is to go on with another config, or from another's checkpoint."""
        source = decision.source if decision.source != trial.id else None
        checkpoint = self._roster.checkpoint_of(source, f"trial {trial.id}") if source else None
        ruled = m.Ruled(
            trial.id, trial.ruled_t, "restart", decision.why, decision.config, source, decision.resources
        )
        self._roster.choices.append(ruled)
        self._roster.withdraw(trial)
        self._restart(trial, decision, checkpoint, was_killed=True)
        if not trial.status.is_final:
            self._roster.queue.add(trial)

    def _again(self, trial: Trial, why: Why) -> None:
        """A trial that is paused waits to be started like a new one."""
        self._roster.queue.remove(trial)
        self._roster.move(trial, Status.PENDING, why)
        self._roster.queue.add(trial)

    def _revive(self, trial: Trial, how: str) -> None:
        """A trial that ended in an error is tried again, from its last checkpoint or from nothing."""
        trial.failures, trial.error = 0, ""
        if how == "restart":
            self._roster.forget(trial)
            trial.ruled_t, trial.last, trial.best = 0, None, None
        self._roster.move(trial, Status.PENDING, Why("resumed", note="it had ended in an error"))
        self._scheduler.on_trial_add(trial)
        self._roster.queue.add(trial)

    def _restart(self, trial: Trial, intent: Restart, source: Checkpoint | None, was_killed: bool) -> None:
        """Begin again with another config; one that was killed before it ever saved, from nothing."""
        trial.config = intent.config
        past = self._roster.past
        then = past.demand(trial) if past is not None else None  # the call may ask for another one today
        before, trial.resources = trial.resources, then or intent.resources or self._resources(intent.config)
        if source is not None:
            self._roster.go_on_from(trial, source)
        elif trial.checkpoint is not None or not was_killed:  # what it saved on its way out, or before
            source = self._roster.checkpoint_of(trial.id, f"trial {trial.id}")
        trial.ruled_t = source.t if source else 0
        if trial.status is not Status.PENDING:
            changed = trial.resources if trial.resources != before else None
            self._roster.move(trial, Status.PENDING, intent.why, resources=changed)
        self.refuse(trial)


def _has_moved(trial: Trial, event: m.Ended) -> bool:
    """Return whether a trial that leaves its node ended for that reason, and not by a failure of its own."""
    return event.cause in ("halted", "lost") or (event.cause == "killed" and trial.status is Status.HALTING)
