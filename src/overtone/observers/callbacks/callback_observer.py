"""Observer that calls users' callbacks during a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from overtone.core.messages import Ended, Moved, Record, Reported, Ruled, Saved, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable, full_result
from overtone.core.types import Checkpoint, Metrics
from overtone.errors import CallbackError
from overtone.observers.callbacks.callback import HOOKS, defines
from overtone.observers.trial_view import Experiment, SeenTrial

_PER_REPORT = ("on_trial_result", "on_trial_save", "on_checkpoint", "on_step_begin", "on_step_end")


class CallbackObserver(Observer):
    """Observer that calls callbacks for records. A callback that raises ends the run.

    Of the rest it is told of the end alone; the other callbacks are told all.

    Args:
        callbacks: Called in this order; undefined hooks cost nothing.
        experiment: Facts that all trials share.
        table: Has each record before this observer gets it; it keeps all metrics.
        facts: Arguments of `Callback.setup`; those that a callback's own `setup` lacks are left out. None if
            it was called before.
        raises_as_is: Whether a callback's exception is raised itself, not as the cause of a CallbackError.

    Attributes:
        has_steps: Whether a callback follows the steps, so that a run needs `StepBegin`.
    """

    ends_run = True

    def __init__(
        self,
        callbacks: Sequence[Any],
        experiment: Experiment,
        table: TrialTable,
        facts: Mapping[str, Any] | None,
        raises_as_is: bool = False,
    ) -> None:
        self._table = table
        self._experiment = experiment
        self._raises_as_is = raises_as_is
        self._iteration = 0
        self._is_in_step = False
        self._is_closed = False
        self._failure: Exception | None = None
        self._earlier: dict[str, Metrics] = {}
        self._trials: list[SeenTrial] = []
        self._by_id: dict[str, SeenTrial] = {}
        self._hooks: dict[str, list[tuple[Any, Callable[..., Any]]]] = {
            hook: [(one, getattr(one, hook)) for one in callbacks if defines(one, hook)] for hook in HOOKS
        }
        self.has_steps = bool(self._hooks["on_step_begin"] or self._hooks["on_step_end"])
        self.follows_results = any(self._hooks[hook] for hook in _PER_REPORT)
        for one in callbacks:
            if facts is not None and defines(one, "setup"):
                set_up(one, facts)

    def on_record(self, record: Record) -> None:
        """Call the hooks of this record.

        Raises:
            CallbackError: A callback raised.
        """
        self._begin_step()
        self._tell(record)
        self._raise_failure()

    def _tell(self, record: Record) -> None:
        event = record.event
        if type(event) is Reported:
            row = self._table.shown
            if row is not None:
                self._on_result(row, event, record)
        elif type(event) is Started:
            trial = self._trial(event.trial_id)
            if self._hooks["on_trial_result"]:
                self._earlier[event.trial_id] = self._table.rows[event.trial_id].metrics
            if self._hooks["on_trial_start"]:
                trial.init_local_path()  # Loggers open files there, maybe before the trial's process does.
            self._on("on_trial_start", trial)
            if event.restored is not None:
                self._on("on_trial_restore", trial)
        if type(event) is Saved or (type(event) is Reported and event.checkpoint is not None):
            self._on_saved(event.trial_id, event.checkpoint)
        for choice in record.choices:
            if type(choice) is Moved:
                self._on_moved(choice, event)

    def begin_step(self) -> None:
        """Call `on_step_begin` if no step has begun.

        Raises:
            CallbackError: A callback raised.
        """
        self._begin_step()
        self._raise_failure()

    def _begin_step(self) -> None:
        if not self._is_in_step:
            self._is_in_step = True
            self._call("on_step_begin", self._iteration, self._trials or self._seen())

    def flush(self) -> None:
        """Tell the callbacks that the step has ended.

        Raises:
            CallbackError: A callback raised.
        """
        self._end_step()
        self._raise_failure()

    def _end_step(self) -> None:
        if self._is_in_step:
            self._is_in_step = False
            self._iteration += 1
            self._call("on_step_end", self._iteration, self._seen())

    def close(self) -> None:
        """End the callbacks with the run. A second call does nothing.

        Raises:
            CallbackError: A callback raised.
        """
        if not self._is_closed:
            self._is_closed = True
            self._end_step()
            self._call("on_experiment_end", self._seen())
            self._raise_failure()

    def _on_result(self, row: Row, event: Reported, record: Record) -> None:
        if self._hooks["on_trial_result"]:
            result = full_result(row, event.metrics)
            if any(type(one) is Ruled and one.what == "stop" for one in record.choices):
                result["done"] = True
            trial = self._trial(row.id)
            trial.show_earlier(self._earlier.get(row.id, {}))
            self._on("on_trial_result", trial, result=result)
            trial.show_earlier(None)
            self._earlier[row.id] = event.metrics

    def _on_saved(self, trial_id: str, checkpoint: Checkpoint | None) -> None:
        if checkpoint is None or not (self._hooks["on_trial_save"] or self._hooks["on_checkpoint"]):
            return
        trial = self._trial(trial_id)
        self._on("on_checkpoint", trial, checkpoint=self._experiment.open_checkpoint(checkpoint))
        self._on("on_trial_save", trial)

    def _on_moved(self, moved: Moved, event: Any) -> None:
        if moved.status == "TERMINATED":
            self._on("on_trial_complete", self._trial(moved.trial_id))
        elif moved.status == "ERROR":
            self._on("on_trial_error", self._trial(moved.trial_id))
        elif moved.status == "PENDING" and type(event) is Ended and event.cause != "halted":
            if event.trial_id != moved.trial_id:
                return  # A review restarted it when the other trial failed.
            self._on("on_trial_recover", self._trial(moved.trial_id))

    def _on(self, hook: str, trial: SeenTrial, **more: Any) -> None:
        if self._hooks[hook]:
            self._call(hook, self._iteration, self._seen(), trial, **more)

    def _call(self, hook: str, *arguments: Any, **more: Any) -> None:
        if not self._hooks[hook]:
            return
        names = ("trials",) if hook == "on_experiment_end" else ("iteration", "trials", "trial")
        named = dict(zip(names, arguments, strict=False))
        for one, method in list(self._hooks[hook]):
            try:
                method(**named, **more)
            except Exception as error:
                self._fail(one, hook, error)

    def _fail(self, callback: Any, hook: str, error: Exception) -> None:
        """Keep the failure, and call no other hook of the callback but that for the end."""
        for name, calls in self._hooks.items():
            if name != "on_experiment_end":
                calls[:] = [call for call in calls if call[0] is not callback]
        if self._failure is None and not self._raises_as_is:
            what = f"{type(callback).__name__}.{hook} raised {type(error).__name__}: {error}"
            self._failure = CallbackError(what)
            self._failure.__cause__ = error
        self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _trial(self, trial_id: str) -> SeenTrial:
        self._seen()
        return self._by_id[trial_id]

    def _seen(self) -> list[SeenTrial]:
        """Return every trial so far; the list is the same one each time."""
        rows = self._table.rows
        if len(self._trials) < len(rows):
            for row in list(rows.values())[len(self._trials) :]:
                self._by_id[row.id] = trial = SeenTrial(row, self._experiment)
                self._trials.append(trial)
        return self._trials


def set_up(callback: Any, facts: Mapping[str, Any]) -> None:
    """Call a callback's `setup` with those of the facts that it takes."""
    callback.setup(**_accepted(callback.setup, facts))


def _accepted(method: Callable[..., Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that `method` takes as arguments."""
    try:
        known = signature(method).parameters
    except (TypeError, ValueError):  # It is not a function of Python.
        return dict(facts)
    if any(one.kind is Parameter.VAR_KEYWORD for one in known.values()):
        return dict(facts)
    return {name: value for name, value in facts.items() if name in known}


class StepBegin(Observer):
    """Begins the steps of callbacks before the table of trials gets the first record of a step."""

    precedes_table = ends_run = True

    def __init__(self, callbacks: CallbackObserver) -> None:
        self._callbacks = callbacks

    def on_record(self, record: Record) -> None:
        self._callbacks.begin_step()
