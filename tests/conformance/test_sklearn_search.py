"""The searches of `overtone.sklearn` beside scikit-learn's own, on small data."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import sparse, stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ParameterSampler,
    RandomizedSearchCV,
    cross_val_score,
)  # fmt: skip
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from overtone import tune
from overtone.errors import ArgumentError
from overtone.sklearn import TuneGridSearchCV, TuneSearchCV
from overtone.sklearn.outcomes import Candidate
from overtone.sklearn.parts import Parts
from overtone.sklearn.results import fold_outcomes

X, y = make_classification(60, 5, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
SPACE = {"max_depth": stats.randint(1, 6), "criterion": ["gini", "entropy"]}
PIPELINE = Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression())])


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def assert_equal_results(one: Any, other: Any) -> None:
    """Assert that `cv_results_` of two searches are equal but for times, and in the same order."""
    assert list(one.cv_results_) == list(other.cv_results_)
    for name, values in one.cv_results_.items():
        if name == "params":
            assert values == other.cv_results_[name]
        elif "time" not in name:
            np.testing.assert_array_equal(values, other.cv_results_[name], name)
            assert values.dtype == other.cv_results_[name].dtype, name


@pytest.mark.parametrize(
    ("estimator", "space", "options"),
    [
        (TREE, SPACE, {}),
        (TREE, SPACE, {"return_train_score": True, "cv": 3}),
        (TREE, SPACE, {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"}),
        (TREE, SPACE, {"scoring": ["accuracy", "f1"], "refit": False, "return_train_score": True}),
        (TREE, SPACE, {"refit": lambda results: int(np.argmax(results["param_max_depth"]))}),
        (PIPELINE, {"fit__C": stats.loguniform(1e-3, 10), "scale": [StandardScaler(), MinMaxScaler()]}, {}),
        (TREE, [{"max_depth": [1, 2]}, {"min_samples_leaf": [2, 3, 4]}], {}),
        (Ridge(), {"alpha": [0.1, 1.0, 10.0]}, {"scoring": "neg_mean_squared_error", "n": 3}),
        (TREE, {"max_depth": [1, -1]}, {"error_score": 0.25, "n": 2}),
        (TREE, {"max_depth": [1, -1]}, {"scoring": ["accuracy", "f1"], "refit": "f1", "n": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_results_are_those_of_scikit_learn(estimator: Any, space: Any, options: dict[str, Any]) -> None:
    n = options.pop("n", 5) if "n" in options else 5
    ours = TuneSearchCV(estimator, space, n_trials=n, random_state=1, **options).fit(X, y)
    theirs = RandomizedSearchCV(estimator, space, n_iter=n, random_state=1, **options).fit(X, y)
    assert_equal_results(ours, theirs)
    for name in ("best_index_", "best_score_", "best_params_", "n_splits_", "multimetric_"):
        if name != "best_params_" or "scale" not in space:
            assert getattr(ours, name, None) == getattr(theirs, name, None)
    if ours.refit:
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.score(X, y) == theirs.score(X, y)


def test_a_grid_is_that_of_scikit_learn() -> None:
    grid = [{"max_depth": [1, 2], "criterion": ["gini", "entropy"]}, {"min_samples_leaf": [3]}]
    assert_equal_results(TuneGridSearchCV(TREE, grid).fit(X, y), GridSearchCV(TREE, grid).fit(X, y))
    search = TuneGridSearchCV(
        TREE, {"max_depth": tune.grid_search([1, 2]), "criterion": tune.choice(["gini"])}
    )
    assert search.fit(X, y).cv_results_["params"] == [
        {"criterion": "gini", "max_depth": 1}, {"criterion": "gini", "max_depth": 2}
    ]  # fmt: skip


def test_groups_and_sample_weights_go_where_scikit_learn_sends_them() -> None:
    groups, weights = np.arange(60) % 6, np.linspace(0, 1, 60)
    options: dict[str, Any] = {"cv": GroupKFold(3), "random_state": 0}
    ours = TuneSearchCV(TREE, SPACE, n_trials=4, **options).fit(X, y, groups=groups, sample_weight=weights)
    theirs = RandomizedSearchCV(TREE, SPACE, n_iter=4, **options).fit(
        X, y, groups=groups, sample_weight=weights
    )
    assert_equal_results(ours, theirs)


def test_routed_metadata() -> None:
    weights = np.linspace(0, 1, 60)
    with config_context(enable_metadata_routing=True):
        tree = clone(TREE).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        ours = TuneSearchCV(tree, SPACE, n_trials=3, random_state=0).fit(X, y, sample_weight=weights)
        theirs = RandomizedSearchCV(tree, SPACE, n_iter=3, random_state=0).fit(X, y, sample_weight=weights)
    assert_equal_results(ours, theirs)


def test_frames_and_sparse_matrices() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    search = TuneSearchCV(TREE, SPACE, n_trials=2).fit(frame, pandas.Series(y))
    assert list(search.feature_names_in_) == list("abcde")
    assert TuneSearchCV(TREE, SPACE, n_trials=2).fit(sparse.csr_matrix(X), y).best_score_ > 0.5


def test_the_same_seed_finds_the_same() -> None:
    for options in ({}, {"early_stopping": True}, {"search_alg": "auto", "early_stopping": True}):
        first, second = (
            TuneSearchCV(TREE, SPACE, n_trials=6, random_state=3, **options).fit(X, y) for _ in range(2)
        )
        assert_equal_results(first, second)


def test_racing_ranks_stopped_candidates_below_complete_ones() -> None:
    grid = {"n_neighbors": [5, 239, 3, 235]}
    X, y = make_classification(300, 5, random_state=0)
    search = TuneGridSearchCV(KNeighborsClassifier(), grid, True).fit(X, y)
    results = search.cv_results_
    stopped = results["n_resources"] < 5
    assert list(stopped)[1::2] == [True, True]
    assert results["rank_test_score"][stopped].min() > results["rank_test_score"][~stopped].max()
    for row in np.flatnonzero(stopped):
        folds = np.array([results[f"split{fold}_test_score"][row] for fold in range(5)])
        seen = results["n_resources"][row]
        assert np.isnan(folds[seen:]).all()
        assert results["mean_test_score"][row] == pytest.approx(folds[:seen].mean())
    ended = TuneGridSearchCV(KNeighborsClassifier(), grid, True, stopper={"training_iteration": 2}).fit(X, y)
    assert max(ended.cv_results_["n_resources"]) == ended.cv_results_["n_resources"][ended.best_index_] == 2
    complete = TuneGridSearchCV(KNeighborsClassifier(), grid).fit(X, y)
    assert "n_resources" not in complete.cv_results_
    assert search.best_params_ == complete.best_params_


def test_folds_that_nobody_saw_are_nan_also_if_all_candidates_have_as_many() -> None:
    search = TuneSearchCV(TREE, SPACE, n_trials=4, stopper={"training_iteration": 2}, random_state=0)
    results = search.fit(X, y).cv_results_
    folds = np.array([results[f"split{fold}_test_score"] for fold in range(5)])
    assert np.isnan(folds[2:]).all()
    np.testing.assert_allclose(results["mean_test_score"], folds[:2].mean(0))
    assert results["rank_test_score"][results["mean_test_score"].argmax()] == 1


@pytest.mark.filterwarnings("ignore")
def test_a_candidate_that_failed_ranks_below_stopped_ones() -> None:
    grid = [{"max_depth": [1, 2]}, {"no_parameter": [1]}]
    search = TuneGridSearchCV(TREE, grid, True, stopper={"training_iteration": 2}).fit(X, y)
    assert max(search.cv_results_["n_resources"][:2]) == 2
    assert search.cv_results_["rank_test_score"][2] == 3
    assert "max_depth" in search.best_params_


def test_the_score_that_refit_names_decides_also_if_a_function_returns_the_scores() -> None:
    def scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
        accuracy = estimator.score(X, y)
        return {"error": 1 - accuracy, "accuracy": accuracy}

    options = {"early_stopping": True, "n_trials": 6, "random_state": 0}
    named = TuneSearchCV(TREE, SPACE, scoring=scores, refit="accuracy", **options).fit(X, y)
    alone = TuneSearchCV(TREE, SPACE, **options).fit(X, y)
    np.testing.assert_array_equal(named.cv_results_["n_resources"], alone.cv_results_["n_resources"])
    np.testing.assert_array_equal(
        named.cv_results_["mean_test_accuracy"], alone.cv_results_["mean_test_score"]
    )
    assert named.best_index_ == alone.best_index_
    with pytest.raises(ValueError, match="refit"):
        TuneSearchCV(TREE, SPACE, scoring=scores, **options).fit(X, y)


def test_without_a_limit_candidates_are_drawn_until_the_time_is_over() -> None:
    search = TuneSearchCV(TREE, SPACE, n_trials=-1, time_budget_s=0.5, random_state=0).fit(X, y)
    params = search.cv_results_["params"]
    assert params == list(ParameterSampler(SPACE, len(params), random_state=0))
    listed = TuneSearchCV(TREE, {"max_depth": [1, 2, 3]}, n_trials=-1).fit(X, y)
    assert sorted(one["max_depth"] for one in listed.cv_results_["params"]) == [1, 2, 3]
    for n_trials in (0, 2.5, "10"):
        with pytest.raises(ValueError, match="'n_trials' parameter of TuneSearchCV must be an int"):
            TuneSearchCV(TREE, SPACE, n_trials=n_trials).fit(X, y)


@pytest.mark.parametrize("domain", ["interval", "optuna"])
def test_domains_that_scikit_learn_does_not_know_need_no_searcher(domain: str) -> None:
    interval: Any = (1e-4, 0.1, "log-uniform")
    if domain == "optuna":
        interval = pytest.importorskip("optuna").distributions.FloatDistribution(1e-4, 0.1, log=True)
    search = TuneSearchCV(TREE, {"ccp_alpha": interval}, n_trials=4, random_state=0)
    values = [one["ccp_alpha"] for one in search.fit(X, y).cv_results_["params"]]
    assert len(set(values)) == 4
    assert all(1e-4 <= value <= 0.1 for value in values)


@pytest.mark.parametrize(
    "early_stopping", ["asha", "MedianStoppingRule", "hyperband", tune.schedulers.ASHAScheduler()]
)
def test_any_scheduler(early_stopping: Any) -> None:
    search = TuneSearchCV(TREE, SPACE, early_stopping, 4, random_state=0).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert max(search.cv_results_["n_resources"]) == 5


@pytest.mark.parametrize(
    "space",
    [
        {"max_depth": tune.randint(1, 5), "ccp_alpha": tune.loguniform(1e-4, 0.1)},
        {"max_depth": (1, 5), "ccp_alpha": (1e-4, 0.1, "log-uniform")},
        {"max_depth": stats.randint(1, 5), "ccp_alpha": stats.expon(scale=0.01)},
        [{"max_depth": [1, 2]}, {"min_samples_leaf": tune.randint(1, 9), "max_depth": [3]}],
    ],
)
def test_spaces_of_searchers(space: Any) -> None:
    search = TuneSearchCV(TREE, space, n_trials=5, search_optimization="bayesian", random_state=0).fit(X, y)
    assert len(search.cv_results_["params"]) == 5
    assert {type(one["max_depth"]) for one in search.cv_results_["params"]} <= {int}


@pytest.mark.parametrize(
    "discrete", [stats.poisson(3, loc=1), stats.rv_discrete(values=([1, 3], [0.5, 0.5]))]
)
def test_searchers_get_whole_numbers_from_discrete_distributions(discrete: Any) -> None:
    search = TuneSearchCV(TREE, {"max_depth": discrete}, n_trials=2, search_alg="auto", random_state=0)
    assert {type(one["max_depth"]) for one in search.fit(X, y).cv_results_["params"]} == {int}
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_a_pair_of_booleans_is_no_interval() -> None:
    space = {"fit_intercept": (False, True)}
    search = TuneSearchCV(Ridge(), space, n_trials=2, search_alg="auto", random_state=0).fit(X, y)
    assert sorted(one["fit_intercept"] for one in search.cv_results_["params"]) == [False, True]
    assert {type(one["fit_intercept"]) for one in search.cv_results_["params"]} == {bool}


@pytest.mark.parametrize("is_in_parts", [False, True])
def test_a_candidate_that_failed_has_no_mean(is_in_parts: bool) -> None:
    outcome = {"test_scores": 0.9, "fit_time": 1.0, "score_time": 1.0, "n_test_samples": 9, "fit_error": None}
    candidate = Candidate({}, {1: [outcome] * 3 if is_in_parts else outcome}, "the process died")
    scores = [fold["test_scores"] for fold in fold_outcomes(candidate, 3, outcome, np.nan)]
    assert len(scores) == 3
    assert np.isnan(np.mean(scores))


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier with a parameter named "params"."""

    def __init__(self, params: Any = None) -> None:
        self.params = params

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.params["answer"])


