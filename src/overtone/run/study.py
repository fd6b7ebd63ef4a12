"""Ask and tell: a search whose trials the caller's own code runs."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from overtone.control.verbs import Verbs
from overtone.core.goal import is_number, lookup
from overtone.core.messages import Cause
from overtone.engines.asked import Asked
from overtone.errors import ArgumentError, OvertoneError, TrainableError, UsageError
from overtone.experiment import Experiment
from overtone.journal.lock import LockHeldError
from overtone.run.asked_trial import AskedTrial
from overtone.run.execute import Run
from overtone.run.resume.target import RERUN

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis
    from overtone.analysis.recorded_trial import RecordedTrial

_CAUSES: dict[str, Cause] = {
    "complete": "returned", "pruned": "halted", "stopped": "halted", "failed": "raised", "fail": "raised",
}  # fmt: skip


class CallersCode:
    """The trainable of a study: code of the caller, which Overtone does not call."""

    __name__ = "study"

    def __init__(self) -> None:
        self.__module__ = "__main__"  # The versions of packages that are recorded are the script's.

    def __call__(self, config: Mapping[str, Any]) -> NoReturn:
        """Refuse to run.

        Raises:
            TrainableError: Always.
        """
        raise TrainableError("the trials of an ask-and-tell study run in the code that asks for them")


class Study:
    """A search whose trials the caller runs: `ask` for a trial, `report` its results, `tell` its end.

    `with tune.ask_tell(...) as study:` closes it at the end. Without `with`, it is closed when it is
    garbage-collected, and at the end of the process. `ask`, `tell` and the trials' `report` may be called
    from any thread.

    Args:
        experiment: The settings; its trainable and its engine are replaced.

    Raises:
        LockHeldError: Another process holds the study; the message names it.
        OvertoneError: The settings are invalid, such as a scheduler that pauses trials.
    """

    def __init__(self, experiment: Experiment) -> None:
        if RERUN in os.environ:
            raise SystemExit(
                f"overtone rerun: this script begins the study {experiment.name or ''}, whose trials run in "
                "its own code: only experiments before it can be run again"
            )
        self._engine = experiment.engine = Asked()
        try:
            self._run = Run(experiment)
        except LockHeldError as error:
            raise LockHeldError(
                f"{error}. One process hands out the trials of a study: let the others report to it, use "
                'threads of one process, or use tune.run (engine="ray" for several machines)'
            ) from None
        self._parts = self._run.parts
        self._pid = os.getpid()
        self._open: dict[str, AskedTrial] = {}
        self._lock = threading.Lock()
        self._read: ExperimentAnalysis | None = None
        self._run.begin()
        self._close = weakref.finalize(self, _close, self._engine, self._run, self._pid)
        self._engine.await_begin(lambda: self._run.done)
        self._check(is_over_allowed=True)

    # --- trials ------------------------------------------------------------------------------

    def ask(self, timeout_s: float = 0.0) -> AskedTrial | None:
        """Return the next trial; None if the search is over.

        The search is over after `num_samples` trials, when the time budget is spent, when the space has no
        more configs, or at a request to stop. After a resume, trials that an earlier program left open come
        first.

        Args:
            timeout_s: Seconds to wait if a limit, such as a `ConcurrencyLimiter`, or the searcher holds the
                next trial back until another trial is told.

        Raises:
            OvertoneError: No trial is free after `timeout_s`, or the study is closed.
            Exception: The error that ended the study.
        """
        self._check(is_over_allowed=True)
        line = self._engine.ask(timeout_s)
        if line is not None:
            trial = self._parts.controller.trials[line.start.trial_id]
            asked = AskedTrial(line, self._engine.job, trial, self._named, self._check)
            with self._lock:
                self._open[trial.id] = asked
            return asked
        if self._engine.is_closed:
            self._check(is_over_allowed=True)
            return None
        if self._is_spent():
            return None
        n = len(self._open)
        raise OvertoneError(
            f"no trial is free now: {n} {'is' if n == 1 else 'are'} open, and a limit or the searcher holds "
            "the next one back until a trial is told. Call study.tell for an open trial first; with threads, "
            "ask(timeout_s=60) waits"
        )

    def tell(
        self,
        trial: AskedTrial | str | int,
        values: Any = None,
        state: Any = "complete",
        error: str | BaseException = "",
    ) -> None:
        """End a trial. Its end, and its last result, are in the journal when this returns.

        Args:
            trial: The trial, its id or its number.
            values: Its last result, as for `report`. None if it is reported already; so are values that
                repeat the last report.
            state: "complete"; "pruned" if the caller stopped the trial early; "failed". Also a state of
                Optuna's.
            error: The reason of a failure, for the journal.

        Raises:
            UsageError: The trial is unknown, was told already, or was stopped and gets another result.
            ArgumentError: `values` or `state` have no meaning, or the metric was never reported.
            StorageError: The journal cannot be written; the study ends.
        """
        asked = self._asked(trial)
        cause = _CAUSES.get(str(getattr(state, "name", state)).lower())
        if cause is None:
            raise ArgumentError(f'state={state!r}: must be "complete", "pruned" or "failed"')
        text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
        asked._tell(values, cause, (text or "told as failed") if cause == "raised" else "", self._problem)
        with self._lock:
            self._open.pop(asked.trial_id, None)

    def enqueue(self, config: Mapping[str, Any] | None = None, *, note: str = "") -> str:
        """Add a trial that `ask` returns before new suggestions, and return its id.

        It does not count to `num_samples`. Once the search is over, the id is "": the trial is asked after a
        resume.

        Args:
            config: Its hyperparameters; those that are missing are drawn from the space.
            note: The reason, for the journal.
        """
        self._check(is_over_allowed=True)
        return self._run.add(config, note=note)

    def stop(self, note: str = "stopped") -> None:
        """End the search: `ask` returns None, and `report` of open trials returns False."""
        self._check(is_over_allowed=True)
        Verbs.stop(self._run, note)  # Unlike `Run.stop`, it waits: no trial is asked from now on.

    # --- results -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the study's folder."""
        return self._run.name

    @property
    def folder(self) -> Path:
        """The study's folder."""
        return self._run.folder

    @property
    def analysis(self) -> ExperimentAnalysis:
        """The results so far; also after the study is closed."""
        with self._lock:
            if self._read is None:
                self._read = self._run.analysis
            else:
                self._read.refresh()
            return self._read

    @property
    def trials(self) -> list[RecordedTrial]:
        """All trials so far, in the order of creation."""
        return self.analysis.trials

    @property
    def best_trial(self) -> RecordedTrial:
        """The trial with the best last result; with several metrics, by the first.

        Raises:
            GoalError: No trial has a result.
        """
        return self.analysis.best_trial

    @property
    def best_trials(self) -> list[RecordedTrial]:
        """The trials whose last results no other dominates, for several metrics."""
        return self.analysis.pareto_front()

    @property
    def best_config(self) -> dict[str, Any]:
        """The hyperparameters of the best trial."""
        return self.best_trial.config

    best_params = best_config
    """The hyperparameters of the best trial, under the name that users of Optuna know."""

    @property
    def best_value(self) -> float:
        """The metric of the best trial, in its last result."""
        analysis = self.analysis
        name = analysis.default_metric or self._parts.plan.goal.metric or ""
        value: float = lookup(analysis.best_trial.last_result, name)
        return value

    # --- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Release the folder; trials that are open are handed out again after a resume."""
        self._close()

    def __getattr__(self, name: str) -> Any:
        if name[0] == "_":
            raise AttributeError(name)
        from overtone.run.optuna_names import of_study

        return of_study(self, name)

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Study({str(self.folder)!r})"

    # --- parts ---------------------------------------------------------------------------------

    def _asked(self, trial: AskedTrial | str | int) -> AskedTrial:
        """Return the open trial that is meant.

        Raises:
            UsageError: There is none.
        """
        if isinstance(trial, AskedTrial):
            if trial._check.__self__ is not self:  # type: ignore[attr-defined]
                raise UsageError(f"trial {trial.trial_id} belongs to another study than {self.name}")
            return trial
        with self._lock:
            for one in self._open.values():
                if trial in (one.trial_id, one.number) and not isinstance(trial, bool):
                    return one
            names = ", ".join(self._open)
        is_known = any(trial in (one.id, one.index) for one in list(self._parts.controller.trials.values()))
        problem = "is not open in this process" if is_known else "does not exist"
        raise UsageError(f"trial {trial!r} {problem}: the open trials are {names or 'none'}")

    def _named(self, values: Any) -> dict[str, Any] | None:
        """Return values as metrics by name.

        Raises:
            ArgumentError: `values` does not fit the metrics of the study.
        """
        if values is None or isinstance(values, Mapping):
            return None if values is None else dict(values)
        metrics = self._parts.plan.goal.metrics or ("_metric",)
        several = list(values) if isinstance(values, Sequence) and not isinstance(values, str) else [values]
        if len(several) != len(metrics) or any(hasattr(one, "__len__") for one in several):
            example = ", ".join(f'"{name}": 0.3' for name in metrics)
            raise ArgumentError(
                f"values={values!r:.100}: must be {len(metrics)} number{'s' * (len(metrics) > 1)}, or a dict "
                f"such as {{{example}}}"
            )
        return dict(zip(metrics, several, strict=True))

    def _problem(self, metrics: Mapping[str, Any]) -> str:
        """Return why a trial cannot end with these metrics, as a sentence; "" if it can."""
        goal = self._parts.plan.goal
        if not metrics:
            return "the trial reported no result: tell(trial, 0.3), or tell(trial, state='failed')"
        for name in goal.metrics:
            value = lookup(metrics, name)
            if value is None and name not in metrics:
                return f"the trial reported no {name!r}: it has {', '.join(map(repr, metrics))}"
            if not (is_number(value) or hasattr(value, "__float__")):
                return f"{name!r} must be a number, not {value!r:.100}"
        return ""

    def _is_spent(self) -> bool:
        """Return whether no trial waits, and none will be suggested."""
        controller = self._parts.controller
        total, trials = controller.limits.total, list(controller.trials.values())
        if not controller.is_running:
            return True
        if total is None or any(not (one.status.is_placed or one.status.is_final) for one in trials):
            return False
        return sum(one.suggestion is not None for one in trials) >= total

    def _check(self, is_over_allowed: bool = False) -> None:
        """Raise if the study takes no more calls; that its search is over may be allowed.

        Raises:
            UsageError: It is closed, or this is another process or the study's own thread.
            OvertoneError: The search is over.
            Exception: The error that ended the study.
        """
        if os.getpid() != self._pid:
            raise UsageError(
                f"the study belongs to process {self._pid}, and this is {os.getpid()}: hand the results "
                "back to that process, and report them there"
            )
        if threading.get_ident() == self._engine.thread:
            raise UsageError(
                "a callback runs in the study's own thread, which cannot wait for itself: ask, report and "
                "tell in another thread"
            )
        if not self._close.alive:
            raise UsageError(
                f"the study {self.name} is closed: "
                f"tune.ask_tell(..., name={self.name!r}, resume=True) continues it"
            )
        if not self._engine.is_closed:
            return
        self._run.join()
        if self._run.error is not None:
            raise self._run.error
        if not is_over_allowed:
            raise OvertoneError(f"the search of study {self.name} is over: resume it to add trials")


def _close(engine: Asked, run: Run, pid: int) -> None:
    """End the run so that it can be resumed, and wait for its end; nothing in a child process."""
    if os.getpid() != pid:
        return
    engine.leave()
    run.interrupt()
    run.join()
