"""`TuneSearchCV` and `TuneGridSearchCV`: scikit-learn's searches, run by Overtone."""

from __future__ import annotations

import copy
import numbers
import time
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context, clone, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils._param_validation import Interval, Options
from sklearn.utils.validation import _check_method_params

from overtone.errors import ArgumentError, UsageError
from overtone.sklearn.evaluation import Evaluation
from overtone.sklearn.experiment import SearchOptions, run_search
from overtone.sklearn.parts import how_trained
from overtone.sklearn.results import fold_outcomes, format_results, reached
from overtone.sklearn.spaces import Candidates, drawn, has_domains, listed_values, search_space


class _Search(BaseSearchCV):  # type: ignore[misc]
    """The part of both searches; scikit-learn's base class has the methods of the fitted search."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraint
        for name, constraint in BaseSearchCV._parameter_constraints.items()
        if name != "pre_dispatch"
    }

    def __init__(
        self,
        estimator: Any,
        *,
        early_stopping: Any = None,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: Any = False,
        max_iters: Any = 1,
        name: Any = None,
        local_dir: Any = None,
        use_gpu: Any = False,
        loggers: Any = None,
        stopper: Any = None,
        time_budget_s: Any = None,
        engine: Any = None,
    ) -> None:
        super().__init__(
            estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
            error_score=error_score, return_train_score=return_train_score,
        )  # fmt: skip
        del self.pre_dispatch  # Trials start when a slot is free.
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.max_iters = max_iters
        self.name = name
        self.local_dir = local_dir
        self.use_gpu = use_gpu
        self.loggers = loggers
        self.stopper = stopper
        self.time_budget_s = time_budget_s
        self.engine = engine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = copy.deepcopy(get_tags(self.estimator).target_tags)
        return tags

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Refuse scikit-learn's callbacks, which a search does not call.

        Raises:
            UsageError: There are callbacks; give them to the estimator.
        """
        if callbacks:
            raise UsageError(
                f"{type(self).__name__} calls no callbacks of scikit-learn: give them to the estimator, or "
                "give loggers=[...]"
            )
        return self

    def _plan(self) -> tuple[Any, Any, int]:
        """Return the space, the searcher and the number of samples."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Search, and fit the best candidate to all data.

        Args:
            X: Array-like of shape (n_samples, n_features), a frame or a sparse matrix.
            y: Array-like of shape (n_samples,) or (n_samples, n_outputs); None for unsupervised learning.
            **params: Metadata: `groups` for the splitter, and arguments of the estimator's `fit` such as
                `sample_weight`. Arrays of length n_samples are split as `X` is.

        Returns:
            The search itself.

        Raises:
            ValueError: All fits failed, or an argument has a value that is not allowed.
            KeyboardInterrupt: The search was interrupted; its trials have ended.
        """
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(
                f"{type(self.estimator).__name__} requires y to be passed, but the target y is None"
            )
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(_check_method_params(X, params=params))
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        splits = list(cv.split(X, y, **routed.splitter.split))
        if len(splits) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(splits)}"
            )
        base = clone(self.estimator)
        deciding = self.refit if callable(self.scoring) else refit_metric
        evaluation = Evaluation(
            base, X, y, splits, scorers, deciding, routed.estimator.fit, routed.scorer.score,
            self.return_train_score, self.error_score, self._max_iters(),
        )  # fmt: skip
        results, scores = self._search(evaluation)
        self.multimetric_ = isinstance(scores, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(scores)
            refit_metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        if self.refit:
            self.best_estimator_ = clone(base).set_params(**clone(self.best_params_, safe=False))
            began = time.time()
            target = {} if y is None else {"y": y}
            self.best_estimator_.fit(X, **target, **routed.estimator.fit)
            self.refit_time_ = time.time() - began
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        self.cv_results_ = results
        return self

    def _max_iters(self) -> int:
        """Return the number of parts in which candidates are trained; 0 if each fold is a report."""
        if not isinstance(self.max_iters, numbers.Integral) or self.max_iters < 1:
            raise ArgumentError(
                f"max_iters={self.max_iters!r}: must be a whole number of at least 1, such as 10"
            )
        if self.max_iters == 1:
            return 0
        if not self.early_stopping:
            warnings.warn("max_iters has no effect without early_stopping", UserWarning, stacklevel=3)
            return 0
        how_trained(self.estimator)
        return int(self.max_iters)

    def _search(self, evaluation: Evaluation) -> tuple[dict[str, Any], Any]:
        """Run the trials; return `cv_results_` and the scores of one fold."""
        random = check_random_state(self.random_state)
        space, searcher, n_trials = self._plan()
        options = SearchOptions(
            space, searcher, n_trials, int(random.randint(np.iinfo(np.int32).max)), self.early_stopping,
            self.n_jobs, self.verbose, self.name, self.local_dir, self.use_gpu, self.loggers, self.stopper,
            self.time_budget_s, self.engine,
        )  # fmt: skip
        outcomes = run_search(evaluation, options)
        candidates = [one for one in outcomes.candidates.values() if one.outcomes or one.error]
        like = next((fold for one in candidates for fold in one.outcomes.values()), None)
        folds = [fold_outcomes(one, self.n_splits_, like, self.error_score) for one in candidates]
        flat = [fold for found in folds for fold in found]
        if not flat:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates? Did the search "
                "end before the first fit?"
            )
        _warn_or_raise_about_fit_failures(flat, self.error_score)
        if callable(self.scoring):
            _insert_error_scores(flat, self.error_score)
        params = [one.params for one in candidates]
        n_reports = [evaluation.n_reports if one.error else reached(one) for one in candidates]
        more = {"n_resources": n_reports} if self.early_stopping else None
        results = format_results(self._format_results, params, folds, self.n_splits_, n_reports, more)
        return results, flat[0]["test_scores"]


