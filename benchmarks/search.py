"""Regret of `search_alg="auto"` beside Optuna used alone and random search.

    python benchmarks/search.py run --out results.jsonl      # what is there already is not run again
    python benchmarks/search.py table --out results.jsonl    # the table of docs/searching.md
    python benchmarks/search.py plot --out results.jsonl     # its plots, into docs/images
    python benchmarks/search.py speed                        # time of one suggestion

Needs optuna, coco-experiment, scikit-learn, and matplotlib for the plots. Searchers are asked and told
directly; of several trials in parallel each takes a random time, the same for all searchers.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from overtone import tune
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.searchers import AutoSearch, BasicVariantGenerator

BBOB = (1, 3, 6, 8, 10, 12, 15, 17, 21, 23)
"""Two functions of each of the suite's five groups."""

SKLEARN = ("svr", "trees", "sgd", "kernel_ridge")
SEARCHERS = ("auto", "optuna", "random")
N_TRIALS = 100
CPU = Resources.of({"cpu": 1})
Problem = tuple[dict[str, Any], Callable[[dict[str, Any]], float]]


def problems() -> list[str]:
    """The names of all problems."""
    return [f"f{i}-{d}d" for d in (5, 10) for i in BBOB] + [f"sklearn-{name}" for name in SKLEARN]


@cache
def problem(name: str) -> Problem:
    """The space and the loss of a problem; of BBOB functions the regret."""
    if name.startswith("sklearn-"):
        return _sklearn(name.removeprefix("sklearn-"))
    import cocoex
    import numpy as np

    function, dimension = (int(part.strip("fd")) for part in name.split("-"))
    suite = cocoex.Suite("bbob", "instances:1", f"dimensions:{dimension} function_indices:{function}")
    found = suite[0]
    with _elsewhere():
        found._best_parameter("print")  # the only way to hear of it is a file in the working directory
        best = found(np.loadtxt("._bbob_problem_best_parameter.txt"))

    def regret(config: dict[str, Any], suite: Any = suite) -> float:
        return float(found(np.array([config[f"x{i}"] for i in range(dimension)]))) - best

    return {f"x{i}": tune.uniform(-5.0, 5.0) for i in range(dimension)}, regret


def _sklearn(name: str) -> Problem:
    """The loss of a real model on the third of the data that it was not trained on."""
    from sklearn import datasets
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import get_scorer
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    data, model, space, scoring = {
        "svr": (
            datasets.load_diabetes,
            lambda **c: SVR(max_iter=20_000, **c),
            {"C": tune.loguniform(1e-3, 1e3), "gamma": tune.loguniform(1e-5, 1e1),
             "kernel": tune.choice(["rbf", "sigmoid", "poly"]), "coef0": tune.uniform(0, 2)},
            "neg_mean_squared_error",
        ),
        "trees": (
            datasets.load_breast_cancer,
            lambda **c: ExtraTreesClassifier(n_estimators=8, random_state=0, **c),
            {"max_depth": tune.randint(1, 20), "min_samples_split": tune.uniform(0.001, 0.5),
             "max_features": tune.uniform(0.05, 1.0), "min_samples_leaf": tune.randint(1, 20),
             "criterion": tune.choice(["gini", "entropy"])},
            "neg_log_loss",
        ),
        "sgd": (
            datasets.load_iris,
            lambda **c: SGDClassifier(loss="log_loss", random_state=0, max_iter=50, tol=None, **c),
            {"alpha": tune.loguniform(1e-6, 1.0), "eta0": tune.loguniform(1e-4, 10.0),
             "l1_ratio": tune.uniform(0, 1), "penalty": tune.choice(["l2", "l1", "elasticnet"]),
             "learning_rate": tune.choice(["constant", "adaptive", "invscaling"])},
            "neg_log_loss",
        ),
        "kernel_ridge": (
            datasets.load_diabetes,
            lambda **c: KernelRidge(**c),
            {"alpha": tune.loguniform(1e-6, 1e2), "gamma": tune.loguniform(1e-6, 1e2),
             "kernel": tune.choice(["rbf", "laplacian", "polynomial"]), "coef0": tune.uniform(0, 5),
             "degree": tune.randint(1, 5)},
            "neg_mean_absolute_error",
        ),
    }[name]  # fmt: skip
    x, y = data(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, test_size=1 / 3, random_state=0)
    scaler = StandardScaler().fit(x)
    x, x_test, scorer = scaler.transform(x), scaler.transform(x_test), get_scorer(scoring)

    def loss(config: dict[str, Any]) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = -float(scorer(model(**config).fit(x, y), x_test, y_test))
        return found if found < 1e9 else 1e9  # also for NaN

    return space, loss


