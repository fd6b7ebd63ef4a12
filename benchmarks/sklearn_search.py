"""`TuneSearchCV` beside scikit-learn's and Optuna's searches on `load_digits`, at equal CPU time.

    python benchmarks/sklearn_search.py run --out FILE [--seeds 20] [--first-seed 0] [--cpu-s 20]
        [--estimators NAME ...] [--methods NAME ...]
    python benchmarks/sklearn_search.py table --out FILE
    python benchmarks/sklearn_search.py overhead [--repeats 20]

`run` gives each search `--cpu-s` seconds of CPU time of this process and its children, in one thread, with
5 folds. A seed is a split into 75 % training and 25 % test data, and the seed of the search. `tune` is
`TuneSearchCV(search_alg="auto", early_stopping=True)`, `random` is RandomizedSearchCV, `halving` is
HalvingRandomSearchCV with its defaults, again with another seed until the time is spent, and `optuna` is
OptunaSearchCV. At the end of the time the candidate that the method would choose is fitted to the training
data and scored on the test data, and so is each earlier choice: a complete candidate with the best mean, for
halving that of the largest sample, and for `tune`, while no candidate is complete, that of the most folds, as
`cv_results_` ranks them. Runs in `--out` are not run again: the file may be continued at any time,
also on a busy machine, since all times are CPU times.
`benchmarks/results/sklearn_search.jsonl` has the runs so far. The final fits and the imports of libraries
cost no method any of its time.

`table` tells the mean test accuracy at the end with its 95 % interval over seeds; the mean difference to
`random`; and the median CPU time after which a choice was as accurate as that of `random` at the end on the
same seed. Only seeds that all methods have are counted. Below the table are the estimators on which the mean
of `tune` is ahead of the best mean of the others, or equal; level: below it by less than the 95 % interval of
the difference on equal seeds; or behind.

`overhead` compares the CPU time of a search of 20 cheap candidates with RandomizedSearchCV's.

Defaults were chosen on other data: `load_wine`, `load_breast_cancer`, and digits with seeds from 100 on.
"""

# ruff: noqa: E402 - NumPy reads the number of threads when it is imported

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import argparse
import contextlib
import json
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scipy.stats import loguniform, randint, t, uniform
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import HalvingRandomSearchCV, RandomizedSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from overtone.sklearn import TuneSearchCV

FOLDS = 5

ESTIMATORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "svm": (
        SVC(),
        {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-5, 1e-1), "kernel": ["rbf", "poly"]},
    ),
    "random forest": (
        RandomForestClassifier(random_state=0),
        {
            "n_estimators": randint(20, 200), "max_features": uniform(0.02, 0.5),
            "min_samples_leaf": randint(1, 10), "max_depth": [None, 4, 8, 16],
            "criterion": ["gini", "entropy"],
        },
    ),
    "gradient boosting": (
        GradientBoostingClassifier(random_state=0),
        {
            "n_estimators": randint(10, 100), "learning_rate": loguniform(0.02, 0.5),
            "max_depth": randint(1, 6), "max_features": uniform(0.05, 0.9), "subsample": uniform(0.3, 0.7),
        },
    ),
    "mlp": (
        MLPClassifier(max_iter=60, random_state=0),
        {
            "hidden_layer_sizes": [(32,), (64,), (128,), (64, 64)], "alpha": loguniform(1e-6, 1),
            "learning_rate_init": loguniform(1e-4, 1e-1), "batch_size": [32, 64, 128],
        },
    ),
    "logistic regression": (
        Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=300))]),
        {
            "fit__C": loguniform(1e-4, 1e3), "fit__class_weight": [None, "balanced"],
            "scale__with_std": [True, False], "scale__with_mean": [True, False],
        },
    ),
    "k-neighbours": (
        KNeighborsClassifier(),
        {"n_neighbors": randint(1, 30), "weights": ["uniform", "distance"], "p": [1, 2, 3]},
    ),
}  # fmt: skip


