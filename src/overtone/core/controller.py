"""The pure controller: an event in, choices and commands out.

No clock, no I/O, no threads, and randomness by key alone: the same events make the same
choices on every engine, and again in a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, Add, Continue, Decision, Pause, Restart, Save, Stop, as_decision
from overtone.core.endings import Endings
from overtone.core.fairness import Fairness
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.protocols import Stopper, TrialScheduler
from overtone.core.randomness import key
from overtone.core.retention import Retention
from overtone.core.roster import Roster
from overtone.core.supply import Supply
from overtone.core.template import Template
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint, Config, Result, Why
from overtone.core.view import View


class Outcome(NamedTuple):
    """What came of an event.

    Attributes:
        choices: What was decided, for the journal; what is implied is left out.
        commands: What is to be done now, in this order.
        is_stale: The event was late or a duplicate, and is not for the journal.
    """

    choices: tuple[m.Choice, ...]
    commands: list[m.Command]
    is_stale: bool = False


class Controller:
    """Runs one experiment's logic.

    Args:
        scheduler: Rules on trials.
        goal: Turns metrics into scores.
        stoppers: May overrule the scheduler with a Stop.
        limits: What bounds the experiment.
        template: How a config becomes a trial.
        retention: Which checkpoints are kept.
        checkpoint_worth: A result's worth as a checkpoint; the newest is worth most if None.
        seed: All keyed randomness derives from it.
        observes: Whether the searcher wants to hear of results.
        earlier: Gives schedulers the results of another experiment, by path.

    Attributes:
        trials: Every trial by id, in the order of creation.
        is_done: Whether nothing is left to do.
        view: What schedulers see.
    """

    def __init__(
        self,
        scheduler: TrialScheduler,
        goal: Goal,
        *,
        stoppers: Sequence[Stopper] = (),
        limits: Limits | None = None,
        template: Template | None = None,
        retention: Retention | None = None,
        checkpoint_worth: Callable[[Result], float] | None = None,
        seed: int = 0,
        observes: bool = False,
        earlier: Callable[[str], Any] | None = None,
    ) -> None:
        self.goal = goal
        self.is_done = False
        self._scheduler = scheduler
        self._stoppers = tuple(stoppers)
        self._limits = limits or Limits()
        self._template = template or Template()
        self._worth = checkpoint_worth or (lambda result: float(result.t))
        self._observes = observes
        self._roster = Roster(f"{key(seed, 'trial ids'):016x}"[:5], retention or Retention())
        self.trials = self._roster.trials
        self._ledger, self._queue = self._roster.ledger, self._roster.queue
        self._fairness = Fairness(self._queue, self._ledger)
        self._supply = Supply(self._limits.total, self._limits.lookahead)
        self._endings = Endings(
            self._roster, scheduler, goal, self._limits, self._supply, observes, self._template.resources
        )
        self._has_wake = self._has_result = False
        self._time = 0.0
        self.view = View(
            self.trials, goal, seed, self._queue, lambda: (self._ledger.free(), self._ledger.total()), earlier
        )
        self._handlers: dict[type, Callable[[Any], bool | None]] = {
            m.CapacityChanged: self._on_capacity_changed,
            m.Suggested: self._on_suggested,
            m.Started: self._on_started,
            m.Reported: self._on_reported,
            m.Saved: self._on_saved,
            m.SaveFailed: self._on_save_failed,
            m.Discarded: lambda _: None,
            m.Noticed: self._on_noticed,
            m.Ended: self._on_ended,
            m.Requested: self._on_requested,
            m.Tick: self._on_tick,
            m.Interrupted: self._on_interrupted,
        }
        scheduler.on_start(self.view)

    def handle(self, event: m.Event) -> Outcome:
        """Take note of an event and decide what follows.

        Raises:
            OvertoneError: The experiment cannot go on, and why.
            Exception: What a scheduler or stopper raised.
        """
        self._roster.choices, self._roster.commands = [], []
        self._time = event.time
        if self._handlers[type(event)](event) is False:
            return Outcome((), [], is_stale=True)
        return Outcome(tuple(self._roster.choices), self._roster.commands)

    # --- events: each returns False for one that came too late -------------------------

    def _on_capacity_changed(self, event: m.CapacityChanged) -> None:
        self._ledger.set_capacity(event.nodes)
        if self._limits.time_budget_s is not None and not self._has_wake:
            self._has_wake = True
            self._roster.commands.append(m.Wake(self._limits.time_budget_s))
        self._advance()

    def _on_suggested(self, event: m.Suggested) -> None:
        self._supply.on_answer(event.index, event.config is not None)
        if event.config is not None and self._endings.closing is None and self._create(event.config, None):
            self._review()
        self._advance()

    def _on_started(self, event: m.Started) -> bool | None:
        trial = self._roster.current(event)
        if trial is None or self._roster.live[trial.id].is_up:
            return False
        self._roster.live[trial.id].is_up = True
        if trial.status is Status.STARTING:
            self._roster.move(trial, Status.RUNNING)
        return None

    def _on_reported(self, event: m.Reported) -> bool | None:
        trial = self._roster.current(event)
        if trial is None or trial.status is Status.PARKED:
            return False
        live = self._roster.live[trial.id]
        if event.t <= live.t:
            return False
        live.t = event.t
        is_new = event.t > trial.ruled_t
        if is_new:
            self._take(trial, event)
        if event.checkpoint is not None:
            self._keep(trial, event.checkpoint)
        if not is_new:
            self._roster.choices.append(m.Ruled(trial.id, event.t, "redone"))
        if trial.status is Status.HALTING:  # it reported before it heard: on record, ruled by nobody
            return None
        if not is_new or trial.last is None:
            self._proceed(trial, event.t)
            return None
        result = trial.last
        decision: Decision = CONTINUE
        if result.is_ruled:
            ruled = self._scheduler.on_result(trial, result)
            decision = ruled if ruled is CONTINUE else as_decision(ruled, type(self._scheduler).__name__)
        if event.metrics.get("done") is True and not isinstance(decision, Stop):
            decision = CONTINUE  # it ends by itself, and there is nothing to come back to
        for stopper in self._stoppers:
            reason = stopper(trial, result)
            if reason is not None:
                decision = Stop(Why("stop", t=result.t, note=reason))
                break
        self._rule(trial, decision, event.t)
        for stopper in self._stoppers:
            ask = getattr(stopper, "stop_all", None)
            reason = ask() if ask else None
            if reason:
                self._endings.close(Why("stop_all", note=str(reason)), keeps=False)
                self._advance()
        return None

    def _on_saved(self, event: m.Saved) -> bool | None:
        saved, trial = event.checkpoint, self._roster.current(event)
        if trial is None or saved == trial.checkpoint or saved.t < self._roster.live[trial.id].saved_t:
            return False
        self._keep(trial, saved)
        return None

    def _on_save_failed(self, event: m.SaveFailed) -> bool | None:
        """A trial that should pause cannot save: its process waits, or it redoes its work."""
        trial = self._roster.current(event)
        if trial is None:
            return False
        if trial.status is not Status.HALTING:
            return None
        intent = self._roster.live[trial.id].intent
        has_gpu = any(name == "gpu" for one in trial.resources.bundles for name, _ in one)
        full = len(self._roster.parked) >= self._limits.max_parked
        if not isinstance(intent, Pause) or self._endings.closing is not None or has_gpu or full:
            self._roster.commands.append(m.Halt(trial.id, trial.attempt))
            return None
        self._roster.park(trial, intent.why)
        self._review()
        self._advance()
        return None

    def _on_noticed(self, event: m.Noticed) -> bool | None:
        trial = self._roster.current(event)
        if trial is None or trial.status is not Status.RUNNING:
            return False
        until_t = self._roster.live[trial.id].until_t
        self._roster.commands.append(m.Proceed(trial.id, trial.attempt, until_t, save=True))
        return None

    def _on_ended(self, event: m.Ended) -> bool | None:
        trial = self._roster.current(event)
        if trial is None:
            return False
        live = self._roster.end_process(trial)
        self._fairness.on_length(self._time - live.started)
        self._endings.settle(trial, live, event)
        if live.restart_from is not None:
            self._roster.unpin(live.restart_from)
        if not trial.status.is_final:
            self._queue.add(trial)
        self._review()
        self._advance()
        return None

    def _on_requested(self, event: m.Requested) -> bool | None:
        why = Why(event.what, note=event.note)
        if event.what == "stop":
            self._endings.close(why, keeps=False)
        else:
            trial = self.trials.get(event.trial_id)
            if trial is None or trial.status.is_final:
                return False
            self._endings.stop(trial, why)
            if trial.status.is_final:
                self._review()
        self._advance()
        return None

    def _on_tick(self, event: m.Tick) -> None:
        budget = self._limits.time_budget_s
        if budget is not None and event.time >= budget:
            self._endings.close(
                Why("time_budget_s", note=f"the time budget of {budget:g} s is spent"), keeps=False
            )
        self._advance()

    def _on_interrupted(self, event: m.Interrupted) -> None:
        self._endings.close(Why("interrupted", note="interrupted"), keeps=True)
        self._advance()

    def _take(self, trial: Trial, event: m.Reported) -> None:
        """Enter a new result in the books."""
        note = self.goal.infer(event.metrics)
        if note:
            self._roster.choices.append(m.Noted(note))
        if not self._has_result:
            self._has_result = True
            waited = [name for stopper in self._stoppers for name in getattr(stopper, "bounds", ())]
            self._roster.choices.extend(map(m.Noted, self.goal.doubts(event.metrics, waited)))
        result = self.goal.result(event.metrics)
        trial.ruled_t = event.t
        trial.n_results += 1
        trial.last = result
        if result.is_ruled and (trial.best is None or result.score > trial.best.score):
            trial.best = result
        if self._observes:
            self._roster.commands.append(m.Observe(trial, result))

    def _keep(self, trial: Trial, checkpoint: Checkpoint) -> None:
        self._roster.live[trial.id].saved_t = checkpoint.t
        self._roster.keep(trial, checkpoint, self._worth(trial.last) if trial.last is not None else 0.0)

    def _rule(self, trial: Trial, decision: Decision, t: int) -> None:
        """Carry out a decision on a running trial."""
        self._scheduler.on_decision(trial, decision)
        if decision is CONTINUE:
            self._proceed(trial, t)
            return
        choices = self._roster.choices
        match decision:
            case Continue():
                self._proceed(trial, t)
            case Save():
                choices.append(m.Ruled(trial.id, t, "save"))
                self._proceed(trial, t, save=True)
            case Pause(why):
                choices.append(m.Ruled(trial.id, t, "pause", why))
                self._roster.halt(trial, decision, save=True, park=True)
            case Stop(why):
                choices.append(m.Ruled(trial.id, t, "stop", why))
                self._roster.halt(trial, decision)
            case Restart(config, source, why):
                is_own = source is None or source == trial.id
                if source is not None and not is_own:
                    checkpoint = self._roster.checkpoint_of(source, f"trial {trial.id}")
                    self._roster.pin(checkpoint)
                    self._roster.live[trial.id].restart_from = checkpoint
                choices.append(m.Ruled(trial.id, t, "restart", why, config, source))
                self._roster.halt(trial, decision, save=is_own)
            case Add():
                raise TypeError("Add is for review(): on_result rules on the trial that reported")
            case _:
                raise TypeError(f"{decision!r} is not a Decision")

    def _review(self) -> None:
        """Ask the scheduler for rulings on trials that did not just report."""
        if self._endings.closing is not None:
            return  # what is paused now was not paused by the scheduler
        for trial_id, decision in list(self._scheduler.review(self.view)):
            if isinstance(decision, Add):
                if self._endings.closing is None:
                    self._create(decision.config, decision)
                continue
            trial = self.trials[trial_id]
            if trial.status.is_final or isinstance(decision, Continue):
                continue
            if isinstance(decision, Stop):
                self._scheduler.on_decision(trial, decision)
                self._roster.choices.append(m.Ruled(trial.id, trial.ruled_t, "stop", decision.why))
                self._endings.stop(trial, decision.why)
            elif trial.status is Status.RUNNING:
                self._rule(trial, decision, trial.ruled_t)

    def _proceed(self, trial: Trial, t: int, save: bool = False) -> None:
        """Let report() return, unless the trial runs ahead already."""
        live = self._roster.live[trial.id]
        if t < live.until_t and not save:
            return
        live.until_t = self._next_decision(trial)
        self._roster.commands.append(m.Proceed(trial.id, trial.attempt, live.until_t, save))

    def _next_decision(self, trial: Trial) -> float:
        """Up to where the trial may run ahead: no decision can fall at a smaller t."""
        if self.goal.is_needed and not self.goal.metrics:
            return 0.0
        until = self._scheduler.next_decision(trial)
        for stopper in self._stoppers:
            ask = getattr(stopper, "next_decision", None)
            until = min(until, ask(trial) if ask else 0.0)
        return until if until == m.NEVER or self.goal.time_attr == "training_iteration" else 0.0

    def _create(self, config: Config, add: Add | None) -> bool:
        """Make a trial wait for its turn; whether it failed at once instead."""
        origin = (add.source, add.why) if add else None
        trial = self._roster.create(config, self._template, origin)
        if add is not None and add.source is not None:
            self._roster.go_on_from(trial, self._roster.checkpoint_of(add.source, "a new trial"))
            trial.ruled_t = trial.checkpoint.t if trial.checkpoint else 0
        self._scheduler.on_trial_add(trial)
        if self._endings.refuse(trial):
            return True
        self._queue.add(trial)
        return False

    def _advance(self) -> None:
        """Start what can start, ask for more, and see whether all is done."""
        if self._endings.closing is None:
            self._fill()
            indices = self._supply.ask(self._queue.n_pending, self._roster.room(self._limits.max_concurrent))
            self._roster.commands.extend(map(m.Suggest, indices))
        if self._roster.n_active or self._supply.outstanding:
            return
        if self._endings.closing is None and not self.view.search_is_over and self._supply.is_over:
            self.view.search_is_over = True
            self._review()
            self._advance()
            return
        if self._endings.closing is None and (len(self._queue) or not self.view.search_is_over):
            first = self.view.first_runnable()
            if first is not None and (self.view.search_is_over or first.status is Status.PENDING):
                note = "the scheduler chose no trial to go on with"
                self._endings.close(Why("not chosen", note=note), keeps=False)
                self._advance()
            return
        self.is_done = True

    def _fill(self) -> None:
        cap = self._limits.max_concurrent or m.NEVER
        while len(self._queue) and len(self._ledger) < cap:
            trial = self._scheduler.choose_trial_to_run(self.view)
            if trial is not None and (trial.status.is_placed or trial.status.is_final):
                who, status = type(self._scheduler).__name__, trial.status.shown
                raise ValueError(
                    f"{who}.choose_trial_to_run returned trial {trial.id}, which is {status}: "
                    "return one of trials.runnable(), or None"
                )
            placement = self._ledger.place(trial.id, trial.resources) if trial is not None else None
            if trial is None or placement is None:
                break
            self._roster.start(trial, placement, self._time, self._next_decision(trial))
            self._fairness.on_start(self._time)