@pytest.mark.parametrize("search_alg", ["random", "auto"])
def test_a_parameter_may_be_named_params(search_alg: str) -> None:
    space = {"params": [{"answer": 0}, {"answer": 1}]}
    search = TuneSearchCV(Constant(), space, n_trials=2, search_alg=search_alg, random_state=0).fit(X, y)
    assert sorted(one["params"]["answer"] for one in search.cv_results_["params"]) == [0, 1]


@pytest.mark.parametrize("estimator", [SGDClassifier(random_state=0), GaussianNB(), PIPELINE])
def test_training_in_parts(estimator: Any) -> None:
    names = {"SGDClassifier": "alpha", "GaussianNB": "var_smoothing", "Pipeline": "fit__C"}
    space = {names[type(estimator).__name__]: stats.loguniform(1e-6, 1)}
    search = TuneSearchCV(estimator, space, True, 5, max_iters=3, random_state=0).fit(X, y)
    assert max(search.cv_results_["n_resources"]) == 3
    assert search.best_score_ > 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n", [1, 2, 7])
def test_all_parts_train_as_much_as_one_fit(n: int) -> None:
    forest = Parts(RandomForestClassifier(n_estimators=n, random_state=0), 4)
    network = Parts(MLPClassifier((3,), max_iter=n, tol=0.0, random_state=0), 4)
    for _ in range(4):
        forest.train(X, y)
        network.train(X, y)
    assert len(forest.estimator.estimators_) == n
    assert network.estimator.t_ == MLPClassifier((3,), max_iter=n, tol=0.0, random_state=0).fit(X, y).t_


