"""How often the truth lies in the interval of `whatif` after a search with ASHA, and how wide it is.

    python benchmarks/whatif.py DATA [--seeds 1] [--trials 40] [--families lcbench taskset]

`DATA` is the folder with `curves/`. On each task a search under ASHA (reduction factor 3) is recorded with
four workers, and `whatif` says from its recording alone what other schedulers would have done with the same
configurations. That is then done. All LCBench tasks and the first two of TaskSet were looked at while the
prediction was made; the others were not.
"""

from __future__ import annotations

import argparse
import tempfile
from copy import deepcopy
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from curves import Task, tables

from overtone import tune
from overtone.research import whatif
from overtone.tune.schedulers import ASHAScheduler, HyperBandScheduler, MedianStoppingRule

SEEN = 8, 2
"""Of LCBench and of TaskSet, so many tasks were looked at."""

FACTS = ("time", "time in trials", "results", "found")


def asked(max_t: int) -> dict[str, Any]:
    """The schedulers that `whatif` is asked about."""
    return {
        "ASHA, factor 2": ASHAScheduler(max_t=max_t, reduction_factor=2),
        "ASHA, grace 4": ASHAScheduler(max_t=max_t, grace_period=4, reduction_factor=3),
        "median": MedianStoppingRule(grace_period=5),
        "HyperBand": HyperBandScheduler(max_t=max_t),
        "none": None,
    }


def searched(task: Task, rows: list[int], scheduler: Any, folder: str, name: str) -> Any:
    return tune.run(
        task.table, config=[{"row": row} for row in rows], metric=task.metric, mode=task.mode, verbose=0,
        scheduler=deepcopy(scheduler), engine=tune.Simulated(4), storage_path=folder, name=name, seed=0,
    )  # fmt: skip


def compared(task: Task, seed: int, n: int) -> list[tuple[str, dict[str, tuple[bool, float, float]]]]:
    """By scheduler and fact: whether the truth lies inside, the interval's ratio, that of the extremes."""
    rows = Random(seed).choices(range(len(task.table)), k=n)
    pick = max if task.mode == "max" else min
    found = []
    with tempfile.TemporaryDirectory() as folder:
        recorded = searched(
            task, rows, ASHAScheduler(max_t=task.max_t, reduction_factor=3), folder, "recorded"
        )
        for name, scheduler in asked(task.max_t).items():
            real = searched(task, rows, scheduler, folder, name)
            stats = real.stats()
            values = [one[task.metric] for trial in real.trials for one in trial.results()]
            trial_s = sum(trial.last_result["time_total_s"] for trial in real.trials)
            best = pick(one for one in values if one == one)
            truth = stats["total_time"], trial_s, stats["num_results"], best
            said = whatif(recorded.experiment_path, scheduler)
            intervals: list[Any] = [
                said.time_s,
                said.trial_s,
                said.n_results,
                sorted(one for one in said.found if one is not None),
            ]
            fields = "time_s", "trial_s", "n_results", "best"
            facts = {}
            for fact, (low, high), true, field in zip(FACTS, intervals, truth, fields, strict=True):
                ends: list[float] = sorted(getattr(one, field) for one in (said.cut, said.extended))
                slack = 1e-6 * abs(true) + 1e-9
                ratios = [abs(b / a) if a else 1.0 for a, b in ((low, high), ends)]
                facts[fact] = (low - slack <= true <= high + slack, *ratios)
            found.append((name, facts))
            low, high = said.time_s
            print(
                f"{task.family} {task.name[-16:]} {name}: {true_text(truth[0], low, high)}, "
                f"extremes {said.cut.time_s:.0f} to {said.extended.time_s:.0f}",
                flush=True,
            )  # fmt: skip
    return found


def true_text(true: float, low: float, high: float) -> str:
    return f"time {low:.0f} to {high:.0f} s, true {true:.0f}{'' if low <= true <= high else ' OUTSIDE'}"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--trials", type=int, default=40)
    options.add_argument("--families", nargs="+", default=["lcbench", "taskset"])
    given = options.parse_args()
    rows: dict[str, list[dict[str, tuple[bool, float, float]]]] = {}
    for family in given.families:
        n_seen = dict(zip(("lcbench", "taskset"), SEEN, strict=True)).get(family, 0)
        for i, task in enumerate(tables(given.data, family)):
            for seed in range(given.seeds):
                for name, facts in compared(task, seed + 1, given.trials):
                    for group in (f"{family}, {'looked at' if i < n_seen else 'unseen'}", name):
                        rows.setdefault(group, []).append(facts)
    print("\n| cases | " + " | ".join(f"{one} inside" for one in FACTS) + " | time, high / low | extremes |")
    print("|---|" + "---:|" * (len(FACTS) + 2))
    for group, every in rows.items():
        inside = " | ".join(f"{sum(one[fact][0] for one in every)} of {len(every)}" for fact in FACTS)
        widths = [median(one["time"][k] for one in every) for k in (1, 2)]
        print(f"| {group} | {inside} | {widths[0]:.2f} | {widths[1]:.2f} |")


if __name__ == "__main__":
    main()
