"""`search_alg="auto"` beside Optuna's samplers on conditional spaces, several objectives and noise.

    python benchmarks/search_kinds.py DATA [--seeds 10] [--first-seed 0]
        [--kinds conditional objectives noise]

`DATA` is the folder with `tables/`. One trial at a time; figures after 25, 50 and 100 trials, as medians with
95 % bootstrap intervals over seeds. `--seeds 2` is the bounded form. Needs optuna and scikit-learn.

- conditional: a regression model and its hyperparameters, which differ from model to model. The figure is the
  mean absolute error on data not trained on, in standard deviations of the target; lower is better.
- objectives: the metric of a table and the time of training. The figure is the hypervolume as a share of that
  of the whole front of the table, up to the median of each objective; higher is better.
- noise: each trial has the value of one recorded seed, drawn at random. The figure is the regret, by the mean
  of all recorded seeds, of the configuration with the best value so far; lower is better.

The rule of `auto` for finite spaces was chosen on nb201 and hpobench_mlp, with one objective and no noise.
Nothing else of it was chosen on any of these.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from search import CPU
from search_tables import AT, TABLES, interval

from overtone import tune
from overtone.analysis.hypervolume import hypervolume
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.searchers import AutoSearch, BasicVariantGenerator

Losses = tuple[float, ...]

SEARCHERS = {
    "conditional": ("auto", "tpe", "random"),
    "objectives": ("auto", "tpe", "nsga2", "random"),
    "noise": ("auto", "tpe", "random"),
}


class Ours:
    """One of Overtone's searchers, asked and told by hand of any number of objectives."""

    def __init__(self, name: str, space: dict[str, Any], seed: int) -> None:
        self._searcher = (AutoSearch if name == "auto" else BasicVariantGenerator)(num_samples=-1)
        self._searcher.on_start(space, seed)

    def ask(self, index: int) -> dict[str, Any]:
        config = self._searcher.suggest(index)
        assert config is not None
        self._searcher.on_suggested(index, config)
        return config

    def tell(self, index: int, config: dict[str, Any], losses: Losses) -> None:
        scores = tuple(-loss for loss in losses)
        trial = Trial(str(index), index, config, CPU, Status.TERMINATED, suggestion=index)
        trial.last = trial.best = Result(1, scores[0], scores, (), {})
        self._searcher.on_result(trial, trial.last)
        self._searcher.on_trial_end(trial)


