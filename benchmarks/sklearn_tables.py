"""Tables of ordinals and categories, computed from models on data that ships with scikit-learn.

    python benchmarks/sklearn_tables.py [NAME ...]     # about two minutes of one core for all

Each table is a grid: the loss of every configuration on data not trained on, as the mean over three random
splits. `benchmarks/results/sklearn_tables.npz` keeps them, one array for each, with an axis for each
hyperparameter; tables that it lacks are computed and added. `search_tables.py` searches them. Needs
scikit-learn.

The `mlp` tables have the hyperparameters of HPOBench's MLP (Eggensperger et al. 2021). Networks that differ
only in `alpha`, `learning_rate_init` and the split are trained together, with Adam.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
"""A numpy array."""

PATH = Path(__file__).parent / "results" / "sklearn_tables.npz"
SEEDS = range(3)

Space = dict[str, list[Any]]

MLP: Space = {
    "alpha": [1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    "batch_size": [4, 8, 16, 32, 64],
    "depth": [1, 2, 3],
    "learning_rate_init": [1e-4, 4e-4, 1e-3, 4e-3, 1e-2, 4e-2, 1e-1, 4e-1],
    "width": [2, 4, 8, 16, 32, 64],
}
TREES: Space = {
    "max_depth": [1, 2, 3, 5, 8, 12],
    "min_samples_split": [2, 8, 20, 50],
    "min_samples_leaf": [1, 2, 4, 8, 16],
    "max_features": [0.1, 0.25, 0.5, 1.0],
    "n_estimators": [1, 2, 3, 4, 5],
}
BOOSTING: Space = {
    "learning_rate": [0.02, 0.05, 0.1, 0.2, 0.4, 0.8],
    "max_depth": [1, 2, 3, 5],
    "subsample": [0.25, 0.5, 1.0],
    "max_features": [0.1, 0.4, 1.0],
    "n_estimators": [2, 4, 8, 16, 32],
}
SVC: Space = {
    "scaler": ["none", "standard", "minmax"],
    "kernel": ["linear", "rbf", "poly", "sigmoid"],
    "C": [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3, 1e4],
    "gamma": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    "coef0": [0.0, 0.1, 1.0, 10.0],
}
SGD: Space = {
    "scaler": ["none", "standard", "minmax"],
    "loss": ["hinge", "log_loss", "modified_huber", "perceptron"],
    "penalty": ["l1", "l2", "elasticnet"],
    "learning_rate": ["constant", "invscaling", "adaptive", "optimal"],
    "alpha": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
    "eta0": [1e-4, 1e-3, 1e-2, 1e-1, 1.0],
}


def data(name: str, n_train: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """A random split: inputs and targets to train on, and those to judge by."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    x, y = {
        "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "friedman": lambda: datasets.make_friedman1(900, noise=1.0, random_state=0),
        "synthetic": lambda: datasets.make_classification(
            900, 12, n_informative=6, n_classes=3, n_clusters_per_class=2, flip_y=0.05, random_state=0
        ),
    }[name]()
    n_test = min(500, len(x) - n_train)
    x, x_test, y, y_test = train_test_split(x, y, train_size=n_train, test_size=n_test, random_state=seed)
    return x, x_test, y, y_test


def mlp(name: str, n_train: int, space: Space) -> Array:
    from sklearn.preprocessing import StandardScaler

    parts = []
    for seed in SEEDS:
        x, x_test, y, y_test = data(name, n_train, seed)
        scaler = StandardScaler().fit(x)
        parts.append((scaler.transform(x), scaler.transform(x_test), np.eye(y.max() + 1)[y], y_test))
    x, x_test, y, y_test = (np.stack(one) for one in zip(*parts, strict=True))
    alphas, rates = (
        np.array(one, np.float32)
        for one in zip(*itertools.product(space["alpha"], space["learning_rate_init"]), strict=True)
    )
    losses = np.empty([len(one) for one in space.values()], np.float32)
    for (i, size), (j, depth), (k, width) in itertools.product(
        *(enumerate(space[one]) for one in ("batch_size", "depth", "width"))
    ):
        found = trained(x, y, x_test, alphas, rates, size, depth, width) != y_test[:, None]
        shape = len(space["alpha"]), len(space["learning_rate_init"])
        losses[:, i, j, :, k] = found.mean((0, 2)).reshape(shape)
    return losses


def trained(
    x: Array, y: Array, x_test: Array, alphas: Array, rates: Array, size: int, depth: int, width: int
) -> Array:
    """The predicted classes, by split and network, of networks trained for five epochs with Adam."""
    rng = np.random.default_rng(0)
    splits, n, _ = x.shape
    rows, n_networks = np.arange(splits)[:, None], len(alphas)
    sizes = [x.shape[2], *[width] * depth, y.shape[2]]
    weights = [
        np.repeat(rng.standard_normal((splits, 1, a + 1, b)) * np.sqrt(2 / a), n_networks, 1).astype("f4")
        for a, b in itertools.pairwise(sizes)
    ]
    for one in weights:
        one[..., -1, :] = 0
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    rate, decay = rates[:, None, None], alphas[:, None, None] / n
    x, y, x_test = (one.astype("f4") for one in (x, y, x_test))
    step = 0
    for _ in range(5):
        order = rng.permuted(np.tile(np.arange(n), (splits, 1)), axis=1)
        for start in range(0, n, size):
            some = order[:, start : start + size]
            layers = forward(x[rows, some], weights)
            scores = layers.pop()
            chances = np.exp(scores - scores.max(-1, keepdims=True))
            chances /= chances.sum(-1, keepdims=True)
            slope = (chances - y[rows, some][:, None]) / some.shape[1]
            step += 1
            for i in reversed(range(len(weights))):
                found = np.matmul(layers[i].swapaxes(-1, -2), slope) + decay * weights[i]
                if i:
                    slope = np.matmul(slope, weights[i][..., :-1, :].swapaxes(-1, -2))
                    slope *= layers[i][..., :-1] > 0
                first[i] += 0.1 * (found - first[i])
                second[i] += 0.001 * (found * found - second[i])
                size_of = np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
                weights[i] -= rate * (first[i] / (1 - 0.9**step)) / size_of
    return forward(x_test, weights)[-1].argmax(-1)