class Recorder:
    """A scorer of accuracy that records each score, and ends the search when its time is spent.

    Args:
        names: The parameters that the search varies.
        budget_s: CPU seconds.
        is_racing: Whether the search ranks candidates by their number of folds, then by their mean.

    Attributes:
        choices: (CPU seconds, parameters) of each candidate that was the best one for some time.
        n_fits: Number of scored fits.
        n_complete: Number of candidates that were scored on all folds.
    """

    def __init__(self, names: list[str], budget_s: float, is_racing: bool = False) -> None:
        self.names, self.budget_s, self.is_racing = names, budget_s, is_racing
        self.choices: list[tuple[float, dict[str, Any]]] = []
        self.n_fits = self.n_complete = 0
        self._scores: dict[str, dict[Any, float]] = {}
        self._best = (0, 0, -math.inf)
        self._began = cpu_s()

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        spent = cpu_s() - self._began
        if spent > self.budget_s:
            raise KeyboardInterrupt
        score = float(estimator.score(X, y))
        self.n_fits += 1
        params = {name: estimator.get_params()[name] for name in self.names}
        sample = round(len(X) / 30)  # the same for all folds of one candidate
        scores = self._scores.setdefault(f"{sample} {params}", {})
        scores[X[:3].tobytes()] = score
        self.n_complete += len(scores) == FOLDS
        rank = (sample, len(scores), statistics.fmean(scores.values()))
        if (self.is_racing or len(scores) == FOLDS) and rank > self._best:
            self._best = rank
            if not self.choices or self.choices[-1][1] != params:
                self.choices.append((cpu_s() - self._began, params))
        return score

    def is_over(self) -> bool:
        """Return whether the time is spent."""
        return cpu_s() - self._began > self.budget_s


def cpu_s() -> float:
    """Return the CPU time of this process and its ended children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _tune(estimator: Any, space: Any, scorer: Recorder, X: Any, y: Any, seed: int) -> None:
    TuneSearchCV(
        estimator, space, n_trials=-1, search_alg="auto", early_stopping=True, scoring=scorer, cv=FOLDS,
        random_state=seed, refit=False,
    ).fit(X, y)  # fmt: skip


def _random(estimator: Any, space: Any, scorer: Recorder, X: Any, y: Any, seed: int) -> None:
    while not scorer.is_over():
        RandomizedSearchCV(
            estimator, space, n_iter=300, scoring=scorer, cv=FOLDS, random_state=seed, refit=False
        ).fit(X, y)
        seed += 1000


def _halving(estimator: Any, space: Any, scorer: Recorder, X: Any, y: Any, seed: int) -> None:
    while not scorer.is_over():
        HalvingRandomSearchCV(estimator, space, scoring=scorer, cv=FOLDS, random_state=seed, refit=False).fit(
            X, y
        )
        seed += 1000


def _optuna(estimator: Any, space: Any, scorer: Recorder, X: Any, y: Any, seed: int) -> None:
    import optuna
    from optuna_integration import OptunaSearchCV

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    converted = {name: _distribution(value) for name, value in space.items()}
    OptunaSearchCV(
        estimator, converted, n_trials=None, scoring=scorer, cv=FOLDS, random_state=seed, refit=False
    ).fit(X, y)


def _distribution(value: Any) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(value, list):
        return CategoricalDistribution(value)
    low, high = value.support()
    if value.dist.name == "randint":
        return IntDistribution(int(low), int(high))
    return FloatDistribution(float(low), float(high), log=value.dist.name == "loguniform")


METHODS: dict[str, Callable[..., None]] = {
    "tune": _tune, "random": _random, "halving": _halving, "optuna": _optuna,
}  # fmt: skip


def one_run(name: str, method: str, seed: int, budget_s: float) -> dict[str, Any]:
    """Return the record of one search."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    estimator, space = ESTIMATORS[name]
    scorer = Recorder(list(space), budget_s, method == "tune")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            METHODS[method](clone(estimator), space, scorer, X, y, seed)
        except KeyboardInterrupt:
            if not scorer.is_over():
                raise
        choices = [
            (round(at, 3), clone(estimator).set_params(**params).fit(X, y).score(X_test, y_test))
            for at, params in scorer.choices
        ]
    return {
        "estimator": name, "method": method, "seed": seed, "cpu_s": budget_s, "choices": choices,
        "n_fits": scorer.n_fits, "n_complete": scorer.n_complete,
    }  # fmt: skip


def import_libraries(methods: list[str]) -> None:
    """Run a short search with each method, so that no later one pays for the imports."""
    X, y = load_iris(return_X_y=True)
    estimator, space = ESTIMATORS["k-neighbours"]
    for method in methods:
        with contextlib.suppress(KeyboardInterrupt), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            METHODS[method](clone(estimator), space, Recorder(list(space), 1.0), X, y, 0)