class Optuna:
    """One of Optuna's samplers, by itself."""

    def __init__(self, name: str, space: dict[str, Any], seed: int, n_objectives: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = {"tpe": optuna.samplers.TPESampler, "nsga2": optuna.samplers.NSGAIISampler}[name]
        self._study = optuna.create_study(directions=["minimize"] * n_objectives, sampler=sampler(seed=seed))
        self._space = space
        self._trials: dict[int, Any] = {}

    def ask(self, index: int) -> dict[str, Any]:
        trial = self._trials[index] = self._study.ask()
        return self._drawn(trial, "", self._space)

    def tell(self, index: int, config: dict[str, Any], losses: Losses) -> None:
        self._study.tell(self._trials.pop(index), list(losses))

    def _drawn(self, trial: Any, prefix: str, space: dict[str, Any]) -> dict[str, Any]:
        return {name: self._value(trial, f"{prefix}{name}", domain) for name, domain in space.items()}

    def _value(self, trial: Any, name: str, domain: Any) -> Any:
        if not hasattr(domain, "name"):
            return domain
        if domain.name == "choice" and isinstance(domain.categories[0], dict):
            option = trial.suggest_categorical(name, range(len(domain.categories)))
            return self._drawn(trial, f"{name}/{option}/", domain.categories[option])
        if domain.name == "choice":
            return trial.suggest_categorical(name, domain.categories)
        if domain.name.endswith("randint"):
            return trial.suggest_int(name, domain.lower, domain.upper - 1, log=domain.log)
        return trial.suggest_float(name, domain.lower, domain.upper, log=domain.log)


def observed(
    which: str,
    space: dict[str, Any],
    losses_of: Callable[[dict[str, Any]], Losses],
    n_objectives: int,
    seed: int,
) -> tuple[list[dict[str, Any]], list[Losses]]:
    """The configurations and the losses of one search."""
    one: Any = (
        Optuna(which, space, seed, n_objectives) if which in ("tpe", "nsga2") else Ours(which, space, seed)
    )
    configs, every = [], []
    for i in range(max(AT)):
        configs.append(one.ask(i))
        every.append(losses_of(configs[-1]))
        one.tell(i, configs[-1], every[-1])
    return configs, every


class Table:
    """One task of a table: its space, and all that is recorded.

    Attributes:
        values: Losses by row and recorded seed, the median of all rows 1 and the best mean 0.
        costs: The time of training by row, scaled likewise.
    """

    def __init__(self, folder: Path, name: str, task: str) -> None:
        facts, file = json.loads((folder / f"{name}.json").read_text()), np.load(folder / f"{name}.npz")
        losses = file[f"{task}__metric"].astype(float) * (-1 if facts["mode"] == "max" else 1)
        names = [str(one) for one in file["hp_names"]]
        places = {one: {value: i for i, value in enumerate(facts["space"][one])} for one in names}
        rows = {tuple(index): i for i, index in enumerate(file["index"].tolist())}
        self.space = {one: tune.choice(facts["space"][one]) for one in names}
        self._names, self._places, self._rows = names, places, rows
        means = np.nanmean(losses, axis=1)
        best, span = means.min(), np.median(means) - means.min()
        self.values = (losses - best) / span
        self.means = (means - best) / span
        costs = np.nanmean(file[f"{task}__train_time_s"].astype(float), axis=1)
        self.costs = (costs - costs.min()) / (np.median(costs) - costs.min())

    def row_of(self, config: dict[str, Any]) -> int:
        return self._rows[tuple(self._places[one][config[one]] for one in self._names)]

    def front(self) -> float:
        """The hypervolume of all configurations."""
        inside = np.flatnonzero((self.means < 1) & (self.costs < 1))
        order = inside[np.lexsort((self.means[inside], self.costs[inside]))]
        least = np.minimum.accumulate(self.means[order])
        first = np.append(True, least[1:] < least[:-1])
        return volume(list(zip(self.means[order][first], self.costs[order][first], strict=True)))


def volume(losses: Sequence[Losses]) -> float:
    return hypervolume([tuple(-float(one) for one in row) for row in losses], (-1.0, -1.0))


def objectives(table: Table, which: str, seed: int) -> list[float]:
    whole = table.front()

    def losses_of(config: dict[str, Any]) -> Losses:
        row = table.row_of(config)
        return float(table.means[row]), float(table.costs[row])

    _, every = observed(which, table.space, losses_of, 2, seed)
    return [volume(every[:n]) / whole for n in AT]


def noise(table: Table, which: str, seed: int) -> list[float]:
    rng = Random(seed)

    def losses_of(config: dict[str, Any]) -> Losses:
        known = table.values[table.row_of(config)]
        return (float(rng.choice(known[known == known].tolist())),)

    configs, every = observed(which, table.space, losses_of, 1, seed)
    best = [min(range(n), key=lambda i: every[i]) for n in AT]
    return [float(table.means[table.row_of(configs[i])]) for i in best]


def conditional(data: str, which: str, seed: int) -> list[float]:
    from sklearn import datasets
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    models: dict[str, Any] = {
        "svr": lambda **c: SVR(max_iter=20_000, **c),
        "ridge": lambda **c: KernelRidge(**c),
        "neighbours": KNeighborsRegressor,
        "trees": lambda **c: ExtraTreesRegressor(n_estimators=5, random_state=0, **c),
    }
    branches = [
        {"kind": "svr", "C": tune.loguniform(1e-3, 1e3), "gamma": tune.loguniform(1e-5, 1e1),
         "epsilon": tune.loguniform(1e-3, 1e1), "kernel": tune.choice(["rbf", "sigmoid"])},
        {"kind": "ridge", "alpha": tune.loguniform(1e-6, 1e2), "gamma": tune.loguniform(1e-6, 1e1),
         "kernel": tune.choice(["rbf", "laplacian"])},
        {"kind": "neighbours", "n_neighbors": tune.randint(1, 50), "p": tune.uniform(1, 4),
         "weights": tune.choice(["uniform", "distance"])},
        {"kind": "trees", "max_depth": tune.randint(1, 20), "min_samples_leaf": tune.randint(1, 20),
         "max_features": tune.uniform(0.05, 1.0)},
    ]  # fmt: skip
    x, y = (
        datasets.load_diabetes(return_X_y=True)
        if data == "diabetes"
        else datasets.make_friedman1(400, noise=1.0, random_state=0)
    )
    x, x_test, y, y_test = train_test_split(x, y, test_size=1 / 3, random_state=0)
    scaler = StandardScaler().fit(x)
    x, x_test, middle, spread = scaler.transform(x), scaler.transform(x_test), y.mean(), y.std()

    def losses_of(config: dict[str, Any]) -> Losses:
        chosen = dict(config["model"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = models[chosen.pop("kind")](**chosen).fit(x, (y - middle) / spread)
        return (float(np.abs(model.predict(x_test) - (y_test - middle) / spread).mean()),)

    _, every = observed(which, {"model": tune.choice(branches)}, losses_of, 1, seed)
    return [min(one[0] for one in every[:n]) for n in AT]


def measured(kind: str, folder: Path) -> Iterator[tuple[str, Callable[[str, int], list[float]]]]:
    """The problems of a kind: each by name, and the figures of a searcher and a seed."""
    if kind == "conditional":
        for data in ("diabetes", "friedman"):
            yield data, partial(conditional, data)
        return
    found = {"objectives": objectives, "noise": noise}[kind]
    for name, tasks in TABLES.items():
        for task in tasks:
            table = Table(folder, name, task)
            yield f"{name} {task}", partial(found, table)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=[*SEARCHERS])
    args = parser.parse_args()
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    for kind in args.kinds:
        print(f"\n| {kind} | searcher | {' | '.join(f'after {n}' for n in AT)} |\n|---|---|---:|---:|---:|")
        for problem, search in measured(kind, args.data / "tables"):
            for which in SEARCHERS[kind]:
                figures = np.array([search(which, seed) for seed in seeds])
                print(f"| {problem} | {which} | {' | '.join(map(interval, figures.T))} |", flush=True)


if __name__ == "__main__":
    main()
