"""The seams: what a searcher, a scheduler, an engine, an observer and a store are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from overtone.core.decision import CONTINUE, Decision
from overtone.core.messages import Command, Event, Record, Reported
from overtone.core.trial import Trial
from overtone.core.types import Config, Metrics, Result

if TYPE_CHECKING:
    from typing_extensions import Self

    from overtone.core.goal import Goal
    from overtone.core.job import Job
    from overtone.core.scheduler_view import View


class Part(ABC):  # noqa: B024 - what is abstract differs from seam to seam
    """Remembers the arguments that it was made with, so that a journal can name it as data."""

    arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        self = super().__new__(cls)
        self.arguments = (args, kwargs)
        return self


class Searcher(Part):
    """Proposes configurations.

    Attributes:
        total: How many suggestions there are in all, where that is known: the search is
            over after so many.
        lookahead: How many suggestions may be drawn before there is a free slot for
            them. Model-based searchers keep 0; those that do not learn allow more.
        metric, mode: The goal, where the user named it here.
        goal: What is optimised, known before `on_start`; None where nobody runs the searcher.
        takes_constraint: Whether it keeps to the constraint that a space may have.
        is_slow: Whether a suggestion takes a second of Python or more: where trials are processes, the
            searcher is one of its own, too, and goes there as a pickle.
        replay: "keyed" (depends on told trials and (seed, index) alone) or "asked".
    """

    total: int | None = None
    lookahead: int = 0
    metric: str | None = None
    mode: str | None = None
    goal: Goal | None = None
    replay: str = "keyed"
    takes_constraint: bool = False
    is_slow: bool = False

    def __init__(self, metric: str | None = None, mode: str | None = None) -> None:
        self.metric, self.mode = metric, mode

    @abstractmethod
    def suggest(self, index: int) -> Config | None:
        """The config of trial `index`; None when there is none now.

        A None while nothing runs ends the search.
        """

    def on_start(self, space: Any, seed: int) -> None:
        """Called once, before anything else: the user's space and the experiment's seed."""

    def on_suggested(self, index: int, config: Config) -> None:
        """`config` is what was suggested for `index`: it waits, or runs, until its trial ends.

        Called after each suggestion; for what an earlier driver's log holds, instead of it.
        """

    def on_result(self, trial: Trial, result: Result) -> None:
        """A trial reported; `trial.suggestion` is the index that it was suggested for."""

    def on_trial_end(self, trial: Trial) -> None:
        """A trial ended: `trial.status` and `trial.best` tell how."""


class TrialScheduler(Part):
    """Rules on running trials and chooses the next: two methods, the rest optional.

    Attributes:
        needs_metric: Whether it rules by the goal, so that there must be one.
        needs_population: Whether it compares running trials with those that wait, so that all trials
            are suggested at the start, whatever the searcher's `lookahead` is.
        needs_checkpoints: Whether it lets trials go on from checkpoints of others, so that the user is told
            if no trial saves any.
        metric, mode: The goal, where the user named it here.
        time_attr: The metric that serves as this scheduler's clock.
        rules_from: Nothing but Continue is ruled at a smaller t; see `next_decision`.
        rules_anywhere: What `next_decision` says is its parent's, whose `on_result` it overrides: it is
            asked at each report.
        shown: What the status line calls it; the class's name by default.
        replayable: False for one that uses outside information.
    """

    metric: str | None = None
    mode: str | None = None
    time_attr: str = "training_iteration"
    needs_metric: bool = True
    needs_population: bool = False
    needs_checkpoints: bool = False
    rules_from: float = 0.0
    rules_anywhere: bool = False
    shown: str = ""
    replayable: bool = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        rules = [one for one in cls.__mro__ if "on_result" in vars(one)]
        if rules[0] is cls:
            says_when = {"next_decision", "rules_from"} & vars(cls).keys()
            cls.rules_anywhere = rules[1] is not TrialScheduler and not says_when

    @abstractmethod
    def on_result(self, trial: Trial, result: Result) -> Decision:
        """What becomes of `trial`, which just reported `result`."""

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        """The trial to start now, among `trials.runnable()`; None to start none."""
        return trials.first_runnable()

    def review(self, trials: View) -> Iterable[tuple[str, Decision]]:
        """Rulings (trial id, decision) on trials that did not just report.

        Called when a trial ended or paused, and when the search closed.
        """
        return ()

    def on_start(self, view: View) -> None:
        """Called once, before anything else; `view` stays valid for the whole run."""

    def on_trial_add(self, trial: Trial) -> None:
        """A trial was created; or one that had ended in an error is tried again, from `trial.ruled_t`."""

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        """The decision that took effect, which stoppers and limits may have overruled."""

    def on_trial_end(self, trial: Trial) -> None:
        """A trial ended for good."""

    def next_decision(self, trial: Trial) -> float:
        """The smallest t at which this scheduler may rule anything but Continue.

        Reports before it do not wait for an answer. By default `rules_from`: the next report.
        """
        return self.rules_from

    def describe(self) -> str:
        """One line for the status block."""
        return f"Using {self.shown or type(self).__name__}"


class Stopper(Protocol):
    """Ends trials: returns a reason, or None to go on.

    It may also have `next_decision(trial) -> float`, as schedulers do, and
    `stop_all() -> str | None`, which is asked after each result; and `awaits`, the names of the
    metrics without which it ends nothing.
    """

    def __call__(self, trial: Trial, result: Result) -> str | None: ...


class Engine(ABC):
    """Runs trials: commands in, events out.

    Calls come from one thread. Events of one trial come in the order in which they
    happened.
    """

    is_elastic: bool = False
    """Whether capacity may come that is not there now, so that what does not fit waits."""

    isolates: bool = False
    """Whether trials are processes of their own, so that the driver goes on while one works."""

    repeats: bool = False
    """Whether the same commands lead to the same events again, so that a resume can go through them."""

    max_concurrent: int | None = None
    """The largest number of trials that run at the same time; None if only resources limit it."""

    @abstractmethod
    def open(self, job: Job) -> None:
        """Prepare to run `job`; the first poll returns CapacityChanged."""

    @abstractmethod
    def now(self) -> float:
        """Seconds that the experiment has run, on this engine's clock."""

    @abstractmethod
    def submit(self, commands: Sequence[Command]) -> None:
        """Carry out; never waits for a trial, never raises for a trial's fault."""

    @abstractmethod
    def poll(self, timeout_s: float | None) -> Sequence[Event]:
        """The next events; empty when `timeout_s` passed or `wake` was called."""

    @abstractmethod
    def close(self) -> None:
        """End everything that still runs. Twice is safe; from a signal is safe."""

    def wake(self) -> None:
        """Let a poll that waits return; callable from any thread and from a signal."""

    def describe(self) -> str:
        """What runs the trials, and what it has: for the first line of a run."""
        return type(self).__name__

    def waits(self) -> str:
        """What trials wait for that is not there, in a line for the status; "" for nothing."""
        return ""