class Ours:
    """One of Overtone's searchers, asked and told by hand."""

    def __init__(self, searcher: Any, space: dict[str, Any], seed: int) -> None:
        self._searcher = searcher
        searcher.on_start(space, seed)

    def ask(self, index: int) -> dict[str, Any]:
        config = self._searcher.suggest(index)
        self._searcher.on_suggested(index, config)
        return config

    def tell(self, index: int, config: dict[str, Any], loss: float, seconds: float | None = None) -> None:
        metrics = {"loss": loss} if seconds is None else {"loss": loss, "time_total_s": seconds}
        trial = Trial(str(index), index, config, CPU, Status.TERMINATED, suggestion=index)
        trial.last = trial.best = Result(1, -loss, (-loss,), (), metrics)
        self._searcher.on_result(trial, trial.last)
        self._searcher.on_trial_end(trial)


class Optuna:
    """Optuna's default sampler, by itself."""

    def __init__(self, space: dict[str, Any], seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study()
        self._study = optuna.create_study(sampler=type(study.sampler)(seed=seed))  # type: ignore[call-arg]
        self._space = space
        self._trials: dict[int, Any] = {}

    def ask(self, index: int) -> dict[str, Any]:
        trial = self._trials[index] = self._study.ask()
        return {name: self._drawn(trial, name, domain) for name, domain in self._space.items()}

    def tell(self, index: int, config: dict[str, Any], loss: float) -> None:
        self._study.tell(self._trials.pop(index), loss)

    def _drawn(self, trial: Any, name: str, domain: Any) -> Any:
        if domain.name == "choice":
            return trial.suggest_categorical(name, domain.categories)
        if domain.name == "randint":
            return trial.suggest_int(name, domain.lower, domain.upper - 1)
        return trial.suggest_float(name, domain.lower, domain.upper, log=domain.log)


def searcher(name: str, space: dict[str, Any], seed: int) -> Any:
    """The searcher of this name, ready to be asked."""
    if name == "optuna":
        return Optuna(space, seed)
    return Ours((AutoSearch if name == "auto" else BasicVariantGenerator)(num_samples=-1), space, seed)


def search(name: str, problem_name: str, parallel: int, seed: int) -> dict[str, Any]:
    """One search: the best loss after each trial, and the mean time of a suggestion."""
    space, loss_of = problem(problem_name)
    one, times, best = searcher(name, space, seed), Random(seed), float("inf")
    running: list[Any] = []
    curve: list[float] = []
    spent, n_asked = 0.0, 0
    while len(curve) < N_TRIALS:
        while n_asked < N_TRIALS and len(running) < parallel:
            since = time.process_time()
            config = one.ask(n_asked)
            spent += time.process_time() - since
            now = running[0][0] if running and n_asked >= parallel else 0.0
            heapq.heappush(running, (now + times.lognormvariate(0, 0.3), n_asked, config))
            n_asked += 1
        _, index, config = heapq.heappop(running)
        loss = loss_of(config)
        best = min(best, loss)
        curve.append(best)
        since = time.process_time()
        one.tell(index, config, loss)
        spent += time.process_time() - since
    return {"searcher": name, "problem": problem_name, "parallel": parallel, "seed": seed, "curve": curve,
            "ms": 1000 * spent / N_TRIALS}  # fmt: skip


def run(out: Path, seeds: int, only: list[str], limit_s: float) -> None:
    """Every search that `out` lacks, one seed after the other."""
    known = {_key(one) for one in _results(out)}
    start = time.monotonic()
    for seed in range(seeds):
        for name in only or problems():
            for parallel in (1, 8):
                for which in SEARCHERS:
                    if (which, name, parallel, seed) in known:
                        continue
                    if time.monotonic() - start > limit_s:
                        return
                    found = search(which, name, parallel, seed)
                    with out.open("a") as file:
                        file.write(json.dumps(found) + "\n")


def table(out: Path) -> None:
    """The median regret of each searcher on each problem, as Markdown."""
    results = _results(out)
    for parallel in (1, 8):
        wins = 0
        print(f"\n{parallel} in parallel\n")
        print("| problem | seeds | auto | Optuna | random |\n|---|---:|---:|---:|---:|")
        names = [
            name for name in problems()
            if {one["searcher"] for one in results if (one["problem"], one["parallel"]) == (name, parallel)}
            == set(SEARCHERS)
        ]  # fmt: skip
        for name in names:
            some = [one for one in results if one["problem"] == name and one["parallel"] == parallel]
            least = min(one["curve"][-1] for one in results if one["problem"] == name)
            floor = least if name.startswith("sklearn") else 0.0
            medians = {
                which: statistics.median(
                    [one["curve"][-1] - floor for one in some if one["searcher"] == which]
                )
                for which in SEARCHERS
            }
            wins += medians["auto"] <= medians["optuna"]
            least = min(medians.values())
            shown = [("**{:.3g}**" if medians[one] == least else "{:.3g}").format(medians[one])
                     for one in SEARCHERS]  # fmt: skip
            print(f"| {name} | {len({one['seed'] for one in some})} | {' | '.join(shown)} |")
        print(f"\n`auto` is at or ahead of Optuna on {wins} of {len(names)}.")
    for which in SEARCHERS:
        print(
            f"{which}: {statistics.median([one['ms'] for one in results if one['searcher'] == which]):.1f} ms"
        )


def plot(out: Path, folder: Path) -> None:
    """A picture for each number in parallel: median regret over the number of trials."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    results = _results(out)
    names = [name for name in problems() if any(one["problem"] == name for one in results)]
    for parallel in (1, 8):
        figure, axes = plt.subplots(-(-len(names) // 4), 4, figsize=(13, 2.3 * -(-len(names) // 4)))
        for axis, name in zip(axes.flat, names, strict=False):
            floor = min(one["curve"][-1] for one in results if one["problem"] == name)
            floor = floor - 1e-4 if name.startswith("sklearn") else 0.0
            for which, colour in zip(SEARCHERS, ("#0b6e4f", "#c8553d", "#999999"), strict=True):
                curves = [one["curve"] for one in results if one["searcher"] == which
                          and one["problem"] == name and one["parallel"] == parallel]  # fmt: skip
                middle = [statistics.median(column) - floor for column in zip(*curves, strict=True)]
                axis.plot(range(1, len(middle) + 1), middle, label=which, color=colour)
            axis.set_yscale("log")
            axis.set_title(name, fontsize=9)
            axis.tick_params(labelsize=7)
        for axis in list(axes.flat)[len(names) :]:
            axis.axis("off")
        axes.flat[0].legend(fontsize=7)
        figure.suptitle(f"median regret over trials, {parallel} in parallel", fontsize=11)
        figure.tight_layout()
        figure.savefig(folder / f"search-{parallel}.png", dpi=70)
        plt.close(figure)


def speed() -> None:
    """The processor's time of one suggestion after so many results of a cheap and of a dear trial.

    Eight trials run at a time: each result is told, and then a suggestion is asked for. What is known
    before was drawn at random; the first suggestions, which fit the first kernels, are not counted.
    """
    spaces: dict[str, dict[str, Any]] = {
        "5 numbers": {f"x{i}": tune.uniform(0, 1) for i in range(5)},
        "20 numbers": {f"x{i}": tune.uniform(0, 1) for i in range(20)},
        "mixed": {
            "a": tune.uniform(0, 1), "b": tune.loguniform(1e-5, 1), "c": tune.randint(1, 50),
            "d": tune.quniform(0, 10, 0.5), "e": tune.choice(["p", "q", "r", "s"]),
            "f": tune.choice([{"k": 0, "x": tune.loguniform(1e-3, 1e3)},
                              {"k": 1, "y": tune.loguniform(1e-4, 1), "n": tune.randint(4, 512)}]),
        },
    }  # fmt: skip
    print("| space | results | a trial takes | mean | median | 95 % | at most |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for seconds in (0.01, 60.0):
        for name, space in spaces.items():
            one, known = Ours(AutoSearch(num_samples=-1), space, 0), Ours(_random(), space, 1)
            n = n_asked = 0
            for target in (100, 300, 1000, 3000):
                while n < target - 60:
                    config = known.ask(n)
                    one.tell(-1 - n, config, _sum(config), seconds)
                    n += 1
                running: list[Any] = []
                taken: list[float] = []
                while n < target + 60:
                    while len(running) < 8:
                        since = time.process_time()
                        running.append((n_asked, one.ask(n_asked)))
                        taken.append(1000 * (time.process_time() - since))
                        n_asked += 1
                    index, config = running.pop(0)
                    one.tell(index, config, _sum(config), seconds)
                    n += 1
                for index, config in running:
                    one.tell(index, config, _sum(config), seconds)
                n += len(running)
                some = sorted(taken[20:])
                found = statistics.mean(some), statistics.median(some), some[-len(some) // 20], some[-1]
                shown = " | ".join(f"{one:.1f} ms" for one in found)
                print(f"| {name} | {target:,} | {seconds:g} s | {shown} |", flush=True)


def _random() -> BasicVariantGenerator:
    return BasicVariantGenerator(num_samples=-1)


def _sum(config: dict[str, Any]) -> float:
    """A loss that depends on every hyperparameter."""
    values = [_sum(value) if isinstance(value, dict) else value for value in config.values()]
    return sum((ord(one) % 7 / 7 if isinstance(one, str) else one % 1.0 - 0.3) ** 2 for one in values)


def _results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def _key(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["searcher"], one["problem"], one["parallel"], one["seed"]


@contextmanager
def _elsewhere() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "table", "plot", "speed"])
    parser.add_argument("--out", type=Path, default=Path("search-results.jsonl"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[], help="names of problems")
    parser.add_argument("--limit-s", type=float, default=float("inf"))
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.out, asked.seeds, asked.only, asked.limit_s)
    elif asked.what == "table":
        table(asked.out)
    elif asked.what == "plot":
        plot(asked.out, Path(__file__).parents[1] / "docs" / "images")
    else:
        speed()


if __name__ == "__main__":
    main()