def forward(x: Array, weights: list[Array]) -> list[Array]:
    """What goes into each layer, with a column of ones, and the scores at last."""
    splits, n_networks = weights[0].shape[:2]
    layers, value = [], np.broadcast_to(x[:, None], (splits, n_networks, *x.shape[1:]))
    for i, one in enumerate(weights):
        value = np.maximum(value, 0) if i else value
        layers.append(np.concatenate([value, np.ones_like(value[..., :1])], axis=-1))
        value = np.matmul(layers[-1], one)
    return [*layers, value]


def grid(loss: Callable[..., float], space: Space) -> Array:
    """The mean loss over the splits of each configuration."""
    shape = [len(one) for one in space.values()]
    configs = [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [[loss(seed, **config) for seed in SEEDS] for config in configs]
    return np.array(found, np.float32).mean(1).reshape(shape)


def trees(name: str, n_train: int, space: Space) -> Array:
    """A forest of n trees is the first n trees of the largest one."""
    from sklearn.ensemble import ExtraTreesRegressor

    def guesses(model: Any, x_test: Array) -> Iterator[Array]:
        every = np.array([tree.predict(x_test) for tree in model.estimators_])
        return (every[:n].mean(0) for n in range(1, len(every) + 1))

    return by_size(ExtraTreesRegressor, guesses, name, n_train, space)


def boosting(name: str, n_train: int, space: Space) -> Array:
    from sklearn.ensemble import GradientBoostingRegressor

    def guesses(model: Any, x_test: Array) -> Iterator[Array]:
        staged: Iterator[Array] = model.staged_predict(x_test)
        return staged

    return by_size(GradientBoostingRegressor, guesses, name, n_train, space)


def by_size(
    make: Callable[..., Any],
    guesses: Callable[[Any, Array], Iterable[Array]],
    name: str,
    n_train: int,
    space: Space,
) -> Array:
    """The mean loss of each configuration of an ensemble, whose smaller sizes are parts of the largest.

    Args:
        make: Makes the ensemble.
        guesses: Returns the guesses of the first member, of the first two, and so on.
    """
    counts = space["n_estimators"]
    parts = [data(name, n_train, seed) for seed in SEEDS]
    smaller = {one: values for one, values in space.items() if one != "n_estimators"}
    columns: list[list[float]] = []
    for values in itertools.product(*smaller.values()):
        config, rows = dict(zip(smaller, values, strict=True)), []
        for seed, (x, x_test, y, y_test) in zip(SEEDS, parts, strict=True):
            model = make(n_estimators=max(counts), random_state=seed, **config).fit(x, y)
            every = [np.square(one - y_test).mean() for one in guesses(model, x_test)]
            rows.append([every[n - 1] / y_test.var() for n in counts])
        columns.append(np.mean(rows, axis=0).tolist())
    return np.array(columns, np.float32).reshape([len(one) for one in space.values()])


def classifier(make: Callable[..., Any], name: str, n_train: int, space: Space) -> Array:
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    parts = {}
    for seed in SEEDS:
        x, x_test, y, y_test = data(name, n_train, seed)
        for kind, scaler in (("standard", StandardScaler()), ("minmax", MinMaxScaler())):
            parts[kind, seed] = scaler.fit_transform(x), scaler.transform(x_test), y, y_test
        parts["none", seed] = x, x_test, y, y_test

    def loss(seed: int, scaler: str, **config: Any) -> float:
        x, x_test, y, y_test = parts[scaler, seed]
        return float(1 - make(config).fit(x, y).score(x_test, y_test))

    return grid(loss, space)


def svc(config: dict[str, Any]) -> Any:
    from sklearn.svm import SVC as Model

    return Model(max_iter=1_000, **config)


def sgd(config: dict[str, Any]) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(max_iter=5, tol=None, random_state=0, **config)


TABLES: dict[str, tuple[Space, Callable[[Space], Array]]] = {
    "mlp breast_cancer": (MLP, partial(mlp, "breast_cancer", 200)),
    "mlp synthetic": (MLP, partial(mlp, "synthetic", 200)),
    "mlp wine": (MLP, partial(mlp, "wine", 90)),
    "trees diabetes": (TREES, partial(trees, "diabetes", 150)),
    "boosting friedman": (BOOSTING, partial(boosting, "friedman", 120)),
    "svc wine": (SVC, partial(classifier, svc, "wine", 90)),
    "sgd breast_cancer": (SGD, partial(classifier, sgd, "breast_cancer", 150)),
}


def losses(name: str) -> Array:
    """The table of this name, which is computed and kept if `PATH` lacks it."""
    known = dict(np.load(PATH)) if PATH.exists() else {}
    if name not in known:
        space, made = TABLES[name]
        known[name] = made(space)
        np.savez_compressed(PATH, **known)
    return known[name]


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        table = losses(name)
        low, middle = table.min(), np.median(table)
        print(f"{name}: {table.size} configurations, best {low:.4f}, median {middle:.4f}", flush=True)


if __name__ == "__main__":
    main()
