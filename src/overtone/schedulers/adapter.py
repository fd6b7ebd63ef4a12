"""Runs schedulers in Ray Tune's form, whose hooks take a controller, as native ones.

What such a scheduler decides is recorded like any decision. In a replay, a class with a stateful parent, such
as ASHA, is asked again like that parent. Any other is only told: of the results, and of what was decided; its
answers count for nothing, so that a clock or a private generator in it changes nothing that was. Python's and
NumPy's global generators are seeded for each call, by the hook, the trial and its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from overtone.core import protocols
from overtone.core.decision import CONTINUE, Decision, Pause, Restart, Stop
from overtone.core.scheduler_view import View
from overtone.core.trial import Status, Trial
from overtone.core.types import Result, Why
from overtone.errors import ArgumentError, GoalError, UsageError
from overtone.ray_form import advise_once, own_part
from overtone.schedulers.base import TrialScheduler, WithController, n_arguments, takes_controller
from overtone.schedulers.fifo import FIFOScheduler
from overtone.schedulers.tune_controller import Flag, TuneController
from overtone.space.function import seeded

_INHERITED = (
    "needs_metric", "needs_population", "needs_checkpoints", "pauses", "parks", "time_attr", "log_config",
    "shown",
)  # fmt: skip


class Adapter(protocols.TrialScheduler):
    """A native scheduler that asks one in Ray Tune's form.

    Args:
        scheduler: An object with hooks that take a controller. A hook that it lacks is FIFO's.
    """

    needs_metric = False

    def __init__(self, scheduler: Any) -> None:
        self._given, self._defaults = scheduler, _Defaults()
        self._name = type(scheduler).__name__
        self._parent = scheduler if isinstance(scheduler, protocols.TrialScheduler) else None
        parent: Any = self._parent
        for name in _INHERITED if parent is not None else ():
            setattr(self, name, getattr(parent, name))
        self.metric, self.mode = own_part(scheduler, "metric"), own_part(scheduler, "mode")
        starts = type(scheduler).on_start if self._parent is not None else None
        self.replayable = starts not in (None, protocols.TrialScheduler.on_start)

    def complete(self, space: Mapping[str, Any], earlier: Callable[[str], Any]) -> Mapping[str, Any]:
        return space if self._parent is None else self._parent.complete(space, earlier)

    def on_start(self, view: View) -> None:
        self._controller = TuneController(view, self._name)
        self._n_told: dict[str, int] = {}  # How many results of each trial the scheduler knows.
        self._waited: set[str] = set()  # Trials that are stopped while they wait.
        self._has_goal = False
        if self._parent is not None:
            self._parent.on_start(view)
        self._set_goal()

    def on_trial_add(self, trial: Trial) -> None:
        self._call("on_trial_add", trial, self._controller.add(trial))

    def on_result(self, trial: Trial, result: Result) -> Decision:
        return self._controller.ordered(trial, self._decision(self._tell(trial, result), result.t))

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if trial.last is not None and trial.n_results > self._n_told.get(trial.id, 0):  # in a replay
            self._tell(trial, trial.last)
            self._controller.ordered(trial, CONTINUE)
        if self._parent is not None:
            self._parent.on_decision(trial, decision)
        if isinstance(decision, (Stop, Pause, Restart)):
            self._controller.ordered(trial, decision)
        if isinstance(decision, Stop) and not trial.status.is_placed:
            self._waited.add(trial.id)

    def on_trial_end(self, trial: Trial) -> None:
        shown = self._controller.add(trial)
        has_run = trial.last is not None and trial.id not in self._waited
        if trial.status is Status.ERROR:
            self._call("on_trial_error", trial, shown)
        elif has_run:
            self._call("on_trial_complete", trial, shown, shown.last_result)
        else:
            self._call("on_trial_remove", trial, shown)
        self._waited.discard(trial.id)
        self._controller.end(trial)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        chosen = self._call("choose_trial_to_run", None)
        native = getattr(chosen, "native", None)
        if native is not None:
            is_free = not (native.status.is_placed or native.status.is_final)
            return native if is_free and trials.fits(native) and not self._is_held(native) else None
        if chosen is not None:
            raise UsageError(
                f"{self._name}.choose_trial_to_run returned {chosen!r:.100}: return a trial, or None"
            )
        if next(trials.running(), None) is not None:
            return None
        pending = (one for one in trials.runnable() if one.status is Status.PENDING)
        return next((one for one in pending if not self._is_held(one)), None)

    def review(self, trials: View) -> Iterator[tuple[str, Decision]]:
        for trial_id in self._controller.waiting_orders():
            trial = trials.trials[trial_id]
            if trial.status is Status.RUNNING or not trial.status.is_placed:
                decision = self._controller.ordered(trial)
                if decision is not CONTINUE:
                    yield trial_id, decision
        if self._parent is not None:
            yield from self._parent.review(trials)

    def describe(self) -> str:
        return str(self._hook("debug_string")())

    # --- how ---------------------------------------------------------------------------

    def _tell(self, trial: Trial, result: Result) -> Any:
        """Tell the scheduler of a result, and return its answer."""
        self._n_told[trial.id] = trial.n_results
        if not self._has_goal:
            self._set_goal()
        shown = self._controller.add(trial)
        is_early = n_arguments(getattr(type(self._given), "on_result", None)) == 4  # as in the first versions
        name = "on_result" if is_early else "on_trial_result"
        return self._call(name, trial, shown, self._controller.facts(trial, result))

    def _call(self, name: str, trial: Trial | None, *arguments: Any) -> Any:
        view, hook = self._controller.view, self._hook(name)
        random = (
            view.random(name, trial.id, trial.ruled_t) if trial else view.random(name, t=len(self._n_told))
        )
        with seeded(random):
            return hook(self._controller, *arguments)

    def _hook(self, name: str) -> Any:
        return getattr(self._given, name, None) or getattr(self._defaults, name)

    def _set_goal(self) -> None:
        """Pass on the parts of the goal that the scheduler did not name itself."""
        goal = self._controller.goal
        self._has_goal = goal.metric is not None
        metric, mode = (None if self.metric else goal.metric), (None if self.mode else goal.mode)
        if self._hook("set_search_properties")(metric, mode) is False:
            raise GoalError(
                f"{self._name}.set_search_properties({metric!r}, {mode!r}) returned False: name the metric "
                "and the mode once, in the call or in the scheduler"
            )

    def _decision(self, answer: Any, t: float) -> Decision:
        if isinstance(answer, Flag):
            return answer.decision
        if answer == TrialScheduler.STOP:
            return Stop(Why(self._name, t))
        if answer == TrialScheduler.PAUSE:
            return Pause(Why(self._name, t))
        if answer in (TrialScheduler.CONTINUE, TrialScheduler.NOOP):
            return CONTINUE
        raise ArgumentError(
            f"{self._name}.on_trial_result returned {answer!r:.100}: return CONTINUE, PAUSE, STOP or NOOP"
        )

    def _is_held(self, native: Trial) -> bool:
        return self._controller.has_order(native)


class _Defaults(WithController, FIFOScheduler):
    """The hooks that an object may lack."""


def known_form(scheduler: Any) -> Any:
    """Return a scheduler in the native form: an adapter around one in Ray Tune's form, else itself.

    Args:
        scheduler: A scheduler, or its class, of which an object is made if it is in Ray Tune's form.
    """
    if isinstance(scheduler, str) or scheduler is None or not takes_controller(scheduler):
        return scheduler
    made = scheduler() if isinstance(scheduler, type) else scheduler
    advise_once(
        made,
        "has the hooks of Ray Tune's schedulers, and runs through an adapter; "
        "docs/new-scheduler.md shows the form without a controller",
    )
    return Adapter(made)


def inner(given: Any, who: str) -> protocols.TrialScheduler | None:
    """Return the inner scheduler `given` to the scheduler `who`; None for None.

    Raises:
        OvertoneError: `given` is not a scheduler.
    """
    from overtone.errors import OvertoneError

    known = known_form(given)
    made = known() if isinstance(known, type) else known
    if made is not None and not isinstance(made, protocols.TrialScheduler):
        raise OvertoneError(
            f"{who}(base_scheduler={given!r:.100}): give a scheduler, such as ASHAScheduler(max_t=81)"
        )
    return made
