"""Interfaces of searchers, schedulers, stoppers, engines and observers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from overtone.core.capabilities import Capabilities
from overtone.core.decision import CONTINUE, Decision
from overtone.core.messages import Command, Event, Record, Reported
from overtone.core.trial import Trial
from overtone.core.types import Config, Metrics, Result
from overtone.errors import OvertoneError, UsageError
from overtone.keywords import check_keywords

if TYPE_CHECKING:
    from typing_extensions import Self

    from overtone.core.account import Account
    from overtone.core.goal import Goal
    from overtone.core.job import Job
    from overtone.core.scheduler_view import View
    from overtone.space.tree import Group


def overrides(part: object, *methods: Callable[..., Any]) -> bool:
    """Return whether `part` has its own version of any of these methods of its interface."""
    return any(getattr(getattr(part, one.__name__), "__func__", None) is not one for one in methods)


class Part(ABC):  # noqa: B024 - what is abstract differs from seam to seam
    """Base class that keeps its constructor arguments, so that a journal can record it as data."""

    arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise UsageError(f"{cls.__name__}() takes no arguments")
        if kwargs:
            check_keywords(cls, kwargs)
        self = super().__new__(cls)
        self.arguments = (args, kwargs)
        return self


class Searcher(Part):
    """Proposes configurations.

    Attributes:
        total: Number of suggestions in all, after which the search is over; None if unknown.
        lookahead: Number of suggestions that may be drawn before a slot is free. Model-based
            searchers keep 0; searchers that do not learn allow more.
        metric, mode: The goal, if the user named it here.
        goal: The experiment's goal, set before `on_start`; None if the searcher is not run.
        num_samples: Number of samples of the space; None leaves it to the run, which sets it before
            `on_start`; 0 if the searcher does not read it.
        counts_samples: Whether a `total` of None means no limit, since the searcher reads `num_samples`.
            Otherwise the run ends the search after its number of samples. A class that overrides
            `on_start` or `suggest` states it anew.
        points_to_evaluate: Configs to suggest first; [] leaves them to the run, None takes none.
        max_concurrent: The largest number of trials that run at the same time; 0 for no limit.
        takes_constraint: Whether suggestions meet the constraint of the space, if it has one.
        is_slow: Whether a suggestion takes a second of Python or more. If trials are processes, the
            searcher is pickled and runs in a separate process, too.
        replay: "keyed" (depends on told trials and (seed, index) alone) or "asked".
    """

    total: int | None = None
    lookahead: int = 0
    metric: str | None = None
    mode: str | None = None
    goal: Goal | None = None
    replay: str = "keyed"
    num_samples: int | None = 0
    counts_samples: bool = False
    points_to_evaluate: Any = None
    max_concurrent: int = 0
    takes_constraint: bool = False
    is_slow: bool = False

    def __init__(self, metric: str | None = None, mode: str | None = None) -> None:
        self.metric, self.mode = metric, mode

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if {"on_start", "suggest"} & vars(cls).keys():  # Another way to suggest may have another end.
            cls.counts_samples = vars(cls).get("counts_samples", False)

    @abstractmethod
    def suggest(self, index: int) -> Config | None:
        """Return the config of trial `index`; None if no config is available now.

        A None while nothing runs ends the search.
        """

    def on_start(self, space: Any, seed: int) -> None:
        """Handle the start: called once, before anything else, with the space and the experiment's seed."""

    def total_for(self, num_samples: int) -> int | None:
        """Return the number of suggestions in all for `num_samples` samples of the space.

        A request may change the number of samples while the search goes on: `suggest` is then called for
        each index below the new total. Called after `on_start`.

        Args:
            num_samples: 1 or more; -1 for no limit, which gives None.
        """
        return None if num_samples < 0 else num_samples

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Return whether the searcher itself limits its concurrent trials to `max_concurrent`."""
        return False

    def searched_space(self, space: Group) -> Group:
        """Return the space that is searched: that of `on_start` by default, or the searcher's own.

        Raises:
            OvertoneError: The searcher draws its own space trial by trial.
        """
        return space

    def on_suggested(self, index: int, config: Config) -> None:
        """Record the suggestion `config` for `index`: it is pending or running until its trial ends.

        Called after each suggestion; for suggestions in the log of an earlier driver, instead of `suggest`.
        """

    def on_result(self, trial: Trial, result: Result) -> None:
        """Observe a result; `trial.suggestion` is the index of the trial's suggestion."""

    def on_trial_end(self, trial: Trial) -> None:
        """Observe the end of a trial; see `trial.status` and `trial.best`."""

    def on_trial_pause(self, trial: Trial) -> None:
        """Observe that a trial waits, for its scheduler or for a resume, and does not run."""

    def on_trial_unpause(self, trial: Trial) -> None:
        """Observe that a paused trial is to run again."""


