"""The controller that hooks in Ray Tune's form are handed.

Nothing happens while a hook runs. An order, such as `stop_trial`, waits until the adapter may answer: it is
carried out, and recorded, as the scheduler's decision on that trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.decision import CONTINUE, SAVE, Continue, Decision, Pause, Restart, Save, Stop
from overtone.core.goal import Goal
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import Config, Why
from overtone.schedulers.tune_trial import WAITING, TuneTrial
from overtone.space import flatten

_WEIGHTS = {Continue: 0, Save: 1, Pause: 2, Restart: 3, Stop: 4}
"""Of two orders for a trial, the one with the higher weight is carried out."""


class Flag(str):
    """A flag such as "STOP" with the decision that it stands for."""

    __slots__ = ("decision",)
    decision: Decision

    def __new__(cls, flag: str, decision: Decision) -> Flag:
        self = super().__new__(cls, flag)
        self.decision = decision
        return self


class TuneController:
    """The controller for hooks in Ray Tune's form.

    Args:
        view: The scheduler's view.
        rule: The name of the scheduler, for reasons.

    Attributes:
        orders: The decisions that wait to be carried out, by trial id.
    """

    def __init__(self, view: View, rule: str) -> None:
        self.view = view
        self.orders: dict[str, Decision] = {}
        self._rule = rule
        self._trials: dict[str, TuneTrial] = {}
        self._live: dict[str, TuneTrial] = {}
        self._configs: dict[str, Config] = {}

    # --- for the scheduler -------------------------------------------------------------

    def get_trials(self) -> list[TuneTrial]:
        """Return all trials, in the order of creation."""
        return list(self._trials.values())

    def get_live_trials(self) -> set[TuneTrial]:
        """Return the trials that have not ended."""
        return set(self._live.values())

    def get_trial(self, tid: str) -> TuneTrial | None:
        """Return the trial with this id; None if there is none."""
        return self._trials.get(tid)

    def has_resources_for_trial(self, trial: TuneTrial) -> bool:
        """Return whether a waiting trial could start now."""
        return trial.native.status in WAITING and self.view.fits(trial.native)

    def stop_trial(self, trial: TuneTrial) -> None:
        """End a trial: at its next report, or when another trial ends or pauses."""
        self.order(trial, Stop(Why(self._rule, trial.native.ruled_t, note="stop_trial")))

    def pause_trial(self, trial: TuneTrial, should_checkpoint: bool = True) -> None:
        """Pause a running trial; with a config that was set, it goes on at once with that config."""
        self.order(trial, Pause(Why(self._rule, trial.native.ruled_t, note="pause_trial")))

    def save(self, trial: TuneTrial, *_: Any, **__: Any) -> None:
        """Let a running trial save a checkpoint."""
        self.order(trial, SAVE)

    def is_finished(self) -> bool:
        """Return whether all trials have ended and no other will come."""
        return not self._live and self.view.search_is_over

    @property
    def search_alg(self) -> SearchState:
        """The state of the search."""
        return SearchState(self.view)

    @property
    def trial_executor(self) -> TuneController:
        """The controller itself: it has the methods of early versions' executors."""
        return self

    _search_alg = search_alg
    request_stop_trial = stop_trial
    _schedule_trial_save = save

    def _set_trial_status(self, trial: TuneTrial, status: str) -> None:
        trial.set_status(status)

    # --- for the adapter ---------------------------------------------------------------

    @property
    def goal(self) -> Goal:
        """The experiment's goal."""
        return self.view.goal

    def add(self, native: Trial) -> TuneTrial:
        """Return the trial for the hooks; a new one for a new trial."""
        trial = self._trials.get(native.id)
        if trial is None:
            trial = self._trials[native.id] = TuneTrial(native, self)
        self._live[native.id] = trial
        return trial

    def end(self, native: Trial) -> None:
        """Forget the orders for a trial that ended."""
        self._live.pop(native.id, None)
        self.orders.pop(native.id, None)
        self._configs.pop(native.id, None)

    def facts(self, native: Trial, metrics: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a result as hooks get it: one level, with nested names as "a/b"."""
        if metrics is None:
            return {}
        facts = {"trial_id": native.id, "done": native.status.is_final, "config": native.config}
        return flatten({**metrics, **facts})

    def take(self, trial: TuneTrial, decision: Decision) -> str:
        """Return a decision as a flag; one that is no flag becomes an order."""
        match decision:
            case Stop():
                return Flag("STOP", decision)
            case Pause():
                return Flag("PAUSE", decision)
            case Continue(None):
                return "CONTINUE"
        self.order(trial, decision)
        return "NOOP" if isinstance(decision, Restart) else "CONTINUE"

    def order(self, trial: TuneTrial, decision: Decision) -> None:
        """Keep a decision on a trial until it can be carried out."""
        if trial.is_finished():
            return
        before = self.orders.get(trial.trial_id, CONTINUE)
        if _WEIGHTS[type(decision)] >= _WEIGHTS[type(before)]:
            self.orders[trial.trial_id] = decision

    def configure(self, trial: TuneTrial, config: Config) -> None:
        """Keep a config for the trial's next pause or start."""
        if not trial.is_finished():
            self._configs[trial.trial_id] = dict(config)

    def ordered(self, native: Trial, decision: Decision = CONTINUE) -> Decision:
        """Take the order for a trial, or `decision` if that weighs more, with the config that was set."""
        order = self.orders.pop(native.id, CONTINUE)
        if _WEIGHTS[type(order)] > _WEIGHTS[type(decision)]:
            decision = order
        is_waiting = native.status in WAITING
        if native.id in self._configs and (is_waiting or isinstance(decision, Pause)):
            config = self._configs.pop(native.id)
            if not isinstance(decision, (Stop, Restart)) and config != native.config:
                return Restart(config, None, Why(self._rule, native.ruled_t, note="set_config"))
        return decision

    def has_order(self, native: Trial) -> bool:
        """Return whether a waiting trial's order comes before its start."""
        return native.id in self.orders or (native.id in self._configs and native.ruled_t > 0)

    def waiting_orders(self) -> list[str]:
        """Return the ids of trials with an order or a config."""
        return [*self.orders, *(one for one in self._configs if one not in self.orders)]


class SearchState:
    """The state of the search, as far as a scheduler may know it."""

    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def metric(self) -> str | None:
        """The goal's metric."""
        return self._view.goal.metric

    @property
    def searcher(self) -> SearchState:
        """The state itself: a scheduler cannot call the searcher."""
        return self

    def is_finished(self) -> bool:
        """Return whether no further trial will be suggested."""
        return self._view.search_is_over

    def on_pause(self, trial_id: str) -> None:
        """Do nothing: the searcher sees results alone."""

    on_unpause = on_pause
