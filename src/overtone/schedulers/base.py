"""The base class of all schedulers: the native interface, and Ray Tune's names for the same events.

A scheduler in Ray Tune's form has hooks that take a controller, such as `on_trial_result(controller, trial,
result)`. Such a class may derive from any scheduler here and call `super()`; `adapter.py` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core import protocols
from overtone.core.decision import CONTINUE, Decision, as_decision
from overtone.core.trial import Trial
from overtone.ray_form import GoalNames
from overtone.schedulers.tune_controller import TuneController
from overtone.schedulers.tune_trial import TuneTrial

CONTROLLERS = frozenset({"tune_controller", "trial_runner", "controller", "runner", "trial_executor"})
_HOOKS = ("on_trial_result", "on_trial_complete", "on_trial_error", "on_trial_remove")
_AMBIGUOUS = {"on_result": 3, "on_trial_add": 2, "choose_trial_to_run": 2}
"""Hooks that the native form has, too, with their number of arguments there, `self` among them."""


class TrialScheduler(GoalNames, protocols.TrialScheduler):
    """A scheduler, with the hooks of Ray Tune's form for subclasses that call `super()`.

    A subclass that overrides such a hook is in that form: `WithController` becomes one of its bases.
    """

    CONTINUE = "CONTINUE"
    NOOP = "NOOP"
    SAVE = "SAVE"
    PAUSE = "PAUSE"
    STOP = "STOP"
    supports_buffered_results = True

    def __init_subclass__(cls, is_native: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if is_native or WithController in cls.__mro__ or not takes_controller(cls):
            return
        own = next(i for i, base in enumerate(cls.__bases__) if issubclass(base, TrialScheduler))
        cls.__bases__ = (*cls.__bases__[:own], WithController, *cls.__bases__[own:])
        if getattr(cls.on_result, "__isabstractmethod__", False):
            cls.on_result = _go_on  # type: ignore[method-assign]

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Set the goal; return whether neither part was set before."""
        if (metric and self._metric) or (mode and self._mode):
            return False
        self._metric, self._mode = self._metric or metric, self._mode or mode
        return True

    def on_trial_result(
        self, tune_controller: TuneController, trial: TuneTrial, result: Mapping[str, Any]
    ) -> str:
        """Return the decision on `trial` as a flag; other decisions become orders to the controller."""
        found = tune_controller.goal.result(result, trial.native.ruled_t)
        if self.needs_metric and not found.scores:
            return self.CONTINUE
        return tune_controller.take(
            trial, as_decision(self.on_result(trial.native, found), type(self).__name__)
        )

    def on_trial_complete(
        self, tune_controller: TuneController, trial: TuneTrial, result: Mapping[str, Any]
    ) -> None:
        """Handle the end of a trial."""
        self.on_trial_end(_native(trial))

    def on_trial_error(self, tune_controller: TuneController, trial: TuneTrial) -> None:
        """Handle a trial that failed for good."""
        self.on_trial_end(_native(trial))

    def on_trial_remove(self, tune_controller: TuneController, trial: TuneTrial) -> None:
        """Handle the end of a trial that waited."""
        self.on_trial_end(_native(trial))

    def debug_string(self) -> str:
        """Return the lines for the status block."""
        return self.describe()

    def save(self, checkpoint_path: str) -> None:
        """Write the attributes to a file, as a pickle; those that cannot be pickled are left out.

        A run needs no such file: its journal has what a resume tells the scheduler.
        """
        import pickle

        kept = {}
        for name, value in vars(self).items():
            try:
                kept[name] = pickle.dumps(value)
            except Exception:
                continue
        with open(checkpoint_path, "wb") as file:
            pickle.dump(kept, file)

    def restore(self, checkpoint_path: str) -> None:
        """Read what `save` wrote. Unpickling runs code: read only your own files."""
        import pickle

        with open(checkpoint_path, "rb") as file:
            kept = pickle.load(file)
        vars(self).update({name: pickle.loads(value) for name, value in kept.items()})


def _native(trial: Any) -> Trial:
    """Return the core's trial of one in Ray Tune's form; a hook called by hand may get another object."""
    return getattr(trial, "native", trial)  # type: ignore[no-any-return]


class WithController(TrialScheduler, is_native=True):
    """Stands between a class in Ray Tune's form and its parents, whose hooks of the same name take less."""

    def on_trial_add(self, tune_controller: Any, trial: Any = None) -> None:  # type: ignore[override]
        super().on_trial_add(trial.native)

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        chosen = super().choose_trial_to_run(tune_controller.view)
        return None if chosen is None else tune_controller.get_trial(chosen.id)


def takes_controller(part: Any) -> bool:
    """Return whether a class, or an object's class, has a hook in Ray Tune's form."""
    cls = part if isinstance(part, type) else type(part)
    base = TrialScheduler if issubclass(cls, TrialScheduler) else object
    if any(getattr(cls, name, None) is not getattr(base, name, None) for name in _HOOKS):
        return True
    return any(_wants_controller(getattr(cls, name, None), n) for name, n in _AMBIGUOUS.items())


def n_arguments(method: Any) -> int:
    """Return the number of required arguments of a method, with `self`; 0 if unknown."""
    code = getattr(method, "__code__", None)
    return code.co_argcount - len(method.__defaults__ or ()) if code is not None else 0


def _wants_controller(method: Any, n: int) -> bool:
    code = getattr(method, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    return n_arguments(method) > n or bool(CONTROLLERS.intersection(names))


def _go_on(self: Any, trial: Any, result: Any) -> Decision:
    return CONTINUE
