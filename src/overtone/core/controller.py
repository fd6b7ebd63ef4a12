"""The pure controller: an event in, choices and commands out.

It uses no clock, no I/O and no threads, and draws random numbers by key alone. So the same
events lead to the same choices on every engine and in a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from overtone.core import messages as m
from overtone.core.additions import Additions
from overtone.core.bounds import Bounds
from overtone.core.capacity_requests import Wants
from overtone.core.decision import Add, Pause, Restart, Ruling, Stop
from overtone.core.endings import NOT_CHOSEN, Endings
from overtone.core.goal import Goal
from overtone.core.gpu_memory import GpuMemory
from overtone.core.limits import Limits
from overtone.core.outcome import Outcome
from overtone.core.protocols import Stopper, TrialScheduler
from overtone.core.recorded_choices import RecordedChoices
from overtone.core.retention import MetricWorth, Retention
from overtone.core.roster import Live, Roster, id_prefix
from overtone.core.rulings import Rulings
from overtone.core.scheduler_view import View
from overtone.core.starts import Starts
from overtone.core.steering import Steering
from overtone.core.suggestion_quota import Supply
from overtone.core.trial import PARKED, RUNNING, STARTING, Status, Template
from overtone.core.types import Checkpoint, Metrics, Why


class Controller:
    """Runs one experiment's logic.

    Args:
        scheduler: Rules on trials.
        goal: Turns metrics into scores.
        stoppers: May overrule the scheduler with a Stop.
        limits: Bounds of the experiment.
        template: Makes trials from configs.
        retention: Decides which checkpoints are kept.
        checkpoint_worth: A result's worth as a checkpoint; the newest is worth most if None.
        seed: All keyed randomness derives from it.
        observes, observes_pauses: Whether the searcher observes results, and pauses.
        earlier: Gives schedulers the results of another experiment, by path.
        total_for: Returns the number of suggestions for a number of samples; None for no limit.
        most_concurrent: The largest number of trials that the engine runs at the same time, if limited.

    Attributes:
        answered: The requests that were handled, by id.
        bounds: The limits of the experiment, as given and as changed by requests.
        trials: Every trial by id, in the order of creation.
        is_done: Whether nothing is left to do.
        view: The read-only view that schedulers get.
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
        checkpoint_worth: MetricWorth | None = None,
        seed: int = 0,
        observes: bool = False,
        observes_pauses: bool = False,
        earlier: Callable[[str], Any] | None = None,
        total_for: Callable[[int], int | None] | None = None,
        most_concurrent: int | None = None,
    ) -> None:
        self.goal = goal
        self.is_done = False
        self._scheduler = scheduler
        limits, template = limits or Limits(), template or Template()
        self.bounds = Bounds(limits, total_for, most_concurrent, scheduler.needs_population)
        self._roster = Roster(id_prefix(seed), retention or Retention(), observes_pauses)
        self.trials = self._roster.trials
        self._ledger, self._queue = self._roster.ledger, self._roster.queue
        memory = GpuMemory(self._roster, template.resources)
        template = memory.in_template(template)
        self._supply = Supply(limits.total, limits.lookahead)
        self._wants = Wants(self._queue, self._supply, self._ledger)
        self._endings = Endings(self._roster, scheduler, goal, self.bounds, self._supply, observes, memory)
        self._additions = Additions(self._roster, scheduler, self._endings, template)
        self._steering = Steering(self._roster, self._endings, self._supply, self.bounds, self._additions)
        self.answered = self._steering.answered
        self._rulings = Rulings(self._roster, scheduler, stoppers, goal, observes, checkpoint_worth)
        self._has_wake, self._nothing, self._time = False, RecordedChoices(()), 0.0
        ledger = self._ledger
        self.view = View(
            self.trials, goal, seed, self._queue, lambda: (ledger.free(), ledger.total()), earlier
        )
        self._starts = Starts(
            self._roster, scheduler, self.view, self._rulings, self._supply, self.bounds, self._additions
        )
        scheduler.on_start(self.view)

    def begin_from(self, checkpoint: Checkpoint) -> None:
        """Let each new trial without a source begin with `checkpoint`; call this before the first event."""
        self._additions.begin_from(checkpoint)

    @property
    def limits(self) -> Limits:
        """The bounds of the experiment, as requests changed them."""
        return self.bounds.now

    @property
    def held(self) -> frozenset[str]:
        """The ids of the trials that requests hold."""
        return frozenset(self._queue.held)

    @property
    def has_deferred(self) -> bool:
        """Whether requests from a time without a driver wait for the next Resumed."""
        return bool(self._steering.deferred)

    def objection(self, event: m.Requested) -> str | None:
        """Return why a request cannot be carried out now, as a sentence; None if it can.

        A request with an objection has no effect, and needs no record.
        """
        return self._steering.objection(event, self.is_done)

    @property
    def is_running(self) -> bool:
        """Whether the experiment is not done and no end was requested."""
        return not self.is_done and self._endings.closing is None

    @property
    def is_finished(self) -> bool:
        """Whether the experiment is done and no trial is kept for a resume."""
        return self.is_done and not self._endings.keeps

    @property
    def choices_so_far(self) -> tuple[m.Choice, ...]:
        """The choices of the newest event; if handling it raised, the choices made before the exception."""
        return tuple(self._roster.choices)

    @property
    def kept(self) -> dict[str, int]:
        """Bytes of each kept checkpoint, by uri."""
        return self._roster.kept

    def handle(self, event: m.Event) -> Outcome:
        """Apply an event and return the choices and commands that follow from it.

        Raises:
            OvertoneError: The experiment cannot continue.
            Exception: A scheduler or stopper raised it.
        """
        self._roster.choices, self._roster.commands = [], []
        self._time = event.time
        if _HANDLERS[type(event)](self, event) is False:
            return Outcome((), [], is_stale=True)
        # Outcome(...) takes ten times as long.
        return tuple.__new__(Outcome, (tuple(self._roster.choices), self._roster.commands, False))

    def replay(self, record: m.Record) -> tuple[Outcome, list[tuple[str, str]]]:
        """Handle a recorded event: the recorded choices take effect, whatever the code chooses today.

        Returns:
            The outcome, and the differences as pairs (choice of today's code, recorded choice).
        """
        past = self._roster.past = RecordedChoices(record.choices) if record.choices else self._nothing
        try:
            if not record.choices:
                return self.handle(record.event), past.take_differs()
            is_stale = self.handle(record.event).is_stale
            missed = past.rest()
            self._carry_out(missed)
            if missed or past.has_more_starts():
                past.is_late = True
                self._advance()
        finally:
            self._roster.past = None
            if type(record.event) is m.Requested:
                self.answered.note(record.event.request, record.n)
        past.finish()
        differs = past.differs if self._scheduler.replayable else []
        return Outcome(tuple(self._roster.choices), self._roster.commands, is_stale), differs

    @property
    def retake(self) -> Callable[[str, int, int, Metrics], list[tuple[str, str]] | None]:
        """The counterpart of `replay` for a report without choices: see `Rulings.retake`."""
        return self._rulings.retake

    # --- events: each handler returns False for an event that is late ------------------

    def _on_capacity_changed(self, event: m.CapacityChanged) -> None:
        self._ledger.set_capacity(event.nodes)
        if self.limits.time_budget_s is not None and not self._has_wake:
            self._has_wake = True
            self._roster.commands.append(m.Wake(self.limits.time_budget_s))
        self._advance()

    def _on_suggested(self, event: m.Suggested) -> None:
        self._supply.on_answer(event.index, event.config is not None)
        config = event.config if self._endings.takes_trials else None
        if config is not None and self._additions.create(config, None, event.index):
            self._review()
        self._advance()

    def _on_started(self, event: m.Started) -> bool | None:
        live = self._roster.current(event)
        if live is None or live.is_up:
            return False
        live.is_up, trial = True, live.trial
        self._roster.went_on_from(trial, event.restored)
        if trial.status is STARTING:
            self._roster.move(trial, RUNNING)
        return None

    def _on_reported(self, event: m.Reported) -> bool | None:
        live = self._roster.current(event)
        if live is None or live.trial.status is PARKED or event.t <= live.t:
            return False
        live.t = event.t
        self._rulings.on_reported(live, event)
        if self._rulings.may_end_search and self._endings.closing is None:
            reason = self._rulings.stop_all()
            if reason is not None:
                self._endings.close(Why("stop_all", note=reason), keeps=False)
                self._advance()
        return None

    def _on_saved(self, event: m.Saved) -> bool | None:
        saved, live = event.checkpoint, self._roster.current(event)
        if live is None or saved.t < live.saved_t or (saved.t == live.saved_t and self._roster.has(saved)):
            return False
        self._rulings.on_saved(live, saved)
        return None

    def _on_save_failed(self, event: m.SaveFailed) -> bool | None:
        """Park a trial that should pause but cannot save, or halt it: then it redoes its work.

        A request alone is no reason to lose work: such a trial parks however many are parked, and goes on
        if it holds a GPU, or was released meanwhile.
        """
        live = self._roster.current(event)
        if live is None:
            return False
        trial, intent = live.trial, live.intent
        if trial.status is not Status.HALTING:
            return None
        has_gpu = any(name == "gpu" for one in trial.resources.bundles for name, _ in one)
        is_asked = self._steering.is_asked(live)
        full = len(self._roster.parked) >= self.limits.max_parked and not is_asked
        is_open = self._endings.closing is None
        if is_asked and is_open and (has_gpu or trial.id not in self._queue.held):
            self._steering.fail_pause(trial)
            self._rulings.go_on(live)
            return None
        if not isinstance(intent, Pause) or not is_open or has_gpu or full:
            self._roster.commands.append(m.Halt(trial.id, trial.attempt))
            return None
        self._roster.park(trial, intent.why)
        self._review()
        self._advance()
        return None

    def _on_noticed(self, event: m.Noticed) -> bool | None:
        live = self._roster.current(event)
        return self._roster.leave(live) if live is not None and event.moves else self._save_soon(live)

    def _save_soon(self, live: Live | None) -> bool | None:
        if live is None or live.trial.status is not Status.RUNNING:
            return False
        self._roster.commands.append(m.Proceed(live.trial.id, live.trial.attempt, live.until_t, save=True))
        return None

    def _on_ended(self, event: m.Ended) -> bool | None:
        live = self._roster.current(event)
        if live is None:
            return False
        self._endings.end(live.trial, event)
        self._rulings.doubt(live.trial)
        self._starts.fairness.on_length(self._time - live.started)
        self._review()
        self._advance()
        return None

    def _on_requested(self, event: m.Requested) -> bool | None:
        if not self._steering.takes(event, self.is_done):
            return False
        if event.what == "save_trial" and not event.deferred:
            return self._save_soon(self._roster.live.get(event.trial_id))
        if event.what != "note" and not event.deferred:
            self._carry_out_request(event)
            self._advance()
        return None

    def _carry_out_request(self, event: m.Requested) -> None:
        """Apply a request; it may continue an experiment whose last trial has just ended."""
        self.is_done = False
        if self._steering.carry_out(event):
            self._review()
        self.view.search_is_over = self.view.search_is_over and self._supply.is_over

    def _on_tick(self, event: m.Tick) -> None:
        self._endings.check_budget(event.time)
        self._advance()

    def _on_interrupted(self, event: m.Interrupted) -> None:
        self._endings.close(Why("interrupted", note="interrupted"), keeps=True)
        self._advance()

    def _on_resumed(self, event: m.Resumed) -> None:
        """Resume under a new driver: trials that had a process are pending again."""
        self.bounds.resume(event.limits)
        self._wants.forget()
        self._has_wake = False
        self.is_done = False
        asked = self._supply.resize(self.limits.total, self.limits.lookahead)
        self._roster.commands.extend(map(m.Suggest, asked))
        self._endings.reopen(event)
        for request in self._steering.resume(event):
            self._carry_out_request(request)
        self.view.search_is_over = self.view.search_is_over and self._supply.is_over
        self._review()  # Trials that were pausing are paused now.

    def _review(self) -> None:
        """Ask the scheduler for rulings on trials that did not just report."""
        if self._endings.closing is not None:
            return  # The scheduler did not pause the trials that are paused now.
        if rulings := self._rulings.review(self.view):
            self._carry_out(rulings)

    def _carry_out(self, rulings: Iterable[Ruling]) -> None:
        for trial_id, decision in self._rulings.effective(rulings):
            if isinstance(decision, Add):
                if self._endings.closing is None:
                    self._additions.create(decision.config, (decision.source, decision.why))
                continue
            trial = self.trials[trial_id]
            if isinstance(decision, Stop):
                self._scheduler.on_decision(trial, decision)
                self._roster.choices.append(m.Ruled(trial.id, trial.ruled_t, "stop", decision.why))
                self._endings.stop(trial, decision.why)
            elif isinstance(decision, Restart) and trial.status in (Status.PENDING, Status.PAUSED):
                self._scheduler.on_decision(trial, decision)
                self._endings.renew(trial, decision)
            else:
                self._rulings.rule(self._roster.live[trial.id], decision, trial.ruled_t)

    def _advance(self) -> None:
        """Start the trials that fit, ask for suggestions, and check whether the experiment is done."""
        is_open = self._endings.closing is None
        if is_open:
            self._starts.fill(self._time)
            indices = self._supply.ask(
                self._queue.n_pending, self._roster.room(self.bounds.now.max_concurrent)
            )
            self._roster.commands.extend(map(m.Suggest, indices))
        if self.bounds.now.is_elastic:
            self._roster.commands += self._wants.look(self.bounds.now, not is_open)
        # An interruption does not wait for suggestions: a resume asks for them again.
        if self._roster.n_active or (self._supply.outstanding and not self._endings.keeps):
            return
        if is_open and not self.view.search_is_over and self._supply.is_over:
            self.view.search_is_over = True
            self._review()
            self._advance()
            return
        if is_open and self._queue.held:
            self._steering.note_waiting()
            return
        if is_open and (self._queue or not self.view.search_is_over):
            first = self.view.first_runnable()
            past = self._roster.past
            if first is None or (past is not None and not past.has_ended(NOT_CHOSEN.rule)):
                return  # An exception cut this record short: later starts are not in it.
            if self.view.search_is_over or first.status is Status.PENDING:
                self._endings.close(NOT_CHOSEN, keeps=False)
                self._advance()
            return
        self.is_done = True


_HANDLERS: dict[type, Callable[[Controller, Any], bool | None]] = {
    m.CapacityChanged: Controller._on_capacity_changed,
    m.Suggested: Controller._on_suggested,
    m.Started: Controller._on_started,
    m.Reported: Controller._on_reported,
    m.Saved: Controller._on_saved,
    m.SaveFailed: Controller._on_save_failed,
    m.Discarded: lambda *_: None,
    m.Noticed: Controller._on_noticed,
    m.Ended: Controller._on_ended,
    m.Requested: Controller._on_requested,
    m.Tick: Controller._on_tick,
    m.Interrupted: Controller._on_interrupted,
    m.Resumed: Controller._on_resumed,
}
"""Unbound functions: bound methods would put the controller, and its trials, into a reference cycle."""
