"""What a study costs per trial: ask and tell, beside the loop of `tune.run` and Optuna in memory.

python benchmarks/ask_tell.py [TRIALS] [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from overtone import tune

SPACE = {"x": tune.uniform(0, 1), "y": tune.loguniform(1e-4, 1)}
OPTIONS: dict[str, Any] = {"metric": "loss", "mode": "min", "seed": 1, "files": False, "verbose": 0}


def study(n_trials: int, folder: str) -> None:
    """Ask and tell trials of random search."""
    with tune.ask_tell(SPACE, storage_path=folder, **OPTIONS) as asked:
        for _ in range(n_trials):
            trial = asked.ask()
            assert trial is not None
            asked.tell(trial, trial.config["x"])


def loop(n_trials: int, folder: str) -> None:
    """Run the same trials as calls in this process, by `tune.run`."""
    tune.run(
        lambda config: tune.report(loss=config["x"]), config=SPACE, num_samples=n_trials, engine="inline",
        storage_path=folder, chdir_to_trial_dir=False, **OPTIONS,
    )  # fmt: skip


def optuna(n_trials: int, folder: str) -> None:
    """Ask and tell trials of Optuna's random search, without storage."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    asked = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(n_trials):
        trial = asked.ask()
        trial.suggest_float("y", 1e-4, 1, log=True)
        asked.tell(trial, trial.suggest_float("x", 0, 1))


def main() -> None:
    """Print CPU and wall microseconds per trial, and ratios of interleaved rounds."""
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    n_rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ways: dict[str, Callable[[int, str], None]] = {
        "tune.ask_tell": study, "tune.run inline": loop, "Optuna in memory": optuna,
    }  # fmt: skip
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    wall: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        with tempfile.TemporaryDirectory() as folder:
            way(50, folder)
    for _ in range(n_rounds):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                began, cpu_began = time.perf_counter(), time.process_time()
                way(n_trials, folder)
                cpu[name].append((time.process_time() - cpu_began) / n_trials * 1e6)
                wall[name].append((time.perf_counter() - began) / n_trials * 1e6)
    first = next(iter(ways))
    for name in ways:
        ratio = statistics.median(a / b for a, b in zip(cpu[first], cpu[name], strict=True))
        print(
            f"{name:18} {statistics.median(cpu[name]):7.0f} us of CPU a trial, "
            f"{1e6 / statistics.median(wall[name]):7.0f} trials/s, {first} takes {ratio:.2f} times its CPU"
        )


if __name__ == "__main__":
    main()
