"""Choose among five scikit-learn estimators and their hyperparameters in one search.

Each estimator has hyperparameters of its own, which exist only if it is chosen. A trial trains on one
fold after the other and reports the mean accuracy so far, so the scheduler stops it after any fold.

    python examples/five_estimators.py
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler

# isort: split
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

FOLDS = 5

SPACE = {
    "estimator": tune.choice(
        [
            {
                "name": "SVM",
                "C": tune.loguniform(1e-2, 1e3),
                "gamma": tune.loguniform(1e-5, 1e-1),
            },
            {
                "name": "extra trees",
                "n_estimators": tune.lograndint(10, 200),
                "max_features": tune.uniform(0.02, 1.0),
                "min_samples_leaf": tune.randint(1, 11),
            },
            {
                "name": "k-neighbours",
                "n_neighbors": tune.randint(1, 31),
                "weights": tune.choice(["uniform", "distance"]),
            },
            {
                "name": "logistic regression",
                "C": tune.loguniform(1e-4, 1e2),
            },
            {
                "name": "MLP",
                "hidden_layer_sizes": tune.lograndint(8, 129),
                "alpha": tune.loguniform(1e-6, 1.0),
                "learning_rate_init": tune.loguniform(1e-4, 1e-1),
            },
        ]
    )
}

ESTIMATORS: dict[str, Callable[..., ClassifierMixin]] = {
    "SVM": SVC,
    "extra trees": lambda **given: ExtraTreesClassifier(random_state=0, **given),
    "k-neighbours": KNeighborsClassifier,
    "logistic regression": lambda **given: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=200, **given)
    ),
    "MLP": lambda **given: make_pipeline(
        StandardScaler(), MLPClassifier(max_iter=60, random_state=0, **given)
    ),
}


def made(estimator: dict[str, Any]) -> ClassifierMixin:
    """Return the estimator of a config: {"name": "SVM", "C": 10.0, "gamma": 0.001}."""
    given = dict(estimator)
    return ESTIMATORS[given.pop("name")](**given)


def train(config: dict[str, Any], images: np.ndarray, digits: np.ndarray) -> None:
    """Report the mean accuracy after each fold of a cross-validation."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores: list[float] = []
    for learned, held_out in folds.split(images, digits):
        model = made(config["estimator"]).fit(images[learned], digits[learned])
        scores.append(model.score(images[held_out], digits[held_out]))
        tune.report({"accuracy": float(np.mean(scores))})


def main() -> None:
    options = argparse.ArgumentParser(description="One search over five estimators for handwritten digits.")
    options.add_argument("--trials", type=int, default=60, help="how many configurations (%(default)s)")
    options.add_argument("--seed", type=int, default=1, help="of the search (%(default)s)")
    options.add_argument("--storage", help="where results go (~/overtone_results)")
    given = options.parse_args()

    images, digits = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digits, test_size=0.2, stratify=digits, random_state=0
    )
    analysis = tune.run(
        tune.with_parameters(train, images=x_train, digits=y_train),
        config=SPACE,
        num_samples=given.trials,
        metric="accuracy",
        mode="max",
        search_alg="auto",
        scheduler=ASHAScheduler(max_t=FOLDS, grace_period=1, reduction_factor=2),
        storage_path=given.storage,
        name="five_estimators",
        seed=given.seed,
        verbose=1,
    )

    print(f"\n{'estimator':20} trials  all folds  best accuracy")
    for name in ESTIMATORS:
        trials = [one for one in analysis.trials if one.config["estimator"]["name"] == name]
        whole = [one for one in trials if one.last_result["training_iteration"] == FOLDS]
        best = f"{max(one.last_result['accuracy'] for one in whole):.4f}" if whole else "-"
        print(f"{name:20} {len(trials):6}  {len(whole):9}  {best:>13}")
    best_config = analysis.best_config["estimator"]
    print(f"\nBest: {best_config}")
    print(f"Test accuracy: {made(best_config).fit(x_train, y_train).score(x_test, y_test):.4f}")


if __name__ == "__main__":
    main()