class TrialScheduler(Part):
    """Decides on running trials and chooses the next; only `on_result` is required.

    Attributes:
        needs_metric: Whether it decides by the goal, so that a goal is required.
        needs_population: Whether it compares running trials with waiting trials. Then all trials are
            suggested at the start, whatever the searcher's `lookahead` is.
        needs_checkpoints: Whether trials restore checkpoints of other trials. Then the user is warned
            if no trial saves any.
        pauses: Whether it may pause or restart trials. Then it needs an engine that can start a trial again.
        parks: Whether the process of a paused trial that cannot save waits. Otherwise it ends, and the trial
            goes on from its last checkpoint.
        metric, mode: The goal, if the user named it here.
        time_attr: The metric that serves as this scheduler's clock.
        rules_from: Every decision at a smaller t is Continue; see `next_decision`.
        rules_anywhere: Whether the class overrides its parent's `on_result` but not `next_decision`:
            then it is asked at each report.
        ends_trials: Whether each trial ends, sooner or later, by its decisions; assumed by default.
        log_config: Whether a file in the experiment's folder shows the changes of each trial's config.
        shown: Its name in the status line; the class name by default.
        replayable: False if it uses outside information: a replay then asks it for no decision, and only
            tells it what was decided.
    """

    metric: str | None = None
    mode: str | None = None
    time_attr: str = "training_iteration"
    needs_metric: bool = True
    needs_population: bool = False
    needs_checkpoints: bool = False
    pauses: bool = False
    parks: bool = True
    rules_from: float = 0.0
    rules_anywhere: bool = False
    ends_trials: bool = True
    log_config: bool = False
    shown: str = ""
    replayable: bool = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        rules = [one for one in cls.__mro__ if "on_result" in vars(one)]
        if rules[0] is cls:
            says_when = {"next_decision", "rules_from"} & vars(cls).keys()
            cls.rules_anywhere = rules[1] is not TrialScheduler and not says_when
        if {"on_result", "review"} & vars(cls).keys():
            cls.ends_trials = vars(cls).get("ends_trials", True)

    @abstractmethod
    def on_result(self, trial: Trial, result: Result) -> Decision:
        """Return the decision on `trial`, which just reported `result`."""

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        """Return the trial to start now, among `trials.runnable()`; None to start none."""
        return trials.first_runnable()

    def review(self, trials: View) -> Iterable[tuple[str, Decision]]:
        """Return rulings (trial id, decision) on trials that did not just report.

        Called when a trial ended or paused, and when the search closed.
        """
        return ()

    def complete(self, space: Mapping[str, Any], earlier: Callable[[str], Any]) -> Mapping[str, Any]:
        """Return the space, with more hyperparameters if this scheduler needs them.

        Args:
            space: The user's space.
            earlier: Function that returns the results of another experiment, by its path.
        """
        return space

    def on_start(self, view: View) -> None:
        """Handle the start: called once, before anything else; `view` stays valid for the whole run."""

    def on_trial_add(self, trial: Trial) -> None:
        """Handle a new trial, or the retry of a trial that ended in an error, from `trial.ruled_t`."""

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        """Handle the decision that took effect; stoppers and limits may have overruled the scheduler's."""

    def on_trial_end(self, trial: Trial) -> None:
        """Handle the end of a trial."""

    def next_decision(self, trial: Trial) -> float:
        """Return the smallest t at which this scheduler may decide anything but Continue.

        Reports before it do not wait for an answer. By default `rules_from`: the next report.
        """
        return self.rules_from

    def describe(self) -> str:
        """Return one line for the status block."""
        return f"Using {self.shown or type(self).__name__}"


class Stopper(ABC):
    """Ends trials, and the search; only `__call__` is required.

    Attributes:
        awaits: Names of the metrics without which it ends no trial.
        ends_trials: Whether it may end a trial.
        timeout_s: Seconds after which the controller ends the search; None for no limit.
    """

    awaits: Sequence[str] = ()
    ends_trials: bool = True
    timeout_s: float | None = None

    @abstractmethod
    def __call__(self, trial: Trial, result: Result) -> str | None:
        """Return the reason to end `trial`, which just reported `result`; None to continue it."""

    def stop_all(self) -> str | None:
        """Return the reason to end the search, after each result; None to continue it."""

    def next_decision(self, trial: Trial) -> float:
        """Return the smallest t at which this stopper may end the trial; by default the next report."""
        return 0.0


