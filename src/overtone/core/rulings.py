"""Decisions on trials that reported: the scheduler decides, stoppers may overrule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from overtone.core import messages as m
from overtone.core.decision import (
    CONTINUE,
    Add,
    Continue,
    Decision,
    Pause,
    Restart,
    Ruling,
    Save,
    Stop,
    as_decision,
)  # fmt: skip
from overtone.core.goal import Goal, lacking_order
from overtone.core.ineffective_settings import Awaited, AwaitedCheckpoint
from overtone.core.protocols import Stopper, TrialScheduler, overrides
from overtone.core.recorded_choices import RecordedChoices
from overtone.core.retention import MetricWorth
from overtone.core.roster import Live, Roster
from overtone.core.scheduler_view import View
from overtone.core.trial import HALTING, Status, Trial
from overtone.core.types import WORST, Checkpoint, Config, Metrics, Result, Why
from overtone.errors import ArgumentError, UsageError


class Rulings:
    """Records results, and carries out the decisions of scheduler and stoppers.

    Args:
        observes: Whether the searcher observes results.
        worth: A result's worth as a checkpoint; the newest is worth most if None.

    Attributes:
        may_end_search: Whether a stopper may want to end the search.
    """

    def __init__(
        self,
        roster: Roster,
        scheduler: TrialScheduler,
        stoppers: Sequence[Stopper],
        goal: Goal,
        observes: bool,
        worth: MetricWorth | None,
    ) -> None:
        self._nothing = RecordedChoices(())
        self._roster = roster
        self._scheduler = scheduler
        self._stoppers = tuple(stoppers)
        self._awaited = Awaited(name for one in self._stoppers for name in one.awaits)
        self._awaited_order = Awaited(() if worth is None else (worth.metric,), lacking_order, has_use=False)
        needs_checkpoint = scheduler.needs_checkpoints
        self._awaited_checkpoint = AwaitedCheckpoint(type(scheduler).__name__ if needs_checkpoint else "")
        self._goal = goal
        self._observes = observes
        self._worth: Callable[[Result], float] = worth or (lambda result: float(result.t))
        self._merit: Callable[[Result], float] = worth or (lambda result: result.score)
        self._has_result = False
        self.may_end_search = any(overrides(one, Stopper.stop_all) for one in self._stoppers)
        self._may_retake = scheduler.replayable and not observes and not self.may_end_search
        self._hears_decisions = overrides(scheduler, TrialScheduler.on_decision)

    def on_reported(self, live: Live, event: m.Reported) -> None:
        """Handle a trial's report that is not a duplicate."""
        trial, t = live.trial, event.t
        result = self._take(trial, t, event.metrics) if t > trial.ruled_t else None
        if event.checkpoint is not None:
            self.keep(live, event.checkpoint)
        if result is None:
            self._roster.choices.append(m.Ruled(trial.id, t, "redone"))
        if trial.status is HALTING:  # Reported before the Halt arrived.
            if result is not None and not isinstance(live.intent, (Stop, Restart)):
                self._stop_if_met(live, result, t)
            return
        if result is None:
            self._proceed(live, t)
            return
        decision = self._judge(trial, result)
        if self._roster.past is not None:
            decision = self._roster.past.decision(trial, t, decision)
        self.rule(live, decision, t)

    def on_saved(self, live: Live, checkpoint: Checkpoint) -> None:
        """Handle a save between reports; a trial that leaves its node halts now."""
        self.keep(live, checkpoint)
        if live.leaves and live.trial.status is Status.RUNNING:
            self._roster.halt(live.trial, None)

    def go_on(self, live: Live) -> None:
        """Let a trial that could not save go on, instead of halting."""
        live.intent, live.until_t = None, 0.0
        self._roster.move(live.trial, Status.RUNNING)
        self._proceed(live, live.t)

    def keep(self, live: Live, checkpoint: Checkpoint) -> None:
        """Record a trial's checkpoint with its worth."""
        live.saved_t = checkpoint.t
        self._awaited_order.has_use = True
        self._awaited_checkpoint.on_saved()
        last = live.trial.last
        self._roster.keep(
            live.trial,
            checkpoint,
            self._worth(last) if last is not None else 0.0,
            self._merit(last) if last is not None else WORST,
        )

    def doubt(self, trial: Trial) -> None:
        """Warn of metrics and checkpoints that are still missing after `trial` reported or ended."""
        for awaited in (self._awaited, self._awaited_order, self._awaited_checkpoint):
            self._warn(awaited.doubt(trial))

    def _warn(self, text: str | None) -> None:
        if text is not None:
            self._roster.choices.append(m.Noted(text, is_warning=True))

    def stop_all(self) -> str | None:
        """Return a stopper's reason to end the search; None if there is none."""
        for stopper in self._stoppers:
            if reason := stopper.stop_all():
                return str(reason)
        return None

    def rule(self, live: Live, decision: Decision, t: int) -> None:
        """Carry out a decision on a running trial.

        Raises:
            UsageError: `decision` is not a Decision on this trial.
        """
        trial = live.trial
        if self._hears_decisions:
            self._scheduler.on_decision(trial, decision)
        if decision is CONTINUE:
            if t >= live.until_t or live.leaves:
                self._proceed(live, t)
            return
        choices = self._roster.choices
        match decision:
            case Continue(config):
                if config is not None:
                    trial.config = config
                    choices.append(m.Ruled(trial.id, t, "continue", config=config))
                self._proceed(live, t, config=config)
            case Save():
                choices.append(m.Ruled(trial.id, t, "save"))
                self._warn(self._awaited_checkpoint.ask(trial, t))
                self._proceed(live, t, save=True)
            case Pause(why):
                choices.append(m.Ruled(trial.id, t, "pause", why))
                self._warn(self._awaited_checkpoint.ask(trial, t))
                self._roster.halt(trial, decision, save=True, park=self._scheduler.parks)
            case Stop(why):
                choices.append(m.Ruled(trial.id, t, "stop", why))
                self._roster.halt(trial, decision)
            case Restart(config, source, why, resources):
                is_own = source is None or source == trial.id
                if source is not None and not is_own:
                    checkpoint = self._roster.checkpoint_of(source, f"trial {trial.id}")
                    self._roster.pin(checkpoint)
                    live.restart_from = checkpoint
                choices.append(m.Ruled(trial.id, t, "restart", why, config, source, resources))
                self._roster.halt(trial, decision, save=is_own)
            case Add():
                raise UsageError("Add is for review(): on_result rules on the trial that reported")
            case _:
                raise UsageError(f"{decision!r} is not a Decision")

    def review(self, view: View) -> Iterable[Ruling]:
        """Return the scheduler's rulings on trials that did not just report."""
        past = self._roster.past
        if past is None:
            return self._pairs(self._scheduler.review(view))
        if not self._scheduler.replayable:  # It is told: see on_decision.
            return past.rest()
        return past.rulings(self.effective(self._pairs(self._scheduler.review(view))))

    def _pairs(self, ruled: Any) -> list[Ruling]:
        """Return the result of review() as pairs.

        Raises:
            TypeError: review() returned something else.
        """
        pairs = list(ruled) if hasattr(ruled, "__iter__") and type(ruled) is not str else [ruled]
        if not pairs:
            return []
        who = type(self._scheduler).__name__
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
                raise UsageError(
                    f"{who}.review gave {pair!r:.100}: yield (trial.id, decision), or return () for no ruling"
                )
        return [(trial_id, as_decision(decision, who, "review")) for trial_id, decision in pairs]

    def effective(self, found: Iterable[Ruling]) -> Iterator[Ruling]:
        """Yield the rulings that change something once the rulings before them are carried out.

        Raises:
            ValueError: A ruling names a trial that does not exist.
        """
        for trial_id, decision in found:
            if not isinstance(decision, Add):
                trial = self._roster.trials.get(trial_id)
                if trial is None:
                    who = type(self._scheduler).__name__
                    raise ArgumentError(
                        f"{who}.review ruled {decision!r} on trial {trial_id!r}, which does not exist: "
                        "yield (trial.id, decision)"
                    )
                if not _has_effect(decision, trial.status):
                    continue
            yield trial_id, decision

    def next_decision(self, trial: Trial) -> float:
        """Return the t up to which the trial may run ahead: no decision is possible at a smaller t.

        Raises:
            UsageError: The scheduler or a stopper returned something else than a number.
        """
        if (self._goal.is_needed and not self._goal.metrics) or self._scheduler.rules_anywhere:
            return 0.0
        until = self._scheduler.next_decision(trial)
        if not isinstance(until, (int, float)):
            raise UsageError(
                f"{type(self._scheduler).__name__}.next_decision returned {until!r:.100}: "
                "return the smallest t at which it may rule, such as trial.ruled_t + 1"
            )
        for stopper in self._stoppers:
            until = min(until, stopper.next_decision(trial))
        return until if until == m.NEVER or self._goal.time_attr == "training_iteration" else 0.0

    def retake(self, trial_id: str, attempt: int, t: int, metrics: Metrics) -> list[tuple[str, str]] | None:
        """Enter a recorded result without choices again; return the differing decisions.

        Return None, and enter nothing, if more than a decision may follow.
        """
        live = self._roster.live.get(trial_id)
        if live is None or live.trial.attempt != attempt or t <= live.t or t <= live.trial.ruled_t:
            return None
        trial = live.trial
        if trial.status is not Status.RUNNING or not (self._may_retake and self._has_result):
            return None
        if not self._goal.metrics:
            return None
        live.t = t
        result = self._goal.result(metrics, t)
        self._enter(trial, t, result)
        decision = self._judge(trial, result)
        if self._hears_decisions:
            self._scheduler.on_decision(trial, CONTINUE)
        return [] if decision is CONTINUE else self._nothing.differing(decision)

    def _take(self, trial: Trial, t: int, metrics: Metrics) -> Result:
        """Record a new result, and return it."""
        if not self._goal.metrics and (note := self._goal.infer(metrics)):
            self._roster.choices.append(m.Noted(note))
        if not self._has_result:
            self._has_result = True
            self._roster.choices.extend(map(m.Noted, self._goal.doubts(metrics)))
        result = self._goal.result(metrics, t)
        self._enter(trial, t, result)
        if self._awaited.names or self._awaited_order.names:
            self.doubt(trial)
        if self._observes:
            self._roster.commands.append(m.Observe(trial, result))
        return result

    def _enter(self, trial: Trial, t: int, result: Result) -> None:
        """Update the trial with a new result."""
        trial.ruled_t = t
        trial.n_results += 1
        trial.last = result
        for awaited in (self._awaited, self._awaited_order):
            if awaited.names:
                awaited.look(result.metrics)
        if result.scores and (trial.best is None or result.score > trial.best.score):
            trial.best = result

    def _judge(self, trial: Trial, result: Result) -> Decision:
        """Return the decision of scheduler and stoppers on a new result."""
        decision: Decision = CONTINUE
        is_shown = result.scores or not self._scheduler.needs_metric
        if is_shown and (self._roster.past is None or self._scheduler.replayable):
            ruled = self._scheduler.on_result(trial, result)
            decision = ruled if ruled is CONTINUE else as_decision(ruled, type(self._scheduler).__name__)
        if decision is not CONTINUE and not isinstance(decision, Stop) and result.get("done") is True:
            decision = CONTINUE  # The trial ends now: there is nothing to resume.
        return self._criterion_met(trial, result) or decision

    def _criterion_met(self, trial: Trial, result: Result) -> Stop | None:
        """Return the Stop of the first stopper that ends the trial; None if none does."""
        for stopper in self._stoppers:
            reason = stopper(trial, result)
            if reason is not None:
                return Stop(Why("stop", t=result.t, note=reason))
        return None

    def _stop_if_met(self, live: Live, result: Result, t: int) -> None:
        """Stop a trial that halts in order to be resumed if its new result meets a stop criterion."""
        decision: Decision = self._criterion_met(live.trial, result) or CONTINUE
        if self._roster.past is not None:
            decision = self._roster.past.decision(live.trial, t, decision)
        if isinstance(decision, Stop):
            self.rule(live, decision, t)

    def _proceed(self, live: Live, t: int, save: bool = False, config: Config | None = None) -> None:
        """Let report() return, unless the trial runs ahead already or has saved and leaves its node."""
        if live.leaves:
            if live.saved_t >= t:
                self._roster.halt(live.trial, None)
                return
            save = True
        if t < live.until_t and not save and config is None:
            return
        trial = live.trial
        live.until_t = self.next_decision(trial)
        self._roster.commands.append(m.Proceed(trial.id, trial.attempt, live.until_t, save, config))


def _has_effect(decision: Decision, status: Status) -> bool:
    """Return whether a review's decision on a trial of this status changes anything."""
    if isinstance(decision, Continue) or status.is_final:
        return False
    if isinstance(decision, Restart):
        return status not in (Status.STARTING, Status.HALTING)
    return isinstance(decision, Stop) or status is Status.RUNNING
