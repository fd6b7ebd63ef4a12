"""Collects what the trials of a search report, in the order of its candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from overtone.core.messages import Added, Ended, Moved, Record, Reported
from overtone.core.protocols import Observer
from overtone.sklearn.evaluation import Outcome
from overtone.sklearn.trials import params_of

_PARTS = ("test_scores", "train_scores", "fit_time", "score_time", "n_test_samples", "fit_error")


@dataclass
class Candidate:
    """A trial of the search.

    Attributes:
        params: The estimator's parameters.
        outcomes: By the number of the report, from 1; each the outcome of a fold, or a list with one of
            each fold if the trial trains all folds further at each report.
        error: The trial's error if it failed as a whole.
    """

    params: dict[str, Any]
    outcomes: dict[int, Any] = field(default_factory=dict)
    error: str = ""


class Outcomes(Observer):
    """The candidates with their outcomes, by the ids of their trials; also those of an earlier driver."""

    ends_run = True

    def __init__(self) -> None:
        self.candidates: dict[str, Candidate] = {}

    def on_record(self, record: Record) -> None:
        event = record.event
        if isinstance(event, Reported):
            folds = event.metrics.get("folds")
            outcome = _outcome(event.metrics) if folds is None else [_outcome(fold) for fold in folds]
            self.candidates[event.trial_id].outcomes[event.t] = outcome
        elif isinstance(event, Ended) and event.cause not in ("returned", "halted"):
            self.candidates[event.trial_id].error = event.error or event.cause
        for choice in record.choices:
            if isinstance(choice, Added):
                self.candidates[choice.trial_id] = Candidate(params_of(choice.config))
            elif isinstance(choice, Moved) and choice.config is not None:
                self.candidates[choice.trial_id].params = params_of(choice.config)

    def on_past(self, record: Record) -> None:
        self.on_record(record)


def _outcome(metrics: Any) -> Outcome:
    return {part: metrics[part] for part in _PARTS if part in metrics}
