"""What a search through OptunaSearch takes beside Optuna alone: 100 trials of an empty function.

    python benchmarks/search_overhead.py [--repeat 15]

Both have the same sampler, five parameters and one process (engine="inline"). Overtone writes its journal
and each trial's files, but none for TensorBoard, and they stay until the end: those written while others
are deleted cost more. Times are those of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from tempfile import TemporaryDirectory

N = 100


def empty(config):
    return {"loss": config["x0"]}


def optuna_alone(seed: int) -> float:
    import optuna

    def objective(trial):
        found = [trial.suggest_float(f"x{i}", 0, 1) for i in range(5)]
        return found[0]

    began = time.process_time()
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=N)
    return time.process_time() - began


def through_overtone(seed: int, folder: str) -> float:
    from overtone import tune
    from overtone.tune.search.optuna import OptunaSearch

    began = time.process_time()
    tune.run(
        empty, config={f"x{i}": tune.uniform(0, 1) for i in range(5)}, num_samples=N, metric="loss",
        mode="min", search_alg=OptunaSearch(seed=seed), engine="inline", storage_path=folder, verbose=0,
        max_concurrent_trials=1, tensorboard=False,
    )  # fmt: skip
    return time.process_time() - began


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--repeat", type=int, default=15)
    repeat = asked.parse_args().repeat
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with TemporaryDirectory() as folder:
        optuna_alone(0), through_overtone(0, folder)  # imports
        pairs = [(optuna_alone(seed), through_overtone(seed, folder)) for seed in range(repeat)]
    alone, through = (median(column) for column in zip(*pairs, strict=True))
    times = median(b / a for a, b in pairs)
    print(f"{N} trials of an empty function, median of {repeat}:")
    print(f"Optuna alone        {alone:.3f} s")
    print(f"through Overtone    {through:.3f} s, {times:.2f} times as long")


if __name__ == "__main__":
    main()
