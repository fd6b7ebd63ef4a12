"""scikit-learn's own checks, and thirty of its estimators beside RandomizedSearchCV."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy import stats
from sklearn import (
    base,
    cluster,
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    kernel_ridge,
    linear_model,
    mixture,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)  # fmt: skip
from sklearn.datasets import make_classification
from sklearn.model_selection import RandomizedSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from overtone import tune
from overtone.errors import TrialError
from overtone.sklearn import TuneGridSearchCV, TuneSearchCV


@parametrize_with_checks(
    [
        TuneSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1.0]}, n_trials=2, cv=2, random_state=0),
        TuneSearchCV(
            linear_model.Ridge(), {"alpha": tune.loguniform(0.1, 1)}, True, 3, cv=2, random_state=0,
            search_alg="sobol",
        ),
        TuneGridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, error_score="raise"),
    ]
)  # fmt: skip
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


C = {"C": stats.loguniform(1e-2, 10)}
ALPHA = {"alpha": stats.loguniform(1e-3, 10)}
DEPTH = {"max_depth": stats.randint(1, 5)}
FEW = {"n_estimators": stats.randint(2, 6)}
NEIGHBOURS = {"n_neighbors": stats.randint(1, 10), "weights": ["uniform", "distance"]}
ESTIMATORS: list[tuple[Any, dict[str, Any]]] = [
    (linear_model.LogisticRegression(), C),
    (linear_model.RidgeClassifier(), ALPHA),
    (linear_model.SGDClassifier(random_state=0), ALPHA),
    (linear_model.Perceptron(random_state=0), ALPHA),
    (linear_model.Ridge(), ALPHA),
    (linear_model.Lasso(), ALPHA),
    (linear_model.ElasticNet(), {**ALPHA, "l1_ratio": stats.uniform(0, 1)}),
    (linear_model.BayesianRidge(), {"alpha_1": stats.loguniform(1e-8, 1)}),
    (linear_model.HuberRegressor(), ALPHA),
    (svm.SVC(), C),
    (svm.LinearSVC(random_state=0), C),
    (svm.SVR(), C),
    (svm.NuSVC(), {"nu": stats.uniform(0.1, 0.3)}),
    (tree.DecisionTreeClassifier(random_state=0), DEPTH),
    (tree.ExtraTreeRegressor(random_state=0), DEPTH),
    (ensemble.RandomForestClassifier(random_state=0), FEW),
    (ensemble.ExtraTreesRegressor(random_state=0), FEW),
    (ensemble.GradientBoostingClassifier(random_state=0), FEW),
    (ensemble.HistGradientBoostingClassifier(random_state=0), {"max_iter": [2, 3, 4]}),
    (ensemble.AdaBoostClassifier(random_state=0), FEW),
    (ensemble.BaggingClassifier(random_state=0), FEW),
    (neighbors.KNeighborsClassifier(), NEIGHBOURS),
    (neighbors.KNeighborsRegressor(), NEIGHBOURS),
    (naive_bayes.GaussianNB(), {"var_smoothing": stats.loguniform(1e-9, 1)}),
    (naive_bayes.BernoulliNB(), ALPHA),
    (discriminant_analysis.LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr", "eigen"]}),
    (neural_network.MLPClassifier((4,), max_iter=5, random_state=0), ALPHA),
    (kernel_ridge.KernelRidge(), ALPHA),
    (cross_decomposition.PLSRegression(), {"n_components": [1, 2, 3]}),
    (dummy.DummyClassifier(random_state=0), {"strategy": ["prior", "uniform", "stratified"]}),
    (cluster.KMeans(random_state=0, n_init=1), {"n_clusters": stats.randint(2, 5)}),
    (mixture.GaussianMixture(random_state=0), {"n_components": stats.randint(1, 4)}),
    (decomposition.PCA(), {"n_components": [1, 2, 3]}),
]
X, y = make_classification(60, 5, random_state=0)


@pytest.mark.parametrize(("estimator", "space"), ESTIMATORS, ids=lambda one: type(one).__name__)
def test_results_are_those_of_scikit_learn(estimator: Any, space: Any) -> None:
    options: dict[str, Any] = {"cv": 3, "random_state": 0, "return_train_score": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = RandomizedSearchCV(estimator, space, n_iter=3, **options).fit(X, y).cv_results_
        ours = TuneSearchCV(estimator, space, n_trials=3, **options).fit(X, y).cv_results_
    assert list(ours) == list(theirs)
    for name in ours:
        if "time" not in name:
            np.testing.assert_array_equal(ours[name], theirs[name], name)


def test_two_jobs_find_what_one_finds_and_leave_nothing() -> None:
    import psutil

    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    found = [
        TuneSearchCV(svm.SVC(), C, n_trials=4, n_jobs=n_jobs, random_state=0).fit(X, y).cv_results_
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(found[0]["split4_test_score"], found[1]["split4_test_score"])
    assert {child.pid for child in me.children(recursive=True)} <= before


@pytest.mark.parametrize("package", ["xgboost", "lightgbm", "catboost"])
def test_boosting_rounds_are_the_resource(package: str) -> None:
    library = pytest.importorskip(package)
    estimator = {
        "xgboost": lambda: library.XGBClassifier(n_estimators=9, n_jobs=1),
        "lightgbm": lambda: library.LGBMClassifier(n_estimators=9, verbose=-1, n_jobs=1),
        "catboost": lambda: library.CatBoostClassifier(
            iterations=9, verbose=0, allow_writing_files=False, thread_count=1
        ),
    }[package]()
    search = TuneSearchCV(
        estimator, {"learning_rate": stats.loguniform(0.05, 1)}, True, 3, max_iters=3, random_state=0, cv=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    assert max(search.cv_results_["n_resources"]) == 3
    assert search.best_score_ > 0.6


class _Raises(base.ClassifierMixin, base.BaseEstimator):  # type: ignore[misc]
    """A classifier whose fit raises an error that is not made of its text alone."""

    def fit(self, X: Any, y: Any) -> Any:
        raise json.JSONDecodeError("broken", "a document", 3)


def test_the_error_of_a_fit_in_another_process_is_raised_as_it_is() -> None:
    with pytest.raises(json.JSONDecodeError, match="broken") as caught:
        TuneSearchCV(_Raises(), {}, n_trials=1, n_jobs=2, error_score="raise").fit(X, y)
    assert (caught.value.msg, caught.value.pos) == ("broken", 3)
    assert isinstance(caught.value.__cause__, TrialError)
    assert "in fit" in str(caught.value.__cause__)
