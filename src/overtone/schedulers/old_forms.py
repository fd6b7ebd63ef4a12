"""Detection of schedulers with Ray Tune's hooks, which take a controller; an error shows the new form."""

from __future__ import annotations

from typing import Any

from overtone.core.protocols import TrialScheduler
from overtone.errors import OvertoneError

_RESULT = "def on_result(self, trial, result):      # returns TrialScheduler.CONTINUE, PAUSE or STOP"
_END = "def on_trial_end(self, trial):           # trial.status and trial.why tell how"
_OLD_HOOKS = {
    "on_trial_result": _RESULT,
    "on_trial_complete": _END,
    "on_trial_error": _END,
    "on_trial_remove": _END,
    "debug_string": "def describe(self):                      # the status line",
}
_HOOKS = {  # with the number of their arguments, `self` among them
    "on_result": (_RESULT, 3),
    "on_trial_add": ("def on_trial_add(self, trial):", 2),
    "choose_trial_to_run": (
        "def choose_trial_to_run(self, trials):   # trials.runnable(), .paused(), .trials, ...: a view",
        2,
    ),
}
_CONTROLLERS = frozenset({"tune_controller", "trial_runner", "controller", "runner", "trial_executor"})


def refuse_old_hooks(scheduler: Any) -> Any:
    """Return `scheduler`, a class or an object, if it has no old hooks.

    Raises:
        OvertoneError: It defines hooks that take the controller; the message has the new form.
    """
    cls = scheduler if isinstance(scheduler, type) else type(scheduler)
    lines = {name: line for name, line in _OLD_HOOKS.items() if hasattr(cls, name)}
    for name, (line, n) in _HOOKS.items():
        method = getattr(cls, name, None)
        if n_arguments(method) > n or _CONTROLLERS.intersection(_names(method)):
            lines[name] = line
    if lines:
        shown = "\n".join(f"    {line}" for line in dict.fromkeys(lines.values()))
        raise OvertoneError(
            f"{cls.__name__} defines {', '.join(lines)} in the form that is handed a controller. Overtone's "
            f"schedulers never see one: they answer, and the controller acts. Write\n\n"
            f"class {cls.__name__}(tune.schedulers.TrialScheduler):\n{shown}\n"
        )
    return scheduler


def inner(given: Any, who: str) -> TrialScheduler | None:
    """Return the inner scheduler `given` to the scheduler `who`; None for None.

    Raises:
        OvertoneError: `given` is not a scheduler.
    """
    refuse_old_hooks(given)
    made = given() if isinstance(given, type) else given
    if made is not None and not isinstance(made, TrialScheduler):
        raise OvertoneError(
            f"{who}(base_scheduler={given!r:.100}): give a scheduler, such as ASHAScheduler(max_t=81)"
        )
    return made


def n_arguments(method: Any) -> int:
    """Return the number of required arguments of a method, with `self`; 0 if unknown."""
    code = getattr(method, "__code__", None)
    return code.co_argcount - len(method.__defaults__ or ()) if code is not None else 0


def _names(method: Any) -> tuple[str, ...]:
    code = getattr(method, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code is not None else ()
