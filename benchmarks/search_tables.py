"""Regret of `search_alg="auto"` beside Optuna's default sampler on tables of ordinals and categories.

    python benchmarks/search_tables.py DATA [--seeds 10] [--first-seed 0] [--searchers auto optuna random]
        [--tables NAME ...]

`DATA` is the folder with `tables/`; the tables of `sklearn_tables.py` are searched as well. One trial at a
time; regret is the distance of the best value from the table's best, as a share of the distance between that
and the median, for the mean of the recorded seeds. Figures are medians with 95 % bootstrap intervals over
seeds. `--tables` takes tables of these names alone. `--seeds 2` is the bounded form. Needs optuna.

That finite spaces are interpolated was decided on nb201 and hpobench_mlp with seeds 0 to 7; other seeds,
fcnet and the tables of scikit-learn's models judge it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn_tables
from search import searcher

from overtone import tune

TABLES = {
    "fcnet": ["protein_structure"],
    "nb201": ["cifar10"],
    "hpobench_mlp": ["australian", "kc1"],
}
AT = (25, 50, 100)
Problem = tuple[dict[str, Any], Callable[[dict[str, Any]], float]]


def problems(data: Path, names: list[str]) -> Iterator[tuple[str, Problem]]:
    """The problems of these names, or all."""
    for name, tasks in TABLES.items():
        for task in tasks:
            if not names or f"{name} {task}" in names:
                yield f"{name} {task}", problem(data / "tables", name, task)
    for name in sklearn_tables.TABLES:
        if not names or name in names:
            yield name, sklearn_problem(name)


def sklearn_problem(name: str) -> Problem:
    """The space of a table of `sklearn_tables.py`, and the regret of a configuration."""
    values, losses = sklearn_tables.TABLES[name][0], sklearn_tables.losses(name)
    best, middle = losses.min(), np.median(losses)
    places = {one: {value: i for i, value in enumerate(some)} for one, some in values.items()}
    space = {one: tune.choice(some) for one, some in values.items()}

    def regret(config: dict[str, Any]) -> float:
        loss = losses[tuple(places[one][config[one]] for one in values)]
        return float((loss - best) / (middle - best))

    return space, regret


def problem(folder: Path, name: str, task: str) -> Problem:
    """The space of a table, and the regret of a configuration."""
    facts, file = json.loads((folder / f"{name}.json").read_text()), np.load(folder / f"{name}.npz")
    # an architecture of NAS-Bench-201 that was trained with fewer seeds has NaN for the others
    values = np.nanmean(file[f"{task}__metric"].astype(float), axis=1)
    losses = -values if facts["mode"] == "max" else values
    best, middle = losses.min(), np.median(losses)
    regrets = (losses - best) / (middle - best)
    names = [str(one) for one in file["hp_names"]]
    rows = dict(zip(map(tuple, file["index"].tolist()), regrets.tolist(), strict=True))
    places = {one: {value: i for i, value in enumerate(facts["space"][one])} for one in names}
    space = {one: tune.choice(facts["space"][one]) for one in names}
    return space, lambda config: rows[tuple(places[one][config[one]] for one in names)]


def search(which: str, space: dict[str, Any], regret: Callable[[dict[str, Any]], float], seed: int) -> Any:
    """The least regret after each trial of a search."""
    one, found = searcher(which, space, seed), []
    for i in range(max(AT)):
        config = one.ask(i)
        found.append(regret(config))
        one.tell(i, config, found[-1])
    return np.minimum.accumulate(found)


def interval(values: Any) -> str:
    drawn = np.median(np.random.default_rng(0).choice(values, (2000, len(values))), axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{np.median(values):.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--searchers", nargs="+", default=["auto", "optuna", "random"])
    parser.add_argument("--tables", nargs="+", default=[])
    args = parser.parse_args()
    print(f"| table | searcher | {' | '.join(f'after {n}' for n in AT)} |\n|---|---|---:|---:|---:|")
    for name, (space, regret) in problems(args.data, args.tables):
        for which in args.searchers:
            seeds = range(args.first_seed, args.first_seed + args.seeds)
            curves = np.array([search(which, space, regret, seed) for seed in seeds])
            cells = " | ".join(interval(curves[:, n - 1]) for n in AT)
            print(f"| {name} | {which} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