class Observer(ABC):
    """Follows an experiment: sees each record after it is in the journal.

    Attributes:
        follows_results: Whether it is shown reports that led to nothing: the bulk of all records.
    """

    follows_results: bool = True

    @abstractmethod
    def on_record(self, record: Record) -> None:
        """One record, in order."""

    def on_past(self, record: Record) -> None:
        """A record of an earlier driver, before the first of this one: take note, and do nothing."""

    def on_past_report(
        self, n: int, time: float, trial_id: str, attempt: int, t: int, metrics: Metrics
    ) -> None:
        """Such a record that is a report which led to nothing, the bulk of them, by its parts."""
        self.on_past(Record(n, Reported(time, trial_id, attempt, t, metrics)))

    def memory(self) -> Any:
        """What it knows of the past: the object is filled in a resume, instead of hearing it all again.

        One that has `on_past` and not this makes every resume begin at the journal's beginning.
        """
        return None

    def on_recalled(self) -> None:
        """Its memory was filled with what an earlier driver knew."""

    def flush(self) -> None:
        """A batch of records has ended."""

    def close(self) -> None:
        """The run has ended; write what is left."""


class Store(ABC):
    """Keeps checkpoints and artifacts, each a directory under a key."""

    @abstractmethod
    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Keep a copy of the directory `source` under `key`, whole or not at all.

        Args:
            move: The caller gives `source` away, which may spare the copy.

        Returns:
            Its uri.
        """

    @abstractmethod
    def get(self, uri: str) -> Path:
        """A local directory with the contents; not to be written to."""

    @abstractmethod
    def delete(self, uri: str) -> None:
        """Forget it. What is not there is no error."""

    @abstractmethod
    def list(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted; unfinished puts are not listed."""


__all__ = ["CONTINUE", "Engine", "Observer", "Searcher", "Stopper", "Store", "TrialScheduler"]