Pump = Callable[[Sequence[Event]], None]
"""Function that handles events and submits the resulting commands before it returns."""

Show = Callable[[str, str, str], None]
"""Function of (trial_id, "stdout" or "stderr", text) that shows a trial's output."""


class Engine(ABC):
    """Runs trials: commands in, events out.

    Calls come from one thread. Events of one trial come in the order in which they
    happened.

    An attempt, begun by one Start, has one process, its head. It alone reports and gets orders. It may ask
    for ranks, each a process in a bundle of its own: the engine makes all of them or none. The attempt is
    over when its head ends, or when a rank fails or dies. The engine then kills the other processes, and
    sends one Ended.

    Attributes:
        capabilities: Facts that the run depends on.
        on_sample: Receives (node, sample) every few seconds, from an engine that spans hosts.
        on_output: Receives whole lines that trials print, each with a newline at the end. An engine
            that does not capture output ignores it. Lines of the engine itself have no trial_id.
    """

    capabilities: Capabilities = Capabilities()
    on_output: Show
    on_sample: Callable[[str, Any], None]

    def __init_subclass__(cls, **options: Any) -> None:
        """Take capabilities that a class states as attributes of its own, such as `is_elastic = True`."""
        super().__init_subclass__(**options)
        own = {one.name: vars(cls)[one.name] for one in fields(Capabilities) if one.name in vars(cls)}
        if own:
            cls.capabilities = replace(cls.capabilities, **own)

    @abstractmethod
    def open(self, job: Job) -> None:
        """Prepare to run `job`; the first poll returns CapacityChanged."""

    @abstractmethod
    def now(self) -> float:
        """Return the seconds that the experiment has run, on this engine's clock."""

    @abstractmethod
    def submit(self, commands: Sequence[Command]) -> None:
        """Carry out commands; never wait for a trial, never raise for a trial's fault."""

    @abstractmethod
    def poll(self, timeout_s: float | None) -> Sequence[Event]:
        """Return the next events; empty if `timeout_s` passed or `wake` was called."""

    @abstractmethod
    def close(self) -> None:
        """End everything that still runs. Safe to call twice, and from a signal handler."""

    def attach(self, pump: Pump) -> None:
        """Set the function that handles the events of a trial that runs inside `poll`."""

    def wake(self) -> None:
        """Make a waiting poll return; callable from any thread and from a signal handler."""

    @property
    def account(self) -> Account | None:
        """The resource use and cost until now; None if they are not measured."""
        return None

    def describe(self) -> str:
        """Return the name and resources of the engine, for the first line of a run."""
        return type(self).__name__

    def stacks(self, trial_id: str) -> str:
        """Return the stacks of a running trial's processes, for people; called from another thread.

        Raises:
            OvertoneError: The trial has no process.
        """
        raise OvertoneError(f"{type(self).__name__}: trials have no processes, and so no stacks")

    def waits(self) -> str:
        """Return a status line about missing capacity that trials wait for; "" if there is none."""
        return ""


class Observer(ABC):
    """Follows an experiment: sees each record after it is in the journal.

    Attributes:
        follows_results: Whether it receives reports without choices: the bulk of all records.
        precedes_table: Whether it sees each record before the table of trials has it.
        is_projection: Whether it writes files of trials that follow from the journal alone. The run
            writes the files that are incomplete again.
        ends_run: Whether the run ends if it raises; it is shown the rest, too. Other observers are
            disconnected with one warning.
    """

    follows_results: bool = True
    is_projection: bool = False
    precedes_table: bool = False
    ends_run: bool = False

    @abstractmethod
    def on_record(self, record: Record) -> None:
        """Handle one record, in order."""

    def on_past(self, record: Record) -> None:
        """Handle a record of an earlier driver, before the first record of this one, without side effects."""

    def on_past_report(
        self, n: int, time: float, trial_id: str, attempt: int, t: int, metrics: Metrics
    ) -> None:
        """Handle a report of an earlier driver that led to no choices, given by its parts."""
        self.on_past(Record(n, Reported(time, trial_id, attempt, t, metrics)))

    def memory(self) -> Any:
        """Return the state built from past records: a resume fills this object instead of replaying them.

        An observer with `on_past` but without `memory` makes every resume read the whole journal.
        """
        return None

    def on_recalled(self) -> None:
        """Handle the restored memory: it now holds the state of an earlier driver."""

    def flush(self) -> None:
        """Handle the end of a batch of records."""

    def close(self) -> None:
        """Write the remaining output at the end of the run."""


__all__ = ["CONTINUE", "Capabilities", "Engine", "Observer", "Searcher", "Stopper", "TrialScheduler"]
