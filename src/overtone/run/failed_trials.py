"""Records of failed trials, and the error that reports them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING

from overtone.core.messages import Ended, Moved, Noted, Record
from overtone.core.protocols import Observer
from overtone.core.trial import Status, Trial
from overtone.errors import TuneError
from overtone.standard_streams import say

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis

_FINAL = frozenset(status.value for status in Status if status.is_final)
_AGAIN = Status.PENDING.value  # The status after an end, if any follows.
_ERROR = Status.ERROR.value


class EndCounts:
    """Counts of ended trials, and the tracebacks of failed ones.

    Attributes:
        failures: Tracebacks of the trials that ended in an error, by id.
        n_ended: Number of ended trials.
    """

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        self.n_ended = 0


class FailedTrials(Observer):
    """Counts ended trials, keeps the tracebacks of failed ones, and prints warnings.

    Args:
        tally: Holds the counts.
        news: Is notified after a batch of records in which trials ended.
        on_failed: Is called for each trial that ended in an error.
    """

    follows_results = False

    def __init__(self, tally: EndCounts, news: Condition, on_failed: Callable[[], None]) -> None:
        self._tally, self._news, self._on_failed = tally, news, on_failed
        self._n_told = tally.n_ended

    def memory(self) -> EndCounts:
        """Return the tally of ended trials."""
        return self._tally

    def on_past(self, record: Record) -> None:
        for choice in record.choices:
            if type(choice) is Moved:
                self._count(choice, record)

    def on_record(self, record: Record) -> None:
        for choice in record.choices:
            if type(choice) is Moved:
                self._count(choice, record)
            elif type(choice) is Noted and choice.is_warning:
                say(choice.text)

    def _count(self, moved: Moved, record: Record) -> None:
        if moved.status not in _FINAL:
            if moved.status == _AGAIN:
                self._tally.failures.pop(moved.trial_id, None)
            return
        if moved.status == _ERROR:
            event = record.event
            is_own = isinstance(event, Ended) and event.trial_id == moved.trial_id
            text = event.traceback if isinstance(event, Ended) and is_own else ""
            self._tally.failures[moved.trial_id] = text
            self._on_failed()
        self._tally.n_ended += 1

    def flush(self) -> None:
        if self._tally.n_ended != self._n_told:
            self._n_told = self._tally.n_ended
            with self._news:
                self._news.notify_all()


def failed(
    failures: Mapping[str, str],
    trials: Mapping[str, Trial],
    folder: Path,
    analysis: ExperimentAnalysis,
    raises_as_is: bool = False,
) -> TuneError:
    """Return the error about failed trials, with the user's own exception as its cause.

    Args:
        failures: Tracebacks of the failed trials, by id; "" if a trial did not raise.
        trials: All trials, by id.
        folder: The experiment's folder.
        analysis: The results of all trials.
        raises_as_is: Whether to return the first user's exception instead, if a trial raised one.
    """
    from overtone.analysis.trial_error import trial_error

    total = len(trials)
    (trial_id, traceback), *rest = failures.items()
    trial = trials[trial_id]
    others = ", ".join(each for each, _ in rest[:5])
    more = f"; so did {others}" + (", ..." if len(failures) > 6 else "") if others else ""
    files = f"{folder}/<trial>/error.txt"
    error = TuneError(
        f"{len(failures)} of {total} trials failed. {trial_id} failed with: {trial.error}{more}. "
        f"Tracebacks are in {files}. This error's .analysis has the results of all trials; "
        "raise_on_failed_trial=False returns it instead",
        analysis,
    )
    if not traceback:
        return error
    cause = trial_error(trial_id, trial.error, traceback)
    if raises_as_is:
        cause.analysis = analysis
        return cause
    error.__cause__ = cause
    return error
