"""The part of a search that all its trials share: estimator, data, splits and scorers."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from sklearn.base import clone
from sklearn.model_selection._validation import _fit_and_score

from overtone.sklearn.parts import Parts

METRIC = "mean_test_score"
"""The reported metric that decides: the mean over the folds so far of the score that `refit` names."""

Outcome = dict[str, Any]
"""The scores and times of one fold, as scikit-learn's own searches record them."""


@dataclass
class Evaluation:
    """Estimator, data and splits.

    Attributes:
        X, y: The data, as the user gave them.
        splits: Pairs of index arrays (train, test), one for each fold.
        refit: The name of the score that decides, if there are several; anything else for the first one.
        fit_params, score_params: Metadata for the estimator's `fit` and for the scorer.
        max_iters: Number of reports of a trial; 0 if each fold is a report.
        failure: The exception of a fit, with `error_score="raise"` and trials in this process.
        failure_file: Where the first trial of another process that failed leaves its exception; "" for none.
    """

    estimator: Any
    X: Any
    y: Any
    splits: Sequence[tuple[Any, Any]]
    scorer: Any
    refit: Any
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    return_train_score: bool
    error_score: Any
    max_iters: int = 0
    failure: BaseException | None = field(default=None, compare=False)
    failure_file: str = ""

    @property
    def n_reports(self) -> int:
        """Number of reports of a trial that is not stopped."""
        return self.max_iters or len(self.splits)

    def evaluate(self, params: Mapping[str, Any], fold: int) -> Outcome:
        """Fit a clone with `params` on a fold and score it.

        Raises:
            Exception: The fit failed, and `error_score` is "raise".
        """
        return self._outcome(clone(self.estimator), dict(params), fold)

    def parts(self, params: Mapping[str, Any]) -> list[Parts]:
        """Return an estimator to be trained in parts for each fold."""
        estimators = [
            clone(self.estimator).set_params(**clone(dict(params), safe=False)) for _ in self.splits
        ]
        return [Parts(estimator, self.max_iters) for estimator in estimators]

    def evaluate_part(self, parts: Parts, fold: int) -> Outcome:
        """Train an estimator one part further on a fold and score it."""
        parts.estimator.fit = parts.train  # `_fit_and_score` calls it, then scores the estimator itself.
        try:
            return self._outcome(parts.estimator, None, fold)
        finally:
            del parts.estimator.fit

    def _outcome(self, estimator: Any, params: dict[str, Any] | None, fold: int) -> Outcome:
        train, test = self.splits[fold]
        outcome: Outcome = _fit_and_score(
            estimator, self.X, self.y, scorer=self.scorer, train=train, test=test, verbose=0,
            parameters=params, fit_params=self.fit_params, score_params=self.score_params,
            return_train_score=self.return_train_score, return_n_test_samples=True, return_times=True,
            error_score=self.error_score,
        )  # fmt: skip
        return outcome

    def keep_failure(self, error: Exception) -> None:
        """Keep the exception of a fit for the process of the search."""
        self.failure = error
        if self.failure_file:
            # An exception may not be picklable, the first one is there, or this is another machine.
            with suppress(Exception), open(self.failure_file, "xb") as file:
                file.write(pickle.dumps(error))

    def kept_failure(self) -> BaseException | None:
        """Return the exception that a trial kept; None if there is none that can be read."""
        if self.failure is None and self.failure_file:
            with suppress(Exception), open(self.failure_file, "rb") as file:
                found = pickle.load(file)
                return found if isinstance(found, BaseException) else None
        return self.failure

    def deciding_score(self, outcome: Outcome) -> float:
        """Return the score of a fold that decides between candidates."""
        scores = outcome["test_scores"]
        if isinstance(scores, dict):
            named = self.refit if isinstance(self.refit, str) else next(iter(scores), "")
            return float(scores.get(named, float("nan")))
        return float(scores)

    def mean_score(self, outcomes: Sequence[Outcome]) -> float:
        """Return the value of `METRIC` for the folds so far."""
        return fmean(map(self.deciding_score, outcomes))


def unfit_outcome(like: Outcome | None, error_score: Any, text: str) -> Outcome:
    """Return the outcome of a fold that was not evaluated since its trial failed.

    Args:
        like: The outcome of a fold of another trial, which has the names of the scores.
        text: The error.
    """
    value = float("nan") if error_score == "raise" else error_score
    scores = like["test_scores"] if like else value
    outcome: Outcome = {
        "test_scores": dict.fromkeys(scores, value) if isinstance(scores, dict) else value,
        "fit_time": 0.0, "score_time": 0.0, "n_test_samples": 0, "fit_error": text,
    }  # fmt: skip
    outcome["train_scores"] = outcome["test_scores"]
    return outcome
