"""The ends of trials and of the experiment."""

from __future__ import annotations

from overtone.core import messages as m
from overtone.core.bounds import Bounds
from overtone.core.decision import Pause, Restart, Stop
from overtone.core.goal import Goal
from overtone.core.gpu_memory import GpuMemory
from overtone.core.ledger import infeasible
from overtone.core.protocols import TrialScheduler
from overtone.core.resources import Resources
from overtone.core.roster import Live, Roster, slim
from overtone.core.suggestion_quota import Supply
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint, Why

_BY_ITSELF = {cause: Why(cause) for cause in ("halted", "returned")}
"""Shared reasons: most trials end by these causes and keep the reason."""

NOT_CHOSEN = Why("not chosen", note="the scheduler chose no trial to go on with")

MAX_LOSSES = 3
"""Losses in a row, without a new result between them, that count as a failure."""

FAIL_FAST_S = 0.5
"""Grace in seconds for the other trials if the first failed trial ends the search."""


class Endings:
    """Sets the next status of trials whose process ended, and ends the search.

    Args:
        observes: Whether the searcher observes ended trials.
        gpu_memory: Decides how much GPU memory trials reserve.

    Attributes:
        closing: Reason of the search's end; None while the search continues.
        keeps: Whether the search ends in order to be resumed: unfinished trials stay unfinished.
    """

    def __init__(
        self,
        roster: Roster,
        scheduler: TrialScheduler,
        goal: Goal,
        bounds: Bounds,
        supply: Supply,
        observes: bool,
        gpu_memory: GpuMemory,
    ) -> None:
        self.closing: Why | None = None
        self.keeps = False
        self._roster = roster
        self._scheduler = scheduler
        self._goal = goal
        self._bounds = bounds
        self._supply = supply
        self._observes = observes
        self._gpu_memory = gpu_memory
        self._losses: dict[str, tuple[int, int]] = {}  # By trial id: (number of results, losses since).

    @property
    def takes_trials(self) -> bool:
        """Whether a suggestion becomes a trial: not if the search has ended for good.

        One that comes after an interruption waits for the resume; in older journals it was dropped.
        """
        if self.closing is None:
            return True
        past = self._roster.past
        return self.keeps and (past is None or past.has_added)

    def end(self, trial: Trial, event: m.Ended) -> None:
        """Handle the end of a trial's process: the trial ends, or is pending or paused again."""
        live = self._roster.end_process(trial)
        if trial.resources.auto is not None:
            self._gpu_memory.on_end(trial, live, event)
        self.settle(trial, live, event)
        if live.restart_from is not None:
            self._roster.unpin(live.restart_from)
        if not trial.status.is_final:
            self._roster.queue.add(trial)

    def reopen(self, event: m.Resumed) -> None:
        """Make all unfinished trials wait to be run by a new driver."""
        closed, self.closing, self.keeps = self.closing, None, False
        self._losses.clear()
        for trial in [self._roster.trials[trial_id] for trial_id in self._roster.live]:
            lost = m.Ended(event.time, trial.id, trial.attempt, "lost", "the driver ended")
            self.end(trial, lost)
        self._losses.clear()  # Losses of an earlier driver do not count.
        for trial in self._roster.queue.paused():
            if trial.why is closed:  # The interruption paused it, not the scheduler.
                self._again(trial, Why("resumed"))
        if event.errored:
            for trial in [one for one in self._roster.trials.values() if one.status is Status.ERROR]:
                self._revive(trial, event.errored)

    def settle(self, trial: Trial, live: Live, event: m.Ended) -> None:
        """Give a trial whose process ended its next status."""
        intent = live.intent
        is_over = event.cause == "halted" and (self.keeps or live.leaves) and self._is_over(trial)
        if isinstance(intent, Stop):  # The trial halted, was killed, or raised while it ended.
            self._finish(trial, Status.TERMINATED, intent.why, event.error)
        elif isinstance(intent, Restart) and event.cause in ("halted", "killed", "lost"):
            self._restart(trial, intent, live.restart_from, was_killed=event.cause != "halted")
        elif isinstance(intent, Pause) and event.cause in ("halted", "lost"):
            self._roster.move(trial, Status.PAUSED, intent.why)
        elif self.keeps and not is_over and event.cause in ("halted", "killed", "lost"):
            self._roster.move(trial, Status.PAUSED, self.closing)
        elif live.leaves and not is_over and _has_moved(trial, event):
            self._wait_again(trial, Why("moved", note=event.error or "its node goes away"))
        elif event.cause in ("halted", "returned"):
            problem = self._lacks(trial) if intent is None else ""
            if problem:
                self._fail(trial, Why("no metric", note=problem), problem, may_retry=False)
            else:
                self._finish(trial, Status.TERMINATED, _BY_ITSELF[event.cause])
        elif event.cause == "lost":
            self._lose(trial, event.error)
        elif event.cause == "out_of_memory" and (after := self._gpu_memory.after_excess(trial, event)):
            self._resize(trial, *after)
        else:
            trial.failures += 1
            may_retry = event.cause != "limit" and not event.is_hopeless  # A retry would fail again.
            self._fail(trial, Why(event.cause, note=event.error), event.error, may_retry)

    def _is_over(self, trial: Trial) -> bool:
        """Return whether the trial's last result said that it is done; a journal's choice wins."""
        past = self._roster.past
        is_done = trial.last is not None and trial.last.get("done") is True
        return is_done and (past is None or past.ends(trial.id))

    def _resize(self, trial: Trial, wanted: Resources, why: Why) -> None:
        """Let a trial go on with another demand."""
        past = self._roster.past
        trial.resources = (past and past.resized(trial.id)) or wanted
        self._roster.move(trial, Status.PENDING, why, resources=trial.resources)

    def _lose(self, trial: Trial, error: str) -> None:
        """Make a trial whose process was lost wait again; `MAX_LOSSES` losses in a row are a failure."""
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
        """Make a trial wait to be started; a parked trial waits to be chosen, as before."""
        self._roster.move(trial, Status.PAUSED if trial.status is Status.PARKED else Status.PENDING, why)

    def stop(self, trial: Trial, why: Why, save: bool = False, grace_s: float | None = None) -> None:
        """End a trial for good, from any status."""
        if trial.id in self._roster.live:
            self._roster.halt(trial, Stop(why), save, grace_s=grace_s)
        else:
            self._roster.withdraw(trial)
            self._finish(trial, Status.TERMINATED, why)

    def refuse(self, trial: Trial) -> bool:
        """Fail a trial whose demand exceeds the total resources; return whether it failed."""
        ledger = self._roster.ledger
        if self._bounds.now.is_elastic or ledger.largest(trial.resources) is not None:
            return False
        error = infeasible(trial.resources, ledger.total(), ledger.largest_gpu_memory)
        self._fail(trial, Why("infeasible", note=error), error, may_retry=False)
        return True

    def close(self, why: Why, keeps: bool, grace_s: float | None = None) -> None:
        """End the search: running trials save and halt; the others do not start."""
        if self.closing is not None:
            return
        self.closing, self.keeps = why, keeps
        self._roster.choices.append(m.Noted(why.note or why.rule))
        for trial in [one for one in self._roster.trials.values() if not one.status.is_final]:
            if not keeps:
                self.stop(trial, why, save=True, grace_s=grace_s)
            elif trial.id in self._roster.live:
                self._roster.halt(trial, self._roster.live[trial.id].intent, save=True)

    def check_budget(self, time: float) -> None:
        """End the search if its time budget is spent."""
        budget = self._bounds.now.time_budget_s
        if budget is not None and time >= budget:
            why = Why("time_budget_s", note=f"the time budget of {budget:g} s is spent")
            self.close(why, keeps=False)

    def _lacks(self, trial: Trial) -> str:
        """Return the error of a trial that returned without a required metric; "" if it lacks none."""
        if trial.last is None:
            if not (self._goal.is_binding or self._goal.constraints or self._observes):
                return ""  # Nobody asked for a metric: the trial is done, with an empty result.
            what = "the trainable ended without a result"
            return f"{what}: call tune.report({{...}}) in it, or return the metrics"
        if trial.best is None and self._goal.is_binding:
            return self._goal.missing(trial.last.metrics)
        if trial.best is not None and self._goal.constraints:
            return self._goal.missing_constraint(trial.last.metrics, trial.best.metrics)
        return ""

    def _fail(self, trial: Trial, why: Why, error: str, may_retry: bool) -> None:
        allowed = self._bounds.now.max_failures
        trial.error = error
        is_open = self.closing is None or self.keeps
        if may_retry and is_open and (allowed < 0 or trial.failures <= allowed):
            self._roster.move(trial, Status.PENDING, why, error)
            return
        self._finish(trial, Status.ERROR, why, error)
        if self._bounds.now.fail_fast:
            self.close(Why("fail_fast", note=f"trial {trial.id} failed"), keeps=False, grace_s=FAIL_FAST_S)

    def _finish(self, trial: Trial, status: Status, why: Why | None, error: str = "") -> None:
        """End a trial for good; its checkpoint stays pinned, since another trial may restore it."""
        self._losses.pop(trial.id, None)
        self._roster.move(trial, status, why, error)
        if self._roster.queue.held:
            self._roster.queue.held.discard(trial.id)
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
        """Give a waiting trial another config, or the checkpoint of another trial."""
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
        """Make a paused trial pending, like a new trial."""
        self._roster.queue.remove(trial)
        self._roster.move(trial, Status.PENDING, why)
        self._roster.queue.add(trial)

    def _revive(self, trial: Trial, how: str) -> None:
        """Retry a trial that ended in an error, from its last checkpoint or from the beginning."""
        trial.failures, trial.error = 0, ""
        if how == "restart":
            self._roster.forget(trial)
            trial.ruled_t, trial.last, trial.best = 0, None, None
        self._roster.move(trial, Status.PENDING, Why("resumed", note="it had ended in an error"))
        self._scheduler.on_trial_add(trial)
        self._roster.queue.add(trial)

    def _restart(self, trial: Trial, intent: Restart, source: Checkpoint | None, was_killed: bool) -> None:
        """Restart with another config; a trial killed before its first save starts from the beginning."""
        trial.config = intent.config
        past = self._roster.past
        then = past.demand(trial) if past is not None else None  # Today's call may return another demand.
        before, wanted = trial.resources, then or intent.resources
        trial.resources = wanted or self._gpu_memory.demand(intent.config)
        if source is not None:
            self._roster.go_on_from(trial, source)
        elif trial.checkpoint is not None or not was_killed:  # its newest checkpoint
            source = self._roster.checkpoint_of(trial.id, f"trial {trial.id}")
        trial.ruled_t = source.t if source else 0
        changed = trial.resources if trial.resources != before else None
        self._roster.move(trial, Status.PENDING, intent.why, resources=changed, config=intent.config)
        self.refuse(trial)


def _has_moved(trial: Trial, event: m.Ended) -> bool:
    """Return whether a trial ended because it left its node, rather than by a failure."""
    return event.cause in ("halted", "lost") or (event.cause == "killed" and trial.status is Status.HALTING)
