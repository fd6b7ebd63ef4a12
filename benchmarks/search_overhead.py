"""What a search through OptunaSearch takes beside Optuna alone: 100 trials of an empty function.

    python benchmarks/search_overhead.py [--repeat 15] [--wall] [--tensorboard] [--engine local]

Both have the same sampler, five parameters, one trial at a time, and one process (engine="inline").
Overtone writes its journal and each trial's files, but none for TensorBoard unless asked. They stay until
the end, as those written while others are deleted cost more. Times are those of the processor, so that
other work on the machine does not count, or by the clock on the wall.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory

N = 100


def empty(config):
    return {"loss": config["x0"]}


def optuna_alone(seed: int) -> None:
    import optuna

    def objective(trial):
        found = [trial.suggest_float(f"x{i}", 0, 1) for i in range(5)]
        return found[0]

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=N)


def through_overtone(seed: int, folder: str, engine: str = "inline", tensorboard: bool = False) -> None:
    from overtone import tune
    from overtone.tune.search.optuna import OptunaSearch

    tune.run(
        empty, config={f"x{i}": tune.uniform(0, 1) for i in range(5)}, num_samples=N, metric="loss",
        mode="min", search_alg=OptunaSearch(seed=seed), engine=engine, storage_path=folder, verbose=0,
        max_concurrent_trials=1, tensorboard=tensorboard,
    )  # fmt: skip


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--repeat", type=int, default=15)
    asked.add_argument("--wall", action="store_true", help="by the clock on the wall")
    asked.add_argument("--tensorboard", action="store_true", help="with event files")
    asked.add_argument("--engine", choices=["inline", "local"], default="inline")
    given = asked.parse_args()
    clock = time.perf_counter if given.wall or given.engine != "inline" else time.process_time
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def took(work: Callable[..., None], *args: object) -> float:
        began = clock()
        work(*args)
        return clock() - began

    with TemporaryDirectory() as folder:
        given_to_overtone = folder, given.engine, given.tensorboard
        optuna_alone(0)  # imports
        through_overtone(0, *given_to_overtone)
        pairs = [
            (took(optuna_alone, seed), took(through_overtone, seed, *given_to_overtone))
            for seed in range(given.repeat)
        ]
    alone, through = (median(column) for column in zip(*pairs, strict=True))
    times = median(b / a for a, b in pairs)
    print(f"{N} trials of an empty function, median of {given.repeat}:")
    print(f"Optuna alone        {alone:.3f} s")
    print(f"through Overtone    {through:.3f} s, {times:.2f} times as long")


if __name__ == "__main__":
    main()