def run(args: argparse.Namespace) -> None:
    """Append a record of each search that `--out` lacks."""
    args.out.parent.mkdir(parents=True, exist_ok=True)
    import_libraries(args.methods)
    known = {(one["estimator"], one["method"], one["seed"], one["cpu_s"]) for one in records(args.out)}
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        for name in args.estimators:
            for method in args.methods:
                if (name, method, seed, args.cpu_s) in known:
                    continue
                record = one_run(name, method, seed, args.cpu_s)
                with args.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                last = record["choices"][-1] if record["choices"] else None
                print(seed, name, method, record["n_fits"], record["n_complete"], last, flush=True)


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file, except an unfinished last line."""
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def table(args: argparse.Namespace) -> None:
    """Print a table in Markdown."""
    runs: dict[tuple[str, str], dict[int, Any]] = {}
    for one in records(args.out):
        runs.setdefault((one["estimator"], one["method"]), {})[one["seed"]] = one["choices"]
    print("| estimator | method | seeds | test accuracy, % | beyond `random`, points | CPU s to `random`'s |")
    print("|---|---|--:|--:|--:|--:|")
    places: dict[str, list[str]] = {"ahead": [], "level": [], "behind": []}
    for name in ESTIMATORS:
        seeds = sorted(set.intersection(*(set(runs.get((name, method), {})) for method in METHODS)))
        if not seeds:
            continue
        finals = {method: [_final(runs[name, method][seed]) for seed in seeds] for method in METHODS}
        best = max((one for one in METHODS if one != "tune"), key=lambda one: math.fsum(finals[one]))
        beyond_best = [own - other for own, other in zip(finals["tune"], finals[best], strict=True)]
        mean, half = statistics.fmean(beyond_best), _half_interval(beyond_best)
        place = "ahead" if mean > -1e-12 else "level" if mean + half >= 0 else "behind"
        places[place].append(f"{name} ({100 * mean:+.2f}{_interval(beyond_best)} to {best})")
        goal = {seed: _final(runs[name, "random"][seed]) for seed in seeds}
        for method in METHODS:
            found = finals[method]
            beyond = [value - goal[seed] for value, seed in zip(found, seeds, strict=True)]
            times = [_time_to(runs[name, method][seed], goal[seed]) for seed in seeds]
            median = statistics.median(times)
            shown = "over 20" if math.isinf(median) else f"{median:.1f}"
            print(
                f"| {name} | {method} | {len(seeds)} "
                f"| {100 * statistics.fmean(found):.2f}{_interval(found)} "
                f"| {100 * statistics.fmean(beyond):+.2f}{_interval(beyond)} | {shown} |"
            )
    print()
    for place, names in places.items():
        print(f"{place}: {len(names)}{': ' if names else ''}{', '.join(names)}")


def _final(choices: list[Any]) -> float:
    return choices[-1][1] if choices else 0.1  # without a choice: a guess among ten classes


def _time_to(choices: list[Any], goal: float) -> float:
    return next((at for at, accuracy in choices if accuracy >= goal), math.inf)


def _interval(values: list[float]) -> str:
    """Return half of the 95 % interval of the mean, in points of percent; "" for a single value."""
    return f" ± {100 * _half_interval(values):.2f}" if len(values) > 1 else ""


def _half_interval(values: list[float]) -> float:
    """Return half of the 95 % interval of the mean; infinity for a single value."""
    if len(values) < 2:
        return math.inf
    return float(t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))


def overhead(args: argparse.Namespace) -> None:
    """Print the CPU time of searches of 20 cheap candidates."""
    X, y = load_iris(return_X_y=True)
    space = {"n_neighbors": randint(1, 30), "weights": ["uniform", "distance"]}
    spent: dict[str, list[float]] = {"RandomizedSearchCV": [], "TuneSearchCV": []}
    for seed in range(args.repeats + 1):
        for name, search in (
            ("RandomizedSearchCV", RandomizedSearchCV(KNeighborsClassifier(), space, n_iter=20)),
            ("TuneSearchCV", TuneSearchCV(KNeighborsClassifier(), space, n_trials=20)),
        ):
            began = time.process_time()
            search.set_params(random_state=seed).fit(X, y)
            spent[name].append(time.process_time() - began)
    for name, seconds in spent.items():
        print(f"{name}: {1000 * statistics.median(seconds[1:]):.0f} ms of CPU for 20 candidates on 5 folds")
    ratios = [b / a for a, b in zip(*(seconds[1:] for seconds in spent.values()), strict=True)]
    print(f"ratio: {statistics.median(ratios):.2f}")


def main() -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("--seeds", type=int, default=20)
    runs.add_argument("--first-seed", type=int, default=0)
    runs.add_argument("--cpu-s", type=float, default=20.0)
    runs.add_argument("--estimators", nargs="+", default=list(ESTIMATORS), choices=list(ESTIMATORS))
    runs.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    tables = commands.add_parser("table")
    tables.add_argument("--out", type=Path, required=True)
    costs = commands.add_parser("overhead")
    costs.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    {"run": run, "table": table, "overhead": overhead}[args.command](args)


if __name__ == "__main__":
    main()