class TuneSearchCV(_Search):
    """Randomized or model-based search over hyperparameters, with scikit-learn's contract.

    With the default searcher it tries the candidates that `RandomizedSearchCV` tries, and its `cv_results_`
    is equal. Any searcher of Overtone's can choose instead (`search_alg`), and any scheduler can stop
    candidates early (`early_stopping`): each fold is a report, so that this works for every estimator.
    The argument names of tune-sklearn's class of this name are accepted.

    Args:
        estimator: An estimator of scikit-learn's interface.
        param_distributions: Dict of lists, distributions of `scipy.stats` or domains such as
            `tune.loguniform(1e-4, 1)`; or a list of such dicts.
        early_stopping: True for racing over the folds; a scheduler or its name, such as "asha"; None to
            evaluate all folds of all candidates.
        n_trials: Number of candidates; -1 for no limit, with `time_budget_s`.
        scoring: Scores, as in `RandomizedSearchCV`. If there are several, `refit` names the one that the
            searcher and the scheduler see.
        n_jobs: Number of trials at the same time, in processes of their own; None for 1, in this process;
            -1 for all CPUs.
        refit: Whether, or by which score or function, the best candidate is chosen and fitted to all data.
        cv: Number of folds, a splitter or an iterable of splits.
        verbose: 0 for no output, 1 for a table of the running search, 2 and 3 for more.
        random_state: Seed, or a generator of NumPy's.
        error_score: Score of a fit that raises; "raise" to raise the error.
        return_train_score: Whether `cv_results_` has scores of the training folds.
        max_iters: Number of reports of a candidate if it is trained in parts; 1 for a report per fold.
        search_alg: A searcher or its name, such as "auto" or "optuna"; "random" by default.
        search_optimization: The name of `search_alg` in tune-sklearn; "bayesian" is "auto".
        name: Name of the experiment, which is then kept below `local_dir`.
        local_dir: Folder of experiments, in which this one is kept; None keeps it only if it has a name.
        use_gpu: Whether each trial gets a GPU.
        loggers: Classes of loggers, or the names "csv", "json", "tensorboard" and "mlflow".
        stopper: When trials end, as `tune.run(stop=)`.
        time_budget_s: Seconds, or a timedelta, after which no trial goes on.
        engine: An engine or its name, such as "ray"; None chooses by `n_jobs`.

    Attributes:
        cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_,
        multimetric_, classes_, n_features_in_, feature_names_in_: As those of `RandomizedSearchCV`. With
            `early_stopping`, `cv_results_` has the column `n_resources`: the number of reports. A stopped
            candidate has NaN for the folds that were not evaluated, and ranks below all others.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Search._parameter_constraints,
        "n_trials": [Interval(numbers.Integral, 1, None, closed="left"), Options(numbers.Integral, {-1})],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        early_stopping: Any = None,
        n_trials: Any = 10,
        *,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: Any = False,
        max_iters: Any = 1,
        search_alg: Any = None,
        search_optimization: Any = "random",
        name: Any = None,
        local_dir: Any = None,
        use_gpu: Any = False,
        loggers: Any = None,
        stopper: Any = None,
        time_budget_s: Any = None,
        engine: Any = None,
    ) -> None:
        super().__init__(
            estimator, early_stopping=early_stopping, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, random_state=random_state, error_score=error_score,
            return_train_score=return_train_score, max_iters=max_iters, name=name, local_dir=local_dir,
            use_gpu=use_gpu, loggers=loggers, stopper=stopper, time_budget_s=time_budget_s, engine=engine,
        )  # fmt: skip
        self.param_distributions = param_distributions
        self.n_trials = n_trials
        self.search_alg = search_alg
        self.search_optimization = search_optimization

    def _plan(self) -> tuple[Any, Any, int]:
        asked = self.search_optimization if self.search_alg is None else self.search_alg
        if isinstance(asked, str):
            asked = _NAMES.get(asked.lower(), asked.lower())
        if asked != "random" or has_domains(self.param_distributions):
            searcher = None if asked == "random" else copy.deepcopy(asked)
            return search_space(self.param_distributions), searcher, self.n_trials
        candidates = drawn(self.param_distributions, self.n_trials, self.random_state)
        return listed_values(self.param_distributions), candidates, candidates.total or -1


class TuneGridSearchCV(_Search):
    """Search of all points of a grid, with scikit-learn's contract and early stopping.

    `cv_results_` equals that of `GridSearchCV`; see `TuneSearchCV` for the arguments that both have.

    Args:
        param_grid: Dict of lists, or a list of such dicts.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        early_stopping: Any = None,
        *,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: Any = False,
        max_iters: Any = 1,
        name: Any = None,
        local_dir: Any = None,
        use_gpu: Any = False,
        loggers: Any = None,
        stopper: Any = None,
        time_budget_s: Any = None,
        engine: Any = None,
    ) -> None:
        super().__init__(
            estimator, early_stopping=early_stopping, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, random_state=random_state, error_score=error_score,
            return_train_score=return_train_score, max_iters=max_iters, name=name, local_dir=local_dir,
            use_gpu=use_gpu, loggers=loggers, stopper=stopper, time_budget_s=time_budget_s, engine=engine,
        )  # fmt: skip
        self.param_grid = param_grid

    def _plan(self) -> tuple[Any, Any, int]:
        grids = [self.param_grid] if isinstance(self.param_grid, Mapping) else self.param_grid
        plain = [
            {name: _values(value) for name, value in grid.items()} if isinstance(grid, Mapping) else grid
            for grid in grids
        ]
        candidates = list(ParameterGrid(plain))
        space = listed_values(plain[0] if len(plain) == 1 else plain)
        return space, Candidates.of(candidates), len(candidates)


_NAMES = {"bayesian": "auto", "random_search": "random"}
"""Names of searches in tune-sklearn that have another name here."""


def _values(value: Any) -> Any:
    """Return the values of `tune.grid_search(...)` and `tune.choice(...)`; others as they are."""
    if isinstance(value, Mapping) and value.keys() == {"grid_search"}:
        return value["grid_search"]
    return getattr(value, "categories", None) or value