@pytest.mark.parametrize("is_routed", [False, True])
def test_in_a_pipeline_metadata_reach_the_steps_that_fit_sends_them_to(is_routed: bool) -> None:
    weights, others = np.linspace(0, 1, 60), np.linspace(1, 0, 60)
    with config_context(enable_metadata_routing=is_routed):
        scaler, last = StandardScaler(), GaussianNB()
        metadata: dict[str, Any] = {"scale__sample_weight": weights, "fit__sample_weight": others}
        if is_routed:
            scaler.set_fit_request(sample_weight="weights").set_transform_request(copy=False)
            last.set_fit_request(sample_weight="others")
            metadata = {"weights": weights, "others": others}
        pipeline = Pipeline([("scale", scaler), ("fit", last)])
        parts = Parts(clone(pipeline), 2)
        parts.train(X, y, **metadata)
    scaled = StandardScaler().fit(X, sample_weight=weights)
    alone = clone(last).partial_fit(scaled.transform(X), y, classes=[0, 1], sample_weight=others)
    np.testing.assert_array_equal(parts.estimator["scale"].mean_, scaled.mean_)
    np.testing.assert_array_equal(parts.estimator["fit"].theta_, alone.theta_)


def test_what_cannot_be_trained_in_parts_is_refused() -> None:
    with pytest.raises(ArgumentError, match="KNeighborsClassifier cannot be trained in parts"):
        TuneSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, True, max_iters=3).fit(X, y)
    with pytest.raises(ArgumentError, match="max_iters=0"):
        TuneSearchCV(TREE, SPACE, True, max_iters=0).fit(X, y)


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier whose fit raises."""

    def __init__(self, error: type[BaseException] = KeyError) -> None:
        self.error = error

    def fit(self, X: Any, y: Any) -> Any:
        raise self.error("broken")


def test_errors_are_raised_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="broken") as caught:
        TuneSearchCV(Broken(), {"error": [KeyError]}, n_trials=1, error_score="raise").fit(X, y)
    assert caught.type is KeyError
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        TuneSearchCV(Broken(), {"error": [KeyError]}, n_trials=1).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        TuneSearchCV(Broken(), {"error": [KeyboardInterrupt]}, n_trials=1).fit(X, y)
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_with_a_name_is_kept_and_no_other(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    TuneSearchCV(TREE, SPACE, n_trials=2).fit(X, y)
    assert list(tmp_path.iterdir()) == []
    search = TuneSearchCV(
        PIPELINE, {"scale": [StandardScaler(), MinMaxScaler()]}, n_trials=2, local_dir=kept, name="s"
    )
    search.fit(X, y)
    from overtone.tune import ExperimentAnalysis

    found = ExperimentAnalysis(kept / "s")
    for trial, params in zip(found.trials, search.cv_results_["params"], strict=True):
        assert type(params["scale"]).__name__ in str(trial.config["scale"])
    assert found.get_best_trial("mean_test_score", "max").last_result["mean_test_score"] == search.best_score_


def test_it_is_an_estimator() -> None:
    search = TuneSearchCV(TREE, SPACE, n_trials=2, random_state=0, search_alg=tune.create_searcher("sobol"))
    assert clone(search).get_params()["n_trials"] == 2
    fitted = pickle.loads(pickle.dumps(search.fit(X, y)))
    np.testing.assert_array_equal(fitted.predict_proba(X), search.predict_proba(X))
    assert_equal_results(search, clone(search).fit(X, y))
    assert cross_val_score(TuneSearchCV(TREE, SPACE, n_trials=2), X, y, cv=2).shape == (2,)
    with pytest.raises(AttributeError):
        TuneSearchCV(DummyClassifier(), {}).transform  # noqa: B018
